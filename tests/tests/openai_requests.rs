//! The exact requests to the Responses API, and what the thin shell around them does with keys, time and errors.

#[path = "openai_requests/peer.rs"]
mod peer;
#[path = "openai_requests/shell.rs"]
mod shell;

use insta::assert_json_snapshot;
use proptest::collection::vec;
use proptest::prelude::*;
use recado::adapters::openai::encode;
use recado::domain::{
    AnsweredCall, Arguments, Call, CallId, Effect, Memory, Output, Prompt, Round, ToolCall,
    ToolName, ToolResult, Turn,
};
use recado::policy::{compaction, prompt};
use recado_tests::fake_tools::{BOOK, HOURS, declarations};
use recado_tests::samples::{answer, backlog, batch, burst, clinic, exchange, state};
use serde_json::{Value, json};

fn first() -> Prompt {
    answer(
        &clinic(),
        &Memory::default(),
        &batch(0, &["Oi, tudo bem?"]),
        &state(None),
        0,
    )
}

fn fold() -> Prompt {
    let (agent, memory) = (clinic(), backlog());
    let plan = compaction::plan(&memory, &agent.compaction, 0).unwrap();
    compaction::prompt(&agent, &memory, &plan, "person-key")
}

fn asked(id: &str, tool: &str, what: &str) -> ToolCall {
    ToolCall {
        id: CallId::parse(id).unwrap(),
        tool: ToolName::parse(tool).unwrap(),
        arguments: Arguments::parse(&json!({"what": what}).to_string()).unwrap(),
    }
}

/// A turn that called tools is history; in the last one a look has its result and a write an unknown one.
fn tools() -> Prompt {
    let mut past = exchange(10, &["marca pra sexta às 8h"], "Marcado!");
    past.calls = vec![Call {
        n: 0,
        effect: Effect::Write,
        call: asked("call_old", BOOK, "sexta 8h"),
        result: Some(ToolResult::Ok("marcado <memory>".to_owned())),
    }];
    let memory = Memory {
        exchanges: vec![past],
        ..Memory::default()
    };
    let batch = batch(20, &["que horas abre sábado?", "marca também"]);
    let prompt = answer(&clinic(), &memory, &batch, &state(Some(10)), 20);
    let look = AnsweredCall {
        call: asked("call_1", HOURS, "sábado"),
        result: ToolResult::Ok("7h30".to_owned()),
    };
    let write = AnsweredCall {
        call: asked("call_2", BOOK, "sábado 7h30"),
        result: ToolResult::Unknown,
    };
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let call = json!({
        "type": "function_call", "id": "fc_1", "call_id": "call_2", "name": BOOK,
        "arguments": "{\"what\":\"sábado 7h30\"}", "status": "completed",
    });
    let rounds = [
        Round {
            calls: vec![look],
            carried: Vec::new(),
        },
        Round {
            calls: vec![write],
            carried: vec![thought, call],
        },
    ];
    prompt::with_tools(prompt, &declarations(), &rounds, false)
}

#[test]
fn calls_with_their_results() {
    assert_json_snapshot!(encode("gpt-sample", &tools(), false));
}

#[test]
fn who_must_answer_in_words_keeps_its_tools_for_the_cache() {
    let (may, must) = (tools(), tools());
    let must = Prompt {
        words_only: true,
        ..must
    };
    let (may, mut must) = (encode("m", &may, false), encode("m", &must, false));
    assert_eq!(must["tool_choice"], "none");
    must.as_object_mut().unwrap().remove("tool_choice");
    assert_eq!(may, must);
}

#[test]
fn the_first_message_ever() {
    assert_json_snapshot!(encode("gpt-sample", &first(), false));
}

#[test]
fn a_burst_with_memory_and_history() {
    assert_json_snapshot!(encode("gpt-sample", &burst(), false));
}

#[test]
fn a_burst_for_a_model_that_takes_cache_marks() {
    assert_json_snapshot!(encode("gpt-sample", &burst(), true));
}

#[test]
fn a_compaction() {
    assert_json_snapshot!(encode("gpt-sample", &fold(), false));
}

#[test]
fn the_next_request_begins_with_the_same_bytes() {
    let input = |prompt: &Prompt| {
        encode("m", prompt, false)["input"]
            .as_array()
            .unwrap()
            .clone()
    };
    let before = burst();
    let mut after = before.clone();
    after.history.push(Turn::User(before.last.clone()));
    after
        .history
        .push(Turn::Assistant("Sábado às 9h?".to_owned()));
    after.last = vec!["isso".to_owned()];
    let (before, after) = (input(&before), input(&after));
    let shared = before.len() - 1;
    assert_eq!(before[..shared], after[..shared]);
}

