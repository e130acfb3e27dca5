//! What becomes of the calls a model asks for, and how their results are told to it.
//!
//! Invariant: only a declared tool is run, with arguments that are a JSON object and fit its schema; a write is made once
//! in a turn whatever the model asks again; every call that was asked for has a result.

use serde_json::Value;

use super::schema;
use crate::domain::{
    AnsweredCall, Arguments, AskedCall, Call, Effect, ReplyId, Tool, ToolCall, ToolName, ToolResult,
};

/// Times a model may ask for calls in one turn; then it has to answer.
pub const ROUNDS_MAX: usize = 6;

/// What a model asked for, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked<'a> {
    /// To be made.
    Make(ToolCall, &'a Tool),
    /// Answered without being made.
    Answered(AnsweredCall),
}

/// Looks at one call. `made` are the turn's calls so far, those of earlier runs included.
pub fn check<'a>(tools: &'a [Tool], made: &[Call], asked: &AskedCall) -> Checked<'a> {
    let name = ToolName::parse(asked.tool.as_str()).ok();
    let arguments = Arguments::parse(&asked.arguments);
    let tool = tools.iter().find(|tool| tool.name.as_str() == asked.tool);
    let call = ToolCall {
        id: asked.id.clone(),
        tool: name.unwrap_or_else(unnamed),
        arguments: arguments.clone().unwrap_or_else(Arguments::none),
    };
    let why = match (tool, arguments) {
        (None, _) => "there is no such tool".to_owned(),
        (_, None) => "the arguments are not one JSON object, or are too long".to_owned(),
        (Some(_), Some(_)) if !Arguments::are_exact(&asked.arguments) => {
            "nothing was done: a number has more digits than can be kept; where it may be a text, call again with it as \
             one"
                .to_owned()
        }
        (Some(tool), Some(arguments)) => {
            let wrong = schema::problems(&tool.parameters, &Value::Object(arguments.fields()));
            if !wrong.is_empty() {
                return answered(call, mend(&wrong));
            }
            if let Some(result) = written(made, &call) {
                return Checked::Answered(AnsweredCall { call, result });
            }
            if made.len() < Call::MAX {
                return Checked::Make(call, tool);
            }
            "no more calls in this turn: answer with what there is".to_owned()
        }
    };
    answered(call, why)
}

fn answered<'a>(call: ToolCall, why: String) -> Checked<'a> {
    let result = ToolResult::Error(why);
    Checked::Answered(AnsweredCall { call, result })
}

/// What is wrong with the arguments, for a model that can mend them.
fn mend(wrong: &[String]) -> String {
    let wrong = wrong.join("; ");
    format!("nothing was done, for the arguments do not fit: {wrong}. Call again with right ones")
}

/// What came of the same write before, in this turn.
fn written(made: &[Call], call: &ToolCall) -> Option<ToolResult> {
    let same = |one: &&Call| one.effect == Effect::Write && one.call.asks_the_same(call);
    made.iter().find(same).map(|one| one.answered().result)
}

/// Stands for a name that no provider would take back.
pub fn unnamed() -> ToolName {
    ToolName::parse("unnamed").unwrap_or_else(|_| unreachable!("it is a name"))
}

/// Whether a running call, whose run ended before its result was stored, may be made again under its key.
pub fn may_be_repeated(tools: &[Tool], call: &Call) -> bool {
    let declared = tools.iter().find(|tool| tool.name == call.call.tool);
    call.effect == Effect::Read || declared.is_some_and(|tool| tool.idempotent)
}

/// A result in words for the model; never blank.
pub fn words(result: &ToolResult) -> String {
    match result {
        ToolResult::Ok(text) if super::visible::is_blank(text) => "done".to_owned(),
        ToolResult::Ok(text) => text.clone(),
        ToolResult::Error(why) => format!("error: {why}"),
        ToolResult::Unknown => UNKNOWN.to_owned(),
    }
}

const UNKNOWN: &str = "outcome unknown: it may or may not have been done; do not try it again, and tell the person \
                       honestly that it has to be checked";

