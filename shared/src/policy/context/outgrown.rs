//! What the next prompts are about to leave out: it becomes memory before it is gone from sight.

use super::exchanges::{self, Unit};
use super::remembered;
use crate::domain::{Agent, Memory, State};
use crate::policy::prompt::language::Language;
use crate::policy::tokens;

/// From this share of a limit on, in percent: what is left is for the turns that come while the compaction runs.
const FULL: u64 = 80;
/// What stays in sight then, in percent.
const STAYS: u64 = 50;

/// How many exchanges, from the oldest, have to become summary and facts because a prompt will not hold them for long, or
/// does not now (they lie behind the cut point). All of them where the newest one alone is too long for any prompt;
/// zero where everything fits.
pub fn outgrown(agent: &Agent, memory: &Memory, state: &State) -> usize {
    let behind = memory
        .exchanges
        .iter()
        .take_while(|exchange| state.cut_point.is_some_and(|cut| exchange.reply <= cut))
        .count();
    let factor = tokens::factor(state, &agent.model.main);
    let budget = agent.budget.history_tokens_max;
    let allowance = tokens::allowance(budget, factor);
    let (_, _, block_tokens) = remembered(agent, memory, allowance);
    let tokens_max = u64::from(allowance - block_tokens);
    let messages_max = agent.budget.messages_max as u64;
    let units = exchanges::units(&memory.exchanges, None, budget, Language::of(agent));
    let Some((newest, older)) = units.split_last() else {
        return behind;
    };
    if u64::from(newest.tokens) > tokens_max {
        return memory.exchanges.len();
    }
    let over = |percent: u64, tokens: u64, messages: u64| {
        tokens * 100 > tokens_max * percent || messages * 100 > messages_max * percent
    };
    let count = |unit: &Unit| (u64::from(unit.tokens), unit.messages as u64);
    let (tokens, messages) = units.iter().map(count).fold((0, 0), plus);
    if !over(FULL, tokens, messages) {
        return behind;
    }
    let mut kept = count(newest);
    let gone = older.iter().rposition(|unit| {
        kept = plus(kept, count(unit));
        over(STAYS, kept.0, kept.1)
    });
    let Some(through) = gone.map(|at| older[at].reply) else {
        return behind;
    };
    let upto = memory
        .exchanges
        .iter()
        .take_while(|one| one.reply <= through);
    upto.count().max(behind)
}

fn plus(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0 + other.0, one.1 + other.1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{agent, budget, exchange, memory, reply, state};
    use super::*;

    /// Exchanges of so many messages of so many words each.
    fn of(sizes: &[(usize, usize)]) -> Memory {
        let exchanges = (1..).zip(sizes).map(|(number, (messages, words))| {
            let said = vec!["palavra ".repeat(*words); *messages];
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            exchange(number, &said, Some("certo"))
        });
        memory(exchanges.collect())
    }

    #[test]
    fn what_prompts_are_about_to_leave_out_is_told_from_the_oldest() {
        let agent = agent(budget(3_000));
        for (label, sizes, gone) in [
            ("nothing there", vec![], 0),
            ("short ones", vec![(1, 5); 15], 0),
            ("few and very long", vec![(4, 180); 4], 3),
            ("many and short", vec![(3, 2); 13], 6),
            ("a burst of seventy alone", vec![(70, 3)], 0),
            (
                "a burst of seventy before a question",
                vec![(70, 3), (1, 4)],
                1,
            ),
            (
                "a newest one that no prompt holds",
                vec![(1, 5), (8, 500)],
                2,
            ),
        ] {
            assert_eq!(outgrown(&agent, &of(&sizes), &state()), gone, "{label}");
        }
    }

    #[test]
    fn what_lies_behind_the_cut_point_has_to_become_memory() {
        let agent = agent(budget(3_000));
        let mut state = state();
        state.cut_point = Some(reply(2));
        assert_eq!(outgrown(&agent, &of(&[(1, 5); 6]), &state), 2);
    }

    #[test]
    fn a_tight_limit_of_messages_counts_too() {
        let mut limit = budget(3_000);
        limit.messages_max = 10;
        assert_eq!(outgrown(&agent(limit), &of(&[(1, 2); 5]), &state()), 3);
    }
}
