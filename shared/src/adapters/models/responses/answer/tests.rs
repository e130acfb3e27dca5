//! Answers and failures as they come, by name.

use proptest::prelude::*;
use reqwest::header::HeaderMap;
use serde_json::json;

use super::*;
use crate::adapters::models;
use crate::domain::Provider;
use crate::error::ModelError;
use crate::policy::visible::is_blank;
use ModelErrorClass::{
    Auth, Cut, Invalid, Missing, Overflow, Quota, Refusal, Throttled, Transient,
};

fn decode(status: u16, headers: &HeaderMap, body: &[u8]) -> Result<ModelReply, ModelError> {
    let asked = Asked {
        provider: Provider::OpenAi,
        model: "gpt-x",
    };
    models::decode(&asked, status, headers, body)
}

fn message(content: &Value) -> Value {
    json!({"type": "message", "role": "assistant", "content": content})
}

fn said(text: &str) -> Value {
    message(&json!([{"type": "output_text", "text": text}]))
}

fn body(status: &str, output: &Value) -> Value {
    json!({"object": "response", "status": status, "error": null, "incomplete_details": null, "output": output, "model": "gpt-x"})
}

fn incomplete(reason: &str, output: &Value) -> Value {
    let mut body = body("incomplete", output);
    body["incomplete_details"] = json!({"reason": reason});
    body
}

fn decoded(status: u16, body: &Value) -> Result<ModelReply, ModelError> {
    decode(status, &HeaderMap::new(), body.to_string().as_bytes())
}

#[test]
fn an_answer_is_its_output_texts_joined() {
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "Pensando"}]},
        message(&json!([{"type": "output_text", "text": "Oi, "}, {"type": "output_text", "text": "Ana!\n"}])),
    ]);
    let reply = decoded(200, &body("completed", &output)).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Oi, Ana!", Finish::Complete)
    );
    assert_eq!(reply.model, "gpt-x");
    assert_eq!(reply.usage, Usage::default());
}

#[test]
fn calls_are_an_answer_without_words() {
    let call = json!({"type": "function_call", "call_id": "c1", "name": "book", "arguments": "{}"});
    let reply = decoded(200, &body("completed", &json!([call]))).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("", 1));
    let both = json!([said("Um momento."), call]);
    let reply = decoded(200, &body("completed", &both)).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("Um momento.", 1));
    let cut = decoded(200, &incomplete("max_output_tokens", &json!([call])));
    assert_eq!(cut.unwrap_err().class, Cut, "a cut call is not made");
}

#[test]
fn usage_is_read_into_disjoint_buckets() {
    let mut body = body("completed", &json!([said("oi")]));
    body["usage"] = json!({
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 120,
    });
    let usage = decoded(200, &body).unwrap().usage;
    assert_eq!(
        (
            usage.input_uncached,
            usage.input_cache_read,
            usage.input_cache_write,
            usage.output
        ),
        (10, 60, 30, 20)
    );
    assert_eq!(usage.input(), 100);
}

#[test]
fn numbers_beyond_all_measure_are_only_large() {
    let mut body = body("completed", &json!([said("oi")]));
    body["usage"] = json!({
        "input_tokens": u64::MAX, "output_tokens": u64::MAX,
        "input_tokens_details": {"cached_tokens": u64::MAX, "cache_write_tokens": u64::MAX},
    });
    assert_eq!(decoded(200, &body).unwrap().usage.input(), u64::MAX);
    body["usage"] = json!({"input_tokens": -1, "output_tokens": 1e300, "input_tokens_details": 7});
    assert_eq!(decoded(200, &body).unwrap().usage, Usage::default());
}

