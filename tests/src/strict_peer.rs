//! Model providers that refuse what the real ones refuse, in their own words. Some rules are stricter than any single
//! provider's: what one gateway or one model's template refuses, nobody gets.

mod anthropic;
mod chat;
mod responses;
mod server;

use recado::domain::Provider;
use serde_json::{Value, json};

pub use server::{Answer, KEY, Peer, Seen};

/// A refusal: a status and the provider's own error body.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Value,
}

impl Refusal {
    /// The sentence in the body.
    pub fn sentence(&self) -> &str {
        self.body["error"]["message"].as_str().unwrap_or_default()
    }
}

/// The first thing that `provider` refuses in a request; `window` is the longest prompt in tokens.
pub fn refusal(provider: Provider, body: &Value, window: usize) -> Option<Refusal> {
    let sentence = match provider {
        Provider::OpenAi => responses::complaint(body),
        Provider::OpenRouter | Provider::Compatible => chat::complaint(provider, body),
        Provider::Anthropic => anthropic::complaint(body),
    };
    if let Some(sentence) = sentence {
        return Some(refused(provider, 400, "invalid_request_error", &sentence));
    }
    // Nobody's own count, but near enough to tell a long prompt from a short one.
    let tokens = body.to_string().len() / 4;
    (tokens > window).then(|| too_long(provider, tokens, window))
}

/// The refusal of a request that is fine as a whole, with a window that holds anything.
pub fn complaint(provider: Provider, body: &Value) -> Option<String> {
    let refusal = refusal(provider, body, usize::MAX)?;
    Some(refusal.sentence().to_owned())
}

/// An error as the provider writes it.
pub fn refused(provider: Provider, status: u16, kind: &str, sentence: &str) -> Refusal {
    let body = match provider {
        Provider::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": sentence}, "request_id": "req_1"})
        }
        Provider::OpenRouter => json!({"error": {"code": status, "message": sentence}}),
        Provider::OpenAi | Provider::Compatible => {
            json!({"error": {"message": sentence, "type": kind, "param": null, "code": null}})
        }
    };
    Refusal { status, body }
}

fn too_long(provider: Provider, tokens: usize, window: usize) -> Refusal {
    match provider {
        Provider::OpenAi => {
            let sentence = "Your input exceeds the context window of this model. Please adjust your input and try again.";
            let mut refusal = refused(provider, 400, "invalid_request_error", sentence);
            refusal.body["error"]["code"] = json!("context_length_exceeded");
            refusal
        }
        Provider::OpenRouter => refused(
            provider,
            400,
            "",
            &format!(
                "This endpoint's maximum context length is {window} tokens. However, you requested about {tokens} tokens."
            ),
        ),
        Provider::Anthropic => refused(
            provider,
            400,
            "invalid_request_error",
            &format!("prompt is too long: {tokens} tokens > {window} maximum"),
        ),
        Provider::Compatible => refused(
            provider,
            400,
            "exceed_context_size_error",
            &format!(
                "request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
            ),
        ),
    }
}

/// The first field that stands where none of these is known.
fn unknown_field<'a>(object: &'a Value, known: &[&str]) -> Option<&'a str> {
    let mut fields = object.as_object().into_iter().flatten();
    fields
        .find(|(field, _)| !known.contains(&field.as_str()))
        .map(|(field, _)| field.as_str())
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether a text is one JSON object.
fn is_object(text: &Value) -> bool {
    serde_json::from_str::<Value>(word(text)).is_ok_and(|value| value.is_object())
}

/// A name that two tools have.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}
