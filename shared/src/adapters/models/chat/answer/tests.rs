//! Completions as they come, by name.

use super::*;
use crate::adapters::models;
use crate::error::{ModelError, ModelErrorClass};
use ModelErrorClass::Throttled;
use Provider::{Compatible, OpenRouter};
use reqwest::header::HeaderMap;

fn asked(provider: Provider) -> Asked<'static> {
    Asked {
        provider,
        model: "m",
    }
}

fn decoded(provider: Provider, body: &Value) -> Result<ModelReply, ModelError> {
    let bytes = body.to_string().into_bytes();
    models::decode(&asked(provider), 200, &HeaderMap::new(), &bytes)
}

fn completion(finish_reason: &Value, message: &Value) -> Value {
    json!({"id": "gen-1", "object": "chat.completion", "model": "vendor/m", "choices": [
        {"index": 0, "finish_reason": finish_reason, "message": message},
    ]})
}

fn said(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn call(id: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "book", "arguments": arguments}})
}

#[test]
fn words_are_read_from_a_text_or_from_parts() {
    let parts =
        json!({"content": [{"type": "text", "text": "Oi, "}, {"type": "text", "text": "Ana!\n"}]});
    for (message, finish_reason, finish) in [
        (said(" Oi, Ana!\n"), json!("stop"), Finish::Complete),
        (parts, json!(null), Finish::Complete),
        (said("Oi, Ana!"), json!("length"), Finish::Cut),
    ] {
        let reply = decoded(OpenRouter, &completion(&finish_reason, &message)).unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("Oi, Ana!", finish));
        assert_eq!(reply.model, "vendor/m");
    }
}

#[test]
fn an_answer_that_is_none_has_its_class() {
    let in_choice = |error: Value| {
        let mut body = completion(&json!("error"), &said("Oi"));
        body["choices"][0]["error"] = error;
        body
    };
    for (label, body, class) in [
        (
            "broken off, with words",
            completion(&json!("error"), &said("Oi")),
            Transient,
        ),
        (
            "an error in the choice",
            in_choice(json!({"code": 429, "message": "upstream"})),
            Throttled,
        ),
        (
            "down, in the choice",
            in_choice(json!({"code": 502, "message": "upstream"})),
            Transient,
        ),
        (
            "filtered",
            completion(&json!("content_filter"), &said("Oi")),
            Refusal,
        ),
        (
            "declined",
            completion(
                &json!("stop"),
                &json!({"content": null, "refusal": "não posso"}),
            ),
            Refusal,
        ),
        ("no choice", json!({"choices": []}), Transient),
        (
            "all spent on thinking",
            completion(
                &json!("length"),
                &json!({"content": null, "reasoning": "hm"}),
            ),
            Cut,
        ),
        (
            "nothing to see",
            completion(&json!("stop"), &said("\u{200b} ")),
            Cut,
        ),
        (
            "a call that was cut",
            completion(
                &json!("length"),
                &json!({"content": "", "tool_calls": [call("c1", &json!("{\"a"))]}),
            ),
            Cut,
        ),
    ] {
        assert_eq!(
            decoded(OpenRouter, &body).unwrap_err().class,
            class,
            "{label}"
        );
    }
}

#[test]
fn calls_come_with_text_or_object_for_arguments_and_each_gets_an_id() {
    let message = json!({"content": null, "tool_calls": [
        call("functions.book:0", &json!("{\"a\":1}")),
        call("functions.book:0", &json!({"a": 2})),
        {"function": {"name": "hours"}},
    ]});
    let reply = decoded(Compatible, &completion(&json!("tool_calls"), &message)).unwrap();
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| {
            (
                call.id.as_str(),
                call.tool.as_str(),
                call.arguments.as_str(),
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("functions.book:0", "book", "{\"a\":1}"),
            ("call_1", "book", "{\"a\":2}"),
            ("call_2", "hours", "{}"),
        ]
    );
    assert!(reply.carried.is_empty(), "the calls alone say it all");
}

#[test]
fn thoughts_go_back_with_their_calls_and_only_with_them() {
    let details = json!([{"type": "reasoning.encrypted", "data": "gAAA"}]);
    let message = json!({
        "role": "assistant", "content": "Um momento.", "reasoning": "hm", "reasoning_details": details,
        "tool_calls": [call("c1", &json!("{\"a\":")), {"id": "c2", "function": {"name": "a b", "arguments": "{}"}}],
    });
    let body = completion(&json!("tool_calls"), &message);
    let reply = decoded(OpenRouter, &body).unwrap();
    assert_eq!(reply.text, "Um momento.");
    let back = json!({
        "role": "assistant", "content": "Um momento.", "reasoning_details": details,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "book", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "unnamed", "arguments": "{}"}},
        ],
    });
    assert_eq!(reply.carried.of("openrouter:m"), Some(&[back][..]));
    assert_eq!(reply.carried.of("openrouter:another"), None);
    assert_eq!(reply.carried.of("compatible:m"), None);
    let mut alone = said("Oi");
    alone["reasoning_details"] = details;
    let reply = decoded(OpenRouter, &completion(&json!("stop"), &alone)).unwrap();
    assert!(reply.carried.is_empty());
}

#[test]
fn thoughts_among_the_words_of_a_local_model_are_not_said() {
    for (text, said) in [
        (
            "<think>hm\n\nela quer sexta</think>\n\nMarcado!",
            Some("Marcado!"),
        ),
        ("ela quer sexta</think>Marcado!", Some("Marcado!")),
        ("<think></think>Marcado!", Some("Marcado!")),
        ("Marcado!", Some("Marcado!")),
        (
            "Escreva <think> e depois </think>.",
            Some("Escreva <think> e depois </think>."),
        ),
        ("<think>hm", None),
        ("<think>hm</think> \n", None),
    ] {
        let body = completion(&json!("stop"), &json!({"content": text}));
        let found = decoded(Compatible, &body).map(|reply| reply.text);
        assert_eq!(found.as_deref().ok(), said, "{text}");
    }
}

#[test]
fn usage_is_read_into_disjoint_buckets_with_the_provider_s_own_cost() {
    let mut body = completion(&json!("stop"), &said("oi"));
    body["usage"] = json!({
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "cost": 0.001_234_5,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    });
    let usage = decoded(OpenRouter, &body).unwrap().usage;
    let right = Usage {
        input_uncached: 10,
        input_cache_read: 60,
        input_cache_write: 30,
        output: 20,
        cost_micro_usd: Some(1_235),
    };
    assert_eq!(usage, right);
    for (cost, byok, upstream, micro) in [
        (json!(0), false, json!(null), Some(0)),
        (json!(0.05), true, json!(0.1), Some(150_000)),
        (json!(0.05), false, json!(0.1), Some(50_000)),
        (json!(-1), false, json!(null), None),
        (json!(1e300), false, json!(null), None),
        (json!("0.1"), false, json!(null), None),
        (json!(null), false, json!(null), None),
    ] {
        body["usage"]["cost"] = cost.clone();
        body["usage"]["is_byok"] = json!(byok);
        body["usage"]["cost_details"] = json!({"upstream_inference_cost": upstream});
        let usage = decoded(OpenRouter, &body).unwrap().usage;
        assert_eq!(usage.cost_micro_usd, micro, "{cost}");
    }
    body.as_object_mut().unwrap().remove("usage");
    assert_eq!(decoded(OpenRouter, &body).unwrap().usage, Usage::default());
}
