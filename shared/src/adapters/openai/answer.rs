//! What came back from `POST /responses`, read into words or into a class of failure.
//!
//! The status inside the body is looked at before its output: an answer that failed or was cut can hold text too. A
//! 200 that carries an error is that error.

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

use super::calls;
use super::classify::{Failure, classify};
use crate::adapters::retry_after::{should_retry, wait};
use crate::domain::{Finish, ModelReply, Usage};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::visible::is_blank;

/// The parts of a response object that are looked at; whatever else it holds is ignored, and what is not of the
/// promised form counts as absent: one odd item must not sink a good answer.
#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    status: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    incomplete_details: Value,
    output: Option<Vec<Value>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    model: Value,
}

/// The reply in an HTTP response, or the failure it amounts to.
pub fn decode(status: u16, headers: &HeaderMap, body: &[u8]) -> Result<ModelReply, ModelError> {
    read(status, body).map_err(|failure| with_wish(failure, headers))
}

/// The failure with what the provider's headers say of another try.
fn with_wish(failure: Failure, headers: &HeaderMap) -> ModelError {
    let class = match (failure.class, should_retry(headers)) {
        (ModelErrorClass::Transient, Some(false)) => ModelErrorClass::Invalid,
        (ModelErrorClass::Throttled, Some(false)) => ModelErrorClass::Quota,
        (ModelErrorClass::Invalid, Some(true)) => ModelErrorClass::Transient,
        (class, _) => class,
    };
    let waits = matches!(
        class,
        ModelErrorClass::Transient | ModelErrorClass::Throttled
    );
    ModelError {
        class,
        retry_after: if waits { wait(headers) } else { None },
        reason: failure.reason,
    }
}

fn read(status: u16, bytes: &[u8]) -> Result<ModelReply, Failure> {
    if !(200..300).contains(&status) {
        let error = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        return Err(classify(
            Some(status),
            error.get("error").unwrap_or(&Value::Null),
        ));
    }
    let body: Body = serde_json::from_slice(bytes).map_err(|_| unreadable())?;
    if !body.error.is_null() {
        return Err(classify(None, &body.error));
    }
    let finish = finish(&body)?;
    let output = body.output.unwrap_or_default();
    let (text, refused) = words(&output);
    if refused {
        return Err(Failure::new(ModelErrorClass::Refusal, "the model declined"));
    }
    let (calls, carried) = calls::read(output);
    if finish == Finish::Cut && !calls.is_empty() {
        return Err(Failure::new(ModelErrorClass::Cut, "a call was cut"));
    }
    if is_blank(&text) && calls.is_empty() {
        // Completed without a word: all was spent on thinking, as good as cut.
        return Err(Failure::new(ModelErrorClass::Cut, "no words in the answer"));
    }
    Ok(ModelReply {
        text,
        calls,
        carried,
        finish,
        usage: usage(&body.usage),
        model: body.model.as_str().unwrap_or("unnamed").to_owned(),
    })
}

fn unreadable() -> Failure {
    Failure::new(
        ModelErrorClass::Transient,
        "status 200 without a readable body",
    )
}

/// How the answer ended, by the body's own status.
fn finish(body: &Body) -> Result<Finish, Failure> {
    let reason = body.incomplete_details["reason"].as_str();
    match (body.status.as_str(), reason) {
        // Servers that imitate the API may leave the status out.
        (Some("completed") | None, _) => Ok(Finish::Complete),
        (Some("incomplete"), Some("content_filter")) => Err(Failure::new(
            ModelErrorClass::Refusal,
            "incomplete: content_filter",
        )),
        (Some("incomplete"), _) => Ok(Finish::Cut),
        (Some("failed"), _) => Err(Failure::new(
            ModelErrorClass::Transient,
            "failed without an error",
        )),
        (Some(_), _) => Err(Failure::new(ModelErrorClass::Transient, "not finished")),
    }
}

/// The words of the final answer, and whether there is a refusal among its parts.
fn words(output: &[Value]) -> (String, bool) {
    let messages = || output.iter().filter(|item| item["type"] == "message");
    let refused = messages()
        .flat_map(parts)
        .any(|part| part["type"] == "refusal");
    let text: String = messages()
        .filter(|item| item["phase"] != "commentary")
        .flat_map(parts)
        .filter(|part| part["type"] == "output_text")
        .filter_map(|part| part["text"].as_str())
        .collect();
    (text.trim().to_owned(), refused)
}

fn parts(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

/// Cached tokens are counted inside the input; ours are disjoint.
fn usage(usage: &Value) -> Usage {
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let input_cache_read = count("/input_tokens_details/cached_tokens");
    let input_cache_write = count("/input_tokens_details/cache_write_tokens");
    Usage {
        input_uncached: count("/input_tokens")
            .saturating_sub(input_cache_read)
            .saturating_sub(input_cache_write),
        input_cache_read,
        input_cache_write,
        output: count("/output_tokens"),
    }
}

#[cfg(test)]
mod tests;