#[test]
fn what_is_not_of_the_promised_form_does_not_sink_the_words_beside_it() {
    for (label, odd) in [
        (
            "thoughts as a text",
            json!({"type": "reasoning", "content": "hm"}),
        ),
        (
            "thoughts as a number",
            json!({"type": "reasoning", "content": 7, "summary": {}}),
        ),
        (
            "a message without a list",
            json!({"type": "message", "content": "x"}),
        ),
        (
            "odd parts",
            json!({"type": "message", "content": [7, null, {"type": "output_text", "text": 1}]}),
        ),
        ("a kind that is no text", json!({"type": 3, "phase": []})),
        ("no object", json!("x")),
        ("nothing", json!(null)),
    ] {
        let body = body("completed", &json!([odd, said("oi")]));
        assert_eq!(decoded(200, &body).unwrap().text, "oi", "{label}");
    }
    let mut body = body("completed", &json!([said("oi")]));
    for key in ["status", "incomplete_details", "usage", "model"] {
        body[key] = json!(7);
    }
    let reply = decoded(200, &body).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.model.as_str()),
        ("oi", "unnamed")
    );
}

#[test]
fn an_answer_cut_at_the_cap_keeps_its_text() {
    let reply = decoded(
        200,
        &incomplete("max_output_tokens", &json!([said("Era uma vez")])),
    )
    .unwrap();
    assert_eq!(reply.finish, Finish::Cut);
}

#[test]
fn an_answer_that_is_none_has_its_class() {
    let refusal = message(&json!([{"type": "refusal", "refusal": "no"}]));
    for (label, body, class) in [
        (
            "cut before any text",
            incomplete("max_output_tokens", &json!([])),
            Cut,
        ),
        (
            "cut with blank text",
            incomplete("max_output_tokens", &json!([said(" \n")])),
            Cut,
        ),
        (
            "filtered, with text",
            incomplete("content_filter", &json!([said("oi")])),
            Refusal,
        ),
        (
            "a refusal part",
            body("completed", &json!([refusal])),
            Refusal,
        ),
        (
            "nothing but thinking",
            body("completed", &json!([{"type": "reasoning"}])),
            Cut,
        ),
        (
            "invisible words",
            body("completed", &json!([said("\u{200b}")])),
            Cut,
        ),
        (
            "failed without a word, with text",
            body("failed", &json!([said("oi")])),
            Transient,
        ),
        ("still queued", body("queued", &json!([])), Transient),
        ("cancelled", body("cancelled", &json!([])), Transient),
        ("not an object", json!([1, 2]), Transient),
    ] {
        assert_eq!(decoded(200, &body).unwrap_err().class, class, "{label}");
    }
}

#[test]
fn each_error_has_one_class() {
    let error = |code: &str, kind: &str, message: &str| json!({"code": code, "type": kind, "message": message});
    for (label, status, error, class) in [
        (
            "rate limit",
            429,
            error("rate_limit_exceeded", "tokens", "Rate limit reached"),
            Throttled,
        ),
        ("slow down", 429, error("slow_down", "", ""), Throttled),
        (
            "no quota",
            429,
            error(
                "insufficient_quota",
                "insufficient_quota",
                "You exceeded your current quota",
            ),
            Quota,
        ),
        (
            "no credit",
            429,
            error("credit_balance_exhausted", "insufficient_quota", ""),
            Quota,
        ),
        (
            "no quota, by sentence only",
            429,
            error("", "", "You exceeded your current quota, please check"),
            Quota,
        ),
        (
            "too long, by code",
            400,
            error("context_length_exceeded", "invalid_request_error", ""),
            Overflow,
        ),
        (
            "too long, by sentence",
            400,
            error(
                "",
                "invalid_request_error",
                "prompt is too long: 9 tokens > 8 maximum",
            ),
            Overflow,
        ),
        (
            "throttling that speaks of tokens",
            400,
            error("", "", "Too many tokens, please wait: context window busy"),
            Throttled,
        ),
        ("body too large", 413, Value::Null, Overflow),
        (
            "flagged",
            400,
            error(
                "invalid_prompt",
                "invalid_request_error",
                "flagged as potentially violating our usage policy",
            ),
            Refusal,
        ),
        (
            "filtered",
            403,
            error("content_policy_violation", "", ""),
            Refusal,
        ),
        (
            "wrong key",
            401,
            error("invalid_api_key", "invalid_request_error", ""),
            Auth,
        ),
        ("no right", 403, Value::Null, Auth),
        ("unpaid", 402, Value::Null, Quota),
        (
            "overloaded",
            503,
            error("server_is_overloaded", "", ""),
            Transient,
        ),
        ("a gateway's page", 502, Value::Null, Transient),
        ("timeout", 408, Value::Null, Transient),
        ("conflict", 409, Value::Null, Transient),
        ("provider overloaded", 529, Value::Null, Transient),
        (
            "wrong parameter",
            400,
            error(
                "unknown_parameter",
                "invalid_request_error",
                "Unknown parameter",
            ),
            Invalid,
        ),
        (
            "no such model",
            404,
            error("model_not_found", "invalid_request_error", ""),
            Missing,
        ),
        ("a redirect", 302, Value::Null, Invalid),
    ] {
        let found = decoded(status, &json!({"error": error})).unwrap_err();
        assert_eq!(found.class, class, "{label}");
        // The same error inside a 200, where its words alone can tell.
        if error.is_object() && label != "wrong parameter" {
            let mut inside = body("failed", &json!([said("oi")]));
            inside["error"] = error;
            assert_eq!(
                decoded(200, &inside).unwrap_err().class,
                class,
                "{label}, inside a 200"
            );
        }
    }
}

