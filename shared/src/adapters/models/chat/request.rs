//! A prompt as the body of `POST /chat/completions`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::Asked;
use super::super::cache::Marks;
use super::super::ids::{WireIds, is_any};
use super::super::pieces::{Called, Piece, pieces, seen};
use crate::domain::provider::Provider;
use crate::domain::{Output, Prompt, Tool};
use crate::policy::visible::is_blank;

/// Some of OpenRouter's providers refuse less.
const OUTPUT_TOKENS_MIN: u32 = 16;
/// The shortest-lived cache behind OpenRouter.
const CACHE_LASTS: Duration = Duration::from_mins(5);

/// The request's body.
pub fn encode(asked: &Asked<'_>, prompt: &Prompt) -> Value {
    let is_openrouter = asked.provider == Provider::OpenRouter;
    let marks = if is_openrouter {
        Marks::of(prompt, CACHE_LASTS)
    } else {
        Marks::NONE
    };
    let contents = Contents { is_openrouter };
    let pieces = pieces(asked, prompt, WireIds::new(is_any), calls_in);
    let mut messages = vec![system(prompt, &contents, marks)];
    messages.retain(|message| !message.is_null());
    for piece in &pieces {
        match piece {
            Piece::User(blocks) => push(&mut messages, "user", &contents.of(blocks, false)),
            Piece::Said(text) => messages.push(json!({"role": "assistant", "content": text})),
            Piece::Called(called) => push_calls(&mut messages, called),
            Piece::Last(words, notes) => {
                let content = contents.of_two(words, marks.words, notes);
                push(&mut messages, "user", &content);
            }
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), asked.model.into());
    body.insert("messages".to_owned(), messages.into());
    let cap = prompt.output_tokens_max.max(OUTPUT_TOKENS_MIN);
    body.insert(cap_name(asked).to_owned(), cap.into());
    if is_openrouter && !is_blank(&prompt.person_key) {
        body.insert("user".to_owned(), prompt.person_key.clone().into());
        // The same conversation stays with the same provider, which has it in its cache.
        body.insert("session_id".to_owned(), prompt.person_key.clone().into());
    }
    if marks.end {
        body.insert("cache_control".to_owned(), ephemeral());
    }
    if let Output::Json { name, schema } = &prompt.output {
        let schema = json!({"name": name, "schema": schema, "strict": true});
        let format = json!({"type": "json_schema", "json_schema": schema});
        body.insert("response_format".to_owned(), format);
    }
    push_tools(&mut body, prompt, &pieces, is_openrouter);
    body.into()
}

