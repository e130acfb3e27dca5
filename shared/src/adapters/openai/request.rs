//! A prompt as the body of `POST /responses`.
//!
//! Rules and persona travel as a developer message, not as `instructions`: only parts of a message can carry a cache
//! mark. The agent's past turns are plain strings, the form that needs none of the ids the provider once gave them.

use serde_json::{Map, Value, json};

use crate::domain::{AnsweredCall, Output, Prompt, Round, Tool, Turn};
use crate::policy::tools::words;
use crate::policy::visible::is_blank;

/// The API refuses less.
const OUTPUT_TOKENS_MIN: u32 = 16;
/// The API's limit of an identifier for abuse control.
const IDENTIFIER_CHARS_MAX: usize = 64;

/// The request's body. `cache_marks` puts a mark at the end of what all people share and at the end of the memory.
pub fn encode(model: &str, prompt: &Prompt, cache_marks: bool) -> Value {
    let mut input = Vec::new();
    let fixed = parts([&prompt.rules, &prompt.persona]);
    let memory = parts(&prompt.memory);
    for mut content in [fixed, memory] {
        if cache_marks && let Some(last) = content.last_mut() {
            last["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
        }
        push(&mut input, "developer", &content);
    }
    for turn in &prompt.history {
        match turn {
            Turn::User(blocks) => push(&mut input, "user", &parts(blocks)),
            Turn::Calls(calls) => input.extend(calls.iter().flat_map(pair)),
            Turn::Assistant(text) if is_blank(text) => {}
            Turn::Assistant(text) => input.push(json!({"role": "assistant", "content": text})),
        }
    }
    let last = parts(prompt.last.iter().chain(&prompt.notes));
    push(&mut input, "user", &last);
    prompt
        .rounds
        .iter()
        .for_each(|round| push_round(&mut input, round));

    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("store".to_owned(), false.into());
    body.insert("input".to_owned(), input.into());
    let cap = prompt.output_tokens_max.max(OUTPUT_TOKENS_MIN);
    body.insert("max_output_tokens".to_owned(), cap.into());
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

/// Without the ids the provider gave its items, so that it asks for none of the thoughts that led to them.
fn pair(answered: &AnsweredCall) -> [Value; 2] {
    let call = &answered.call;
    let asked = json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.tool,
        "arguments": call.arguments,
    });
    [asked, output(answered)]
}

fn output(answered: &AnsweredCall) -> Value {
    json!({
        "type": "function_call_output",
        "call_id": answered.call.id,
        "output": words(&answered.result),
    })
}

/// What the provider gave goes back whole and in order, thoughts before their calls; the results follow.
fn push_round(input: &mut Vec<Value>, round: &Round) {
    if round.carried.is_empty() {
        input.extend(round.calls.iter().flat_map(pair));
    } else {
        input.extend(round.carried.iter().cloned());
        input.extend(round.calls.iter().map(output));
    }
}

/// One part per text; the API refuses blank ones.
fn parts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Vec<Value> {
    texts
        .into_iter()
        .filter(|text| !is_blank(text))
        .map(|text| json!({"type": "input_text", "text": text}))
        .collect()
}

fn push(input: &mut Vec<Value>, role: &str, content: &[Value]) {
    if !content.is_empty() {
        input.push(json!({"role": role, "content": content}));
    }
}
