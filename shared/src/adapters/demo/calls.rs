//! Calls of tools, so that a tool can be tried without a model: one whose name the person writes is called with what
//! stands behind it (`slots day=2026-12-01`, or a JSON object), and one that waits for a yes once they have said it.

use serde_json::{Map, Value};

use crate::domain::{AnsweredCall, AskedCall, CallId, Output, Prompt, Tool, ToolResult, Turn};
use crate::policy::confirm;
use crate::policy::prompt::Language;

/// Letters of a result that are quoted.
const QUOTE_CHARS_MAX: usize = 300;

/// What this prompt asks to be called; at most one call, and none once there are results.
pub fn asked(prompt: &Prompt) -> Option<AskedCall> {
    let may_call = matches!(prompt.output, Output::Text) && !prompt.words_only;
    if !may_call || !prompt.rounds.is_empty() {
        return None;
    }
    let (tool, arguments) = agreed(prompt).or_else(|| named(prompt))?;
    Some(AskedCall {
        id: CallId::parse("demo").ok()?,
        tool,
        arguments,
    })
}

/// The call that the last answer asked about, where the person says yes now.
fn agreed(prompt: &Prompt) -> Option<(String, String)> {
    let [.., Turn::Calls(pairs), Turn::Assistant(_)] = prompt.history.as_slice() else {
        return None;
    };
    let said: Vec<Option<&str>> = prompt.last.iter().map(|text| Some(text.as_str())).collect();
    let waits =
        |pair: &&AnsweredCall| is_preview(&pair.result) && confirm::agrees(&said, &pair.call);
    let call = &pairs.iter().find(waits)?.call;
    Some((call.tool.to_string(), call.arguments.as_str().to_owned()))
}

/// The tool whose name stands in the newest message that has one, with what is behind it.
fn named(prompt: &Prompt) -> Option<(String, String)> {
    prompt.last.iter().rev().find_map(|text| {
        let (tool, rest) = prompt.tools.iter().find_map(|tool| {
            let at = text
                .split_whitespace()
                .find(|word| *word == tool.name.as_str())?;
            let (_, rest) = text.split_once(at)?;
            Some((tool, rest.trim()))
        })?;
        let arguments = if rest.starts_with('{') {
            rest.to_owned()
        } else {
            Value::Object(pairs(tool, rest)).to_string()
        };
        Some((tool.name.to_string(), arguments))
    })
}

/// `name=value` and `name="several words"`, each of the type that the tool wants.
fn pairs(tool: &Tool, text: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.split_whitespace().last().unwrap_or_default();
        let (value, after) = match after
            .strip_prefix('"')
            .and_then(|quoted| quoted.split_once('"'))
        {
            Some(quoted) => quoted,
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        let kind = tool.parameters["properties"][name]["type"].as_str();
        let is_text = kind.is_none_or(|kind| kind == "string");
        let typed = || serde_json::from_str(value).ok();
        let value = if is_text { None } else { typed() }.unwrap_or_else(|| Value::from(value));
        fields.insert(name.to_owned(), value);
        rest = after;
    }
    fields
}

fn is_preview(result: &ToolResult) -> bool {
    matches!(result, ToolResult::Ok(text) if text.starts_with(confirm::PREVIEW))
}

/// What came of the calls, as it came; `None` where there were none.
pub fn told(language: Language, prompt: &Prompt) -> Option<String> {
    let pairs = prompt.rounds.iter().flat_map(|round| &round.calls);
    let told: Vec<String> = pairs.map(|pair| of_pair(language, pair)).collect();
    (!told.is_empty()).then(|| told.join("\n"))
}

fn of_pair(language: Language, pair: &AnsweredCall) -> String {
    let (tool, arguments) = (&pair.call.tool, pair.call.arguments.as_str());
    let said: String = pair
        .result
        .text()
        .unwrap_or_default()
        .chars()
        .take(QUOTE_CHARS_MAX)
        .collect();
    match (&pair.result, language) {
        (result, Language::Portuguese) if is_preview(result) => {
            format!("Antes de chamar {tool} preciso do seu sim: {arguments}. Posso?")
        }
        (result, Language::Spanish) if is_preview(result) => {
            format!("Antes de llamar a {tool} necesito tu sí: {arguments}. ¿Puedo?")
        }
        (result, Language::English) if is_preview(result) => {
            format!("Before I call {tool} I need your yes: {arguments}. May I?")
        }
        (ToolResult::Ok(_), Language::Portuguese) => format!("{tool} respondeu: {said}"),
        (ToolResult::Ok(_), Language::Spanish) => format!("{tool} respondió: {said}"),
        (ToolResult::Ok(_), Language::English) => format!("{tool} answered: {said}"),
        (ToolResult::Error(_), Language::Portuguese) => format!("{tool} não foi feita: {said}"),
        (ToolResult::Error(_), Language::Spanish) => format!("{tool} no se hizo: {said}"),
        (ToolResult::Error(_), Language::English) => format!("{tool} was not done: {said}"),
        (ToolResult::Unknown, Language::Portuguese) => {
            format!("Não sei se {tool} foi feita: é preciso conferir.")
        }
        (ToolResult::Unknown, Language::Spanish) => {
            format!("No sé si {tool} se hizo: hay que revisarlo.")
        }
        (ToolResult::Unknown, Language::English) => {
            format!("I do not know whether {tool} was done: it has to be checked.")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Effect, ToolName};

    #[test]
    fn what_stands_behind_the_name_is_typed_as_the_tool_wants() {
        let tool = Tool {
            name: ToolName::parse("slots").unwrap(),
            description: "d".to_owned(),
            parameters: json!({"properties": {
                "day": {"type": "string"}, "page": {"type": "integer"}, "all": {"type": "boolean"},
            }}),
            effect: Effect::Read,
            idempotent: false,
            confirm: false,
        };
        for (text, right) in [
            ("day=2026-12-01", json!({"day": "2026-12-01"})),
            (
                "day=\"1 de maio\" page=2",
                json!({"day": "1 de maio", "page": 2}),
            ),
            ("com page=x, all=true", json!({"page": "x,", "all": true})),
            ("day=7", json!({"day": "7"})),
            ("por favor", json!({})),
        ] {
            assert_eq!(Value::Object(pairs(&tool, text)), right, "{text}");
        }
    }
}
