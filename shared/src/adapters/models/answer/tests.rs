//! What no dialect has for itself: the status before the body, and the class of every provider's errors.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use ModelErrorClass::{
    Auth, Cut, Invalid, Missing, Overflow, Quota, Refusal, Throttled, Transient,
};
use Provider::{Anthropic, Compatible, OpenAi, OpenRouter};

fn decoded(provider: Provider, status: u16, body: &Value) -> Result<ModelReply, ModelError> {
    let asked = Asked {
        provider,
        model: "m",
    };
    decode(
        &asked,
        status,
        &HeaderMap::new(),
        body.to_string().as_bytes(),
    )
}

#[test]
fn each_provider_s_errors_have_their_class() {
    for (label, provider, status, body, class) in [
        (
            "too long",
            Anthropic,
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
            Overflow,
        ),
        (
            "a body too large",
            Anthropic,
            413,
            json!({"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
            Overflow,
        ),
        (
            "overloaded",
            Anthropic,
            529,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            Transient,
        ),
        (
            "a wrong key",
            Anthropic,
            401,
            json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
            Auth,
        ),
        (
            "no credit",
            Anthropic,
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API."}}),
            Quota,
        ),
        (
            "billing",
            Anthropic,
            402,
            json!({"type": "error", "error": {"type": "billing_error", "message": ""}}),
            Quota,
        ),
        (
            "no such model",
            Anthropic,
            404,
            json!({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}),
            Missing,
        ),
        (
            "no such model, by its sentence",
            OpenRouter,
            400,
            json!({"error": {"code": 400, "message": "x/y is not a valid model ID"}}),
            Missing,
        ),
        (
            "a part of our request that is not kept there",
            OpenAi,
            404,
            json!({"error": {"code": null, "type": "invalid_request_error", "message": "Item with id 'rs_1' not found."}}),
            Invalid,
        ),
        (
            "a model that is taken away",
            Compatible,
            400,
            json!({"error": {"code": "model_decommissioned", "message": ""}}),
            Missing,
        ),
        (
            "no credits",
            OpenRouter,
            402,
            json!({"error": {"code": 402, "message": "Insufficient credits", "metadata": {"limit_source": "openrouter_credits"}}}),
            Quota,
        ),
        (
            "too much at once",
            OpenRouter,
            402,
            json!({"error": {"code": 402, "message": "In-flight budget", "metadata": {"limit_source": "openrouter_in_flight_budget"}}}),
            Throttled,
        ),
        (
            "the key's own limit",
            OpenRouter,
            403,
            json!({"error": {"code": 403, "message": "Key limit exceeded", "metadata": {"limit_source": "openrouter_key_limit"}}}),
            Quota,
        ),
        (
            "moderated",
            OpenRouter,
            403,
            json!({"error": {"code": 403, "message": "x", "metadata": {"reasons": ["violence"], "flagged_input": "…"}}}),
            Refusal,
        ),
        (
            "too long, by its type",
            OpenRouter,
            400,
            json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"error_type": "context_length_exceeded"}}}),
            Overflow,
        ),
        (
            "nobody serves it",
            OpenRouter,
            503,
            json!({"error": {"code": 503, "message": "No provider available"}}),
            Transient,
        ),
        (
            "a timeout of its own number",
            OpenRouter,
            524,
            json!({"error": {"code": 524, "message": ""}}),
            Transient,
        ),
        (
            "the answer too long",
            OpenRouter,
            400,
            json!({"error": {"code": 400, "message": "", "metadata": {"error_type": "max_tokens_exceeded"}}}),
            Cut,
        ),
        (
            "llama.cpp: too long",
            Compatible,
            400,
            json!({"error": {"code": 400, "message": "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error"}}),
            Overflow,
        ),
        (
            "llama.cpp: too long while it spoke",
            Compatible,
            500,
            json!({"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error_"}}),
            Overflow,
        ),
        (
            "vLLM: the error without a wrapping",
            Compatible,
            400,
            json!({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "type": "BadRequestError", "code": 400}),
            Overflow,
        ),
        (
            "Ollama: a bare sentence",
            Compatible,
            404,
            json!({"error": "model \"x\" not found, try pulling it first"}),
            Missing,
        ),
        ("a page", Compatible, 502, json!("<html>"), Transient),
        (
            "a page with a good status",
            Compatible,
            200,
            json!("<html>"),
            Transient,
        ),
    ] {
        let found = decoded(provider, status, &body).unwrap_err();
        assert_eq!(found.class, class, "{label}: {found}");
        // M5: the same words inside a 200 are the same failure.
        if status != 200 && body["error"].is_object() && class != Invalid {
            let inside = decoded(provider, 200, &body).unwrap_err();
            assert_eq!(inside.class, class, "{label}, inside a 200");
        }
    }
}

