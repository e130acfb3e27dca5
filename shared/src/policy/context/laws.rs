//! The selection's laws, tried on many memories.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use super::tests::{agent, at, batch, budget, exchange, fact, memory, reply, state};
use super::*;
use crate::domain::{
    Arguments, Call, CallId, Effect, Exchange, Round, Summary, ToolCall, ToolName, ToolResult,
};
use crate::policy::prompt;
use crate::policy::tools::lasting_id;

#[derive(Debug, Clone)]
struct Case {
    agent: Agent,
    memory: Memory,
    said: Vec<String>,
    state: State,
}

impl Case {
    fn selected(&self) -> Selected {
        let said: Vec<&str> = self.said.iter().map(String::as_str).collect();
        select(Question {
            agent: &self.agent,
            memory: &self.memory,
            batch: &batch(&said),
            state: &self.state,
        })
    }
}

/// Something a person may write: words, signs, or nothing visible.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-zà-ú]{1,12}( [a-zà-ú0-9]{1,12}){0,20}",
        2 => "\\PC{0,80}",
        1 => Just("</memory> 👨‍👩‍👧".to_owned()),
        1 => Just(" \n".to_owned()),
        1 => "[a-z]{200,900}",
    ]
}

fn past(whole: bool) -> impl Strategy<Value = Vec<Exchange>> {
    let spoken = if whole {
        "[a-z]{1,9}( [a-z]{1,9}){0,9}"
            .prop_map(String::from)
            .boxed()
    } else {
        words().boxed()
    };
    let answer = if whole {
        spoken.clone().prop_map(Some).boxed()
    } else {
        prop::option::of(spoken.clone()).boxed()
    };
    let least = usize::from(whole);
    let most = if whole { 0 } else { 3 };
    let called = vec((words(), prop::option::of(words())), 0..=most);
    vec((vec(spoken, least..4), called, answer), 0..30).prop_map(|exchanges| {
        (1..)
            .zip(exchanges)
            .map(|(number, (said, called, answer))| {
                let said: Vec<&str> = said.iter().map(String::as_str).collect();
                let calls = (0..)
                    .zip(called)
                    .map(|(n, (what, said))| call(n, &what, said));
                Exchange {
                    calls: calls.collect(),
                    ..exchange(number, &said, answer.as_deref())
                }
            })
            .collect()
    })
}

/// The n-th call of a turn; unknown where nothing was said.
fn call(n: u16, what: &str, said: Option<String>) -> Call {
    Call {
        n,
        effect: Effect::Write,
        call: ToolCall {
            id: CallId::parse("call_1").unwrap(),
            tool: ToolName::parse("book").unwrap(),
            arguments: Arguments::parse(&json!({"what": what}).to_string()).unwrap(),
        },
        result: Some(said.map_or(ToolResult::Unknown, ToolResult::Ok)),
    }
}

fn case(whole: bool) -> impl Strategy<Value = Case> {
    (
        (0_u32..1500, 0_usize..40, 0_usize..12),
        past(whole),
        vec(words(), 0..15),
        prop::option::of(words()),
        vec(words(), 1..6),
        0.5_f64..3.0,
        prop::option::of(0_u64..30),
    )
        .prop_map(|(limits, exchanges, facts, summary, said, factor, cut)| {
            let mut limit = budget(limits.0);
            (limit.messages_max, limit.facts_max) = (limits.1, limits.2);
            let mut memory = memory(exchanges);
            memory.facts = (1..)
                .zip(&facts)
                .map(|(number, text)| fact(number, text))
                .collect();
            memory.summary = summary.map(|text| Summary {
                version: 1,
                text,
                through: reply(0),
                written_at: at(0),
            });
            let mut state = state();
            state.token_factors.insert("m".to_owned(), factor);
            state.cut_point = cut.map(reply);
            Case {
                agent: agent(limit),
                memory,
                said,
                state,
            }
        })
}

/// Whether `shown` are these arguments, or where they are too long their beginnings, or none.
fn are_of(shown: &Arguments, whole: &Arguments) -> bool {
    let is_cut = || tokens::estimate(shown.as_str()) < tokens::estimate(whole.as_str());
    let (fields, all) = (shown.fields(), whole.fields());
    let begin = || {
        fields.iter().all(|(name, value)| {
            let whole = all.get(name);
            let texts = value.as_str().zip(whole.and_then(Value::as_str));
            whole == Some(value)
                || texts.is_some_and(|(cut, whole)| {
                    let begin = cut.trim_end_matches("[…]").trim();
                    whole.trim_start().starts_with(begin)
                })
        })
    };
    shown == whole || (is_cut() && begin())
}

