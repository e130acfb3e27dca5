//! One run: `Claimed -> batch -> memory -> context -> model -> Committed -> Sent`, then the lease goes back.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use futures_util::FutureExt;

use super::deliver::{self, Delivery};
use super::lease::{Claimed, as_before, claim, fresh, keep_attempts, release};
use super::process::{PENDING_MAX, Visit};
use super::think::{self, Task, Thought, Watched};
use super::{FlowError, World};
use super::{bill, look};
use crate::domain::{
    Agent, Batch, Call, HoldReason, OptOut, Reply, ReplyKind, ReplyStatus, SpendLimit, Step,
    Timestamp,
};
use crate::error::ModelError;
use crate::policy::debounce::{self, Decision};
use crate::policy::{confirm, hand_off, opt_out, retry, sendable, spend};
use crate::ports::{Commit, Peek, Release, Written};

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
    /// Committed, and the table failed before the send was settled.
    Undelivered(FlowError),
    /// What was to be answered is no longer what is there.
    Changed,
    /// A newer message, a human or an opt-out came while the model worked; what is sealed stays so.
    Superseded,
    /// The commit was refused.
    Fenced,
    /// No answer could be had.
    Failed(ModelError),
}

/// Claims, works, gives the lease back whatever happens, a panic included, and books what it has cost.
pub async fn run(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
    peek: &Peek,
    kind: ReplyKind,
) -> Result<RunEnd, FlowError> {
    let Some(claimed) = claim(world, visit, agent, peek, Some(kind)).await? else {
        return Ok(RunEnd::ClaimLost);
    };
    let running = Box::pin(run_claimed(world, visit, agent, &claimed, kind));
    bill::booked(world, visit, &claimed, running).await
}

/// Works, and gives the lease back.
async fn run_claimed(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
    claimed: &Claimed,
    kind: ReplyKind,
) -> Result<RunEnd, FlowError> {
    let worked = AssertUnwindSafe(work(world, visit, agent, claimed, kind))
        .catch_unwind()
        .await;
    let Ok(worked) = worked else {
        return crashed(world, visit, claimed).await;
    };
    let work = match worked {
        Ok(work) => work,
        Err(error) => {
            // The table failed in the middle: give the lease back if it can be, then look again later.
            let _ = release(world, visit, claimed, keep_attempts(claimed, None)).await;
            return Err(error);
        }
    };
    if let Work::Undelivered(error) = work {
        // Its messages are answered: what was counted against them must not count against the next ones.
        let _ = release(world, visit, claimed, fresh(claimed, None)).await;
        return Err(error);
    }
    if matches!(work, Work::Superseded | Work::Fenced) {
        claimed.bill.discard();
    }
    let (how, end) = conclude(world, agent, claimed, work);
    release(world, visit, claimed, how).await?;
    Ok(end)
}

