//! A peer that is stricter than the API: it complains of what the API, or one that imitates it, may refuse.

use serde_json::Value;

const FIELDS: [&str; 10] = [
    "model",
    "store",
    "input",
    "max_output_tokens",
    "safety_identifier",
    "prompt_cache_key",
    "text",
    "tools",
    "include",
    "tool_choice",
];

/// The first thing that is wrong with a request.
pub fn complaint(body: &Value) -> Option<&'static str> {
    let fields = body.as_object()?;
    if fields.keys().any(|field| !FIELDS.contains(&field.as_str())) {
        return Some("an unknown field");
    }
    if body["store"] != false {
        return Some("the provider would keep a copy");
    }
    if body["max_output_tokens"]
        .as_u64()
        .is_none_or(|cap| cap < 16)
    {
        return Some("a cap under 16");
    }
    let Some(input) = body["input"].as_array() else {
        return Some("no input");
    };
    if let Some(complaint) = calls(input) {
        return Some(complaint);
    }
    let messages = || input.iter().filter(|item| item["type"].is_null());
    let mut roles = messages().map(|item| item["role"].as_str().unwrap_or_default());
    let rest: Vec<&str> = roles
        .by_ref()
        .skip_while(|role| *role == "developer")
        .collect();
    if rest.len().is_multiple_of(2)
        || (0..)
            .zip(&rest)
            .any(|(at, role)| *role != ["user", "assistant"][at % 2])
    {
        return Some("roles that do not alternate from person to person");
    }
    messages().find_map(|item| content(&item["role"], &item["content"]))
}

/// Each call is followed by its output, and stands after words of the person.
fn calls(input: &[Value]) -> Option<&'static str> {
    let mut open = Vec::new();
    let mut speaker = "";
    for item in input {
        match item["type"].as_str() {
            Some("function_call") if speaker != "user" => return Some("a call of nobody's"),
            Some("function_call") => {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                if !serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object()) {
                    return Some("arguments that are no object");
                }
                open.push(&item["call_id"]);
            }
            Some("function_call_output") => {
                let at = open.iter().position(|id| **id == item["call_id"]);
                let Some(at) = at else {
                    return Some("an output without its call");
                };
                open.swap_remove(at);
                if item["output"].as_str().is_none_or(str::is_empty) {
                    return Some("an empty output");
                }
            }
            Some(_) => return Some("an item of another kind"),
            None if !open.is_empty() => return Some("a call without its output"),
            None => speaker = item["role"].as_str().unwrap_or_default(),
        }
    }
    (!open.is_empty()).then_some("a call without its output")
}

fn content(role: &Value, content: &Value) -> Option<&'static str> {
    match content {
        Value::String(text) if text.trim().is_empty() => Some("a blank answer"),
        Value::String(_) => (role != "assistant").then_some("a bare text that is not the agent's"),
        Value::Array(parts) if parts.is_empty() => Some("a turn without parts"),
        Value::Array(parts) => parts.iter().find_map(|part| {
            let is_blank = part["text"]
                .as_str()
                .is_none_or(|text| text.trim().is_empty());
            let is_text = part["type"] == "input_text" && role != "assistant";
            (is_blank || !is_text).then_some("a part that is not text of the person")
        }),
        _ => Some("content of another kind"),
    }
}