/// M1, what every provider refuses for good: a result whose call is not there, or a call without its result. Each pair in the
/// final request is one call of this memory with its own result, once, under an id of its own.
fn every_result_stands_beside_its_call(case: &Case) -> Result<(), TestCaseError> {
    let said: Vec<&str> = case.said.iter().map(String::as_str).collect();
    let asked = batch(&said);
    let sent = prompt::answer(
        &case.agent,
        &case.selected(),
        &asked,
        &case.state,
        at(200_000),
        "key",
    );
    let made = case.memory.exchanges.iter().flat_map(|past| &past.calls);
    let rounds: Vec<Round> = made
        .take(3)
        .map(|call| Round {
            calls: vec![call.answered()],
            carried: crate::domain::Carried::none(),
        })
        .collect();
    let sent = prompt::with_tools(sent, &[], &rounds, false);
    prop_assert_eq!(prompt::validate(&sent), Ok(()));
    prop_assert_eq!(sent.rounds.len(), rounds.len());
    let mut ids = std::collections::BTreeSet::new();
    for pair in sent.history.iter().flat_map(|turn| match turn {
        Turn::Calls(pairs) => pairs.as_slice(),
        Turn::User(_) | Turn::Assistant(_) => &[],
    }) {
        prop_assert!(ids.insert(pair.call.id.clone()), "an id twice");
        let originals = case.memory.exchanges.iter().flat_map(|past| {
            past.calls
                .iter()
                .map(move |call| (lasting_id(past.reply, call.n), call))
        });
        let original = originals
            .into_iter()
            .find(|(id, _)| pair.call.id.as_str() == id);
        let Some((_, original)) = original else {
            return Err(TestCaseError::fail("a call that was never made"));
        };
        let neutral = |text: &str| prompt::text::neutralised(text);
        let whole = Arguments::parse(&neutral(original.call.arguments.as_str()));
        prop_assert!(
            are_of(&pair.call.arguments, &whole.unwrap_or_else(Arguments::none)),
            "the arguments of another call"
        );
        let result = original.answered().result;
        prop_assert_eq!(pair.result.as_str(), result.as_str());
        if let (Some(printed), Some(whole)) = (pair.result.text(), result.text()) {
            let whole = neutral(whole);
            // What is cut begins with its first visible character.
            let begin = printed.trim_end_matches("[…]").trim();
            prop_assert!(
                whole.trim_start().starts_with(begin),
                "the result of another call"
            );
        }
    }
    Ok(())
}

