//! A tick: look, decide, do, and look again until the conversation is at rest or has to wait.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::deliver::{self, Delivery};
use super::run::{self, RunEnd};
use super::{FlowError, World};
use super::{bill, close, lease, look, poison};
use crate::domain::{Agent, Batch, ConversationId, HoldReason, ReplyKind, Step, Timestamp};
use crate::error::StoreError;
use crate::policy::debounce::{self, Decision};
use crate::ports::{Peek, Receipt};

/// One more than a batch, so that a look tells whether the batch is all there is.
pub const PENDING_MAX: usize = Batch::MAX + 1;

/// Looks in one tick before it is held: a guard against a loop that no one foresaw.
const LOOKS_MAX: u32 = 32;

/// Claims lost in a row before the tick is held.
const CLAIMS_LOST_MAX: u32 = 3;

/// Neither a run nor a send is begun with less than this left: a fresh invocation does better, and one that is cut off
/// in a send leaves an unknown outcome.
const RUN_TIME_MIN: Duration = Duration::from_secs(20);

/// A newer version's item waits for the rollout (or the rollback's end) this long at a time.
const FUTURE_VERSION_WAIT: Duration = Duration::from_secs(30);

/// What becomes of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The conversation is at rest: the tick goes.
    Done,
    /// The tick stays in its group until then.
    HoldUntil(Timestamp, HoldReason),
}

/// One invocation's look at one conversation.
#[derive(Clone)]
pub struct Visit {
    /// Which conversation.
    pub conversation: ConversationId,
    /// The tick's receipt; absent where the caller has no queue (a test, a command).
    pub receipt: Option<Receipt>,
    /// When the invocation is cut off.
    pub deadline: Timestamp,
}

impl Visit {
    /// Time left before the invocation is cut off.
    pub fn time_left(&self, now: Timestamp) -> Duration {
        self.deadline.since(now)
    }
}

/// Works on a conversation until it is at rest or has to wait.
///
/// Errors mean that the table or the queue failed; nothing is lost, the tick is to be held and tried again.
pub async fn process(world: &World, visit: &Visit) -> Result<Outcome, FlowError> {
    let outcome = match look_or_count(world, visit).await {
        Err(FlowError::Store(StoreError::FutureVersion { item, found, known })) => {
            tracing::warn!(item, found, known, "an item of a newer version waits");
            hold(world, FUTURE_VERSION_WAIT, HoldReason::FutureVersion)
        }
        outcome => outcome?,
    };
    if let Outcome::HoldUntil(until, reason) = outcome {
        world.note(&visit.conversation, &Step::Held { until, reason });
    }
    Ok(outcome)
}

/// A panic outside of a run, which counts its own, is counted here.
async fn look_or_count(world: &World, visit: &Visit) -> Result<Outcome, FlowError> {
    let Some(agent) = world.agents.by_id(&visit.conversation.agent).await else {
        tracing::error!(
            agent = visit.conversation.agent.as_str(),
            "a message waits for an agent that is not configured: add its file or apply it"
        );
        return Ok(hold(world, debounce::BACKOFF_MAX, HoldReason::Backoff));
    };
    let looking = AssertUnwindSafe(look_until_rest(world, visit, &agent));
    let Ok(looked) = looking.catch_unwind().await else {
        tracing::error!(
            conversation.hash = world.hasher.conversation(&visit.conversation),
            "a panic was caught; it is counted, and the tick is tried again"
        );
        return Box::pin(poison::caught(world, visit, &agent)).await;
    };
    looked
}

async fn look_until_rest(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
) -> Result<Outcome, FlowError> {
    let mut claims_lost = 0;
    for _ in 0..LOOKS_MAX {
        let peek = look::peek(world, &visit.conversation, PENDING_MAX).await?;
        let decision = debounce::decide(&peek, agent, world.now());
        match act(world, visit, agent, peek, decision).await? {
            Next::End(outcome) => return Ok(outcome),
            Next::LookAgain => claims_lost = 0,
            Next::ClaimLost => {
                claims_lost += 1;
                if claims_lost >= CLAIMS_LOST_MAX {
                    return Ok(hold(world, Duration::from_secs(1), HoldReason::Contended));
                }
            }
        }
    }
    tracing::warn!(
        conversation.hash = world.hasher.conversation(&visit.conversation),
        "a conversation did not come to rest in one tick; it goes on in the next"
    );
    Ok(hold(world, Duration::from_secs(1), HoldReason::Contended))
}

