//! What breaks the handler outside of a run: counted on the state, ended by the honest line, never tried for ever.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use super::process::{Outcome, PENDING_MAX, Visit};
use super::run::{self, RunEnd};
use super::{FlowError, World, close, look};
use crate::domain::batch::Closure;
use crate::domain::reply::Settlement;
use crate::domain::{
    Agent, ConversationId, HoldReason, Reply, ReplyKind, ReplyStatus, State, Timestamp,
};
use crate::policy::debounce::{self, Decision};
use crate::policy::poison::{self, Poisoned};
use crate::policy::retry;
use crate::ports::{Peek, Swapped, Written};

/// After something was done about it, it is looked at again this soon.
const SOON: Duration = Duration::from_secs(1);

/// A look, or a decision, panicked. What cannot be read cannot be counted: that panics again, and is the queue's to end.
pub(super) async fn caught(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
) -> Result<Outcome, FlowError> {
    let conversation = &visit.conversation;
    let peek = look::peek(world, conversation, PENDING_MAX).await?;
    let now = world.now();
    let mut until = now.plus(SOON);
    let ordinary = || ordinary_closing(&peek, agent, now);
    match (poison::decide(&peek, ordinary, now), &peek.state) {
        (Poisoned::HoldUntil(then), _) => until = then,
        (Poisoned::Count(crashes), Some(state)) => {
            until = retry::next_run_at(crashes, None, world.chance.fraction(), now);
            // Where nothing waits there is nobody whom it may count against later.
            let first = debounce::first_attempt(state, &peek.pending);
            let counted = State {
                version: state.version + 1,
                crashes,
                first_attempt_at: first.or((!peek.pending.is_empty()).then_some(now)),
                hold_until: Some(until),
                ..state.clone()
            };
            let swapped = world
                .store
                .swap_state(conversation, state.version, &counted)
                .await?;
            if swapped != Swapped::Done {
                until = now.plus(SOON);
            }
        }
        (Poisoned::Close(closure), Some(_)) => {
            let why = "looking at them broke this program each time";
            give_up_on(world, conversation, &peek, closure, why).await?;
        }
        (Poisoned::Apologise, Some(_)) => {
            let run = Box::pin(run::run(world, visit, agent, &peek, ReplyKind::Apology));
            if let RunEnd::HoldUntil(then, _) = run.await? {
                until = then;
            }
        }
        (Poisoned::Count(_) | Poisoned::Close(_) | Poisoned::Apologise, None) => {}
    }
    Ok(Outcome::HoldUntil(until, HoldReason::Backoff))
}

/// What would be closed if nothing had broken; nothing where it is this very decision that breaks.
fn ordinary_closing(peek: &Peek, agent: &Agent, now: Timestamp) -> Option<Closure> {
    let deciding = AssertUnwindSafe(|| debounce::decide(peek, agent, now));
    match std::panic::catch_unwind(deciding) {
        Ok(Decision::Close(closure)) => Some(closure),
        _ => None,
    }
}

/// A delivery panicked: tried again at growing intervals, until giving up by time. Yields when it is looked at again.
pub(super) async fn delivery_caught(
    world: &World,
    visit: &Visit,
    agent: &Agent,
) -> Result<Timestamp, FlowError> {
    let outbox = look::peek(world, &visit.conversation, 1).await?.outbox;
    let now = world.now();
    let Some(reply) = outbox.first() else {
        return Ok(now.plus(SOON));
    };
    if now.since(reply.committed_at) >= agent.timing.give_up_after {
        set_aside(world, visit, reply).await?;
        return Ok(now.plus(SOON));
    }
    let chance = world.chance.fraction();
    Ok(retry::next_send_at(reply.committed_at, None, chance, now))
}

/// Takes the reply that is first in line out of it: its sends panicked again and again.
async fn set_aside(world: &World, visit: &Visit, reply: &Reply) -> Result<(), FlowError> {
    let conversation = &visit.conversation;
    // What was being sent may have reached the person.
    let settlement = match reply.status {
        ReplyStatus::Sending => Settlement::Unknown,
        _ => Settlement::Failed {
            code: "crashed".to_owned(),
        },
    };
    let (now, token) = (world.now(), reply.token);
    let settled = world
        .store
        .settle(conversation, reply.id, token, &settlement, now)
        .await?;
    if settled == Written::Done {
        tracing::error!(
            conversation.hash = world.hasher.conversation(conversation),
            turn = %reply.id,
            "a reply is set aside: its sends broke this program again and again"
        );
    }
    Ok(())
}

/// Whether all that waits is set aside for it cannot be read: a tick would find nothing to do, and the next sweep the
/// same again, for ever.
pub(super) async fn nothing_readable(
    world: &World,
    conversation: &ConversationId,
    first: &Peek,
) -> Result<bool, FlowError> {
    let is_empty = |peek: &Peek| peek.pending.is_empty() && peek.outbox.is_empty();
    // What can be read may stand behind it.
    Ok(is_empty(first) && is_empty(&look::peek(world, conversation, PENDING_MAX).await?))
}

/// Closes what has waited for a day without a run: whatever looks at it may die each time. Yields whether it did.
pub(super) async fn close_beyond_help(
    world: &World,
    conversation: &ConversationId,
    first: &Peek,
) -> Result<bool, FlowError> {
    if poison::beyond_help(first, world.now()).is_none() {
        return Ok(false);
    }
    // The first message alone was looked at: a newer one may wait with it.
    let peek = look::peek(world, conversation, PENDING_MAX).await?;
    let Some(closure) = poison::beyond_help(&peek, world.now()) else {
        return Ok(false);
    };
    let why =
        "no run could begin on them for a day, and WhatsApp lets nothing be said freely after it";
    give_up_on(world, conversation, &peek, closure, why).await
}

async fn give_up_on(
    world: &World,
    conversation: &ConversationId,
    peek: &Peek,
    closure: Closure,
    why: &'static str,
) -> Result<bool, FlowError> {
    let (messages, reason) = (closure.events.len(), closure.reason);
    let closed = close::close(world, conversation, peek, closure).await?;
    if closed {
        tracing::error!(
            conversation.hash = world.hasher.conversation(conversation),
            messages,
            reason = reason.as_str(),
            why,
            "messages are given up without an answer"
        );
    }
    Ok(closed)
}
