//! What came back from `POST /chat/completions`, read into words or into a class of failure.
//!
//! Once a model has begun, OpenRouter's status stays 200: its failure stands in the choice.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::Asked;
use super::super::answer::{Found, count, nested, reply, take};
use super::super::calls::{asked_call, name_sent};
use super::super::classify::{Failure, classify};
use crate::domain::provider::Provider;
use crate::domain::{Arguments, AskedCall, Finish, ModelReply, Usage};
use crate::error::ModelErrorClass::{Cut, Refusal, Transient};
use crate::policy::visible::is_blank;

/// What a model thought, under the names that servers give it; it goes back with the results of its calls.
const THOUGHTS: [&str; 2] = ["reasoning_details", "reasoning_content"];

/// The reply in a completion.
pub fn read(asked: &Asked<'_>, mut body: Value) -> Result<ModelReply, Failure> {
    let mut choice = take(&mut body, "/choices/0");
    if !choice["error"].is_null() {
        return Err(classify(None, &choice["error"]));
    }
    let finish = finish(&choice)?;
    let message = take(&mut choice, "/message");
    if message["refusal"]
        .as_str()
        .is_some_and(|words| !is_blank(words))
    {
        return Err(Failure::new(Refusal, "the model declined"));
    }
    let text = words(asked, &message["content"])?;
    let (calls, carried) = calls(message);
    let found = Found {
        text,
        calls,
        carried,
        finish,
    };
    reply(asked, &body, found)
}

fn finish(choice: &Value) -> Result<Finish, Failure> {
    if choice.is_null() {
        return Err(Failure::new(Transient, "no choice in the answer"));
    }
    match choice["finish_reason"].as_str() {
        Some("length") => Ok(Finish::Cut),
        Some("content_filter") => Err(Failure::new(Refusal, "finish_reason content_filter")),
        Some("error") => Err(Failure::new(Transient, "finish_reason error")),
        // Servers that imitate the API have reasons of their own, or none.
        _ => Ok(Finish::Complete),
    }
}

/// The words, a text or parts of one.
fn words(asked: &Asked<'_>, content: &Value) -> Result<String, Failure> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect()
        }
        _ => String::new(),
    };
    match asked.provider {
        Provider::Compatible => spoken(&text).map(str::to_owned),
        _ => Ok(text),
    }
}

/// Without what a model thought aloud: a server that does not know the model leaves it among the words, at times
/// without its beginning, which the template had already written.
fn spoken(text: &str) -> Result<&str, Failure> {
    const BEGIN: &str = "<think>";
    let begins = text.trim_start().starts_with(BEGIN);
    match text.split_once("</think>") {
        Some((thought, rest)) if begins || !thought.contains(BEGIN) => Ok(rest),
        None if begins => Err(Failure::new(Cut, "cut while thinking")),
        _ => Ok(text),
    }
}

/// The calls, and the message as it goes back; nothing where the calls alone say it all.
fn calls(mut message: Value) -> (Vec<AskedCall>, Vec<Value>) {
    let mut taken = BTreeSet::new();
    let mut calls: Vec<AskedCall> = Vec::new();
    let mut written = Vec::new();
    for item in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &item["function"];
        let (called, arguments) = (&function["name"], &function["arguments"]);
        let call = asked_call(&item["id"], called, arguments, calls.len(), &mut taken);
        written.push(well_made(&call));
        calls.push(call);
    }
    let thoughts = THOUGHTS.into_iter().filter_map(|key| {
        let thought = take(&mut message, &format!("/{key}"));
        let is_there = match &thought {
            Value::Array(items) => !items.is_empty(),
            Value::String(text) => !is_blank(text),
            _ => false,
        };
        is_there.then(|| (key.to_owned(), thought))
    });
    let thoughts: Vec<_> = thoughts.collect();
    if calls.is_empty() || thoughts.is_empty() {
        return (calls, Vec::new());
    }
    let content = message["content"].as_str().filter(|text| !is_blank(text));
    let mut back = json!({"role": "assistant", "content": content, "tool_calls": written});
    for (key, thought) in thoughts {
        back[key] = thought;
    }
    (calls, vec![back])
}

/// A call as every server takes it back.
fn well_made(call: &AskedCall) -> Value {
    let given = Arguments::parse(&call.arguments).map(|_| call.arguments.as_str());
    let function = json!({"name": name_sent(call), "arguments": given.unwrap_or("{}")});
    json!({"id": call.id, "type": "function", "function": function})
}

/// Cached tokens are counted inside the input.
pub fn usage(usage: &Value) -> Usage {
    Usage {
        cost_micro_usd: cost(usage),
        ..nested(
            count(usage, "/prompt_tokens"),
            count(usage, "/prompt_tokens_details/cached_tokens"),
            count(usage, "/prompt_tokens_details/cache_write_tokens"),
            count(usage, "/completion_tokens"),
        )
    }
}

/// In millionths of a US dollar. With a key of one's own at the model's provider, that one's bill comes on top.
fn cost(usage: &Value) -> Option<u64> {
    let dollars = usage["cost"].as_f64()?;
    let upstream = match usage["is_byok"].as_bool() {
        Some(true) => usage["cost_details"]["upstream_inference_cost"]
            .as_f64()
            .unwrap_or(0.0),
        _ => 0.0,
    };
    let micro = ((dollars + upstream) * 1e6).round();
    // Beyond this a float no longer counts single units, and no call costs as much.
    let is_cost = (0.0..9e15).contains(&micro);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative, and in range"
    )]
    is_cost.then_some(micro as u64)
}

#[cfg(test)]
mod tests;
