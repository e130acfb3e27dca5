//! A prompt as the body of `POST /responses`.
//!
//! Rules and persona travel as a developer message, not as `instructions`: only parts of a message can carry a cache
//! mark. The agent's past turns are plain strings, the form that needs none of the ids the provider once gave them.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::Asked;
use super::super::cache::Marks;
use super::super::ids::{WireIds, is_any};
use super::super::pieces::{Called, Pair, Piece, pieces, seen};
use crate::domain::{Output, Prompt, Tool};
use crate::policy::visible::is_blank;

/// The API refuses less.
const OUTPUT_TOKENS_MIN: u32 = 16;
/// The API's limit of an identifier for abuse control.
const IDENTIFIER_CHARS_MAX: usize = 64;
/// How long a mark is kept, at least.
const CACHE_LASTS: Duration = Duration::from_mins(30);

/// The request's body.
pub fn encode(asked: &Asked<'_>, prompt: &Prompt) -> Value {
    let takes_marks = takes_marks(asked.model);
    let marks = if takes_marks {
        Marks::of(prompt, CACHE_LASTS)
    } else {
        Marks::NONE
    };
    let mut body = Map::new();
    body.insert("model".to_owned(), asked.model.into());
    body.insert("store".to_owned(), false.into());
    body.insert("input".to_owned(), input(asked, prompt, marks).into());
    let cap = prompt.output_tokens_max.max(OUTPUT_TOKENS_MIN);
    body.insert("max_output_tokens".to_owned(), cap.into());
    if takes_marks {
        // Left to itself the API marks the newest message, notes and all, which no later turn repeats.
        let mode = if marks.end { "implicit" } else { "explicit" };
        let options = json!({"mode": mode});
        body.insert("prompt_cache_options".to_owned(), options);
    }
    if !is_blank(&prompt.person_key) {
        let key: String = prompt
            .person_key
            .chars()
            .take(IDENTIFIER_CHARS_MAX)
            .collect();
        body.insert("safety_identifier".to_owned(), key.clone().into());
        body.insert("prompt_cache_key".to_owned(), key.into());
    }
    if let Output::Json { name, schema } = &prompt.output {
        let format = json!({"type": "json_schema", "name": name, "schema": schema, "strict": true});
        body.insert("text".to_owned(), json!({"format": format}));
    }
    if !prompt.tools.is_empty() {
        let tools: Vec<Value> = prompt.tools.iter().map(function).collect();
        body.insert("tools".to_owned(), tools.into());
        // What the model thought comes back to it with the results; nothing of it is kept by anyone.
        let include = json!(["reasoning.encrypted_content"]);
        body.insert("include".to_owned(), include);
        if prompt.words_only {
            body.insert("tool_choice".to_owned(), "none".into());
        }
    }
    body.into()
}

/// GPT-5.6 and later take cache marks; others refuse the request for one.
fn takes_marks(model: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    let version = model
        .strip_prefix("gpt-")
        .and_then(|rest| rest.split('-').next())
        .and_then(|version| match version.split_once('.') {
            Some((major, minor)) => Some((number(major)?, number(minor)?)),
            None => Some((number(version)?, 0)),
        });
    version.is_some_and(|version| version >= (5, 6))
}

fn input(asked: &Asked<'_>, prompt: &Prompt, marks: Marks) -> Vec<Value> {
    let mut input = Vec::new();
    let fixed = parts(&seen([&prompt.rules, &prompt.persona]), marks.fixed);
    push(&mut input, "developer", &fixed);
    let memory = parts(&seen(&prompt.memory), marks.fixed);
    push(&mut input, "developer", &memory);
    for piece in pieces(asked, prompt, WireIds::new(is_any), calls_in) {
        match piece {
            Piece::User(blocks) => push(&mut input, "user", &parts(&blocks, false)),
            Piece::Said(text) => input.push(json!({"role": "assistant", "content": text})),
            Piece::Called(called) => push_calls(&mut input, &called),
            Piece::Last(words, notes) => {
                let parts = [parts(&words, marks.words), parts(&notes, false)].concat();
                push(&mut input, "user", &parts);
            }
        }
    }
    input
}

/// Schemas come from agent files: they need not keep to the strict subset.
fn function(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

/// The calls that an item of the provider's holds.
fn calls_in(item: &Value) -> Vec<&str> {
    if item["type"] == "function_call" {
        item["call_id"].as_str().into_iter().collect()
    } else {
        Vec::new()
    }
}

/// What the provider gave goes back whole and in order, thoughts before their calls; the results follow. Else each call
/// goes without the id the provider gave its item, so that it asks for none of the thoughts that led to it.
fn push_calls(input: &mut Vec<Value>, called: &Called<'_>) {
    if let Some(carried) = called.carried {
        input.extend(carried.iter().cloned());
    }
    for pair in &called.pairs {
        if called.carried.is_none() {
            input.push(json!({
                "type": "function_call",
                "call_id": pair.id,
                "name": pair.call.tool,
                "arguments": pair.call.arguments,
            }));
        }
        input.push(output(pair));
    }
}

fn output(pair: &Pair<'_>) -> Value {
    json!({"type": "function_call_output", "call_id": pair.id, "output": pair.result})
}

/// One part per text; the last one marked where that is asked for.
fn parts(texts: &[&str], is_marked: bool) -> Vec<Value> {
    let part = |text: &&str| json!({"type": "input_text", "text": text});
    let mut parts: Vec<Value> = texts.iter().map(part).collect();
    if is_marked && let Some(last) = parts.last_mut() {
        last["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
    }
    parts
}

fn push(input: &mut Vec<Value>, role: &str, content: &[Value]) {
    if !content.is_empty() {
        input.push(json!({"role": role, "content": content}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_that_take_marks_get_them() {
        for (model, takes) in [
            ("gpt-5.6-sol", true),
            ("gpt-5.6", true),
            ("gpt-5.10", true),
            ("gpt-6", true),
            ("gpt-6-luna", true),
            ("gpt-5.5-pro-2026-04-23", false),
            ("gpt-5.4-mini", false),
            ("gpt-5-2025-08-07", false),
            ("gpt-4o", false),
            ("gpt-daybreak-red-latest", false),
            ("gpt-", false),
            ("o3", false),
            ("openai/gpt-5.6", false),
            ("", false),
        ] {
            assert_eq!(takes_marks(model), takes, "{model}");
        }
    }
}
