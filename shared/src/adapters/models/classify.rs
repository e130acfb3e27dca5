//! Which class a failure belongs to. The same error is the same class, whether it comes as a status or inside a 200.
//!
//! Order matters: quota before throttling (both are 429), throttling before overflow ("too many tokens, please wait"
//! must not destroy the history), codes before sentences.

use serde_json::Value;

use crate::error::Metered;
use crate::error::ModelErrorClass::{
    self, Auth, Cut, Invalid, Missing, Overflow, Quota, Refusal, Throttled, Transient,
};

/// A failure before the headers have had their say.
pub struct Failure {
    pub class: ModelErrorClass,
    /// Safe to log: status and code, never a sentence of the provider's, which may quote the request.
    pub reason: String,
    /// What it cost all the same.
    pub metered: Option<Metered>,
}

impl Failure {
    pub fn new(class: ModelErrorClass, reason: impl Into<String>) -> Self {
        Self {
            class,
            reason: reason.into(),
            metered: None,
        }
    }
}

/// By code or type: exact words.
const CODES: [(&[&str], ModelErrorClass); 8] = [
    (
        &[
            "insufficient_quota",
            "credit_balance_exhausted",
            "billing_error",
            "billing_not_active",
            "billing_hard_limit_reached",
            "enforced_spend_limit_reached",
            "payment_required",
            "token_limit_exceeded",
            "openrouter_credits",
            "openrouter_guardrail_budget",
            "openrouter_workspace_budget",
            "openrouter_key_limit",
        ],
        Quota,
    ),
    (
        &[
            "rate_limit_exceeded",
            "rate_limit_error",
            "slow_down",
            "tokens",
            "requests",
            "throttlingexception",
            // OpenRouter's budget for what runs at once: soon free again, though the status is 402.
            "openrouter_in_flight_budget",
        ],
        Throttled,
    ),
    (
        &[
            "context_length_exceeded",
            "request_too_large",
            "string_above_max_length",
            "string_too_long",
            "payload_too_large",
            "exceed_context_size_error",
            "model_context_window_exceeded",
        ],
        Overflow,
    ),
    (
        &[
            "content_filter",
            "content_policy_violation",
            "image_content_policy_violation",
            "bio_policy",
            "moderation_blocked",
            "refusal",
        ],
        Refusal,
    ),
    (
        &[
            "invalid_api_key",
            "authentication_error",
            "permission_error",
            "authentication",
            "permission_denied",
        ],
        Auth,
    ),
    (
        &[
            "server_error",
            "server_is_overloaded",
            "overloaded_error",
            "api_error",
            "timeout",
            "timeout_error",
            "vector_store_timeout",
            "internal_error",
            "server",
            "provider_overloaded",
            "provider_unavailable",
        ],
        Transient,
    ),
    (
        &[
            "model_not_found",
            "model_not_available",
            "model_decommissioned",
            "not_found_error",
            "notfounderror",
        ],
        Missing,
    ),
    // The answer, not the prompt, was too long.
    (&["max_tokens_exceeded"], Cut),
];

/// By sentence, for servers whose codes say less; lower case.
const SENTENCES: [(&[&str], ModelErrorClass); 6] = [
    (
        &[
            "exceeded your current quota",
            "check your plan and billing",
            "insufficient credits",
            "credit balance is too low",
            "specified api usage limits",
            "spend limit",
        ],
        Quota,
    ),
    (
        &[
            "rate limit",
            "too many requests",
            "too many tokens",
            "tokens per min",
            "please wait",
            "please try again in",
        ],
        Throttled,
    ),
    (
        &[
            "context length",
            "context window",
            "prompt is too long",
            "maximum context",
            "too many input tokens",
            "available context size",
            "context size has been exceeded",
        ],
        Overflow,
    ),
    (
        &[
            "flagged as potentially violating",
            "usage policy",
            "content management policy",
            "your input was flagged",
        ],
        Refusal,
    ),
    // OpenAI's 404 for a part of our request that it does not keep: no other model is to blame for that.
    (&["item with id"], Invalid),
    (
        &[
            "is not a valid model",
            "no endpoints found for",
            "has been decommissioned",
        ],
        Missing,
    ),
];

/// Where providers put a code of their own beside the usual one.
const DEEPER: [&str; 4] = [
    "/details/error_code",
    "/metadata/limit_source",
    "/metadata/error_type",
    "/error_type",
];

/// OpenRouter's moderation says why it refused; other 403s have no such list.
fn is_flagged(error: &Value) -> bool {
    let reasons = error.pointer("/metadata/reasons");
    reasons.is_some_and(Value::is_array)
}

/// The class of an error object, with the status it came by where that was not 200.
pub fn classify(status: Option<u16>, error: &Value) -> Failure {
    // Some servers put the status they would have answered with into the code.
    let number = error
        .get("code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let status = status.or(number);
    let code = word(error, "code");
    let kind = word(error, "type");
    let sentence = word(error, "message");
    // What stands deeper says more: Anthropic's monthly limit is a rate limit by its type, and a budget of OpenRouter's
    // comes with the status of a wrong key.
    let deeper = DEEPER
        .iter()
        .filter_map(|path| error.pointer(path).and_then(Value::as_str))
        .find_map(by_word);
    let class = deeper
        .or_else(|| by_word(&code))
        .or_else(|| by_word(&kind))
        .or_else(|| by_sentence(&sentence))
        .or_else(|| is_flagged(error).then_some(Refusal))
        .or_else(|| status.map(by_status))
        .unwrap_or(Invalid);
    Failure::new(class, reason(status, &code, &kind))
}

fn word(error: &Value, field: &str) -> String {
    // An error may also be a bare sentence.
    let text = error
        .get(field)
        .or_else(|| Some(error).filter(|_| field == "message"));
    text.and_then(Value::as_str)
        .unwrap_or_default()
        .to_lowercase()
}

fn by_word(word: &str) -> Option<ModelErrorClass> {
    CODES
        .iter()
        .find(|(words, _)| words.contains(&word))
        .map(|(_, class)| *class)
}

fn by_sentence(sentence: &str) -> Option<ModelErrorClass> {
    let holds = |phrases: &[&str]| phrases.iter().any(|phrase| sentence.contains(phrase));
    SENTENCES
        .iter()
        .find(|(phrases, _)| holds(phrases))
        .map(|(_, class)| *class)
}

const fn by_status(status: u16) -> ModelErrorClass {
    match status {
        402 => Quota,
        429 => Throttled,
        413 => Overflow,
        401 | 403 => Auth,
        404 => Missing,
        408 | 409 | 500.. => Transient,
        _ => Invalid,
    }
}

/// Status and code; a code that does not look like one is left out.
fn reason(status: Option<u16>, code: &str, kind: &str) -> String {
    let is_code = |word: &&str| {
        (1..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let status = status.map_or_else(
        || "status 200".to_owned(),
        |status| format!("status {status}"),
    );
    match [code, kind].into_iter().find(is_code) {
        Some(code) => format!("{status}, code {code}"),
        None => status,
    }
}
