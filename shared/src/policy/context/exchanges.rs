//! Past exchanges as units that are taken or left whole, and as the alternating turns every model asks for.
//!
//! Invariant: every unit begins with the person; joined, units alternate.

use crate::domain::{Exchange, ReplyId, Turn};
use crate::policy::prompt::text::{head, is_blank, neutralised};
use crate::policy::tokens;

/// A past message may take at most this share of the budget, or one pasted page would push everything else out.
const MESSAGE_SHARE: u32 = 4;

/// One exchange, or several where a side is missing between them.
pub struct Unit {
    /// Its newest reply.
    pub reply: ReplyId,
    /// The person's messages; never empty.
    pub blocks: Vec<String>,
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
        add(&mut units, exchange.reply, blocks, answer);
    }
    for unit in &mut units {
        let texts = unit.blocks.iter().chain(&unit.answer);
        unit.tokens = texts.clone().map(|text| tokens::message(text)).sum();
        unit.messages = texts.count();
    }
    units
}

/// Adds one exchange. A side that is missing joins its words to the unit before, so that roles keep alternating; an
/// answer to nothing at the very beginning is left out.
fn add(units: &mut Vec<Unit>, reply: ReplyId, blocks: Vec<String>, answer: Option<String>) {
    match units.last_mut() {
        Some(before) if blocks.is_empty() => {
            before.reply = reply;
            before.answer = match (before.answer.take(), answer) {
                (Some(earlier), Some(later)) => Some(format!("{earlier}\n\n{later}")),
                (earlier, later) => earlier.or(later),
            };
        }
        Some(before) if before.answer.is_none() => {
            before.reply = reply;
            before.blocks.extend(blocks);
            before.answer = answer;
        }
        _ if blocks.is_empty() => {}
        _ => units.push(Unit {
            reply,
            blocks,
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
                turns.push(Turn::Assistant(answer.clone()));
            }
            // Only the newest unit can lack its answer: an older one would have been joined.
            None => return (turns, unit.blocks.clone()),
        }
    }
    (turns, Vec::new())
}
