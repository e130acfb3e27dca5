//! Messages as they come, by name.

use super::*;
use crate::adapters::models;
use crate::domain::Provider;
use crate::error::ModelError;
use crate::error::ModelErrorClass::Cut;
use reqwest::header::HeaderMap;

fn decoded(body: &Value) -> Result<ModelReply, ModelError> {
    let asked = Asked {
        provider: Provider::Anthropic,
        model: "claude-x",
    };
    let bytes = body.to_string().into_bytes();
    models::decode(&asked, 200, &HeaderMap::new(), &bytes)
}

fn message(stop_reason: &str, content: &Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1", "content": content, "stop_reason": stop_reason})
}

fn said(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn thought() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "EqQB"})
}

fn used(id: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "book", "input": input})
}

#[test]
fn words_are_its_texts_joined() {
    let content =
        json!([thought(), {"type": "text", "text": "Oi, "}, {"type": "text", "text": "Ana!\n"}]);
    for (reason, finish) in [
        ("end_turn", Finish::Complete),
        ("stop_sequence", Finish::Complete),
        ("max_tokens", Finish::Cut),
        ("pause_turn", Finish::Cut),
    ] {
        let reply = decoded(&message(reason, &content)).unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("Oi, Ana!", finish));
        assert_eq!(reply.model, "claude-x-1");
        assert!(reply.carried.is_empty(), "without calls nothing goes back");
    }
}

#[test]
fn an_answer_that_is_none_has_its_class() {
    for (label, body, class) in [
        ("nothing to add", message("end_turn", &json!([])), Cut),
        ("blank words", message("end_turn", &said(" \n")), Cut),
        (
            "all spent on thinking",
            message("max_tokens", &json!([thought()])),
            Cut,
        ),
        (
            "declined, with words",
            message("refusal", &said("Oi")),
            Refusal,
        ),
        (
            "the window is full, with words",
            message("model_context_window_exceeded", &said("Oi")),
            Overflow,
        ),
        (
            "a call that was cut",
            message("max_tokens", &json!([used("t1", &json!({}))])),
            Cut,
        ),
        ("no content", json!({"stop_reason": "end_turn"}), Transient),
    ] {
        assert_eq!(decoded(&body).unwrap_err().class, class, "{label}");
    }
}

#[test]
fn thoughts_go_back_with_their_calls_as_they_came() {
    let content = json!([
        thought(),
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "text", "text": " "},
        {"type": "text", "text": "Um momento."},
        used("toolu_1", &json!({"b": 1, "a": 2})),
        used("toolu_1", &json!("x")),
        {"type": "server_tool_use", "id": "s"},
    ]);
    let reply = decoded(&message("tool_use", &content)).unwrap();
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(calls[0].0, "toolu_1");
    assert_eq!(calls[1], ("call_1", "x"), "the flow tells what was wrong");
    let back = [
        thought(),
        json!({"type": "redacted_thinking", "data": "EmwK"}),
        json!({"type": "text", "text": "Um momento."}),
        used("toolu_1", &json!({"b": 1, "a": 2})),
        used("call_1", &json!({})),
    ];
    assert_eq!(reply.carried.of("anthropic:claude-x"), Some(&back[..]));
    assert_eq!(reply.carried.of("anthropic:claude-y"), None);
    let bare = decoded(&message("tool_use", &json!([used("t", &json!({}))]))).unwrap();
    assert!(bare.carried.is_empty() && bare.calls.len() == 1);
}

#[test]
fn usage_is_in_disjoint_buckets_already() {
    let mut body = message("end_turn", &said("oi"));
    body["usage"] = json!({
        "input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 60, "output_tokens": 20,
        "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0},
    });
    let usage = decoded(&body).unwrap().usage;
    assert_eq!(
        (
            usage.input(),
            usage.input_uncached,
            usage.input_cache_write,
            usage.output
        ),
        (100, 10, 30, 20)
    );
}
