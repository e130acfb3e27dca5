//! Past exchanges as units that are taken or left whole, and as the alternating turns every model asks for.
//!
//! Invariant: every unit begins with the person; joined, units alternate.

use crate::domain::{
    AnsweredCall, Arguments, Call, CallId, Exchange, ReplyId, ToolCall, ToolResult, Turn,
};
use crate::policy::prompt::text::{head, neutralised};
use crate::policy::visible::is_blank;
use crate::policy::{tokens, tools};

/// A past message may take at most this share of the budget, or one pasted page would push everything else out.
const MESSAGE_SHARE: u32 = 4;

/// A result of a call may take this share of the budget, and all calls of an exchange four times as much.
const RESULT_SHARE: u32 = 16;

/// One exchange, or several where a side is missing between them.
pub struct Unit {
    /// Its newest reply.
    pub reply: ReplyId,
    /// The person's messages; never empty.
    pub blocks: Vec<String>,
    /// What was asked of tools before we spoke.
    pub calls: Vec<AnsweredCall>,
    /// What we said; absent where no reply is left.
    pub answer: Option<String>,
    /// What it costs, before the learnt factor.
    pub tokens: u32,
    /// Messages of both sides.
    pub messages: usize,
}

/// The units after `cut_point`, oldest first. The learnt factor has no part in it: the same exchange must be printed
/// the same way in every request.
pub fn units(exchanges: &[Exchange], cut_point: Option<ReplyId>, budget: u32) -> Vec<Unit> {
    let longest = budget / MESSAGE_SHARE;
    let printed = |text: &str| head(&neutralised(text), longest);
    let mut units: Vec<Unit> = Vec::new();
    for exchange in exchanges {
        if cut_point.is_some_and(|cut_point| exchange.reply <= cut_point) {
            continue;
        }
        let blocks: Vec<String> = exchange
            .messages
            .iter()
            .filter(|message| !is_blank(&message.text))
            .map(|message| printed(&message.text))
            .collect();
        let answer = exchange
            .answer
            .as_deref()
            .filter(|text| !is_blank(text))
            .map(printed);
        let calls = calls(exchange, budget);
        add(&mut units, exchange.reply, blocks, calls, answer);
    }
    for unit in &mut units {
        if unit.answer.is_none() {
            // Its messages stand in the last turn then, where calls have no place.
            unit.calls.clear();
        }
        let texts = unit.blocks.iter().chain(&unit.answer);
        let spoken: u32 = texts.clone().map(|text| tokens::message(text)).sum();
        unit.tokens = spoken + unit.calls.iter().map(tokens::answered).sum::<u32>();
        unit.messages = texts.count();
    }
    units
}

/// The newest calls of an exchange that fit into its share, oldest first, each with its result.
fn calls(exchange: &Exchange, budget: u32) -> Vec<AnsweredCall> {
    let mut room = budget / MESSAGE_SHARE;
    let mut kept = Vec::new();
    for call in exchange.calls.iter().rev() {
        let pair = printed_call(exchange.reply, call, budget / RESULT_SHARE);
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

/// A call as history tells it: under an id of its own, its result cut, and its words harmless.
fn printed_call(reply: ReplyId, call: &Call, longest: u32) -> AnsweredCall {
    let AnsweredCall {
        call: asked,
        result,
    } = call.answered();
    let printed = |text: &str| head(&neutralised(text), longest);
    let arguments = Arguments::parse(&neutralised(asked.arguments.as_str()));
    AnsweredCall {
        call: ToolCall {
            id: CallId::parse(tools::lasting_id(reply, call.n)).unwrap_or(asked.id),
            tool: asked.tool,
            arguments: arguments.unwrap_or_else(Arguments::none),
        },
        result: match result {
            ToolResult::Ok(text) => ToolResult::Ok(printed(&text)),
            ToolResult::Error(why) => ToolResult::Error(printed(&why)),
            ToolResult::Unknown => ToolResult::Unknown,
        },
    }
}

/// Adds one exchange. A side that is missing joins its words to the unit before, so that roles keep alternating; an
/// answer to nothing at the very beginning is left out.
fn add(
    units: &mut Vec<Unit>,
    reply: ReplyId,
    blocks: Vec<String>,
    calls: Vec<AnsweredCall>,
    answer: Option<String>,
) {
    match units.last_mut() {
        Some(before) if blocks.is_empty() => {
            before.reply = reply;
            before.calls.extend(calls);
            before.answer = match (before.answer.take(), answer) {
                (Some(earlier), Some(later)) => Some(format!("{earlier}\n\n{later}")),
                (earlier, later) => earlier.or(later),
            };
        }
        Some(before) if before.answer.is_none() => {
            before.reply = reply;
            before.blocks.extend(blocks);
            before.calls.extend(calls);
            before.answer = answer;
        }
        _ if blocks.is_empty() => {}
        _ => units.push(Unit {
            reply,
            blocks,
            calls,
            answer,
            tokens: 0,
            messages: 0,
        }),
    }
}

/// The turns of `units`, and the messages at their end that no reply followed: those belong before the newest turn.
pub fn turns(units: &[Unit]) -> (Vec<Turn>, Vec<String>) {
    let mut turns = Vec::new();
    for unit in units {
        match &unit.answer {
            Some(answer) => {
                turns.push(Turn::User(unit.blocks.clone()));
                if !unit.calls.is_empty() {
                    turns.push(Turn::Calls(unit.calls.clone()));
                }
                turns.push(Turn::Assistant(answer.clone()));
            }
            // Only the newest unit can lack its answer: an older one would have been joined.
            None => return (turns, unit.blocks.clone()),
        }
    }
    (turns, Vec::new())
}