#[test]
fn a_number_for_a_code_counts_as_the_status() {
    for (code, class) in [
        (429, Throttled),
        (502, Transient),
        (402, Quota),
        (400, Invalid),
    ] {
        let found = decoded(200, &json!({"error": {"code": code, "message": "x"}})).unwrap_err();
        assert_eq!(
            (found.class, found.reason),
            (class, format!("status {code}"))
        );
    }
}

#[test]
fn no_sentence_of_the_provider_reaches_the_log() {
    let error = json!({"error": {"code": "Ana disse 5511987654321", "type": "x y", "message": "Ana disse sk-123"}});
    assert_eq!(decoded(400, &error).unwrap_err().reason, "status 400");
    let error = json!({"error": {"code": "rate_limit_exceeded", "message": "Ana"}});
    assert_eq!(
        decoded(429, &error).unwrap_err().reason,
        "status 429, code rate_limit_exceeded"
    );
}

#[test]
fn headers_say_whether_and_when_to_try_again() {
    let asked = |status: u16, pairs: &[(&'static str, &'static str)]| {
        let headers = pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let error = decode(status, &headers, b"{}").unwrap_err();
        (error.class, error.retry_after.map(|wait| wait.as_secs()))
    };
    assert_eq!(asked(429, &[("retry-after", "5")]), (Throttled, Some(5)));
    assert_eq!(asked(503, &[("retry-after", "5")]), (Transient, Some(5)));
    assert_eq!(
        asked(429, &[("retry-after", "5"), ("x-should-retry", "false")]),
        (Quota, None)
    );
    assert_eq!(asked(500, &[("x-should-retry", "false")]), (Invalid, None));
    assert_eq!(asked(422, &[("x-should-retry", "true")]), (Transient, None));
    assert_eq!(
        asked(401, &[("x-should-retry", "true"), ("retry-after", "5")]),
        (Auth, None)
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(status in any::<u16>(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(status, &HeaderMap::new(), &bytes);
    }

    #[test]
    fn no_shape_makes_it_panic_and_no_reply_is_blank(
        status in prop_oneof![Just("completed"), Just("incomplete"), Just("failed"), Just("x")],
        text in "\\PC{0,12}| *",
        wild in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("x")), Just(json!([])), Just(json!({"code": 1}))],
        field in prop_oneof![Just("output"), Just("usage"), Just("error"), Just("model"), Just("nothing")],
    ) {
        let mut body = body(status, &json!([said(&text)]));
        body[field] = wild;
        if let Ok(reply) = decoded(200, &body) {
            prop_assert!(!is_blank(&reply.text));
        }
    }
}
