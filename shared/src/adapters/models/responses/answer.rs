//! What came back from `POST /responses`, read into words or into a class of failure.
//!
//! The status inside the body is looked at before its output: an answer that failed or was cut can hold text too.

use serde_json::Value;

use super::super::Asked;
use super::super::answer::{Found, count, nested, reply, take};
use super::super::classify::Failure;
use super::calls;
use crate::domain::{Finish, ModelReply, Usage};
use crate::error::ModelErrorClass;

/// The reply in a response object. What is not of the promised form counts as absent: one odd item must not sink a good
/// answer.
pub fn read(asked: &Asked<'_>, mut body: Value) -> Result<ModelReply, Failure> {
    let finish = finish(&body)?;
    let output = match take(&mut body, "/output") {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let (text, refused) = words(&output);
    if refused {
        return Err(Failure::new(ModelErrorClass::Refusal, "the model declined"));
    }
    let (calls, carried) = calls::read(output);
    let found = Found {
        text,
        calls,
        carried,
        finish,
    };
    reply(asked, &body, found)
}

/// How the answer ended, by the body's own status.
fn finish(body: &Value) -> Result<Finish, Failure> {
    let reason = body["incomplete_details"]["reason"].as_str();
    match (body["status"].as_str(), reason) {
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
    (text, refused)
}

fn parts(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

/// Cached tokens are counted inside the input.
pub fn usage(usage: &Value) -> Usage {
    nested(
        count(usage, "/input_tokens"),
        count(usage, "/input_tokens_details/cached_tokens"),
        count(usage, "/input_tokens_details/cache_write_tokens"),
        count(usage, "/output_tokens"),
    )
}

#[cfg(test)]
mod tests;
