//! What a tick does: any tick looks at the whole conversation, and this decides from what was seen.
//!
//! Invariant: nothing is answered within its window unless the ceiling has passed, and nothing that is pending
//! is ignored: every answer but `Ignore` leads to another look.

use std::time::Duration;

use super::{closing, opt_out};
use crate::domain::batch::Closure;
use crate::domain::{
    Agent, Batch, Event, HoldReason, MessageId, ReplyStatus, Sealed, State, Timestamp,
};
use crate::ports::Peek;

/// How many caught panics in a row make a batch one that is answered with the honest line.
pub const CRASHES_MAX: u32 = 3;

/// How many runs in a row that never ended (a process that dies each time) count as failed.
const ATTEMPTS_MAX: u32 = 20;

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
            let mut late = ids(&peek.pending);
            late.truncate(Batch::MAX);
            Decision::DeleteLate(late)
        };
    };
    if let Some(lease) = state.lease.filter(|lease| lease.until > now) {
        return Decision::HoldUntil(lease.until, HoldReason::Leased);
    }
    if !peek.outbox.is_empty() && !stops_the_outbox(state, peek, agent) {
        return match held_until(state, now) {
            Some(until) => Decision::HoldUntil(until, HoldReason::SendLater),
            None => Decision::Deliver,
        };
    }
    if peek.pending.is_empty() {
        return Decision::Ignore;
    }
    decide_pending(state, peek, agent, now)
}

/// Whether a STOP waits that what is not yet being sent must not get ahead of: its confirmation goes first, and the
/// replies behind it are withheld.
fn stops_the_outbox(state: &State, peek: &Peek, agent: &Agent) -> bool {
    state.opt_out.is_none()
        && peek
            .outbox
            .iter()
            .all(|reply| reply.status == ReplyStatus::Ready)
        && opt_out::last_stop(&peek.pending, &agent.opt_out_words).is_some()
}

/// Decides on messages of a living conversation that no one works on.
fn decide_pending(state: &State, peek: &Peek, agent: &Agent, now: Timestamp) -> Decision {
    let stop = opt_out::last_stop(&peek.pending, &agent.opt_out_words);
    if let Some(closure) = closing::decide(state, &peek.pending, stop, now) {
        return Decision::Close(closure);
    }
    if let Some(stop) = stop {
        // What a tool wrote for is answered with it, though it was sent after the STOP: its seal goes with this commit.
        let sealed = still_sealed(state, &peek.pending);
        let of_it = |event: &Event| sealed.is_some_and(|sealed| sealed.events.contains(&event.id));
        let stop = stop.max(peek.pending.iter().rposition(of_it).unwrap_or(0));
        // Of more messages than a batch holds the STOP is among those answered; the older ones are closed after it.
        let first = (stop + 1).saturating_sub(Batch::MAX);
        return Decision::ConfirmOptOut(Batch::from_pending(peek.pending[first..=stop].to_vec()));
    }
    let batch = batch(state, peek.pending.clone());
    if let Some(first) = first_attempt(state, &peek.pending) {
        let give_up_after = agent.timing.give_up_after;
        // A run that was cut off has not failed: after a long stop of the process it is tried again before giving up.
        let failed_lately = state
            .hold_until
            .is_some_and(|until| now < until.plus(give_up_after))
            || state.attempts >= ATTEMPTS_MAX;
        let tried_long = failed_lately && now >= first.plus(give_up_after);
        if tried_long || state.crashes >= CRASHES_MAX {
            return Decision::Apologise(batch);
        }
    }
    let due = due(batch.events(), agent, now);
    if let Some(backoff) = held_until(state, now).filter(|until| *until >= due) {
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

/// Until when nothing is tried, where that is still to come. What no failure asks for is of before the clock stepped back,
/// and is not waited for; the clocks of two machines may differ a little.
pub fn held_until(state: &State, now: Timestamp) -> Option<Timestamp> {
    let believable = now.plus(BACKOFF_MAX + BACKOFF_MAX);
    state
        .hold_until
        .filter(|until| *until > now && *until <= believable)
}

/// When `pending` is due: at the window's end after the newest, at the ceiling after the first, or at once where
/// the batch is full. An arrival more than a window ahead of `now` is one of before the clock stepped back: it is not
/// waited for, or the person would wait as long as the step was.
pub fn due(pending: &[Event], agent: &Agent, now: Timestamp) -> Timestamp {
    if pending.len() >= Batch::MAX {
        return Timestamp::default();
    }
    let believable = now.plus(agent.timing.window);
    let arrivals = pending.iter().map(|event| event.arrived_at);
    let arrivals = arrivals.filter(|arrived_at| *arrived_at <= believable);
    let (Some(first), Some(last)) = (arrivals.clone().min(), arrivals.max()) else {
        return Timestamp::default();
    };
    last.plus(agent.timing.window)
        .min(first.plus(agent.timing.ceiling))
}

/// What is answered together: of a sealed batch what is still pending, else the first messages of `pending`.
pub fn batch(state: &State, mut pending: Vec<Event>) -> Batch {
    if let Some(sealed) = still_sealed(state, &pending) {
        pending.retain(|event| sealed.events.contains(&event.id));
    }
    Batch::from_pending(pending)
}

/// The seal, while anything of its batch is pending. After that it is opened: what is pending then is another turn, and is
/// answered under another reply.
pub fn still_sealed<'a>(state: &'a State, pending: &[Event]) -> Option<&'a Sealed> {
    let holds = |sealed: &&Sealed| {
        pending
            .iter()
            .any(|event| sealed.events.contains(&event.id))
    };
    state.sealed.as_ref().filter(holds)
}

fn ids(events: &[Event]) -> Vec<MessageId> {
    events.iter().map(|event| event.id.clone()).collect()
}

#[cfg(test)]
mod tests;