/// `OpenAI`'s own models from GPT-5 and o1 on refuse the older name, which many small servers alone know.
fn cap_name(asked: &Asked<'_>) -> &'static str {
    let name = asked.model;
    let is_digit = |text: &str| text.starts_with(|sign: char| sign.is_ascii_digit());
    let is_newer = |rest: &str| is_digit(rest) && !rest.starts_with(['3', '4']);
    let refuses_older = name.strip_prefix("gpt-").is_some_and(is_newer)
        || name.strip_prefix('o').is_some_and(is_digit);
    if asked.provider == Provider::Compatible && refuses_older {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

fn ephemeral() -> Value {
    json!({"type": "ephemeral"})
}

/// How contents are written: as parts that can be marked, or as one text.
struct Contents {
    is_openrouter: bool,
}

impl Contents {
    fn of(&self, texts: &[&str], is_marked: bool) -> Value {
        self.of_two(texts, is_marked, &[])
    }

    /// The end of the first texts is marked; null where there is nothing to say.
    fn of_two(&self, texts: &[&str], is_marked: bool, more: &[&str]) -> Value {
        if texts.is_empty() && more.is_empty() {
            return Value::Null;
        }
        if !self.is_openrouter {
            return [texts, more].concat().join("\n\n").into();
        }
        let part = |text: &&str| json!({"type": "text", "text": text});
        let mut parts: Vec<Value> = texts.iter().map(part).collect();
        if is_marked && let Some(last) = parts.last_mut() {
            last["cache_control"] = ephemeral();
        }
        parts.extend(more.iter().map(part));
        parts.into()
    }
}

/// Rules, persona and memory in one message: many models' templates take no second one.
fn system(prompt: &Prompt, contents: &Contents, marks: Marks) -> Value {
    let fixed = seen([&prompt.rules, &prompt.persona]);
    let memory = seen(&prompt.memory);
    let mut content = contents.of_two(&fixed, marks.fixed, &memory);
    if marks.fixed
        && !memory.is_empty()
        && let Some(last) = content.as_array_mut().and_then(|parts| parts.last_mut())
    {
        last["cache_control"] = ephemeral();
    }
    if content.is_null() {
        return Value::Null;
    }
    json!({"role": "system", "content": content})
}

/// The calls that a carried message holds.
fn calls_in(message: &Value) -> Vec<&str> {
    let calls = message["tool_calls"].as_array();
    let ids = calls
        .into_iter()
        .flatten()
        .filter_map(|call| call["id"].as_str());
    ids.collect()
}

fn push(messages: &mut Vec<Value>, role: &str, content: &Value) {
    if !content.is_null() {
        messages.push(json!({"role": role, "content": content}));
    }
}

/// The agent's message that asks, and one message for each result.
fn push_calls(messages: &mut Vec<Value>, called: &Called<'_>) {
    if let Some(carried) = called.carried {
        messages.extend(carried.iter().cloned());
    } else {
        let calls = called.pairs.iter().map(|pair| {
            let function = json!({"name": pair.call.tool, "arguments": pair.call.arguments});
            json!({"id": pair.id, "type": "function", "function": function})
        });
        let calls: Vec<Value> = calls.collect();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
    }
    for pair in &called.pairs {
        messages.push(
            json!({"role": "tool", "tool_call_id": pair.id, "content": pair.result.as_str()}),
        );
    }
}

fn push_tools(
    body: &mut Map<String, Value>,
    prompt: &Prompt,
    pieces: &[Piece<'_>],
    is_openrouter: bool,
) {
    let mut tools: Vec<Value> = prompt.tools.iter().map(function).collect();
    let mut words_only = prompt.words_only;
    if tools.is_empty() && is_openrouter {
        // Some of its providers refuse calls in the history of a request without tools.
        tools = called_names(pieces).into_iter().map(stub).collect();
        words_only = true;
    }
    // Servers that do not know the choice would call all the same: what is not told of cannot be called.
    if tools.is_empty() || (words_only && !is_openrouter) {
        return;
    }
    body.insert("tools".to_owned(), tools.into());
    if words_only {
        body.insert("tool_choice".to_owned(), "none".into());
    }
}

/// The names of all tools in the conversation.
pub(in super::super) fn called_names<'a>(pieces: &'a [Piece<'_>]) -> BTreeSet<&'a str> {
    let pairs = pieces.iter().flat_map(|piece| match piece {
        Piece::Called(called) => called.pairs.as_slice(),
        _ => &[],
    });
    pairs.map(|pair| pair.call.tool.as_str()).collect()
}

fn function(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}

fn stub(name: &str) -> Value {
    json!({
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {}}},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_has_the_name_that_the_model_takes() {
        use Provider::{Compatible, OpenRouter};
        for (provider, model, name) in [
            (Compatible, "llama3.2:3b", "max_tokens"),
            (Compatible, "gpt-oss:20b", "max_tokens"),
            (Compatible, "gpt-4o-mini", "max_tokens"),
            (Compatible, "gpt-5.4-mini", "max_completion_tokens"),
            (Compatible, "gpt-6", "max_completion_tokens"),
            (Compatible, "o3-mini", "max_completion_tokens"),
            (Compatible, "olmo-3", "max_tokens"),
            (OpenRouter, "openai/gpt-5.4-mini", "max_tokens"),
        ] {
            assert_eq!(cap_name(&Asked { provider, model }), name, "{model}");
        }
    }
}
