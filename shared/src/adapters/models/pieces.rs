//! The conversation of a prompt as any provider takes it: who speaks, in turn, and the calls with their results.
//!
//! Invariant: no text is blank, no call is without its result and no result without its call, no two calls share an
//! id, and carried items are those of the very model that is asked.

use serde_json::Value;

use super::Asked;
use super::ids::WireIds;
use crate::domain::{AnsweredCall, CallId, Carried, Prompt, ToolCall, ToolResult, Turn};
use crate::policy::tools::words;
use crate::policy::visible::is_blank;

/// One side's part of the conversation.
pub(super) enum Piece<'a> {
    /// The person: one block per message.
    User(Vec<&'a str>),
    /// The agent.
    Said(&'a str),
    /// What the agent called at once, and what came of it.
    Called(Called<'a>),
    /// The person's last turn, and the notes after it.
    Last(Vec<&'a str>, Vec<&'a str>),
}

/// Calls made at once.
pub(super) struct Called<'a> {
    /// Each with its result.
    pub pairs: Vec<Pair<'a>>,
    /// The provider's own items that ask for exactly these calls.
    pub carried: Option<&'a [Value]>,
}

/// A call and its result.
pub(super) struct Pair<'a> {
    /// What ties the two in this request.
    pub id: String,
    /// The call.
    pub call: &'a ToolCall,
    /// The result in words, never blank.
    pub result: String,
    /// Whether nothing was done.
    pub failed: bool,
}

/// How a dialect tells which calls its carried items hold.
pub(super) type CallsIn = fn(&Value) -> Vec<&str>;

/// The pieces of a prompt that [`mended`](crate::policy::prompt::validate::mended) gave.
pub(super) fn pieces<'a>(
    asked: &Asked<'_>,
    prompt: &'a Prompt,
    mut ids: WireIds,
    calls_in: CallsIn,
) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for turn in &prompt.history {
        pieces.push(match turn {
            Turn::User(blocks) => Piece::User(seen(blocks)),
            Turn::Assistant(text) => Piece::Said(text),
            Turn::Calls(calls) => Piece::Called(Called {
                pairs: calls.iter().map(|one| pair(one, &mut ids)).collect(),
                carried: None,
            }),
        });
    }
    pieces.push(Piece::Last(seen(&prompt.last), seen(&prompt.notes)));
    let origin = asked.origin();
    for round in &prompt.rounds {
        let carried = carried(&round.carried, &origin, &round.calls, &mut ids, calls_in);
        let pairs = round.calls.iter().map(|one| match carried {
            Some(_) => bare(one, one.call.id.to_string()),
            None => pair(one, &mut ids),
        });
        let pairs = pairs.collect();
        pieces.push(Piece::Called(Called { pairs, carried }));
    }
    pieces
}

/// The texts with something to see.
pub(super) fn seen<'a>(texts: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let texts = texts.into_iter().filter(|text| !is_blank(text));
    texts.map(String::as_str).collect()
}

/// The carried items, if they are this model's own, hold exactly these calls, and clash with none before.
fn carried<'a>(
    carried: &'a Carried,
    origin: &str,
    calls: &[AnsweredCall],
    ids: &mut WireIds,
    calls_in: CallsIn,
) -> Option<&'a [Value]> {
    let items = carried.of(origin)?;
    let held: Vec<&str> = items.iter().flat_map(calls_in).collect();
    let wanted: Vec<&CallId> = calls.iter().map(|one| &one.call.id).collect();
    let are_the_same = held.iter().copied().eq(wanted.iter().map(|id| id.as_str()));
    (are_the_same && ids.reserve(&wanted)).then_some(items)
}

fn pair<'a>(answered: &'a AnsweredCall, ids: &mut WireIds) -> Pair<'a> {
    bare(answered, ids.give(&answered.call.id))
}

fn bare(answered: &AnsweredCall, id: String) -> Pair<'_> {
    Pair {
        id,
        call: &answered.call,
        result: words(&answered.result),
        failed: matches!(answered.result, ToolResult::Error(_)),
    }
}
