//! What goes into a prompt: as much of a person's memory as the agent's budget holds, chosen by priority.
//!
//! Order of priority: the newest turn, the last two exchanges, summary and facts, older exchanges from the newest
//! back. Over budget the window is cut to 60 % in one step and the cut point is kept, so that the next requests begin
//! at the same turn and a provider's prompt cache stays warm.
//!
//! Invariant: the selection never counts more tokens than the budget (or than [`newest::TOKENS_MIN`] of the newest
//! turn, where the budget is smaller than that); the newest turn is always in; turns keep their order and exchanges
//! stay whole; the history begins with the person; the same question gives the same selection.

mod exchanges;
mod newest;
mod outgrown;

use exchanges::Unit;
pub use outgrown::outgrown;

use super::agenda;
use super::prompt::language::Language;
use super::prompt::memory_block;
use super::tokens;
use crate::domain::{Agent, Batch, Fact, Memory, ReplyId, State, Turn};

/// Exchanges that go before summary and facts.
const EXCHANGES_FIRST: usize = 2;
/// What is left of a limit when it is cut, in percent.
const CUT_TO: u32 = 60;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Whose budget, language and time zone.
    pub agent: &'a Agent,
    /// Everything that could go in.
    pub memory: &'a Memory,
    /// The newest turn.
    pub batch: &'a Batch,
    /// Holds the cut point and the token factors.
    pub state: &'a State,
}

/// What goes in.
#[derive(Clone, PartialEq, Eq)]
pub struct Selected {
    /// The summary's words.
    pub summary: Option<String>,
    /// Facts, oldest first.
    pub facts: Vec<Fact>,
    /// Past turns, oldest first; begins with the person and ends with the agent.
    pub history: Vec<Turn>,
    /// The newest turn, one block per message; empty only where no message holds a visible character.
    pub last: Vec<String>,
    /// What stands in the agenda, for a note; nothing where the agent keeps none.
    pub agenda: Option<String>,
    /// Turns up to here are out, in the next requests too.
    pub cut_point: Option<ReplyId>,
    /// All of it in tokens: learnt factor and margin included, rules, persona and notes (the agenda's too) not.
    pub tokens: u32,
}

/// A selection prints as counts, never as words.
impl std::fmt::Debug for Selected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selected")
            .field("facts", &self.facts.len())
            .field("history", &self.history.len())
            .field("last", &self.last.len())
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

/// Chooses what the answer's prompt holds.
pub fn select(question: Question<'_>) -> Selected {
    let Question {
        agent,
        memory,
        batch,
        state,
    } = question;
    let factor = tokens::factor(state, &agent.model.main);
    let allowance = tokens::allowance(agent.budget.history_tokens_max, factor);
    let units = exchanges::units(
        &memory.exchanges,
        state.cut_point,
        agent.budget.history_tokens_max,
        Language::of(agent),
    );

    let newest = newest::fitted(batch, allowance.max(newest::TOKENS_MIN));
    // The number of messages limits what is older than these: a burst of seventy is one thought.
    let mut room = Room {
        tokens: allowance.saturating_sub(newest.tokens),
        messages: usize::MAX,
    };
    let older_end = units.len().saturating_sub(EXCHANGES_FIRST);
    let mut first = room.take_newest(&units, older_end);
    let taken: usize = units[first..].iter().map(|unit| unit.messages).sum();
    room.messages = agent.budget.messages_max.saturating_sub(taken);
    let (summary, facts, block_tokens) = remembered(agent, memory, room.tokens);
    room.tokens -= block_tokens;
    let mut cut_point = state.cut_point;
    if first == older_end {
        first = room.clone().take_newest(&units[..older_end], 0);
        if first > 0 {
            room.shrink(&units[..older_end], allowance, agent.budget.messages_max);
            first = room.take_newest(&units[..older_end], 0);
        }
    }
    // A cut point never covers the last two exchanges: they are left out only while the newest turn is this long.
    if let Some(out) = first.min(older_end).checked_sub(1) {
        cut_point = Some(units[out].reply);
    }

    let kept = &units[first..];
    let spent = kept.iter().map(|unit| unit.tokens).sum::<u32>() + newest.tokens + block_tokens;
    let (history, unanswered) = exchanges::turns(kept);
    Selected {
        summary,
        facts,
        history,
        last: unanswered.into_iter().chain(newest.blocks).collect(),
        agenda: agent
            .agenda
            .then(|| agenda::note::print(agent, &memory.agenda))
            .flatten(),
        cut_point,
        tokens: tokens::budgeted(spent, factor),
    }
}

/// What may still be added.
#[derive(Clone)]
struct Room {
    tokens: u32,
    messages: usize,
}

impl Room {
    /// Takes units from the newest back to `down_to` while they fit; yields the index of the oldest one taken.
    fn take_newest(&mut self, units: &[Unit], down_to: usize) -> usize {
        let mut first = units.len();
        for (at, unit) in units.iter().enumerate().skip(down_to).rev() {
            if unit.tokens > self.tokens || unit.messages > self.messages {
                break;
            }
            self.tokens -= unit.tokens;
            self.messages -= unit.messages;
            first = at;
        }
        first
    }

    /// Leaves of each limit that `units` break only what a cut keeps, what is already taken included.
    fn shrink(&mut self, units: &[Unit], tokens_max: u32, messages_max: usize) {
        if units.iter().map(|unit| unit.tokens).sum::<u32>() > self.tokens {
            let out = tokens_max - share(tokens_max, CUT_TO);
            self.tokens = self.tokens.saturating_sub(out);
        }
        if units.iter().map(|unit| unit.messages).sum::<usize>() > self.messages {
            let out = messages_max - messages_max.saturating_mul(CUT_TO as usize) / 100;
            self.messages = self.messages.saturating_sub(out);
        }
    }
}

fn share(whole: u32, percent: u32) -> u32 {
    u32::try_from(u64::from(whole) * u64::from(percent) / 100).unwrap_or(u32::MAX)
}

/// Summary and the newest facts that fit together into `room`, and what they cost.
fn remembered(agent: &Agent, memory: &Memory, room: u32) -> (Option<String>, Vec<Fact>, u32) {
    let summary = memory.summary.as_ref().map(|summary| summary.text.as_str());
    let newest: Vec<&Fact> = memory
        .facts
        .iter()
        .rev()
        .take(agent.budget.facts_max)
        .collect();
    let price = |summary: Option<&str>, count: usize| {
        let mut facts = newest[..count].to_vec();
        facts.reverse();
        memory_block::print(agent, summary, &facts).map_or(0, |block| tokens::message(&block))
    };
    let summary = summary.filter(|text| price(Some(text), 0) <= room);
    // A longer block is never cheaper, so the number that fits is found by halving.
    let counts: Vec<usize> = (1..=newest.len()).collect();
    let count = counts.partition_point(|count| price(summary, *count) <= room);
    let mut facts: Vec<Fact> = newest[..count].iter().copied().cloned().collect();
    facts.reverse();
    (summary.map(str::to_owned), facts, price(summary, count))
}

#[cfg(test)]
mod laws;
#[cfg(test)]
pub(crate) mod tests;
