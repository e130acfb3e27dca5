//! Anthropic, `POST /messages`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{is_blank, list, repeated, unknown_field, word};

const FIELDS: [&str; 9] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "cache_control",
    "tools",
    "tool_choice",
    "output_config",
    "metadata",
];

pub fn complaint(body: &Value) -> Option<String> {
    if let Some(field) = unknown_field(body, &FIELDS) {
        return Some(format!("{field}: Extra inputs are not permitted"));
    }
    if body["max_tokens"].is_null() {
        return Some("max_tokens: Field required".to_owned());
    }
    if body["max_tokens"].as_u64().is_none_or(|cap| cap < 1) {
        return Some("max_tokens: Input should be greater than or equal to 1".to_owned());
    }
    let messages = list(&body["messages"]);
    if messages.is_empty() {
        return Some("messages: at least one message is required".to_owned());
    }
    roles(messages)
        .or_else(|| system(&body["system"]))
        .or_else(|| tools(body, messages))
        .or_else(|| {
            messages
                .iter()
                .enumerate()
                .find_map(|(at, one)| content(at, one))
        })
        .or_else(|| pairs(messages))
        .or_else(|| marks(body))
}

fn roles(messages: &[Value]) -> Option<String> {
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| word(&message["role"]))
        .collect();
    if roles.contains(&"system") {
        return Some(
            "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \
             \"system\" as an input message role."
                .to_owned(),
        );
    }
    if roles.first() != Some(&"user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    if roles.last() != Some(&"user") {
        return Some(
            "This model does not support assistant message prefill. The conversation must end with a user message."
                .to_owned(),
        );
    }
    let twice = roles.windows(2).find(|two| two[0] == two[1])?;
    Some(format!(
        "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{}\" roles in a row",
        twice[0]
    ))
}

fn system(system: &Value) -> Option<String> {
    let wrong = list(system)
        .iter()
        .any(|block| block["type"] != "text" || is_blank(&block["text"]));
    (wrong || (!system.is_null() && list(system).is_empty()))
        .then(|| "system: text content blocks must be non-empty".to_owned())
}

fn tools(body: &Value, messages: &[Value]) -> Option<String> {
    let tools = list(&body["tools"]);
    if repeated(tools.iter().map(|tool| word(&tool["name"]))).is_some() {
        return Some("tools: Tool names must be unique.".to_owned());
    }
    if let Some(at) = tools
        .iter()
        .position(|tool| tool["input_schema"]["type"] != "object")
    {
        return Some(format!(
            "tools.{at}.custom.input_schema.type: Input should be 'object'"
        ));
    }
    if tools.is_empty() && !body["tool_choice"].is_null() {
        return Some("tool_choice may only be specified while providing tools".to_owned());
    }
    let kinds = messages
        .iter()
        .flat_map(|message| list(&message["content"]));
    let has_calls = kinds.into_iter().any(|block| block["type"] == "tool_use");
    (has_calls && tools.is_empty()).then(|| {
        "Requests which include `tool_use` or `tool_result` blocks must define tools".to_owned()
    })
}

fn content(at: usize, message: &Value) -> Option<String> {
    let blocks = list(&message["content"]);
    if blocks.is_empty() {
        return Some(format!(
            "messages.{at}: all messages must have non-empty content"
        ));
    }
    blocks.iter().enumerate().find_map(|(n, block)| {
        let place = format!("messages.{at}.content.{n}");
        let is_agent = message["role"] == "assistant";
        match word(&block["type"]) {
            "text" if word(&block["text"]).is_empty() => {
                Some("messages: text content blocks must be non-empty".to_owned())
            }
            "text" if is_blank(&block["text"]) => {
                Some("messages: text content blocks must contain non-whitespace text".to_owned())
            }
            "text" => None,
            "tool_use" if is_agent => call(&place, block),
            "tool_result" if !is_agent && is_blank(&block["content"]) => {
                Some("messages: text content blocks must be non-empty".to_owned())
            }
            "tool_result" if !is_agent => None,
            "thinking" if is_agent && is_blank(&block["signature"]) => {
                Some(format!("{place}.thinking.signature: Field required"))
            }
            "thinking" | "redacted_thinking" if is_agent => None,
            kind => Some(format!(
                "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )),
        }
    })
}

fn call(place: &str, block: &Value) -> Option<String> {
    let id = word(&block["id"]);
    let is_id = !id.is_empty()
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if !is_id {
        return Some(format!(
            "{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        ));
    }
    (!block["input"].is_object())
        .then(|| format!("{place}.tool_use.input: Input should be a valid dictionary"))
}

/// All results of a message's calls stand at the beginning of the very next one, and nowhere else.
fn pairs(messages: &[Value]) -> Option<String> {
    let mut known = BTreeSet::new();
    let mut asked = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = list(&message["content"]);
        let results = blocks
            .iter()
            .take_while(|block| block["type"] == "tool_result");
        let answered: BTreeSet<&str> = results.map(|block| word(&block["tool_use_id"])).collect();
        if let Some(id) = asked.difference(&answered).next() {
            return Some(format!(
                "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                at - 1
            ));
        }
        let all = blocks.iter().filter(|block| block["type"] == "tool_result");
        for (n, block) in all.enumerate() {
            let id = word(&block["tool_use_id"]);
            if !asked.remove(id) {
                return Some(format!(
                    "messages.{at}.content.{n}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the previous message."
                ));
            }
        }
        asked = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| word(&block["id"]))
            .collect();
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        for (n, block) in calls.enumerate() {
            if !known.insert(word(&block["id"])) {
                return Some(format!(
                    "messages.{at}.content.{n}: `tool_use` ids must be unique"
                ));
            }
        }
    }
    None
}

fn marks(body: &Value) -> Option<String> {
    let parts = [&body["tools"], &body["system"], &body["messages"]];
    let text: String = parts.iter().map(ToString::to_string).collect();
    let own = usize::from(!body["cache_control"].is_null());
    let found = text.matches("\"cache_control\":{").count() + own;
    if found > 4 {
        return Some(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {found}."
        ));
    }
    let (long, short) = (
        text.rfind("\"ttl\":\"1h\""),
        text.find("\"type\":\"ephemeral\"}"),
    );
    let is_late = long.zip(short).is_some_and(|(long, short)| long > short);
    is_late.then(|| {
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
            .to_owned()
    })
}