#[test]
fn anthropic_throttles_only_where_it_says_how_long() {
    let asked = |provider, pairs: &[(&'static str, &'static str)], error: &Value| {
        let asked = Asked {
            provider,
            model: "m",
        };
        let headers = pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let body = json!({"type": "error", "error": error}).to_string();
        let error = decode(&asked, 429, &headers, body.as_bytes()).unwrap_err();
        (error.class, error.retry_after.map(|wait| wait.as_secs()))
    };
    let rate = json!({"type": "rate_limit_error", "message": "slow"});
    let spent = json!({"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}});
    assert_eq!(
        asked(Anthropic, &[("retry-after", "7")], &rate),
        (Throttled, Some(7))
    );
    assert_eq!(asked(Anthropic, &[], &rate), (Quota, None));
    assert_eq!(
        asked(Anthropic, &[("x-should-retry", "true")], &rate),
        (Throttled, None)
    );
    assert_eq!(
        asked(Anthropic, &[("retry-after", "7")], &spent),
        (Quota, None)
    );
    for other in [OpenAi, OpenRouter, Compatible] {
        assert_eq!(asked(other, &[], &rate), (Throttled, None));
    }
}

fn providers() -> impl Strategy<Value = Provider> {
    proptest::sample::select(Provider::ALL.to_vec())
}

/// Any JSON of the keys that are looked at.
fn wild() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z_ ]{0,12}|tool_use|text|stop|error|reasoning".prop_map(Value::from),
    ];
    let keys = proptest::sample::select(vec![
        "choices",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "type",
        "text",
        "input",
        "error",
        "code",
        "metadata",
        "usage",
        "cost",
        "finish_reason",
        "stop_reason",
        "output",
        "status",
        "call_id",
        "thinking",
        "reasoning_details",
        "refusal",
        "input_tokens",
    ]);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((keys.clone(), inner), 0..6).prop_map(|fields| {
                let fields = fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(fields.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(provider in providers(), status in any::<u16>(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let asked = Asked { provider, model: "m" };
        let _ = decode(&asked, status, &HeaderMap::new(), &bytes);
    }

    #[test]
    fn no_shape_makes_it_panic_and_every_reply_says_something(provider in providers(), body in wild(), status in prop_oneof![Just(200_u16), Just(429), any::<u16>()]) {
        if let Ok(reply) = decoded(provider, status, &body) {
            prop_assert!(!reply.calls.is_empty() || !is_blank(&reply.text));
            let ids: std::collections::BTreeSet<_> = reply.calls.iter().map(|call| &call.id).collect();
            prop_assert_eq!(ids.len(), reply.calls.len());
        }
    }
}

/// What is of no use to anybody was paid for all the same.
#[test]
fn a_failure_tells_what_it_cost_where_its_provider_does() {
    let empty = json!({
        "model": "big-1", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [],
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 16},
    });
    let error = decoded(OpenAi, 200, &empty).unwrap_err();
    assert_eq!(error.class, Cut);
    let metered = *error.metered.unwrap();
    assert_eq!(metered.model, "big-1");
    assert_eq!((metered.input_uncached, metered.input_cache_read), (40, 60));
    assert_eq!((metered.output, metered.cost_micro_usd), (16, None));
    let broken = json!({
        "model": "open/one", "error": {"code": 502, "message": "down"},
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.000_012},
    });
    let error = decoded(OpenRouter, 200, &broken).unwrap_err();
    assert_eq!(error.metered.unwrap().cost_micro_usd, Some(12));
    let refused = json!({"model": "c", "stop_reason": "refusal", "content": [], "usage": {"input_tokens": 7}});
    let error = decoded(Anthropic, 200, &refused).unwrap_err();
    assert_eq!(
        (error.class, error.metered.unwrap().input_uncached),
        (Refusal, 7)
    );
    let silent = json!({"error": {"code": 502, "message": "down"}});
    assert_eq!(decoded(OpenRouter, 200, &silent).unwrap_err().metered, None);
    let early = json!({"error": {"code": "rate_limit_exceeded"}, "usage": {"input_tokens": 5}});
    assert_eq!(decoded(OpenAi, 429, &early).unwrap_err().metered, None);
}
