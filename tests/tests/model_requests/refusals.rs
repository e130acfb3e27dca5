//! The strict peer refuses what the real providers refuse: each request here was right until one thing was changed.

mod anthropic;

use recado::domain::Provider;
use recado_tests::strict_peer::{complaint, refusal};
use serde_json::{Value, json};

use super::MODELS;
use super::shapes::shapes;

/// A right request of this model.
fn request(at: usize, wanted: &str) -> Value {
    let (_, asked) = MODELS[at];
    let shapes = shapes(&asked.origin());
    let found = shapes.into_iter().find(|(shape, _)| *shape == wanted);
    asked.encode(&found.unwrap().1)
}

const FIRST: &str = "the first message ever";
const ROUND: &str = "a later run goes on";
const THOUGHT: &str = "a thought comes back";
const AT_ONCE: &str = "calls at once, of every outcome";

type Change = fn(&mut Value);

fn items<'a>(body: &'a mut Value, field: &str) -> &'a mut Vec<Value> {
    body[field].as_array_mut().unwrap()
}

/// The last item of a field, or the one so many before it.
fn last<'a>(body: &'a mut Value, field: &str, before: usize) -> &'a mut Value {
    items(body, field).iter_mut().nth_back(before).unwrap()
}

/// Takes out the last item of a field, or the one so many before it.
fn drop_last(body: &mut Value, field: &str, before: usize) {
    let items = items(body, field);
    items.remove(items.len() - 1 - before);
}

fn drop_field(of: &mut Value, field: &str) {
    let dropped = of.as_object_mut().unwrap().remove(field);
    assert!(dropped.is_some(), "there was a {field}");
}

fn check(at: usize, rows: &[(&str, &str, Change, &str)]) {
    let (_, asked) = MODELS[at];
    for (label, shape, change, words) in rows {
        let mut body = request(at, shape);
        assert_eq!(complaint(asked.provider, &body), None, "{label}");
        change(&mut body);
        let found = complaint(asked.provider, &body).unwrap_or_default();
        assert!(found.contains(words), "{label}: {found:?}");
    }
}

#[test]
fn openai_refuses_in_its_own_words() {
    check(
        0,
        &[
            (
                "an unknown field",
                FIRST,
                |b| b["stop"] = json!("x"),
                "Unknown parameter: 'stop'.",
            ),
            (
                "nothing at all",
                FIRST,
                |b| b["input"] = json!([]),
                "must be provided",
            ),
            (
                "a small cap",
                FIRST,
                |b| b["max_output_tokens"] = json!(15),
                "integer below minimum value. Expected a value >= 16, but got 15 instead.",
            ),
            (
                "a long key",
                FIRST,
                |b| b["safety_identifier"] = json!("k".repeat(65)),
                "string too long. Expected a string with maximum length 64",
            ),
            (
                "a call without its output",
                ROUND,
                |b| drop_last(b, "input", 0),
                "No tool output found for function call call_1.",
            ),
            (
                "an output without its call",
                ROUND,
                |b| drop_last(b, "input", 1),
                "No tool call found for function call output with call_id call_1.",
            ),
            (
                "a thought alone",
                THOUGHT,
                |b| {
                    drop_last(b, "input", 1);
                    drop_last(b, "input", 0);
                },
                "was provided without its required following item.",
            ),
            (
                "a thought without a summary",
                THOUGHT,
                |b| drop_field(last(b, "input", 2), "summary"),
                "].summary'.",
            ),
            (
                "a thought that the provider would have to know",
                THOUGHT,
                |b| drop_field(last(b, "input", 2), "encrypted_content"),
                "Items are not persisted when `store` is set to false.",
            ),
            (
                "a picture without detail",
                FIRST,
                |b| b["input"][1]["content"][0] = json!({"type": "input_image", "image_url": "x"}),
                "].detail'.",
            ),
            (
                "a blank text",
                FIRST,
                |b| b["input"][1]["content"][0]["text"] = json!(""),
                "empty string. Expected a string with minimum length 1",
            ),
            (
                "a tool without strict",
                ROUND,
                |b| drop_field(&mut b["tools"][0], "strict"),
                "'tools[0].strict'",
            ),
            (
                "a mark for a model that takes none",
                FIRST,
                |b| b["prompt_cache_options"] = json!({"mode": "explicit"}),
                "Unknown parameter: 'prompt_cache_options'.",
            ),
            (
                "arguments that are no text",
                ROUND,
                |b| last(b, "input", 1)["arguments"] = json!({}),
                "expected a JSON object as text",
            ),
            ("a copy kept", FIRST, |b| b["store"] = json!(true), "a copy"),
        ],
    );
}

