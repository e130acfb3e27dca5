//! Whether a person has said yes to a call that waits for it. Stands in `act`, between a model that asks for a call
//! and the call.
//!
//! Invariant: a call is made only where the last thing the person got was an answer written beside a preview of this
//! very call (same tool, same arguments), and everything they wrote since is a plain yes. The model's word counts for
//! nothing. A question waits for its yes for a day. A preview that became memory is gone: it is shown and asked again.
//! So it is where nobody knows whether it arrived, and where a human spoke with the person since: their yes may be to
//! that one.

mod dates;
mod shown;
mod words;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::hand_off;
use super::opt_out::plain;
use super::visible::is_blank;
use crate::domain::{Batch, Call, Effect, Exchange, ReplyKind, Timestamp, ToolCall, ToolResult};
use dates::Dates;
pub use shown::with_previews;

/// How long a question waits for its yes: a person who comes back later has something else in mind.
const WAITS: Duration = Duration::from_hours(24);

/// What the result of a call that was not made begins with. Stored with the call, so that a later turn finds it.
pub const PREVIEW: &str = "not done yet: ";

/// Letters that a word must share with the name of a tool to be about it: `cancelar` and `cancel_booking`.
const STEM_LETTERS: usize = 5;

/// Whether `call` may be made, asked for while `batch` is answered after `past` (oldest first). `taken_over_at` is when a
/// human last took over.
pub fn is_agreed(
    past: &[Exchange],
    taken_over_at: Option<Timestamp>,
    batch: &Batch,
    call: &ToolCall,
) -> bool {
    let mut said: Vec<Option<&str>> = batch.events().iter().map(|event| event.text()).collect();
    for exchange in past.iter().rev() {
        if exchange.kind == ReplyKind::Apology {
            // Their yes may be what could not be answered.
            let words = exchange.messages.iter().map(|one| one.text.as_str());
            said.extend(words.map(|text| Some(text).filter(|text| !is_blank(text))));
            continue;
        }
        let shown = exchange.delivered && exchange.known_sent && exchange.answer.is_some();
        return shown
            && !is_old(exchange, batch)
            && !is_with_a_human(exchange, taken_over_at)
            && exchange.calls.iter().any(|one| previews(one, call))
            && agrees(&said, call);
    }
    false
}

/// Whether the newest of `batch` was said too long after this answer.
fn is_old(exchange: &Exchange, batch: &Batch) -> bool {
    let asked_at = Timestamp::from_ms(exchange.reply.made_at_ms());
    let said_at = batch.events().iter().map(|event| event.sent_at).max();
    said_at.is_some_and(|said_at| said_at.since(asked_at) > WAITS)
}

/// Whether a human was asked for in this turn, or took over after it.
fn is_with_a_human(exchange: &Exchange, taken_over_at: Option<Timestamp>) -> bool {
    let asked = |call: &Call| call.call.tool.as_str() == hand_off::NAME;
    taken_over_at.is_some_and(|at| at.ms() >= exchange.reply.made_at_ms())
        || exchange.calls.iter().any(asked)
}

/// Whether `stored` is a preview of `call`.
fn previews(stored: &Call, call: &ToolCall) -> bool {
    let begins =
        |result: &ToolResult| matches!(result, ToolResult::Ok(text) if text.starts_with(PREVIEW));
    stored.effect == Effect::Read
        && stored.call.asks_the_same(call)
        && stored.result.as_ref().is_some_and(begins)
}

/// What the model is told in place of a result.
pub fn preview(call: &ToolCall) -> ToolResult {
    let (tool, arguments) = (&call.tool, call.arguments.as_str());
    ToolResult::Ok(format!(
        "{PREVIEW}{tool} waits for the person's yes. Tell them in your answer exactly what would be done, with every \
         detail, and ask whether to do it. Call {tool} again with the very same arguments only after they have said \
         yes: {arguments}"
    ))
}

