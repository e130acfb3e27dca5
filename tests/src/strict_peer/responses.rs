//! `OpenAI`, `POST /responses`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{is_blank, is_object, list, repeated, unknown_field, word};

const FIELDS: [&str; 11] = [
    "model",
    "store",
    "input",
    "max_output_tokens",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_options",
    "text",
    "tools",
    "include",
    "tool_choice",
];

pub fn complaint(body: &Value) -> Option<String> {
    if let Some(field) = unknown_field(body, &FIELDS) {
        return Some(format!("Unknown parameter: '{field}'."));
    }
    if word(&body["model"]).is_empty() {
        return Some("you must provide a model parameter".to_owned());
    }
    if body["store"] != false {
        return Some("a copy would be kept".to_owned());
    }
    if let Some(cap) = body["max_output_tokens"].as_u64().filter(|cap| *cap < 16) {
        return Some(format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {cap} instead."
        ));
    }
    for field in ["safety_identifier", "prompt_cache_key"] {
        let long = word(&body[field]).chars().count();
        if long > 64 || (!body[field].is_null() && is_blank(&body[field])) {
            return Some(format!(
                "Invalid '{field}': string too long. Expected a string with maximum length 64, but got a string with length {long} instead."
            ));
        }
    }
    tools(body)
        .or_else(|| marks(body))
        .or_else(|| input(list(&body["input"])))
}

fn tools(body: &Value) -> Option<String> {
    let tools = list(&body["tools"]);
    if let Some(name) = repeated(tools.iter().map(|tool| word(&tool["name"]))) {
        return Some(format!("Invalid tools: duplicate name {name}"));
    }
    let format = &body["text"]["format"];
    let name = word(&format["name"]);
    let is_name = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if !format.is_null() && !is_name {
        return Some(
            "Invalid 'text.format.name': string does not match pattern. Expected a string that matches the pattern \
             '^[a-zA-Z0-9_-]+$'."
                .to_owned(),
        );
    }
    let at = tools.iter().position(|tool| tool.get("strict").is_none())?;
    Some(format!("Missing required parameter: 'tools[{at}].strict'."))
}

/// Only models from 5.6 on know marks: three beside the implicit one, four without.
fn marks(body: &Value) -> Option<String> {
    let text = body["input"].to_string();
    let marks = text.matches("\"prompt_cache_breakpoint\":{").count();
    let takes = ["gpt-5.6", "gpt-6"]
        .iter()
        .any(|known| word(&body["model"]).starts_with(known));
    if !takes && (marks > 0 || !body["prompt_cache_options"].is_null()) {
        return Some("Unknown parameter: 'prompt_cache_options'.".to_owned());
    }
    let most = if body["prompt_cache_options"]["mode"] == "explicit" {
        4
    } else {
        3
    };
    (marks > most).then(|| format!("At most {most} cache breakpoints may be given, got {marks}."))
}

fn input(items: &[Value]) -> Option<String> {
    if items.is_empty() {
        return Some(
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."
                .to_owned(),
        );
    }
    if let Some(complaint) = items
        .iter()
        .enumerate()
        .find_map(|(at, item)| one(at, item))
    {
        return Some(complaint);
    }
    pairs(items)
        .or_else(|| thoughts(items))
        .or_else(|| roles(items))
}

fn one(at: usize, item: &Value) -> Option<String> {
    match word(&item["type"]) {
        "" | "message" => content(at, item),
        "function_call" if !is_object(&item["arguments"]) => Some(format!(
            "Invalid 'input[{at}].arguments': expected a JSON object as text."
        )),
        "function_call_output" if is_blank(&item["output"]) => {
            Some(format!("Missing required parameter: 'input[{at}].output'."))
        }
        "reasoning" if item["summary"].is_null() => Some(format!(
            "Missing required parameter: 'input[{at}].summary'."
        )),
        "reasoning" if item["encrypted_content"].is_null() => Some(format!(
            "Item with id '{}' not found. Items are not persisted when `store` is set to false.",
            word(&item["id"])
        )),
        "function_call" | "function_call_output" | "reasoning" => None,
        kind => Some(format!(
            "Invalid value: '{kind}'. Supported values are: 'message', 'reasoning', 'function_call', \
             'function_call_output'."
        )),
    }
}

fn content(at: usize, item: &Value) -> Option<String> {
    let role = word(&item["role"]);
    if !["user", "assistant", "developer"].contains(&role) {
        return Some(format!("Invalid value: '{role}'."));
    }
    let empty = |place: String| {
        format!(
            "Invalid '{place}': empty string. Expected a string with minimum length 1, but got an empty string instead."
        )
    };
    match &item["content"] {
        Value::String(text) if text.trim().is_empty() => {
            Some(empty(format!("input[{at}].content")))
        }
        Value::String(_) => None,
        Value::Array(parts) if parts.is_empty() => Some(empty(format!("input[{at}].content"))),
        Value::Array(parts) => parts.iter().enumerate().find_map(|(n, part)| {
            let kind = word(&part["type"]);
            let right = if role == "assistant" {
                "output_text"
            } else {
                "input_text"
            };
            let place = format!("input[{at}].content[{n}]");
            if kind == "input_image" && part["detail"].is_null() {
                return Some(format!("Missing required parameter: '{place}.detail'."));
            }
            if kind != right {
                return Some(format!(
                    "Invalid value: '{kind}'. Supported values are: '{right}'."
                ));
            }
            is_blank(&part["text"]).then(|| empty(format!("{place}.text")))
        }),
        _ => Some(format!(
            "Missing required parameter: 'input[{at}].content'."
        )),
    }
}

/// Each call is followed by its output, before anybody speaks.
fn pairs(items: &[Value]) -> Option<String> {
    let (mut open, mut known) = (BTreeSet::new(), BTreeSet::new());
    for item in items {
        let id = word(&item["call_id"]);
        match word(&item["type"]) {
            "function_call" if id.is_empty() || !known.insert(id) => {
                return Some(format!("Duplicate item found with call_id {id}."));
            }
            "function_call" => {
                open.insert(id);
            }
            "function_call_output" if !open.remove(id) => {
                return Some(format!(
                    "No tool call found for function call output with call_id {id}."
                ));
            }
            "" | "message" if item["role"] != "assistant" && !open.is_empty() => break,
            _ => {}
        }
    }
    let id = open.first()?;
    Some(format!("No tool output found for function call {id}."))
}

/// A thought comes with what followed it.
fn thoughts(items: &[Value]) -> Option<String> {
    let next = items.iter().skip(1).map(Some).chain([None]);
    let orphan = items.iter().zip(next).find(|(item, next)| {
        let follows = |next: &Value| {
            matches!(word(&next["type"]), "function_call" | "reasoning")
                || (next["type"] == "message" && next["role"] == "assistant")
        };
        item["type"] == "reasoning" && !next.is_some_and(follows)
    });
    let (item, _) = orphan?;
    Some(format!(
        "Item '{}' of type 'reasoning' was provided without its required following item.",
        word(&item["id"])
    ))
}

/// The person first and last but for calls, and in turn: what gateways to other models want.
fn roles(items: &[Value]) -> Option<String> {
    let said = items
        .iter()
        .filter(|item| item["type"].is_null() && item["role"] != "developer");
    let roles: Vec<&str> = said.map(|item| word(&item["role"])).collect();
    let alternate = (0..)
        .zip(&roles)
        .all(|(at, role)| *role == ["user", "assistant"][at % 2]);
    (!alternate || roles.len().is_multiple_of(2))
        .then(|| "the conversation does not alternate from the person to the person".to_owned())
}
