//! Whatever the history, the budget and the rounds: no result without its call, no call without its result, and nothing
//! that a strict peer refuses. `.ci/run` tries 100,000 cases (`RECADO_MODEL_CASES`), a plain test fewer.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use recado::adapters::models::Asked;
use recado::domain::{
    AnsweredCall, Call, Carried, Effect, Exchange, Memory, Output, Prompt, Provider, Round,
    ToolResult,
};
use recado::policy::prompt;
use recado_tests::fake_tools::{BOOK, declarations};
use recado_tests::samples::{answer, batch, clinic, exchange, state};
use recado_tests::strict_peer::complaint;
use serde_json::{Value, json};

use super::MODELS;
use super::shapes::{CARRYING, asked, carried};

/// Any text that shows something, and at times one that does not.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![9 => "\\PC{1,20}", 1 => Just(" \n".to_owned()), 1 => Just("\u{200b}".to_owned())]
}

fn pair() -> impl Strategy<Value = AnsweredCall> {
    let result = prop_oneof![
        "\\PC{0,20}".prop_map(ToolResult::Ok),
        "\\PC{0,20}".prop_map(ToolResult::Error),
        Just(ToolResult::Unknown),
    ];
    // Few ids, so that they come again.
    let id = prop_oneof!["call_[0-2]", "functions\\.book:[0-1]", "[!-~]{1,64}"];
    (id, "\\PC{0,10}", result).prop_map(|(id, what, result)| AnsweredCall {
        call: asked(&id, BOOK, &what),
        result,
    })
}

/// A round as some model left it, or as a later run finds it.
fn rounds() -> impl Strategy<Value = Round> {
    let plain = vec(pair(), 0..4).prop_map(|calls| Round {
        calls,
        carried: Carried::none(),
    });
    let ids = "call_[0-3]";
    let own = (prop::sample::select(CARRYING.to_vec()), ids).prop_map(|(by, id)| carried(by, &id));
    // Carried items that are not those of the round's calls.
    let torn = (
        prop::sample::select(CARRYING.to_vec()),
        ids,
        vec(pair(), 1..3),
    );
    let torn = torn.prop_map(|(by, id, calls)| Round {
        calls,
        ..carried(by, &id)
    });
    prop_oneof![4 => plain, 4 => own, 1 => torn]
}

fn past() -> impl Strategy<Value = Exchange> {
    let said = vec(words(), 1..4);
    let answer = prop::option::weighted(0.8, words());
    (said, vec(pair(), 0..3), answer, any::<bool>()).prop_map(|(said, calls, answer, delivered)| {
        let texts: Vec<&str> = said.iter().map(String::as_str).collect();
        let mut past = exchange(1, &texts, "");
        let call = |(n, one): (u16, AnsweredCall)| Call {
            n,
            effect: Effect::Write,
            call: one.call,
            result: Some(one.result),
        };
        past.calls = (0..).zip(calls).map(call).collect();
        past.answer = answer;
        past.delivered = delivered;
        past
    })
}

/// A prompt that the policy selects from a random memory under a random budget, with random rounds after it.
fn prompts() -> impl Strategy<Value = Prompt> {
    (
        vec(past(), 0..12),
        vec(words(), 1..4),
        vec(rounds(), 0..4),
        (200..3000_u32, 2..60_usize),
        (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            prop::option::of(0..4000_u64),
        ),
    )
        .prop_map(
            |(pasts, last, rounds, (tokens, messages), (has_tools, words_only, is_json, pause))| {
                let mut agent = clinic();
                agent.budget.history_tokens_max = tokens;
                agent.budget.messages_max = messages;
                let exchanges = (1..).zip(pasts).map(|(n, past)| Exchange {
                    reply: recado_tests::samples::reply(n),
                    ..past
                });
                let memory = Memory {
                    exchanges: exchanges.collect(),
                    ..Memory::default()
                };
                let texts: Vec<&str> = last.iter().map(String::as_str).collect();
                let prompt = answer(&agent, &memory, &batch(500, &texts), &state(Some(1)), 500);
                let tools = if has_tools {
                    declarations()
                } else {
                    Vec::new()
                };
                let mut prompt = prompt::with_tools(prompt, &tools, &rounds, words_only);
                prompt.pause = pause.map(std::time::Duration::from_secs);
                if is_json {
                    prompt.output = Output::Json {
                        name: "form",
                        schema: json!({"type": "object"}),
                    };
                }
                prompt
            },
        )
}

/// The ids of all calls and of all results in a request.
fn ids(provider: Provider, body: &Value) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let mut look = |kind: &str, item: &Value, field: &str| {
        let id = item[field].as_str().unwrap_or_default().to_owned();
        match kind {
            "call" => calls.push(id),
            _ => results.push(id),
        }
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for message in list(body.get("input").unwrap_or(&body["messages"])) {
        match provider {
            Provider::OpenAi => match message["type"].as_str() {
                Some("function_call") => look("call", &message, "call_id"),
                Some("function_call_output") => look("result", &message, "call_id"),
                _ => {}
            },
            Provider::Anthropic => {
                for block in list(&message["content"]) {
                    match block["type"].as_str() {
                        Some("tool_use") => look("call", &block, "id"),
                        Some("tool_result") => look("result", &block, "tool_use_id"),
                        _ => {}
                    }
                }
            }
            Provider::OpenRouter | Provider::Compatible => {
                for call in list(&message["tool_calls"]) {
                    look("call", &call, "id");
                }
                if message["role"] == "tool" {
                    look("result", &message, "tool_call_id");
                }
            }
        }
    }
    (calls, results)
}

fn check(asked: &Asked<'_>, prompt: &Prompt) -> Result<(), TestCaseError> {
    let body = asked.encode(prompt);
    prop_assert_eq!(complaint(asked.provider, &body), None);
    let (calls, results) = ids(asked.provider, &body);
    let once: BTreeSet<&String> = calls.iter().collect();
    prop_assert_eq!(once.len(), calls.len(), "each call once");
    let answered: BTreeSet<&String> = results.iter().collect();
    prop_assert_eq!(once, answered, "each with its result");
    // Every round's calls are there, whoever made them: none would be run again for want of its result.
    let wanted: usize = prompt.rounds.iter().map(|round| round.calls.len()).sum();
    prop_assert!(calls.len() >= wanted);
    Ok(())
}

#[test]
fn no_result_without_its_call_and_no_call_without_its_result() {
    let cases = std::env::var("RECADO_MODEL_CASES").map_or(1_000, |text| text.parse().unwrap());
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let tried = runner.run(&prompts(), |prompt| {
        MODELS
            .iter()
            .try_for_each(|(_, asked)| check(asked, &prompt))
    });
    if let Err(failure) = tried {
        panic!("{failure}");
    }
    println!(
        "{cases} cases, {} models each: every pair whole",
        MODELS.len()
    );
}