/// A call's own id in later requests: unlike the provider's it is the only one of its kind in a conversation.
pub fn lasting_id(reply: ReplyId, n: u16) -> String {
    format!("{reply}-{n}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::CallId;

    fn tool(name: &str, effect: Effect, idempotent: bool) -> Tool {
        Tool {
            name: ToolName::parse(name).unwrap(),
            description: "d".to_owned(),
            parameters: json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
            effect,
            idempotent,
            confirm: false,
        }
    }

    fn asked(tool: &str, arguments: &str) -> AskedCall {
        AskedCall {
            id: CallId::parse("c1").unwrap(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    fn made(n: u16, tool: &str, effect: Effect, result: Option<ToolResult>) -> Call {
        let call = ToolCall {
            id: CallId::parse("c0").unwrap(),
            tool: ToolName::parse(tool).unwrap(),
            arguments: Arguments::parse(r#"{"a":1}"#).unwrap(),
        };
        Call {
            n,
            effect,
            call,
            result,
        }
    }

    /// What is told to the model; `None` where the call is made.
    fn told(made: &[Call], asked: &AskedCall) -> Option<String> {
        let tools = [
            tool("book", Effect::Write, false),
            tool("hours", Effect::Read, false),
        ];
        match check(&tools, made, asked) {
            Checked::Make(..) => None,
            Checked::Answered(answered) => Some(words(&answered.result)),
        }
    }

    #[test]
    fn each_call_is_made_or_has_a_result() {
        let ok = || Some(ToolResult::Ok("booked".to_owned()));
        let booked = [made(0, "book", Effect::Write, ok())];
        let unknown = [made(0, "book", Effect::Write, Some(ToolResult::Unknown))];
        let looked = [made(0, "hours", Effect::Read, ok())];
        let many: Vec<_> = (0..12)
            .map(|n| made(n, "hours", Effect::Read, ok()))
            .collect();
        for (label, made, asked, right) in [
            ("a write", &[][..], asked("book", r#"{"a":1}"#), None),
            ("another write", &booked, asked("book", r#"{"a":2}"#), None),
            (
                "the same write again",
                &booked,
                asked("book", r#" { "a" : 1 } "#),
                Some("booked"),
            ),
            (
                "the same write, of unknown outcome",
                &unknown,
                asked("book", r#"{"a":1}"#),
                Some("outcome unknown"),
            ),
            (
                "the same look again",
                &looked,
                asked("hours", r#"{"a":1}"#),
                None,
            ),
            (
                "an unknown tool",
                &[],
                asked("fly", "{}"),
                Some("error: there is no such tool"),
            ),
            (
                "a name that is none",
                &[],
                asked("a b", "{}"),
                Some("error: there is no such tool"),
            ),
            (
                "arguments that are no JSON",
                &[],
                asked("book", "{"),
                Some("error: the arguments"),
            ),
            (
                "arguments that do not fit",
                &[],
                asked("book", r#"{"a":"1"}"#),
                Some(
                    "error: nothing was done, for the arguments do not fit: a: must be a whole number, not text. Call",
                ),
            ),
            (
                "a number that would become another",
                &[],
                asked("book", r#"{"a":23793381286000000000123}"#),
                Some("error: nothing was done: a number has more digits"),
            ),
            (
                "one too many",
                &many,
                asked("book", "{}"),
                Some("error: no more calls"),
            ),
        ] {
            let told = told(made, &asked);
            let fits = match (&told, right) {
                (Some(told), Some(right)) => told.starts_with(right),
                (None, None) => true,
                _ => false,
            };
            assert!(fits, "{label}: {told:?}");
        }
    }

    #[test]
    fn only_what_makes_one_effect_is_made_again() {
        let tools = [
            tool("book", Effect::Write, false),
            tool("add", Effect::Write, true),
        ];
        let may = |name, effect| may_be_repeated(&tools, &made(0, name, effect, None));
        assert!(may("add", Effect::Write));
        assert!(!may("book", Effect::Write));
        assert!(!may("gone_from_the_file", Effect::Write) && may("hours", Effect::Read));
    }

    #[test]
    fn a_result_is_never_blank() {
        for result in [
            ToolResult::Ok(" \n".to_owned()),
            ToolResult::Error(String::new()),
            ToolResult::Unknown,
        ] {
            assert!(!words(&result).trim().is_empty());
        }
    }
}
