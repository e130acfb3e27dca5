//! Anthropic's refusals.

use serde_json::{Value, json};

use super::{AT_ONCE, FIRST, ROUND, THOUGHT, check, drop_field, drop_last, items, last};

fn text() -> Value {
    json!({"type": "text", "text": "x"})
}

/// Gives a call another id, wherever it stands.
fn rename(body: &mut Value, call: &str, other: &str) {
    let text = body.to_string().replace(call, other);
    *body = serde_json::from_str(&text).unwrap();
}

fn says(role: &str) -> Value {
    json!({"role": role, "content": [text()]})
}

#[test]
fn anthropic_refuses_in_its_own_words() {
    check(
        3,
        &[
            (
                "an unknown field",
                FIRST,
                |b| b["stop"] = json!("x"),
                "stop: Extra inputs are not permitted",
            ),
            (
                "no cap",
                FIRST,
                |b| drop_field(b, "max_tokens"),
                "max_tokens: Field required",
            ),
            (
                "nothing at all",
                FIRST,
                |b| b["messages"] = json!([]),
                "at least one message is required",
            ),
            (
                "the agent first",
                FIRST,
                |b| items(b, "messages").insert(0, says("assistant")),
                "first message must use the \"user\" role",
            ),
            (
                "the agent last",
                FIRST,
                |b| items(b, "messages").push(says("assistant")),
                "does not support assistant message prefill. The conversation must end with a user message.",
            ),
            (
                "a system message among the others",
                FIRST,
                |b| items(b, "messages").insert(0, json!({"role": "system", "content": "x"})),
                "Unexpected role \"system\"",
            ),
            (
                "the person twice",
                FIRST,
                |b| items(b, "messages").push(says("user")),
                "found multiple \"user\" roles in a row",
            ),
            (
                "an empty text",
                FIRST,
                |b| b["messages"][0]["content"][0]["text"] = json!(""),
                "text content blocks must be non-empty",
            ),
            (
                "a blank text",
                FIRST,
                |b| b["messages"][0]["content"][0]["text"] = json!(" \n"),
                "text content blocks must contain non-whitespace text",
            ),
            (
                "one result of three",
                AT_ONCE,
                |b| drop_last(last(b, "messages", 0), "content", 0),
                "`tool_use` ids were found without `tool_result` blocks immediately after: call_3.",
            ),
            (
                "text before the results",
                ROUND,
                |b| items(last(b, "messages", 0), "content").insert(0, text()),
                "`tool_use` ids were found without `tool_result` blocks immediately after: call_1.",
            ),
            (
                "a result without its call",
                ROUND,
                |b| last(b, "messages", 1)["content"] = json!([text()]),
                "unexpected `tool_use_id` found in `tool_result` blocks: call_1.",
            ),
            (
                "one id twice",
                AT_ONCE,
                |b| {
                    rename(b, "call_2", "call_1");
                    rename(b, "call_3", "call_1");
                },
                "`tool_use` ids must be unique",
            ),
            (
                "an id of another provider's",
                ROUND,
                |b| rename(b, "call_1", "functions.x:0"),
                "String should match pattern '^[a-zA-Z0-9_-]+$'",
            ),
            (
                "a thought without its signature",
                THOUGHT,
                |b| drop_field(&mut last(b, "messages", 1)["content"][0], "signature"),
                "thinking.signature: Field required",
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
                    let block = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
                    b["system"] = json!([block, block, block, block, block]);
                },
                "A maximum of 4 blocks with cache_control may be provided. Found 5.",
            ),
            (
                "a long mark after a short one",
                FIRST,
                |b| {
                    let long = json!({"type": "ephemeral", "ttl": "1h"});
                    b["messages"][0]["content"][0]["cache_control"] = long;
                },
                "must not come after a ttl='5m' cache_control block",
            ),
        ],
    );
}