/// Whether these messages, all of them together, are a plain yes to `call`: at least one word or sign of agreement, and
/// nothing beside it but polite words and what is in the call already. Whatever else is said may change it: a no, a
/// but, a question, another time. `None` is a message without words.
pub fn agrees(said: &[Option<&str>], call: &ToolCall) -> bool {
    let mut yes = false;
    let dates = Dates::of(&call.arguments.fields());
    let known = of_call(call);
    let about = stems(call);
    let greeted = said.iter().flatten().any(|message| is_greeting(message));
    for message in said {
        let Some(message) = message else {
            return false;
        };
        if message.contains(['?', '¿']) || message.contains(words::NO_SIGNS) {
            return false;
        }
        yes |= message.contains(words::YES_SIGNS);
        let folded = spaced(&plain(message).replace(['\'', '’'], ""));
        if has_one(&folded, words::NO_PHRASES) {
            return false;
        }
        let (agreed, rest) = without_phrases(folded, greeted);
        yes |= agreed;
        let rest = dates.without(&rest);
        if dates.is_another_day(&rest) {
            return false;
        }
        for word in rest.split(|c: char| !c.is_alphanumeric()) {
            let word = squeezed(word);
            let is_about = || about.iter().any(|stem| word.starts_with(stem));
            if word.is_empty() || is_one_of(words::POLITE, &word) {
                continue;
            }
            if is_one_of(words::YES, &word) {
                yes = true;
            } else if !known.contains(&word) && !is_about() {
                return false;
            }
        }
    }
    yes
}

/// A folded text with one space around each of its words.
fn spaced(folded: &str) -> String {
    let words = folded.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

fn has_one(spaced: &str, phrases: &[&str]) -> bool {
    let is_there = |phrase: &&str| spaced.contains(&format!(" {phrase} "));
    phrases.iter().any(is_there)
}

fn is_greeting(message: &str) -> bool {
    let spaced = spaced(&plain(message));
    has_one(&spaced, words::HELLOS) || has_one(&spaced, words::GREETINGS)
}

/// Whether phrases of agreement are in a text, and the text without them and without greetings. Who greets and says that
/// all is well has agreed to nothing.
fn without_phrases(mut rest: String, greeted: bool) -> (bool, String) {
    let mut take = |phrases: &[&str]| {
        let is_there = has_one(&rest, phrases);
        for phrase in phrases {
            rest = rest.replace(&format!(" {phrase} "), "  ");
        }
        is_there
    };
    let agreed = take(words::YES_PHRASES);
    let is_well = take(words::SMALL_TALK);
    take(words::GREETINGS);
    (agreed || (is_well && !greeted), rest)
}

/// The words of the arguments' values: to say them again changes nothing. Never the words that say no.
fn of_call(call: &ToolCall) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(&Value::Object(call.arguments.fields()), &mut found);
    let ambiguous = dates::ambiguous(call.arguments.as_str());
    found.retain(|word| !is_one_of(words::NO, word) && !ambiguous.contains(word));
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|one| collect(one, found)),
        Value::Array(items) => items.iter().for_each(|one| collect(one, found)),
        Value::Null | Value::Bool(_) => {}
        other => {
            let text = other.as_str().map_or_else(|| other.to_string(), plain);
            found.extend(dates::hours(&text));
            let text = dates::without_months(&text);
            let words = text.split(|c: char| !c.is_alphanumeric());
            found.extend(words.map(squeezed).filter(|word| !word.is_empty()));
        }
    }
}

/// How the words begin that are about the call: those of the tool's name, and verbs of doing or of undoing as its name
/// says. "Pode cancelar" is a yes to `cancel_booking`, and to `book` a no.
fn stems(call: &ToolCall) -> Vec<String> {
    let name = plain(call.tool.as_str());
    let names = name.split(|c: char| !c.is_alphanumeric());
    let begins = |word: &str, stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    let is_of = |stems: &[&str]| names.clone().any(|word| begins(word, stems));
    let verbs: Vec<&[&str]> = if is_of(words::UNDOING) {
        vec![words::UNDOING]
    } else if words::DOING.iter().any(|group| is_of(group)) {
        let doing = words::DOING.iter().copied();
        doing.filter(|group| is_of(group)).collect()
    } else {
        words::DOING.to_vec()
    };
    let verbs = verbs.concat();
    let names = names
        .clone()
        .filter(|word| word.chars().count() >= STEM_LETTERS)
        .map(|word| squeezed(word).chars().take(STEM_LETTERS).collect());
    names
        .chain(verbs.iter().map(|stem| squeezed(stem)))
        .collect()
}

fn is_one_of(list: &[&str], word: &str) -> bool {
    list.iter().any(|one| squeezed(one) == word)
}

/// Each letter once in a row, for people draw words out: `siiim`, `okkk`. Digits stay, for 100 is not 10.
fn squeezed(word: &str) -> String {
    let mut squeezed = String::new();
    for sign in word.chars() {
        if sign.is_numeric() || !squeezed.ends_with(sign) {
            squeezed.push(sign);
        }
    }
    squeezed
}

#[cfg(test)]
mod tests;