/// What follows from one look.
enum Next {
    End(Outcome),
    LookAgain,
    ClaimLost,
}

async fn act(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
    peek: Peek,
    decision: Decision,
) -> Result<Next, FlowError> {
    let conversation = &visit.conversation;
    let kind = match decision {
        Decision::Ignore => return Ok(Next::End(Outcome::Done)),
        Decision::HoldUntil(until, reason) => return Ok(wait(world, until, reason).await),
        Decision::DeleteLate(events) => {
            // Lost means that the person came back just now: the next look sees it.
            world.store.delete_late(conversation, &events).await?;
            return Ok(Next::LookAgain);
        }
        Decision::Close(closure) => {
            close::close(world, conversation, &peek, closure).await?;
            return Ok(Next::LookAgain);
        }
        Decision::Deliver => None,
        Decision::ConfirmOptOut(_) => Some(ReplyKind::OptOut),
        Decision::Apologise(_) => Some(ReplyKind::Apology),
        Decision::Answer(_) => Some(ReplyKind::Answer),
    };
    if visit.time_left(world.now()) < RUN_TIME_MIN {
        return Ok(Next::End(hold(
            world,
            Duration::ZERO,
            HoldReason::ShortOfTime,
        )));
    }
    let Some(kind) = kind else {
        return deliver_outbox(world, visit, agent, &peek).await;
    };
    Ok(match run::run(world, visit, agent, &peek, kind).await? {
        RunEnd::ClaimLost => Next::ClaimLost,
        RunEnd::LookAgain => Next::LookAgain,
        RunEnd::HoldUntil(until, reason) => Next::End(Outcome::HoldUntil(until, reason)),
    })
}

async fn deliver_outbox(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    peek: &Peek,
) -> Result<Next, FlowError> {
    let Some(claimed) = lease::claim(world, visit, agent, peek, None).await? else {
        return Ok(Next::ClaimLost);
    };
    let delivering = deliver_claimed(world, visit, agent, peek, &claimed);
    bill::booked(world, visit, &claimed, delivering).await
}

async fn deliver_claimed(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    peek: &Peek,
    claimed: &lease::Claimed,
) -> Result<Next, FlowError> {
    let delivering = deliver::deliver(world, visit, agent, claimed, &peek.outbox);
    let Ok(delivery) = AssertUnwindSafe(delivering).catch_unwind().await else {
        let caught = poison::delivery_caught(world, visit, agent).await;
        let hold_until = caught.as_ref().ok().copied();
        let how = lease::keep_attempts(claimed, hold_until);
        lease::release(world, visit, claimed, how).await?;
        let until = caught?;
        return Ok(Next::End(Outcome::HoldUntil(until, HoldReason::SendLater)));
    };
    let hold_until = match &delivery {
        Ok(Delivery::Later(until)) => Some(*until),
        _ => debounce::held_until(&claimed.state, world.now()),
    };
    lease::release(
        world,
        visit,
        claimed,
        lease::keep_attempts(claimed, hold_until),
    )
    .await?;
    Ok(match delivery? {
        Delivery::Settled => Next::LookAgain,
        Delivery::Later(until) => Next::End(Outcome::HoldUntil(until, HoldReason::SendLater)),
    })
}

/// A hold of less than a second is waited here: the queue counts in whole seconds.
async fn wait(world: &World, until: Timestamp, reason: HoldReason) -> Next {
    let left = until.since(world.now());
    if left >= Duration::from_secs(1) {
        return Next::End(Outcome::HoldUntil(until, reason));
    }
    world.clock.sleep(left).await;
    Next::LookAgain
}

fn hold(world: &World, duration: Duration, reason: HoldReason) -> Outcome {
    Outcome::HoldUntil(world.now().plus(duration), reason)
}
