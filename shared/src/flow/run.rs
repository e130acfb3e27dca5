//! One run: `Claimed -> batch -> memory -> context -> model -> Committed -> Sent`, then the lease goes back.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::deliver::{self, Delivery};
use super::insist::insist;
use super::look;
use super::process::{PENDING_MAX, Visit};
use super::think::{self, Task, Thought, Watched};
use super::{FlowError, World};
use crate::domain::{
    Agent, Batch, Call, HoldReason, Lease, OptOut, Reply, ReplyId, ReplyKind, ReplyStatus, RunId,
    State, Step, Timestamp,
};
use crate::error::ModelError;
use crate::policy::debounce::{self, Decision};
use crate::policy::{opt_out, retry};
use crate::ports::{Commit, Peek, Release, Swapped, Written};

/// The lease outlives the invocation by this much, so that no other run begins while this one may still write.
const LEASE_MARGIN: Duration = Duration::from_secs(2);

/// The tick stays invisible this much longer than the invocation, so that it comes back after the lease.
const VISIBILITY_MARGIN: Duration = Duration::from_secs(5);

/// No reply is stored longer: four times what WhatsApp carries in a message, and far below what the table takes.
const REPLY_CHARS_MAX: usize = 16_384;

/// A run's right to the conversation.
pub struct Claimed {
    /// The run.
    pub run: RunId,
    /// The reply it will write.
    pub reply: ReplyId,
    /// The state as claimed.
    pub state: State,
    /// The state as it was before.
    before: State,
}

/// How a run ended, for the tick's loop.
pub enum RunEnd {
    /// Another run was quicker, or the commit was refused.
    ClaimLost,
    /// Something happened: look again.
    LookAgain,
    /// Nothing to do before then.
    HoldUntil(Timestamp, HoldReason),
}

/// How the work of a run ended.
enum Work {
    /// Committed; the send settled, or waits.
    Committed(Delivery),
    /// What was to be answered is no longer what is there.
    Changed,
    /// A newer message, a human or an opt-out came while the model worked; what is sealed stays so.
    Superseded,
    /// The commit was refused.
    Fenced,
    /// No answer could be had.
    Failed(ModelError),
}

/// Claims, works, and gives the lease back whatever happens, a panic included.
pub async fn run(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
    peek: &Peek,
    kind: ReplyKind,
) -> Result<RunEnd, FlowError> {
    let Some(claimed) = claim(world, visit, peek, Some(kind)).await? else {
        return Ok(RunEnd::ClaimLost);
    };
    let worked = AssertUnwindSafe(work(world, visit, agent, &claimed, kind))
        .catch_unwind()
        .await;
    let Ok(worked) = worked else {
        return crashed(world, visit, &claimed).await;
    };
    let work = match worked {
        Ok(work) => work,
        Err(error) => {
            // The table failed in the middle: give the lease back if it can be, then look again later.
            let _ = release(world, visit, &claimed, keep_attempts(&claimed, None)).await;
            return Err(error);
        }
    };
    let (how, end) = conclude(world, &claimed, work);
    release(world, visit, &claimed, how).await?;
    Ok(end)
}

/// What each end of the work means for the state and for the tick.
fn conclude(world: &World, claimed: &Claimed, work: Work) -> (Release, RunEnd) {
    match work {
        Work::Committed(Delivery::Settled) | Work::Superseded => {
            (fresh(claimed, None), RunEnd::LookAgain)
        }
        Work::Committed(Delivery::Later(until)) => (
            fresh(claimed, Some(until)),
            RunEnd::HoldUntil(until, HoldReason::SendLater),
        ),
        Work::Changed => (as_before(claimed), RunEnd::LookAgain),
        // Looked at again like a lost claim: a few times at once, then after a second, so that a commit that can
        // never be made is no storm.
        Work::Fenced => (keep_attempts(claimed, None), RunEnd::ClaimLost),
        Work::Failed(error) => {
            let attempts = claimed.state.attempts;
            let chance = world.chance.fraction();
            let until = retry::next_run_at(attempts, error.retry_after, chance, world.now());
            (
                keep_attempts(claimed, Some(until)),
                RunEnd::HoldUntil(until, HoldReason::Backoff),
            )
        }
    }
}

/// A panic was caught: it is counted on the state, and the tick comes back soon instead of after the lease.
async fn crashed(world: &World, visit: &Visit, claimed: &Claimed) -> Result<RunEnd, FlowError> {
    let until = retry::next_run_at(
        claimed.state.attempts,
        None,
        world.chance.fraction(),
        world.now(),
    );
    let how = Release {
        crashes: claimed.state.crashes.saturating_add(1),
        ..keep_attempts(claimed, Some(until))
    };
    release(world, visit, claimed, how).await?;
    Ok(RunEnd::HoldUntil(until, HoldReason::Backoff))
}

/// Takes the lease by compare-and-set on the version that was peeked. `None`: another run was quicker.
/// `kind` is what the run will write; a delivery (none) is not counted as an attempt.
pub async fn claim(
    world: &World,
    visit: &Visit,
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
    let swapped = world
        .store
        .swap_state(&visit.conversation, before.version, &state)
        .await;
    let reply = match &state.sealed {
        Some(sealed) => sealed.reply,
        None => next_reply(world, &state),
    };
    let claimed = Claimed {
        run,
        reply,
        state,
        before,
    };
    match swapped {
        Ok(Swapped::Done) => {}
        // A retry of a request whose answer was lost finds its own work.
        Ok(Swapped::Lost(Some(there))) if there.lease.is_some_and(|lease| lease.run == run) => {}
        Ok(Swapped::Lost(_)) => return Ok(None),
        Err(error) => {
            // It may be written: a lease that no one works under would silence the person until it ends.
            let _ = release(world, visit, &claimed, as_before(&claimed)).await;
            return Err(error.into());
        }
    }
    hold_tick(world, visit).await;
    Ok(Some(claimed))
}