#[test]
fn openrouter_refuses_in_its_own_words() {
    check(
        2,
        &[
            (
                "an unknown field",
                FIRST,
                |b| b["input"] = json!("x"),
                "Unrecognized request argument supplied: input",
            ),
            (
                "nothing at all",
                FIRST,
                |b| b["messages"] = json!([]),
                "empty array",
            ),
            (
                "no cap",
                FIRST,
                |b| drop_field(b, "max_tokens"),
                "Expected a value >= 16",
            ),
            (
                "a call without its result",
                ROUND,
                |b| drop_last(b, "messages", 0),
                "The following tool_call_ids did not have response messages: call_1",
            ),
            (
                "one result of three",
                AT_ONCE,
                |b| drop_last(b, "messages", 0),
                "did not have response messages: call_3",
            ),
            (
                "a result without its call",
                ROUND,
                |b| drop_last(b, "messages", 1),
                "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            ),
            (
                "a result without an id",
                ROUND,
                |b| drop_field(last(b, "messages", 0), "tool_call_id"),
                "Missing parameter 'tool_call_id'",
            ),
            (
                "arguments that are no text",
                ROUND,
                |b| last(b, "messages", 1)["tool_calls"][0]["function"]["arguments"] = json!({}),
                "expected a JSON object as a string",
            ),
            (
                "a blank text",
                FIRST,
                |b| b["messages"][1]["content"][0]["text"] = json!(" "),
                "text content blocks must be non-empty",
            ),
            (
                "calls without tools",
                ROUND,
                |b| drop_field(b, "tools"),
                "must define tools",
            ),
            (
                "five marks",
                FIRST,
                |b| {
                    let part = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
                    b["messages"][1]["content"] = json!([part, part, part, part, part]);
                },
                "A maximum of 4 blocks with cache_control may be provided.",
            ),
        ],
    );
}

#[test]
fn a_local_server_refuses_in_its_own_words() {
    check(
        4,
        &[
            (
                "parts for contents",
                FIRST,
                |b| b["messages"][1]["content"] = json!([{"type": "text", "text": "oi"}]),
                "expected a string",
            ),
            (
                "a second system message",
                FIRST,
                |b| items(b, "messages").insert(1, json!({"role": "system", "content": "x"})),
                "System message must be at the beginning.",
            ),
            (
                "the person twice",
                FIRST,
                |b| items(b, "messages").push(json!({"role": "user", "content": "x"})),
                "conversation roles must alternate user/assistant/user/assistant/...",
            ),
            (
                "the agent last",
                FIRST,
                |b| items(b, "messages").push(json!({"role": "assistant", "content": "x"})),
                "conversation roles must alternate user/assistant/user/assistant/...",
            ),
            (
                "a mark",
                FIRST,
                |b| b["messages"][1]["cache_control"] = json!({"type": "ephemeral"}),
                "Extra inputs are not permitted",
            ),
            (
                "the older cap for a model of OpenAI's",
                FIRST,
                |b| b["model"] = json!("gpt-5.4-mini"),
                "Use 'max_completion_tokens' instead.",
            ),
        ],
    );
}

#[test]
fn a_long_prompt_is_refused_in_each_provider_s_words() {
    for (at, words) in [
        (0, "exceeds the context window of this model"),
        (2, "maximum context length is 10 tokens"),
        (3, "prompt is too long: "),
        (4, "exceeds the available context size (10 tokens)"),
    ] {
        let (_, asked) = MODELS[at];
        let refused = refusal(asked.provider, &request(at, FIRST), 10).unwrap();
        assert_eq!(refused.status, 400);
        assert!(refused.sentence().contains(words), "{}", refused.sentence());
    }
    assert_eq!(Provider::ALL.len(), 4, "one row for each");
}
