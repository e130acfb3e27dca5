//! What a tick does: any tick looks at the whole conversation, and this decides from what was seen.
//!
//! Invariant: nothing is answered within its window unless the ceiling has passed, and nothing that is pending
//! is ignored: every answer but `Ignore` leads to another look.

use std::time::Duration;

use super::opt_out;
use crate::domain::batch::Closure;
use crate::domain::{Agent, Batch, ClosedReason, Event, HoldReason, MessageId, State, Timestamp};
use crate::ports::Peek;

/// How many caught panics in a row make a batch one that is answered with the honest line.
const CRASHES_MAX: u32 = 3;

/// What to do with a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// At rest.
    Ignore,
    /// Nothing to do before this moment.
    HoldUntil(Timestamp, HoldReason),
    /// Messages under a conversation without state: late ones of an erased person.
    DeleteLate(Vec<MessageId>),
    /// Messages that no reply will answer.
    Close(Closure),
    /// Replies wait in the outbox.
    Deliver,
    /// A STOP: these messages are answered by its confirmation. The last of them is the STOP.
    ConfirmOptOut(Batch),
    /// The thought is finished.
    Answer(Batch),
    /// Enough was tried: the honest line answers these.
    Apologise(Batch),
}

/// Decides from one look at the conversation.
pub fn decide(peek: &Peek, agent: &Agent, now: Timestamp) -> Decision {
    let Some(state) = &peek.state else {
        return if peek.pending.is_empty() {
            Decision::Ignore
        } else {
            Decision::DeleteLate(ids(&peek.pending))
        };
    };
    if let Some(lease) = state.lease.filter(|lease| lease.until > now) {
        return Decision::HoldUntil(lease.until, HoldReason::Leased);
    }
    if !peek.outbox.is_empty() {
        return match state.hold_until.filter(|until| *until > now) {
            Some(until) => Decision::HoldUntil(until, HoldReason::SendLater),
            None => Decision::Deliver,
        };
    }
    if peek.pending.is_empty() {
        return Decision::Ignore;
    }
    decide_pending(state, peek, agent, now)
}

/// Decides on messages of a living conversation that no one works on.
fn decide_pending(state: &State, peek: &Peek, agent: &Agent, now: Timestamp) -> Decision {
    if let Some(closure) = closure(state, &peek.pending, now) {
        return Decision::Close(closure);
    }
    if let Some(stop) = opt_out::last_stop(&peek.pending, &agent.opt_out_words) {
        return Decision::ConfirmOptOut(Batch::from_pending(peek.pending[..=stop].to_vec()));
    }
    let batch = batch(state, peek.pending.clone());
    if let Some(first) = first_attempt(state, &peek.pending) {
        let tried_long = now >= first.plus(agent.timing.give_up_after);
        if tried_long || state.crashes >= CRASHES_MAX {
            return Decision::Apologise(batch);
        }
    }
    let due = due(&peek.pending, agent);
    // A clock that stepped back must not make anyone wait longer than the ceiling.
    let due = due.min(now.plus(agent.timing.ceiling));
    let backoff = state
        .hold_until
        .unwrap_or_default()
        .min(now.plus(BACKOFF_MAX));
    if backoff > now && backoff >= due {
        return Decision::HoldUntil(backoff, HoldReason::Backoff);
    }
    if due > now {
        return Decision::HoldUntil(due, HoldReason::Window);
    }
    Decision::Answer(batch)
}

/// When the first of the runs since the last success began, if anything of `pending` was there by then. What was
/// counted against messages that were closed since (an opt-out, a human who took over) says nothing about newer ones.
pub fn first_attempt(state: &State, pending: &[Event]) -> Option<Timestamp> {
    let oldest = pending.iter().map(|event| event.arrived_at).min()?;
    state.first_attempt_at.filter(|first| oldest <= *first)
}

/// No hold for a failure lasts longer, for STOP and new messages wait behind it.
pub const BACKOFF_MAX: Duration = Duration::from_mins(1);

/// When `pending` is due: at the window's end after the newest, at the ceiling after the first, or at once where
/// the batch is full.
pub fn due(pending: &[Event], agent: &Agent) -> Timestamp {
    if pending.len() >= Batch::MAX {
        return Timestamp::default();
    }
    let arrivals = pending.iter().map(|event| event.arrived_at);
    let (Some(first), Some(last)) = (arrivals.clone().min(), arrivals.max()) else {
        return Timestamp::default();
    };
    last.plus(agent.timing.window)
        .min(first.plus(agent.timing.ceiling))
}

/// What is answered together: of a sealed batch what is still pending, else the first messages of `pending`.
pub fn batch(state: &State, pending: Vec<Event>) -> Batch {
    if let Some(sealed) = &state.sealed {
        let kept: Vec<Event> = pending
            .iter()
            .filter(|event| sealed.events.contains(&event.id))
            .cloned()
            .collect();
        if !kept.is_empty() {
            return Batch::from_pending(kept);
        }
    }
    Batch::from_pending(pending)
}

/// What is closed without an answer: what came before a STOP, and everything while a human has taken over.
fn closure(state: &State, pending: &[Event], now: Timestamp) -> Option<Closure> {
    if let Some(opted_out) = &state.opt_out {
        let covered: Vec<MessageId> = pending
            .iter()
            .filter(|event| opt_out::covers(opted_out, event))
            .map(|event| event.id.clone())
            .take(Batch::MAX)
            .collect();
        if !covered.is_empty() {
            return Some(Closure {
                events: covered,
                reason: ClosedReason::OptedOut,
            });
        }
    }
    if state.is_paused(now) {
        let mut events = ids(pending);
        events.truncate(Batch::MAX);
        return Some(Closure {
            events,
            reason: ClosedReason::Paused,
        });
    }
    None
}

fn ids(events: &[Event]) -> Vec<MessageId> {
    events.iter().map(|event| event.id.clone()).collect()
}

#[cfg(test)]
mod tests;
