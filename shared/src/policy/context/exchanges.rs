//! Past exchanges as units that are taken or left whole, and as the alternating turns every model asks for.
//!
//! Invariant: every unit begins with the person; joined, units alternate.

mod calls;

use crate::domain::{AnsweredCall, Exchange, ReplyId, Turn};
use crate::policy::prompt::language::Language;
use crate::policy::prompt::text::{head, neutralised};
use crate::policy::tokens;
use crate::policy::visible::is_blank;

/// A past message may take at most this share of the budget, or one pasted page would push everything else out.
const MESSAGE_SHARE: u32 = 4;

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
///
/// An answer that never reached the person was not said: its messages wait, and are answered with the next ones. Where
/// tools were called, or the exchange before waits too (an outage must make no unit too long for a prompt), a mark
/// stands for it instead; so it does for the answer that a turn with calls never had.
pub fn units(
    exchanges: &[Exchange],
    cut_point: Option<ReplyId>,
    budget: u32,
    language: Language,
) -> Vec<Unit> {
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
        let calls = calls::calls(exchange, budget);
        let waits = units.last().is_some_and(|unit| unit.answer.is_none());
        let said = exchange.answer.as_deref().filter(|text| !is_blank(text));
        let answer = match said {
            Some(text) if exchange.delivered => Some(printed(text)),
            // Also where no call fits: words that look as if they waited would have it done again.
            Some(_) if waits || !exchange.calls.is_empty() => {
                Some(language.undelivered().to_owned())
            }
            // A turn that was closed: a human took over, or a STOP came.
            None if !exchange.calls.is_empty() => Some(language.unanswered().to_owned()),
            _ => None,
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Arguments, Call, CallId, Effect, ToolCall, ToolName, ToolResult};
    use crate::policy::context::tests::exchange;

    const MARK: &str = Language::Portuguese.undelivered();

    /// An exchange whose answer never reached the person.
    fn lost(number: u64, said: &str) -> Exchange {
        Exchange {
            delivered: false,
            ..exchange(number, &[said], Some("lost"))
        }
    }

    fn told(exchanges: &[Exchange]) -> (Vec<Turn>, Vec<String>) {
        turns(&units(exchanges, None, 3_000, Language::Portuguese))
    }

    fn user(blocks: &[&str]) -> Turn {
        Turn::User(blocks.iter().map(|text| (*text).to_owned()).collect())
    }

    fn agent(text: &str) -> Turn {
        Turn::Assistant(text.to_owned())
    }

    #[test]
    fn an_answer_that_never_arrived_was_not_said() {
        for (label, exchanges, history, last) in [
            (
                "the newest: its question waits",
                vec![exchange(1, &["a"], Some("b")), lost(2, "c")],
                vec![user(&["a"]), agent("b")],
                vec!["c"],
            ),
            (
                "an older one: answered with the next",
                vec![lost(1, "a"), exchange(2, &["c"], Some("d"))],
                vec![user(&["a", "c"]), agent("d")],
                vec![],
            ),
            (
                "many in a row: no unit grows without bound",
                (1..=5).map(|n| lost(n, "a")).collect(),
                vec![
                    user(&["a", "a"]),
                    agent(MARK),
                    user(&["a", "a"]),
                    agent(MARK),
                ],
                vec!["a"],
            ),
        ] {
            let (turns, waits) = told(&exchanges);
            assert_eq!(turns, history, "{label}");
            assert_eq!(waits, last, "{label}");
        }
    }

    /// Whatever is long: words that look as if they waited would have it done again.
    #[test]
    fn what_was_done_is_told_however_long_its_arguments_are() {
        let words = "leite e pão ".repeat(1_000);
        let flat = format!(r#"{{"title":"Lista","text":"{words}"}}"#);
        let numbers: Vec<String> = (0..2_000).map(|n| n.to_string()).collect();
        let many = format!(r#"{{"list":[{}],"title":"Lista"}}"#, numbers.join(","));
        for (label, arguments, kept) in [("words", flat, true), ("values", many, false)] {
            for (exchange, mark) in [
                (lost(1, "anota"), MARK),
                (
                    exchange(1, &["anota"], None),
                    Language::Portuguese.unanswered(),
                ),
            ] {
                let mut acted = booked(exchange);
                acted.calls[0].call.arguments = Arguments::parse(&arguments).unwrap();
                let (turns, waits) = told(&[acted]);
                assert_eq!(waits, [""; 0], "{label}");
                assert_eq!((turns.len(), &turns[2]), (3, &agent(mark)), "{label}");
                let Turn::Calls(calls) = &turns[1] else {
                    panic!("{label}");
                };
                let fields = calls[0].call.arguments.fields();
                assert_eq!(fields.get("title").is_some(), kept, "{label}");
                assert!(
                    tokens::answered(&calls[0]) <= 3_000 / MESSAGE_SHARE,
                    "{label}"
                );
            }
        }
    }

    #[test]
    fn what_was_done_is_told_though_the_answer_never_arrived() {
        let closed = exchange(1, &["a"], None);
        let unanswered = Language::Portuguese.unanswered();
        for (acted, mark) in [(lost(1, "a"), MARK), (closed, unanswered)] {
            let (turns, waits) = told(&[booked(acted)]);
            assert!(matches!(&turns[1], Turn::Calls(calls) if calls.len() == 1));
            assert_eq!((turns.len(), &turns[2]), (3, &agent(mark)));
            assert_eq!(waits, [""; 0]);
        }
    }

    fn booked(mut acted: Exchange) -> Exchange {
        acted.calls = vec![Call {
            n: 0,
            effect: Effect::Write,
            call: ToolCall {
                id: CallId::parse("call-1").unwrap(),
                tool: ToolName::parse("book").unwrap(),
                arguments: Arguments::none(),
            },
            result: Some(ToolResult::Ok("booked".to_owned())),
        }];
        acted
    }
}