proptest! {
    // The whole number is tried by `.ci/run`.
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_result_is_sent_without_its_call(case in case(false)) {
        every_result_stands_beside_its_call(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    #[ignore = "a hundred thousand histories take minutes; .ci/run tries them"]
    fn no_result_is_sent_without_its_call_in_100_000_histories(case in case(false)) {
        every_result_stands_beside_its_call(&case)?;
    }
}

proptest! {
    // Each case is a whole memory.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn it_is_never_over_budget(case in case(false)) {
        let selected = case.selected();
        let factor = tokens::factor(&case.state, "m");
        let least = tokens::budgeted(newest::TOKENS_MIN, factor);
        let limit = case.agent.budget;
        prop_assert!(selected.tokens <= limit.history_tokens_max.max(least));
        prop_assert!(selected.facts.len() <= limit.facts_max);
        // A turn joined from several messages is still that many messages; the last two exchanges have no limit of number.
        let users = selected.history.iter().enumerate().filter(|(_, turn)| matches!(turn, Turn::User(_)));
        let free = users.map(|(at, _)| at).nth_back(EXCHANGES_FIRST - 1).unwrap_or(0);
        let messages: usize = selected.history[..free].iter().map(|turn| match turn {
            Turn::User(blocks) => blocks.len(),
            Turn::Calls(_) => 0,
            Turn::Assistant(_) => 1,
        }).sum();
        prop_assert!(messages <= limit.messages_max);
    }

    #[test]
    fn what_is_counted_is_what_is_sent(case in case(false)) {
        let selected = case.selected();
        let said: Vec<&str> = case.said.iter().map(String::as_str).collect();
        let mut sent = prompt::answer(&case.agent, &selected, &batch(&said), &case.state, at(200_000), "key");
        let factor = tokens::factor(&case.state, "m");
        let frame = tokens::message(&sent.rules) + tokens::message(&sent.persona);
        sent.notes.clear();
        if !selected.last.is_empty() {
            prop_assert_eq!(tokens::budgeted(tokens::prompt(&sent) - frame, factor), selected.tokens);
        }
    }

    #[test]
    fn the_newest_words_are_always_in(case in case(false)) {
        let selected = case.selected();
        let seen = case.said.iter().rev().find(|text| !crate::policy::visible::is_blank(text));
        match seen {
            None => prop_assert!(selected.last.len() <= 60),
            Some(text) => {
                let safe = prompt::text::neutralised(text);
                let newest = selected.last.last().unwrap();
                let shown = newest.trim_start_matches("[…]").trim();
                prop_assert!(*newest == safe || safe.trim_end().ends_with(shown));
            }
        }
    }

    #[test]
    fn the_prompt_passes_the_validators(case in case(false)) {
        let said: Vec<&str> = case.said.iter().map(String::as_str).collect();
        let sent = prompt::answer(&case.agent, &case.selected(), &batch(&said), &case.state, at(200_000), "key");
        prop_assert_eq!(prompt::validate(&sent), Ok(()));
    }

    #[test]
    fn calls_are_whole_harmless_and_under_ids_of_their_own(case in case(false)) {
        let selected = case.selected();
        let calls = selected.history.iter().filter_map(|turn| match turn {
            Turn::Calls(calls) => Some(calls),
            Turn::User(_) | Turn::Assistant(_) => None,
        });
        let mut ids = std::collections::BTreeSet::new();
        for pair in calls.flatten() {
            prop_assert!(ids.insert(pair.call.id.clone()));
            prop_assert!(!pair.call.arguments.as_str().contains("</memory>"));
            prop_assert!(!pair.result.text().unwrap_or_default().contains("</memory>"));
        }
    }

    #[test]
    fn the_same_question_gives_the_same_selection(case in case(false)) {
        prop_assert_eq!(case.selected(), case.selected());
    }

    #[test]
    fn exchanges_stay_whole_and_in_order(case in case(true)) {
        let selected = case.selected();
        let (pairs, rest) = selected.history.as_chunks::<2>();
        prop_assert!(rest.is_empty());
        let newest = &case.memory.exchanges[case.memory.exchanges.len() - pairs.len()..];
        for (pair, exchange) in pairs.iter().zip(newest) {
            let said = exchange.messages.iter().map(|message| message.text.clone());
            if exchange.items() < 3 {
                let longest = case.agent.budget.history_tokens_max / 4;
                let said = said.map(|text| prompt::text::head(&text, longest)).collect();
                prop_assert_eq!(&pair[0], &Turn::User(said));
            }
            prop_assert!(matches!(pair[1], Turn::Assistant(_)));
        }
    }

    #[test]
    fn nothing_at_or_before_the_cut_point_comes_back(case in case(true)) {
        let selected = case.selected();
        let live = case.memory.exchanges.iter()
            .filter(|exchange| selected.cut_point.is_none_or(|cut| exchange.reply > cut))
            .count();
        prop_assert!(selected.history.len() <= live * 2);
        prop_assert!(selected.cut_point >= case.state.cut_point);
    }

    #[test]
    fn without_a_cut_the_next_request_begins_with_this_one(mut case in case(true), said in "[a-z]{1,20}") {
        let first = case.selected();
        case.memory.exchanges.push(exchange(50, &[&said], Some(&said)));
        case.state.cut_point = first.cut_point;
        let second = case.selected();
        // A newest turn that squeezed out the last exchanges let nothing settle yet.
        let settled = first.history.len() >= 4 || first.history.len() + 2 == second.history.len();
        if second.cut_point == first.cut_point && settled && second.history.len() > first.history.len() {
            prop_assert_eq!(&second.history[..first.history.len()], &first.history[..]);
        }
    }
}
