//! What came back from `POST /messages`, read into words or into a class of failure. The reason why the model stopped is
//! looked at before its words.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::Asked;
use super::super::answer::{Found, count, reply, take};
use super::super::calls::{asked_call, name_sent};
use super::super::classify::Failure;
use crate::domain::{Arguments, AskedCall, Finish, ModelReply, Usage};
use crate::error::ModelErrorClass::{Overflow, Refusal, Transient};
use crate::policy::visible::is_blank;

/// The reply in a message.
pub fn read(asked: &Asked<'_>, mut body: Value) -> Result<ModelReply, Failure> {
    let finish = finish(body["stop_reason"].as_str())?;
    let Value::Array(blocks) = take(&mut body, "/content") else {
        return Err(Failure::new(Transient, "no content in the answer"));
    };
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
    let (calls, carried) = calls(blocks);
    let found = Found {
        text,
        calls,
        carried,
        finish,
    };
    reply(asked, &body, found)
}

fn finish(stop_reason: Option<&str>) -> Result<Finish, Failure> {
    match stop_reason {
        // A pause asks for a next request to go on in: for us, who use no tools of theirs, an answer that broke off.
        Some("max_tokens" | "pause_turn") => Ok(Finish::Cut),
        Some("refusal") => Err(Failure::new(Refusal, "stop_reason refusal")),
        Some("model_context_window_exceeded") => Err(Failure::new(
            Overflow,
            "stop_reason model_context_window_exceeded",
        )),
        _ => Ok(Finish::Complete),
    }
}

/// The calls, and the content as it goes back with their results; nothing where the calls alone say it all.
fn calls(blocks: Vec<Value>) -> (Vec<AskedCall>, Vec<Value>) {
    let (mut calls, mut carried) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    let mut thinks = false;
    for mut block in blocks {
        match block["type"].as_str() {
            Some("tool_use") => {
                let (id, tool, input) = (&block["id"], &block["name"], &block["input"]);
                let call = asked_call(id, tool, input, calls.len(), &mut taken);
                mend(&mut block, &call);
                calls.push(call);
            }
            // Signed: refused where a letter is missing.
            Some("thinking" | "redacted_thinking") => thinks = true,
            Some("text") if !block["text"].as_str().is_none_or(is_blank) => {}
            // A blank text would be refused, and what we do not know we cannot give back.
            _ => continue,
        }
        carried.push(block);
    }
    if !thinks || calls.is_empty() {
        carried.clear();
    }
    (calls, carried)
}

/// A call that was not well made goes back as one that is.
fn mend(block: &mut Value, call: &AskedCall) {
    block["id"] = json!(call.id);
    if !block["input"].is_object() || Arguments::parse(&call.arguments).is_none() {
        block["input"] = json!({});
    }
    block["name"] = json!(name_sent(call));
}

/// The three buckets are disjoint here already.
pub fn usage(usage: &Value) -> Usage {
    Usage {
        input_uncached: count(usage, "/input_tokens"),
        input_cache_read: count(usage, "/cache_read_input_tokens"),
        input_cache_write: count(usage, "/cache_creation_input_tokens"),
        output: count(usage, "/output_tokens"),
        cost_micro_usd: None,
    }
}

#[cfg(test)]
mod tests;
