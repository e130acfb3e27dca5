//! Calls of a past exchange as later turns are told of them.
//!
//! Invariant: each with its result, and the same exchange is printed the same way in every request.

use serde_json::Value;

use super::MESSAGE_SHARE;
use crate::domain::{
    AnsweredCall, Arguments, Call, CallId, Exchange, ReplyId, ToolCall, ToolResult,
};
use crate::policy::prompt::text::{head, neutralised};
use crate::policy::{tokens, tools};

/// A result of a call may take this share of the budget, and all calls of an exchange four times as much.
const RESULT_SHARE: u32 = 16;

/// Arguments of a call may take this share, so that the newest call of an exchange always fits, with its result.
const ARGUMENTS_SHARE: u32 = 8;

/// The newest calls of an exchange that fit into its share, oldest first, each with its result.
pub(super) fn calls(exchange: &Exchange, budget: u32) -> Vec<AnsweredCall> {
    let mut room = budget / MESSAGE_SHARE;
    let mut kept = Vec::new();
    for call in exchange.calls.iter().rev() {
        let pair = printed_call(exchange.reply, call, budget);
        let price = tokens::answered(&pair);
        if price > room {
            break;
        }
        room -= price;
        kept.push(pair);
    }
    kept.reverse();
    kept
}

/// A call as history tells it: under an id of its own, its arguments and its result cut, and its words harmless.
fn printed_call(reply: ReplyId, call: &Call, budget: u32) -> AnsweredCall {
    let AnsweredCall {
        call: asked,
        result,
    } = call.answered();
    let printed = |text: &str| head(&neutralised(text), budget / RESULT_SHARE);
    AnsweredCall {
        call: ToolCall {
            id: CallId::parse(tools::lasting_id(reply, call.n)).unwrap_or(asked.id),
            tool: asked.tool,
            arguments: printed_arguments(&asked.arguments, budget / ARGUMENTS_SHARE),
        },
        result: match result {
            ToolResult::Ok(text) => ToolResult::Ok(printed(&text)),
            ToolResult::Error(why) => ToolResult::Error(printed(&why)),
            ToolResult::Unknown => ToolResult::Unknown,
        },
    }
}

/// Arguments within `longest`: whole, or else with their texts cut, or else none.
fn printed_arguments(arguments: &Arguments, longest: u32) -> Arguments {
    let fits = |printed: &Arguments| tokens::estimate(printed.as_str()) <= longest;
    let Some(whole) = Arguments::parse(&neutralised(arguments.as_str())) else {
        return Arguments::none();
    };
    if fits(&whole) {
        return whole;
    }
    let fields = Value::Object(whole.fields());
    // Half of it is for the names and the signs between.
    let each = longest / 2 / texts(&fields).max(1);
    let cut = Arguments::parse(&shortened(fields, each).to_string());
    cut.filter(fits).unwrap_or_else(Arguments::none)
}

/// How many texts are in a value, however deep.
fn texts(value: &Value) -> u32 {
    match value {
        Value::String(_) => 1,
        Value::Array(values) => values.iter().map(texts).sum(),
        Value::Object(fields) => fields.values().map(texts).sum(),
        _ => 0,
    }
}

/// The value with each of its texts cut.
fn shortened(value: Value, longest: u32) -> Value {
    match value {
        Value::String(text) => Value::String(head(&text, longest)),
        Value::Array(values) => {
            let cut = values.into_iter().map(|value| shortened(value, longest));
            Value::Array(cut.collect())
        }
        Value::Object(fields) => {
            let cut = fields.into_iter();
            Value::Object(
                cut.map(|(name, value)| (name, shortened(value, longest)))
                    .collect(),
            )
        }
        other => other,
    }
}
