//! A run's right to the conversation: taken by compare-and-set, given back whatever happens.

use std::any::Any;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures_util::FutureExt;
use jiff::civil::Date;

use super::bill::Bill;
use super::forget::LONGEST_RUN;
use super::insist::insist;
use super::process::Visit;
use super::{FlowError, World};
use crate::domain::{Agent, Lease, ReplyId, ReplyKind, RunId, Spent, State, Timestamp};
use crate::policy::{debounce, spend};
use crate::ports::{Peek, Release, Swapped};

/// The lease outlives the invocation by this much, so that no other run begins while this one may still write.
const LEASE_MARGIN: Duration = Duration::from_secs(2);

/// The tick stays invisible this much longer than the invocation, so that it comes back after the lease.
const VISIBILITY_MARGIN: Duration = Duration::from_secs(5);

/// A run's right to the conversation.
pub struct Claimed {
    /// The run.
    pub run: RunId,
    /// The reply it will write.
    pub reply: ReplyId,
    /// The state as claimed.
    pub state: State,
    /// When, and on which day of the agent's place: all that the run costs is of this day.
    pub began_at: Timestamp,
    /// See `began_at`.
    pub today: Date,
    /// What the run has cost so far.
    pub bill: Bill,
    /// The state as it was before.
    before: State,
}

impl Claimed {
    /// What the conversation has cost on its newest day, this run so far included; `None` where it has cost nothing.
    pub fn spent(&self) -> Option<Spent> {
        let total = self.bill.total()?;
        spend::spent(self.state.spent, self.today, total.micro_usd)
    }
}

/// Takes the lease by compare-and-set on the version that was peeked. `None`: another run was quicker.
/// `kind` is what the run will write; a delivery (none) is not counted as an attempt.
pub async fn claim(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    peek: &Peek,
    kind: Option<ReplyKind>,
) -> Result<Option<Claimed>, FlowError> {
    let Some(before) = peek.state.clone() else {
        return Ok(None);
    };
    let now = world.now();
    let run = world.new_run();
    let mut state = before.clone();
    state.version += 1;
    state.epoch += 1;
    state.lease = Some(Lease {
        run,
        until: visit.deadline.plus(LEASE_MARGIN),
    });
    if kind.is_some() {
        let first = debounce::first_attempt(&state, &peek.pending);
        if first.is_none() {
            state.attempts = 0;
            state.crashes = 0;
        }
        state.attempts = state.attempts.saturating_add(1);
        state.first_attempt_at = Some(first.unwrap_or(now));
        // What the STOP covers was closed before, so what is pending was written after it. A second STOP too: its
        // confirmation could never be committed while the first one holds.
        state.opt_out = None;
        state.sealed = debounce::still_sealed(&state, &peek.pending).cloned();
    }
    let reply = match &state.sealed {
        Some(sealed) => sealed.reply,
        None => next_reply(world, &state),
    };
    let claimed = Claimed {
        run,
        reply,
        state,
        began_at: now,
        today: spend::today(agent, now),
        bill: Bill::default(),
        before,
    };
    let (of, expected) = (&visit.conversation, claimed.before.version);
    let swapping = world.store.swap_state(of, expected, &claimed.state);
    match AssertUnwindSafe(swapping).catch_unwind().await {
        Ok(Ok(Swapped::Done)) => {}
        // A retry of a request whose answer was lost finds its own work.
        Ok(Ok(Swapped::Lost(Some(there)))) if there.lease.is_some_and(|lease| lease.run == run) => {
        }
        Ok(Ok(Swapped::Lost(_))) => return Ok(None),
        // It may be written: a lease that no one works under would silence the person until it ends.
        Ok(Err(error)) => {
            let _ = release(world, visit, &claimed, as_before(&claimed)).await;
            return Err(error.into());
        }
        Err(panic) => given_up(world, visit, &claimed, panic).await,
    }
    if let Err(panic) = AssertUnwindSafe(hold_tick(world, visit))
        .catch_unwind()
        .await
    {
        given_up(world, visit, &claimed, panic).await;
    }
    Ok(Some(claimed))
}

/// A claim that panics gives its lease back before the panic goes on, and is counted there, not as a run.
async fn given_up(world: &World, visit: &Visit, claimed: &Claimed, panic: Box<dyn Any + Send>) {
    let _ = release(world, visit, claimed, as_before(claimed)).await;
    resume_unwind(panic);
}

/// Keeps the tick away until this run is over. Where that fails the run goes on: the lease keeps others out.
async fn hold_tick(world: &World, visit: &Visit) {
    let Some(receipt) = &visit.receipt else {
        return;
    };
    let visible_in = visit.time_left(world.now()) + VISIBILITY_MARGIN;
    // More than that is of before the clock stepped back.
    let visible_in = visible_in.min(LONGEST_RUN);
    let seconds = u32::try_from(visible_in.as_secs()).unwrap_or(u32::MAX);
    if let Err(error) = world.ticks.hold(receipt, seconds).await {
        tracing::warn!(%error, "the tick of a run could not be held");
    }
}

/// A reply id greater than every committed one, also where the clock stepped back.
fn next_reply(world: &World, state: &State) -> ReplyId {
    let after_last = state.last_reply.map_or(0, |last| last.made_at_ms() + 1);
    ReplyId::from_parts(world.now().ms().max(after_last), world.chance.bits())
}

/// Gives the lease back: what is not given back silences the person until it ends, unless their next tick comes to this
/// very process. A run that lost it meanwhile has nothing to give back, which is fine.
pub async fn release(
    world: &World,
    visit: &Visit,
    claimed: &Claimed,
    how: Release,
) -> Result<(), FlowError> {
    debug_assert_eq!(how.run, claimed.run);
    let release = || world.store.release(&visit.conversation, &how);
    let releasing = AssertUnwindSafe(insist(world, visit, release));
    let released = releasing.catch_unwind().await;
    if !matches!(released, Ok(Ok(_))) {
        world.dead_runs.bury(claimed.run);
    }
    released.unwrap_or_else(|panic| resume_unwind(panic))?;
    Ok(())
}

/// The next run starts counting anew.
pub fn fresh(claimed: &Claimed, hold_until: Option<Timestamp>) -> Release {
    Release {
        attempts: 0,
        first_attempt_at: None,
        crashes: 0,
        ..keep_attempts(claimed, hold_until)
    }
}

/// This run does not count.
pub fn as_before(claimed: &Claimed) -> Release {
    Release {
        attempts: claimed.before.attempts,
        first_attempt_at: claimed.before.first_attempt_at,
        crashes: claimed.before.crashes,
        ..keep_attempts(claimed, claimed.before.hold_until)
    }
}

/// The next run counts on.
pub fn keep_attempts(claimed: &Claimed, hold_until: Option<Timestamp>) -> Release {
    Release {
        run: claimed.run,
        epoch: claimed.state.epoch,
        attempts: claimed.state.attempts,
        first_attempt_at: claimed.state.first_attempt_at,
        hold_until,
        crashes: claimed.state.crashes,
        spent: claimed.spent(),
    }
}
