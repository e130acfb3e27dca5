//! A prompt as the body of `POST /messages`.
//!
//! Roles alternate, beginning and ending with the person. All results of an answer's calls stand in the very next
//! message of the person's side, before any text. Marks: after rules and persona, after the memory, after the last words
//! where the person is likely to be back in time, and the API's own at the end inside a loop of calls: four at most.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::Asked;
use super::super::cache::Marks;
use super::super::chat::called_names;
use super::super::ids::{WireIds, is_word};
use super::super::pieces::{Called, Piece, pieces, seen};
use crate::domain::{Output, Prompt, Tool};
use crate::policy::visible::is_blank;

/// How long a mark is kept.
const CACHE_LASTS: Duration = Duration::from_mins(5);

/// The request's body.
pub fn encode(asked: &Asked<'_>, prompt: &Prompt) -> Value {
    let marks = Marks::of(prompt, CACHE_LASTS);
    let pieces = pieces(asked, prompt, WireIds::new(is_word), calls_in);
    let mut messages = Messages::default();
    for piece in &pieces {
        match piece {
            Piece::User(blocks) => messages.push("user", texts(blocks, false)),
            Piece::Said(text) => messages.push("assistant", texts(&[text], false)),
            Piece::Called(called) => {
                messages.push("assistant", asking(called));
                messages.push("user", results(called));
            }
            Piece::Last(words, notes) => {
                messages.push("user", texts(words, marks.words));
                messages.push("user", texts(notes, false));
            }
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), asked.model.into());
    body.insert(
        "max_tokens".to_owned(),
        prompt.output_tokens_max.max(1).into(),
    );
    let fixed = texts(&seen([&prompt.rules, &prompt.persona]), marks.fixed);
    let memory = texts(&seen(&prompt.memory), marks.fixed);
    let system = [fixed, memory].concat();
    if !system.is_empty() {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), messages.0.into());
    if marks.end {
        body.insert("cache_control".to_owned(), ephemeral());
    }
    if !is_blank(&prompt.person_key) {
        let metadata = json!({"user_id": prompt.person_key});
        body.insert("metadata".to_owned(), metadata);
    }
    if let Output::Json { schema, .. } = &prompt.output {
        let format = json!({"type": "json_schema", "schema": schema});
        body.insert("output_config".to_owned(), json!({"format": format}));
    }
    push_tools(&mut body, prompt, &pieces);
    body.into()
}

fn ephemeral() -> Value {
    json!({"type": "ephemeral"})
}

/// Messages of which no two in a row are of one side.
#[derive(Default)]
struct Messages(Vec<Value>);

impl Messages {
    fn push(&mut self, role: &str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        let last = self.0.last_mut().filter(|last| last["role"] == role);
        match last.and_then(|last| last["content"].as_array_mut()) {
            Some(content) => content.extend(blocks),
            None => self.0.push(json!({"role": role, "content": blocks})),
        }
    }
}

/// One block per text; the last one marked where that is asked for.
fn texts(texts: &[&str], is_marked: bool) -> Vec<Value> {
    let block = |text: &&str| json!({"type": "text", "text": text});
    let mut blocks: Vec<Value> = texts.iter().map(block).collect();
    if is_marked && let Some(last) = blocks.last_mut() {
        last["cache_control"] = ephemeral();
    }
    blocks
}

/// The calls that a carried block holds.
fn calls_in(block: &Value) -> Vec<&str> {
    if block["type"] == "tool_use" {
        block["id"].as_str().into_iter().collect()
    } else {
        Vec::new()
    }
}

fn asking(called: &Called<'_>) -> Vec<Value> {
    if let Some(carried) = called.carried {
        return carried.to_vec();
    }
    let block = called.pairs.iter().map(|pair| {
        let input: Value = serde_json::from_str(pair.call.arguments.as_str())
            .unwrap_or_else(|_| Value::Object(Map::new()));
        json!({"type": "tool_use", "id": pair.id, "name": pair.call.tool, "input": input})
    });
    block.collect()
}

fn results(called: &Called<'_>) -> Vec<Value> {
    let block = called.pairs.iter().map(|pair| {
        let mut block =
            json!({"type": "tool_result", "tool_use_id": pair.id, "content": pair.result.as_str()});
        if pair.failed {
            block["is_error"] = true.into();
        }
        block
    });
    block.collect()
}

/// A conversation with calls needs tools, also where the agent no longer has those: then nothing may be called.
fn push_tools(body: &mut Map<String, Value>, prompt: &Prompt, pieces: &[Piece<'_>]) {
    let mut tools: Vec<Value> = prompt.tools.iter().map(tool).collect();
    let mut words_only = prompt.words_only;
    if tools.is_empty() {
        let stub = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
        tools = called_names(pieces).into_iter().map(stub).collect();
        words_only = true;
    }
    if tools.is_empty() {
        return;
    }
    body.insert("tools".to_owned(), tools.into());
    if words_only {
        body.insert("tool_choice".to_owned(), json!({"type": "none"}));
    }
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    })
}
