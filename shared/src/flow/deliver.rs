//! From the outbox to the person: one owner of sending at a time, and an unknown outcome is a state, not a guess.

use std::time::Duration;

use super::insist::insist;
use super::lease::Claimed;
use super::process::Visit;
use super::{FlowError, World};
use super::{bill, look};
use crate::domain::reply::Settlement;
use crate::domain::{Agent, Reply, ReplyStatus, RunId, Step, Timestamp};
use crate::error::{SendError, Verdict};
use crate::policy::debounce::BACKOFF_MAX;
use crate::policy::retry;
use crate::ports::{LookUp, Outgoing, Written};

/// No send is begun with less left of the invocation: one that is cut off in the middle leaves an unknown outcome.
/// Longer than a send may take (15 s, see the Graph adapter), with what the table needs around it.
const SEND_TIME_MIN: Duration = Duration::from_secs(18);

/// Our word for a provider that no connection can be made to.
const NOT_CONNECTED: &str = "not_connected";

/// A business may answer freely for 24 hours after the person wrote; a little less, to be sure.
const WINDOW: Duration = Duration::from_hours(23);

/// How a delivery ended.
pub enum Delivery {
    /// Every reply is at rest.
    Settled,
    /// A send was refused for now: try again then.
    Later(Timestamp),
}

/// Sends what was committed and not sent, in order. The caller holds the lease.
pub async fn deliver(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    claimed: &Claimed,
    outbox: &[Reply],
) -> Result<Delivery, FlowError> {
    for reply in outbox {
        if reply.status == ReplyStatus::Sending && !recovered(world, visit, reply).await? {
            continue;
        }
        if visit.time_left(world.now()) < SEND_TIME_MIN {
            return Ok(Delivery::Later(world.now()));
        }
        if let Some(until) = send(world, visit, agent, claimed, reply).await? {
            // Replies keep their order: a later one waits behind this one.
            return Ok(Delivery::Later(until));
        }
    }
    Ok(Delivery::Settled)
}

/// A reply found `sending` under a dead lease: its run died between the claim to send and the answer.
/// Yields whether it may be sent (the provider never got it).
async fn recovered(world: &World, visit: &Visit, reply: &Reply) -> Result<bool, FlowError> {
    resolve(world, visit, reply, reply.token).await
}

/// Asks the provider about a send that got no answer, and only then moves the reply: on to `sent`, back to `ready`, or to
/// `unknown` where it cannot tell. Yields whether it is `ready` again.
async fn resolve(
    world: &World,
    visit: &Visit,
    reply: &Reply,
    token: Option<RunId>,
) -> Result<bool, FlowError> {
    match world.messenger.look_up(reply.id).await {
        LookUp::Sent(id) => {
            let sent = Settlement::Sent {
                provider_id: Some(id),
            };
            if settle(world, visit, reply, token, &sent).await? {
                world.note(&visit.conversation, &Step::Sent { reply: reply.id });
            }
            Ok(false)
        }
        LookUp::NotReceived => settle(world, visit, reply, token, &unsent(reply)).await,
        LookUp::CannotTell => {
            if settle(world, visit, reply, token, &Settlement::Unknown).await? {
                world.note(&visit.conversation, &Step::SendUnknown { reply: reply.id });
            }
            Ok(false)
        }
    }
}

/// Sends one reply. Yields when to try again, where it was refused for now.
async fn send(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    claimed: &Claimed,
    reply: &Reply,
) -> Result<Option<Timestamp>, FlowError> {
    let run = claimed.run;
    if !mark(world, visit, run, reply).await? {
        // Someone else moved it, or the person opted out after the commit: then it is withheld for good.
        let withheld = Settlement::Failed {
            code: "opted_out".to_owned(),
        };
        if opted_out(world, visit).await? && settle(world, visit, reply, None, &withheld).await? {
            note_refused(world, visit, reply, "opted_out", false);
        }
        return Ok(None);
    }
    let outgoing = Outgoing {
        number: reply.number.clone(),
        to: reply.to.clone(),
        reply: reply.id,
        text: reply.text.clone(),
    };
    let owner = Some(run);
    match world.messenger.send(&outgoing).await {
        Ok(id) => {
            bill::sent(agent, &claimed.bill, reply);
            settle(
                world,
                visit,
                reply,
                owner,
                &Settlement::Sent {
                    provider_id: Some(id),
                },
            )
            .await?;
            world.note(&visit.conversation, &Step::Sent { reply: reply.id });
            Ok(None)
        }
        Err(SendError::OutcomeUnknown(_)) => {
            let is_ready = resolve(world, visit, reply, owner).await?;
            Ok(is_ready.then(|| world.now().plus(Duration::from_secs(1))))
        }
        Err(SendError::NotConnected(_)) => {
            refused_for_now(world, visit, agent, run, reply, NOT_CONNECTED, None).await
        }
        Err(SendError::Refused {
            code,
            verdict: Verdict::GiveUp,
        }) => {
            fail(world, visit, run, reply, &code).await?;
            Ok(None)
        }
        Err(SendError::Refused {
            code,
            verdict: Verdict::Mend,
        }) => {
            let ready = Settlement::Ready {
                refused_since: None,
            };
            settle(world, visit, reply, owner, &ready).await?;
            note_refused(world, visit, reply, &code, true);
            Ok(Some(world.now().plus(BACKOFF_MAX)))
        }
        Err(SendError::Refused { code, verdict }) => {
            let after = match verdict {
                Verdict::RetryAfter(after) => Some(after),
                _ => None,
            };
            refused_for_now(world, visit, agent, run, reply, &code, after).await
        }
    }
}

