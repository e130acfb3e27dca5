//! What came back over HTTP, read into a reply or into a class of failure. The status comes first, then an error inside
//! the body (a 200 that carries an error is that error), then the dialect.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::Asked;
use super::classify::{Failure, classify};
use crate::adapters::retry_after::{should_retry, wait};
use crate::domain::provider::Provider;
use crate::domain::{AskedCall, Carried, Finish, ModelReply, Usage};
use crate::error::{Metered, ModelError, ModelErrorClass};
use crate::policy::visible::is_blank;

/// The reply in an HTTP response, or the failure it amounts to.
pub fn decode(
    asked: &Asked<'_>,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<ModelReply, ModelError> {
    read(asked, status, body).map_err(|failure| {
        let is_final = status == 429 && is_final(asked.provider, headers);
        with_wish(failure, headers, is_final)
    })
}

/// Anthropic says how long to wait wherever waiting helps: without it the money is gone until next month.
fn is_final(provider: Provider, headers: &HeaderMap) -> bool {
    provider == Provider::Anthropic
        && !headers.contains_key(RETRY_AFTER)
        && should_retry(headers) != Some(true)
}

/// The failure with what the provider's headers say of another try.
fn with_wish(failure: Failure, headers: &HeaderMap, is_final: bool) -> ModelError {
    let class = match (failure.class, should_retry(headers)) {
        (ModelErrorClass::Transient, Some(false)) => ModelErrorClass::Invalid,
        (ModelErrorClass::Throttled, Some(false)) => ModelErrorClass::Quota,
        (ModelErrorClass::Throttled, _) if is_final => ModelErrorClass::Quota,
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
        metered: failure.metered.map(Box::new),
    }
}

fn read(asked: &Asked<'_>, status: u16, bytes: &[u8]) -> Result<ModelReply, Failure> {
    let body = serde_json::from_slice::<Value>(bytes);
    if !(200..300).contains(&status) {
        let body = body.unwrap_or_default();
        // Some servers write the error without a wrapping.
        let error = body.get("error").unwrap_or(&body);
        return Err(classify(Some(status), error));
    }
    let body = body.ok().filter(Value::is_object).ok_or_else(unreadable)?;
    let metered = metered(asked, &body);
    let read = if body["error"].is_null() {
        asked.read(body)
    } else {
        Err(classify(None, &body["error"]))
    };
    read.map_err(|failure| Failure { metered, ..failure })
}

/// What an answer cost that may turn out to be of no use.
fn metered(asked: &Asked<'_>, body: &Value) -> Option<Metered> {
    let usage = asked.usage(&body["usage"]);
    (usage != Usage::default()).then(|| usage.metered(name(body)))
}

fn unreadable() -> Failure {
    Failure::new(
        ModelErrorClass::Transient,
        "status 200 without a readable body",
    )
}

/// What a dialect found in an answer that ended well.
pub(super) struct Found {
    /// Its words, with any space around them.
    pub text: String,
    /// The calls it asks for.
    pub calls: Vec<AskedCall>,
    /// The items that go back with the calls' results.
    pub carried: Vec<Value>,
    /// Whether it is whole.
    pub finish: Finish,
}

/// What was found in `body` as a reply, or the failure that it amounts to: of no use are a call that was cut, and an
/// answer with neither words nor calls.
pub(super) fn reply(asked: &Asked<'_>, body: &Value, found: Found) -> Result<ModelReply, Failure> {
    let Found {
        text,
        calls,
        carried,
        finish,
    } = found;
    if finish == Finish::Cut && !calls.is_empty() {
        return Err(Failure::new(ModelErrorClass::Cut, "a call was cut"));
    }
    if is_blank(&text) && calls.is_empty() {
        // All was spent on thinking, as good as cut; or the model had nothing to add to what its calls gave.
        return Err(Failure::new(ModelErrorClass::Cut, "no words in the answer"));
    }
    Ok(ModelReply {
        text: text.trim().to_owned(),
        calls,
        carried: Carried::new(asked.origin(), carried),
        finish,
        usage: asked.usage(&body["usage"]),
        model: name(body),
    })
}

/// What stands at this place, taken out; null where there is nothing.
pub(super) fn take(from: &mut Value, path: &str) -> Value {
    from.pointer_mut(path).map(Value::take).unwrap_or_default()
}

/// A number of tokens; what is no such number counts as none.
pub(super) fn count(usage: &Value, path: &str) -> u64 {
    usage.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// Usage of a provider that counts cached tokens inside the input; ours are disjoint.
pub(super) fn nested(input: u64, read: u64, write: u64, output: u64) -> Usage {
    Usage {
        input_uncached: input.saturating_sub(read).saturating_sub(write),
        input_cache_read: read,
        input_cache_write: write,
        output,
        cost_micro_usd: None,
    }
}

/// The name of the model that answered, as the provider gives it.
fn name(body: &Value) -> String {
    body["model"].as_str().unwrap_or("unnamed").to_owned()
}

#[cfg(test)]
mod tests;
