//! A prompt as the body of `POST /responses`.
//!
//! Rules and persona travel as a developer message, not as `instructions`: only parts of a message can carry a cache
//! mark. The agent's past turns are plain strings, the form that needs none of the ids the provider once gave them.

use serde_json::{Map, Value, json};

use crate::domain::{Output, Prompt, Turn};
use crate::policy::prompt::text::is_blank;

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
            Turn::Assistant(text) if is_blank(text) => {}
            Turn::Assistant(text) => input.push(json!({"role": "assistant", "content": text})),
        }
    }
    let last = parts(prompt.last.iter().chain(&prompt.notes));
    push(&mut input, "user", &last);

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
    body.into()
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