/// Keeps the tick away until this run is over. Where that fails the run goes on: the lease keeps others out.
async fn hold_tick(world: &World, visit: &Visit) {
    let Some(receipt) = &visit.receipt else {
        return;
    };
    let visible_in = visit.time_left(world.now()) + VISIBILITY_MARGIN;
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

async fn work(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
    claimed: &Claimed,
    kind: ReplyKind,
) -> Result<Work, FlowError> {
    let Some(batch) = batch_now(world, visit, agent, kind).await? else {
        return Ok(Work::Changed);
    };
    let step = Step::Claimed {
        reply: claimed.reply,
        batch: batch.ids(),
    };
    world.note(&visit.conversation, &step);
    let task = Task {
        world,
        visit,
        agent,
        claimed,
        batch: &batch,
    };
    let thought = match kind {
        ReplyKind::OptOut => think::plain(task, &agent.texts.opted_out).await?,
        ReplyKind::Apology => think::plain(task, &agent.texts.apology).await?,
        ReplyKind::Answer => match think::think(task).await? {
            Watched::Thought(thought) => thought,
            Watched::Failed(error) => return Ok(Work::Failed(error)),
            Watched::Superseded => return Ok(superseded(world, visit, claimed)),
            Watched::Lost => return Ok(Work::Fenced),
        },
    };
    let Some(reply) = commit(world, visit, claimed, &batch, kind, &thought).await? else {
        world.note(
            &visit.conversation,
            &Step::Fenced {
                reply: claimed.reply,
            },
        );
        return Ok(Work::Fenced);
    };
    let delivery = deliver::deliver(world, visit, agent, claimed.run, &[reply]).await?;
    if thought.compaction_is_due
        && let Err(error) = world.ticks.compact(&visit.conversation).await
    {
        // The next turn asks again.
        tracing::warn!(%error, "a compaction could not be asked for");
    }
    Ok(Work::Committed(delivery))
}

fn superseded(world: &World, visit: &Visit, claimed: &Claimed) -> Work {
    world.note(
        &visit.conversation,
        &Step::Superseded {
            reply: claimed.reply,
        },
    );
    Work::Superseded
}

/// What is pending now, under the claim; `None` where it no longer calls for a reply of this kind.
async fn batch_now(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    kind: ReplyKind,
) -> Result<Option<Batch>, FlowError> {
    let mut peek = look::peek(world, &visit.conversation, PENDING_MAX).await?;
    if let Some(state) = &mut peek.state {
        state.lease = None; // ours
    }
    Ok(match (debounce::decide(&peek, agent, world.now()), kind) {
        (Decision::Answer(batch), ReplyKind::Answer)
        | (Decision::ConfirmOptOut(batch), ReplyKind::OptOut)
        | (Decision::Apologise(batch), ReplyKind::Apology) => Some(batch),
        _ => None,
    })
}

/// One transaction: batch answered, reply ready, state moved on. `None` means fenced.
async fn commit(
    world: &World,
    visit: &Visit,
    claimed: &Claimed,
    batch: &Batch,
    kind: ReplyKind,
    thought: &Thought,
) -> Result<Option<Reply>, FlowError> {
    let Some(newest) = batch.events().last() else {
        return Ok(None);
    };
    let now = world.now();
    let reply = Reply {
        id: claimed.reply,
        kind,
        text: thought.text.chars().take(REPLY_CHARS_MAX).collect(),
        number: newest.number.clone(),
        to: newest.reply_to.clone(),
        status: ReplyStatus::Ready,
        token: None,
        refusals: 0,
        refused_since: None,
        committed_at: now,
    };
    let opted_out: Option<OptOut> =
        (kind == ReplyKind::OptOut).then(|| opt_out::opt_out_of(newest));
    let commit = Commit {
        run: claimed.run,
        epoch: claimed.state.epoch,
        reply: reply.clone(),
        answered: batch.ids(),
        calls: thought.calls.iter().map(Call::at_rest).collect(),
        last_inbound_at: newest.sent_at,
        cut_point: thought.cut_point.or(claimed.state.cut_point),
        token_factor: thought.token_factor.clone(),
        opt_out: opted_out,
        now,
    };
    if world.store.commit(&visit.conversation, &commit).await? == Written::Lost {
        return Ok(None);
    }
    let step = Step::Committed {
        reply: reply.id,
        kind,
        answered: commit.answered,
    };
    world.note(&visit.conversation, &step);
    Ok(Some(reply))
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
    let released = insist(world, visit, release).await;
    if released.is_err() {
        world.dead_runs.bury(claimed.run);
    }
    released?;
    Ok(())
}

/// The next run starts counting anew.
fn fresh(claimed: &Claimed, hold_until: Option<Timestamp>) -> Release {
    Release {
        attempts: 0,
        first_attempt_at: None,
        crashes: 0,
        ..keep_attempts(claimed, hold_until)
    }
}

/// This run does not count.
fn as_before(claimed: &Claimed) -> Release {
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
    }
}