/// The reply was surely not sent: it goes back to `ready`, until giving up by time.
async fn refused_for_now(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    run: RunId,
    reply: &Reply,
    code: &str,
    retry_after: Option<Duration>,
) -> Result<Option<Timestamp>, FlowError> {
    let now = world.now();
    // Who cannot be reached at all is tried for as long as WhatsApp lets an answer through: nothing was sent meanwhile.
    // Refusals are counted from the first of them: a reply that waited for a token or a network is as good as new.
    let (since, patience, refused_since) = if code == NOT_CONNECTED {
        (reply.committed_at, WINDOW, None)
    } else {
        let since = reply.refused_since.unwrap_or(now);
        (since, agent.timing.give_up_after, Some(since))
    };
    if now.since(since) >= patience {
        fail(world, visit, run, reply, code).await?;
        return Ok(None);
    }
    settle(
        world,
        visit,
        reply,
        Some(run),
        &Settlement::Ready { refused_since },
    )
    .await?;
    note_refused(world, visit, reply, code, true);
    let chance = world.chance.fraction();
    Ok(Some(retry::next_send_at(since, retry_after, chance, now)))
}

/// Takes the right to send. Yields whether it was given.
async fn mark(world: &World, visit: &Visit, run: RunId, reply: &Reply) -> Result<bool, FlowError> {
    let marked = world
        .store
        .mark_sending(&visit.conversation, reply, run, world.now())
        .await;
    match marked {
        Ok(written) => Ok(written == Written::Done),
        Err(error) => {
            // It may be marked: then nobody could tell later that it was never sent.
            let _ = settle(world, visit, reply, Some(run), &unsent(reply)).await;
            Err(error.into())
        }
    }
}

/// Back to `ready`, as it was before.
fn unsent(reply: &Reply) -> Settlement {
    Settlement::Ready {
        refused_since: reply.refused_since,
    }
}

async fn fail(
    world: &World,
    visit: &Visit,
    run: RunId,
    reply: &Reply,
    code: &str,
) -> Result<(), FlowError> {
    let failed = Settlement::Failed {
        code: code.to_owned(),
    };
    settle(world, visit, reply, Some(run), &failed).await?;
    note_refused(world, visit, reply, code, false);
    Ok(())
}

fn note_refused(world: &World, visit: &Visit, reply: &Reply, code: &str, again: bool) {
    let step = Step::SendRefused {
        reply: reply.id,
        code: code.to_owned(),
        again,
    };
    world.note(&visit.conversation, &step);
}

async fn opted_out(world: &World, visit: &Visit) -> Result<bool, FlowError> {
    let peek = look::peek(world, &visit.conversation, 1).await?;
    Ok(peek.state.is_some_and(|state| state.opt_out.is_some()))
}

/// Moves the reply on, if its token is still `token`. Yields whether it did. What became of a send is known here only, so
/// it is told again where the table does not take it: a reply left `sending` could only become `unknown`.
async fn settle(
    world: &World,
    visit: &Visit,
    reply: &Reply,
    token: Option<RunId>,
    settlement: &Settlement,
) -> Result<bool, FlowError> {
    let now = world.now();
    let (store, of) = (&world.store, &visit.conversation);
    let settle = || store.settle(of, reply.id, token, settlement, now);
    let written = insist(world, visit, settle).await?;
    Ok(written == Written::Done)
}
