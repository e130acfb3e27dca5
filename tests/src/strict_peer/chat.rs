//! Chat completions: OpenRouter, and a server whose templates are as strict as the strictest of them.

use std::collections::BTreeSet;

use recado::domain::Provider;
use serde_json::Value;

use super::{is_blank, is_object, list, repeated, unknown_field, word};

const FIELDS: [&str; 7] = [
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "tools",
    "tool_choice",
];
const OF_OPENROUTER: [&str; 3] = ["user", "session_id", "cache_control"];

pub fn complaint(provider: Provider, body: &Value) -> Option<String> {
    let is_openrouter = provider == Provider::OpenRouter;
    let more: &[&str] = if is_openrouter { &OF_OPENROUTER } else { &[] };
    if let Some(field) = unknown_field(body, &[&FIELDS, more].concat()) {
        return Some(format!("Unrecognized request argument supplied: {field}"));
    }
    let messages = list(&body["messages"]);
    if messages.is_empty() {
        return Some(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
                .to_owned(),
        );
    }
    caps(body)
        .or_else(|| tools(body, messages, is_openrouter))
        .or_else(|| {
            messages
                .iter()
                .enumerate()
                .find_map(|(at, one)| message(at, one, is_openrouter))
        })
        .or_else(|| pairs(messages))
        .or_else(|| roles(messages))
        .or_else(|| marks(body, is_openrouter))
}

fn caps(body: &Value) -> Option<String> {
    let (older, newer) = (&body["max_tokens"], &body["max_completion_tokens"]);
    let cap = older.as_u64().or(newer.as_u64());
    if cap.is_none_or(|cap| cap < 16) {
        return Some(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"
                .to_owned(),
        );
    }
    let wants_newer = ["gpt-5", "gpt-6", "o1", "o3", "o4"]
        .iter()
        .any(|begin| word(&body["model"]).starts_with(begin));
    match (wants_newer, older.is_null(), newer.is_null()) {
        (true, false, _) => Some(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
                .to_owned(),
        ),
        (false, _, false) => Some("Extra inputs are not permitted: max_completion_tokens".to_owned()),
        _ => None,
    }
}

fn tools(body: &Value, messages: &[Value], is_openrouter: bool) -> Option<String> {
    let tools = list(&body["tools"]);
    let names = tools.iter().map(|tool| word(&tool["function"]["name"]));
    if let Some(name) = repeated(names.clone()) {
        return Some(format!("tools: Tool names must be unique. ({name})"));
    }
    if names.into_iter().any(str::is_empty) || tools.iter().any(|tool| tool["type"] != "function") {
        return Some("Missing required parameter: 'tools[0].function.name'.".to_owned());
    }
    if !body["tools"].is_null() && tools.is_empty() {
        return Some("Invalid 'tools': empty array.".to_owned());
    }
    if tools.is_empty() && !body["tool_choice"].is_null() {
        return Some("When using `tool_choice`, `tools` must be set.".to_owned());
    }
    let has_calls = messages
        .iter()
        .any(|message| !message["tool_calls"].is_null());
    (is_openrouter && has_calls && tools.is_empty()).then(|| {
        "Requests which include `tool_use` or `tool_result` blocks must define tools".to_owned()
    })
}

fn message(at: usize, message: &Value, is_openrouter: bool) -> Option<String> {
    let known = [
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        "reasoning_details",
        "reasoning_content",
    ];
    if let Some(field) = unknown_field(message, &known) {
        return Some(format!(
            "Extra inputs are not permitted: messages[{at}].{field}"
        ));
    }
    let role = word(&message["role"]);
    let content = &message["content"];
    let has_calls = !list(&message["tool_calls"]).is_empty();
    match role {
        "tool" if word(&message["tool_call_id"]).is_empty() => Some(
            "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.".to_owned(),
        ),
        "system" if at > 0 => Some("System message must be at the beginning.".to_owned()),
        "assistant" if content.is_null() && has_calls => None,
        "system" | "user" | "assistant" | "tool" => text(at, content, is_openrouter),
        _ => Some(format!("Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', and 'tool'.")),
    }
}

fn text(at: usize, content: &Value, is_openrouter: bool) -> Option<String> {
    let blank = || Some("messages: text content blocks must be non-empty".to_owned());
    match content {
        Value::String(text) if text.trim().is_empty() => blank(),
        Value::String(_) => None,
        Value::Array(parts) if is_openrouter && !parts.is_empty() => {
            let is_wrong = |part: &Value| part["type"] != "text" || is_blank(&part["text"]);
            if parts.iter().any(is_wrong) {
                blank()
            } else {
                None
            }
        }
        _ => Some(format!(
            "Invalid value for 'messages[{at}].content': expected a string, got something else."
        )),
    }
}

/// All results stand right behind the message that asks for them, and nowhere else.
fn pairs(messages: &[Value]) -> Option<String> {
    let (mut open, mut known) = (BTreeSet::<&str>::new(), BTreeSet::new());
    let lacking = |open: &BTreeSet<&str>| {
        let ids: Vec<&str> = open.iter().copied().collect();
        (!ids.is_empty()).then(|| {
            format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                ids.join(", ")
            )
        })
    };
    for message in messages {
        if message["role"] == "tool" {
            if !open.remove(word(&message["tool_call_id"])) {
                return Some(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                     'tool_calls'."
                        .to_owned(),
                );
            }
            continue;
        }
        if let Some(complaint) = lacking(&open) {
            return Some(complaint);
        }
        for call in list(&message["tool_calls"]) {
            let id = word(&call["id"]);
            if id.is_empty() || !known.insert(id) {
                return Some(format!("`tool_use` ids must be unique: {id}"));
            }
            if call["type"] != "function" || !is_object(&call["function"]["arguments"]) {
                return Some("Invalid type for 'tool_calls[0].function.arguments': expected a JSON object as a string".to_owned());
            }
            open.insert(id);
        }
    }
    lacking(&open)
}

/// As the strictest templates want it: calls and results belong to the agent's side.
fn roles(messages: &[Value]) -> Option<String> {
    let said = messages.iter().filter(|message| {
        matches!(word(&message["role"]), "user" | "assistant") && message["tool_calls"].is_null()
    });
    let roles: Vec<&str> = said.map(|message| word(&message["role"])).collect();
    let alternate = (0..)
        .zip(&roles)
        .all(|(at, role)| *role == ["user", "assistant"][at % 2]);
    (!alternate || roles.len().is_multiple_of(2)).then(|| {
        "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
            .to_owned()
    })
}

fn marks(body: &Value, is_openrouter: bool) -> Option<String> {
    let found = body.to_string().matches("\"cache_control\":{").count();
    let most = if is_openrouter { 4 } else { 0 };
    (found > most).then(|| {
        format!("A maximum of {most} blocks with cache_control may be provided. Found {found}.")
    })
}