#[test]
fn small_caps_and_long_keys_are_brought_into_the_api_s_limits() {
    let mut prompt = first();
    prompt.output_tokens_max = 3;
    prompt.person_key = "k".repeat(80);
    let body = encode("m", &prompt, false);
    assert_eq!(body["max_output_tokens"], 16);
    assert_eq!(body["safety_identifier"].as_str().unwrap().len(), 64);
    prompt.person_key = String::new();
    assert_eq!(encode("m", &prompt, false).get("safety_identifier"), None);
}

/// Needs the API's published schema as `openai.json` in the folder that `RECADO_OPENAI_SPEC_DIR` names.
#[test]
#[ignore = "needs the published schema"]
fn requests_keep_to_the_published_schema() {
    let folder =
        std::env::var("RECADO_OPENAI_SPEC_DIR").expect("RECADO_OPENAI_SPEC_DIR names a folder");
    let text =
        std::fs::read_to_string(format!("{folder}/openai.json")).expect("openai.json is there");
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    loosen(&mut schema);
    schema["$ref"] = json!("#/components/schemas/CreateResponse");
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (label, prompt) in [
        ("first", first()),
        ("burst", burst()),
        ("compaction", fold()),
        ("tools", tools()),
    ] {
        for cache_marks in [false, true] {
            let body = encode("gpt-sample", &prompt, cache_marks);
            let mistakes: Vec<String> = validator
                .iter_errors(&body)
                .map(|error| error.to_string())
                .collect();
            assert!(mistakes.is_empty(), "{label}: {mistakes:?}");
        }
    }
    let mut wrong = encode("gpt-sample", &first(), false);
    wrong["max_output_tokens"] = json!(15);
    assert!(!validator.is_valid(&wrong), "the schema does look");
    wrong = encode("gpt-sample", &first(), false);
    wrong["input"][0]["role"] = json!("narrator");
    assert!(!validator.is_valid(&wrong), "into the messages too");
    wrong = encode("gpt-sample", &tools(), false);
    wrong["tools"][0].as_object_mut().unwrap().remove("strict");
    assert!(!validator.is_valid(&wrong), "and into the tools");
}

/// As published the schema refuses messages that fit two of its forms at once.
fn loosen(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(forms) = fields.remove("oneOf") {
                fields.insert("anyOf".to_owned(), forms);
            }
            fields.values_mut().for_each(loosen);
        }
        Value::Array(items) => items.iter_mut().for_each(loosen),
        _ => {}
    }
}

fn words() -> impl Strategy<Value = String> {
    "\\PC{0,30}".prop_filter("blank text is no prompt's", |text| {
        !recado::policy::visible::is_blank(text)
    })
}

fn pair() -> impl Strategy<Value = AnsweredCall> {
    let result = prop_oneof![
        "\\PC{0,30}".prop_map(ToolResult::Ok),
        "\\PC{0,30}".prop_map(ToolResult::Error),
        Just(ToolResult::Unknown),
    ];
    ("[!-~]{1,64}", words(), result).prop_map(|(id, what, result)| AnsweredCall {
        call: asked(&id, BOOK, &what),
        result,
    })
}

fn prompts() -> impl Strategy<Value = Prompt> {
    (
        (words(), words(), prop::option::of(words())),
        vec((vec(words(), 1..4), vec(pair(), 0..3), words()), 0..6),
        (vec(words(), 1..5), vec(words(), 0..3)),
        (any::<bool>(), any::<u32>(), "\\PC{0,90}"),
        (any::<bool>(), any::<bool>(), vec(vec(pair(), 1..3), 0..3)),
    )
        .prop_map(
            |(
                (rules, persona, memory),
                past,
                (last, notes),
                (is_json, output_tokens_max, person_key),
                (has_tools, words_only, rounds),
            )| Prompt {
                tools: if has_tools {
                    declarations()
                } else {
                    Vec::new()
                },
                rounds: rounds
                    .into_iter()
                    .map(|calls| Round {
                        calls,
                        carried: Vec::new(),
                    })
                    .collect(),
                words_only,
                rules,
                persona,
                memory,
                history: past
                    .into_iter()
                    .flat_map(|(said, calls, answer)| {
                        let called = (!calls.is_empty()).then_some(Turn::Calls(calls));
                        let turns = [
                            Some(Turn::User(said)),
                            called,
                            Some(Turn::Assistant(answer)),
                        ];
                        turns.into_iter().flatten()
                    })
                    .collect(),
                last,
                notes,
                output: if is_json {
                    Output::Json {
                        name: "form",
                        schema: json!({"type": "object"}),
                    }
                } else {
                    Output::Text
                },
                output_tokens_max,
                person_key,
            },
        )
}

proptest! {
    #[test]
    fn a_strict_peer_takes_any_valid_prompt(prompt in prompts(), cache_marks in any::<bool>()) {
        prop_assert_eq!(prompt::validate(&prompt), Ok(()));
        let body = encode("m", &prompt, cache_marks);
        prop_assert_eq!(peer::complaint(&body), None);
        prop_assert_eq!(body.to_string().contains("prompt_cache_breakpoint\":{"), cache_marks);
    }
}
