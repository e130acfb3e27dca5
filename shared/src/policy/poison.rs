//! What is done about a conversation that breaks the handler: counted where it can be, and never tried for ever.
//!
//! Invariant: no answer here depends on what a message says, for that may be what breaks everything else.

use std::time::Duration;

use super::closing;
use super::debounce::{BACKOFF_MAX, CRASHES_MAX, first_attempt, held_until};
use crate::domain::batch::Closure;
use crate::domain::{ClosedReason, State, Timestamp};
use crate::ports::Peek;

/// Messages that no run has ever begun on are looked at for this long: WhatsApp lets nothing be said freely after it.
pub const REVIVED_FOR: Duration = Duration::from_hours(24);

/// What follows from a panic that was caught outside of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Poisoned {
    /// Not counted: someone else works on it, it waits, or there is nothing to count on.
    HoldUntil(Timestamp),
    /// Counted on the state, as the first or a further one.
    Count(u32),
    /// Enough were counted, and the person is not to be written to.
    Close(Closure),
    /// Enough were counted: the honest line answers what waits.
    Apologise,
}

/// Decides what follows from a panic, from a look at the conversation. `ordinary` is what the ordinary decision would
/// close, where that could be had.
pub fn decide(peek: &Peek, ordinary: impl FnOnce() -> Option<Closure>, now: Timestamp) -> Poisoned {
    let later = now.plus(BACKOFF_MAX);
    let Some(state) = &peek.state else {
        return Poisoned::HoldUntil(later);
    };
    let leased = state.lease.map(|lease| lease.until).unwrap_or_default();
    let waits_until = leased.max(held_until(state, now).unwrap_or_default());
    if waits_until > now {
        return Poisoned::HoldUntil(waits_until);
    }
    let crashes = counted(state, peek);
    if crashes < CRASHES_MAX {
        return Poisoned::Count(crashes + 1);
    }
    if peek.pending.is_empty() {
        return Poisoned::HoldUntil(later);
    }
    // What came after a STOP takes it back, and is owed an answer.
    let covered = |opt_out| closing::closing_covered(state, &peek.pending, opt_out);
    let closure = ordinary()
        .or_else(|| state.opt_out.as_ref().and_then(covered))
        .or_else(|| everything(peek, ClosedReason::Paused).filter(|_| state.is_paused(now)));
    closure.map_or(Poisoned::Apologise, Poisoned::Close)
}

/// Panics counted so far against what is pending; without any pending, against the conversation.
fn counted(state: &State, peek: &Peek) -> u32 {
    let is_new = !peek.pending.is_empty() && first_attempt(state, &peek.pending).is_none();
    if is_new { 0 } else { state.crashes }
}

/// Messages that no run has begun on for [`REVIVED_FOR`]: whatever looks at them dies before it could count that. They
/// are closed, or their ticks would follow one another for ever.
pub fn beyond_help(peek: &Peek, now: Timestamp) -> Option<Closure> {
    let state = peek.state.as_ref()?;
    let newest = peek.pending.iter().map(|event| event.arrived_at).max()?;
    let begun = first_attempt(state, &peek.pending).is_some() || !peek.outbox.is_empty();
    let waited = now.since(newest) >= REVIVED_FOR;
    everything(peek, ClosedReason::Expired).filter(|_| waited && !begun)
}

fn everything(peek: &Peek, reason: ClosedReason) -> Option<Closure> {
    closing::closing(peek.state.as_ref()?, &peek.pending, reason, |_| true)
}

#[cfg(test)]
mod tests;