/// What each end of the work means for the state and for the tick.
fn conclude(world: &World, agent: &Agent, claimed: &Claimed, work: Work) -> (Release, RunEnd) {
    match work {
        Work::Committed(Delivery::Settled) | Work::Undelivered(_) | Work::Superseded => {
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
            let now = world.now();
            let until = retry::next_run_at(attempts, error.retry_after, chance, now);
            let until = match claimed.state.first_attempt_at {
                Some(first) => retry::not_past(until, first.plus(agent.timing.give_up_after), now),
                None => until,
            };
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
    let (kind, thought, limit) = match words(task, kind).await? {
        Ok(words) => words,
        Err(end) => return Ok(end),
    };
    let Some(reply) = commit(task, kind, &thought, limit).await? else {
        world.note(
            &visit.conversation,
            &Step::Fenced {
                reply: claimed.reply,
            },
        );
        return Ok(Work::Fenced);
    };
    let delivery = deliver::deliver(world, visit, agent, claimed, &[reply]).await;
    if thought.compaction_is_due
        && let Err(error) = world.ticks.compact(&visit.conversation).await
    {
        // The next turn asks again.
        tracing::warn!(%error, "a compaction could not be asked for");
    }
    Ok(delivery.map_or_else(Work::Undelivered, Work::Committed))
}

/// What is said, as what kind of reply, and the spending limit that it tells of; or how the run ends without a word.
async fn words(
    task: Task<'_>,
    kind: ReplyKind,
) -> Result<Result<(ReplyKind, Thought, Option<SpendLimit>), Work>, FlowError> {
    let Task {
        world,
        visit,
        agent,
        claimed,
        ..
    } = task;
    let texts = &agent.texts;
    let thought = match kind {
        ReplyKind::OptOut => think::plain(task, &texts.opted_out).await?,
        ReplyKind::Apology | ReplyKind::OverLimit => think::plain(task, &texts.apology).await?,
        ReplyKind::Answer => {
            if let Some(limit) = bill::limit(world, agent, claimed).await {
                let thought = think::plain(task, &texts.over_limit).await?;
                return Ok(Ok((ReplyKind::OverLimit, thought, Some(limit))));
            }
            match think::think(task).await? {
                Watched::Thought(thought) => thought,
                Watched::InVain(thought) => return Ok(Ok((ReplyKind::Apology, thought, None))),
                Watched::Failed(error) => return Ok(Err(Work::Failed(error))),
                Watched::Superseded => return Ok(Err(superseded(world, visit, claimed))),
                Watched::Lost => return Ok(Err(Work::Fenced)),
            }
        }
    };
    Ok(Ok((kind, thought, None)))
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
    let mut peek = look::of_a_run(world, &visit.conversation, PENDING_MAX).await?;
    if let Some(state) = &mut peek.state {
        state.lease = None; // ours
        // This run has not failed yet: counted with those that did, it would be one too many to begin, and begin again.
        state.attempts = state.attempts.saturating_sub(1);
    }
    let deciding = || debounce::decide(&peek, agent, world.now());
    let decision = match std::panic::catch_unwind(AssertUnwindSafe(deciding)) {
        Ok(decision) => decision,
        // The very decision panics, and that was counted: the honest line needs none.
        Err(_) if kind == ReplyKind::Apology => {
            let Peek { state, pending, .. } = peek;
            let batch = state.map(|state| debounce::batch(&state, pending));
            return Ok(batch.filter(|batch| !batch.events().is_empty()));
        }
        Err(panic) => resume_unwind(panic),
    };
    Ok(match (decision, kind) {
        (Decision::Answer(batch), ReplyKind::Answer)
        | (Decision::ConfirmOptOut(batch), ReplyKind::OptOut)
        | (Decision::Apologise(batch), ReplyKind::Apology) => Some(batch),
        _ => None,
    })
}

/// What is said: an answer shows whatever waits for the person's yes.
fn said<'t>(agent: &Agent, kind: ReplyKind, thought: &'t Thought) -> Cow<'t, str> {
    match kind {
        ReplyKind::Answer => {
            Cow::Owned(confirm::with_previews(agent, &thought.text, &thought.calls))
        }
        _ => Cow::Borrowed(&thought.text),
    }
}

/// One transaction: batch answered, reply ready, state moved on. `None` means fenced.
async fn commit(
    task: Task<'_>,
    kind: ReplyKind,
    thought: &Thought,
    limit: Option<SpendLimit>,
) -> Result<Option<Reply>, FlowError> {
    let Task {
        world,
        visit,
        agent,
        claimed,
        batch,
    } = task;
    let Some(newest) = batch.events().last() else {
        return Ok(None);
    };
    let now = world.now();
    let reply = Reply {
        id: claimed.reply,
        kind,
        // As it will be sent: history must not hold what the person never got.
        text: sendable::fit(&said(agent, kind, thought)).into_owned(),
        number: newest.number.clone(),
        to: newest.reply_to.clone(),
        status: ReplyStatus::Ready,
        token: None,
        refusals: 0,
        refused_since: None,
        committed_at: now,
        cost: claimed.bill.total(),
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
        paused_until: hand_off::pause_until(agent, &thought.calls, now),
        spent: claimed.spent(),
        session: (kind == ReplyKind::Answer)
            .then(|| spend::session(&agent.session, &claimed.state, batch, &thought.calls)),
        limited_until: limit.map(|_| spend::limited_until(agent, now)),
        now,
    };
    if world.store.commit(&visit.conversation, &commit).await? == Written::Lost {
        return Ok(None);
    }
    if let Some(session) = commit.session {
        claimed.bill.answered(session.exchanges == 1);
    }
    tell(world, visit, commit, limit);
    Ok(Some(reply))
}

/// Notes what a commit has done.
fn tell(world: &World, visit: &Visit, commit: Commit, limit: Option<SpendLimit>) {
    let of = &visit.conversation;
    let (reply, kind) = (commit.reply.id, commit.reply.kind);
    let answered = commit.answered;
    let committed = Step::Committed {
        reply,
        kind,
        answered,
    };
    world.note(of, &committed);
    if let Some(until) = commit.paused_until {
        world.note(of, &Step::HandedOff { reply, until });
    }
    if let (Some(until), Some(limit)) = (commit.limited_until, limit) {
        let reached = Step::LimitReached {
            reply,
            limit,
            until,
        };
        world.note(of, &reached);
    }
}
