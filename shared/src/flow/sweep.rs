//! Every minute: whatever is not at rest for too long gets a fresh tick, and a crashed `forget` goes on.

use std::collections::BTreeSet;
use std::time::Duration;

use super::forget::{self, LONGEST_RUN};
use super::look;
use super::{FlowError, World};
use crate::domain::{ConversationId, Timestamp};
use crate::ports::{Swapped, Unrest};

/// One fresh tick per conversation in this time, at most: SQS swallows a repeated dedup id for as long.
const RETICK_EVERY: Duration = Duration::from_mins(5);

/// How often a dead run's lease is tried to be freed at a start.
const FREE_TRIES: u32 = 5;

/// What one sweep is allowed and what it looks for.
#[derive(Debug, Clone, Copy)]
pub struct Broom {
    /// What has waited less than this is left to its own tick.
    pub grace: Duration,
    /// Items looked at in one sweep.
    pub limit: usize,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Fresh ticks.
    pub ticks: usize,
    /// Conversations that rightly wait (a live lease, a backoff).
    pub waiting: usize,
    /// Erasures that went on.
    pub erasures: usize,
    /// Conversations that could not be looked at this time.
    pub failed: usize,
}

/// Looks for what is not at rest. One conversation that cannot be helped never keeps the others from it.
pub async fn sweep(world: &World, broom: Broom) -> Result<Swept, FlowError> {
    let now = world.now();
    let unrest = world
        .store
        .unrest(now.minus(broom.grace), broom.limit)
        .await?;
    let mut swept = Swept::default();
    for conversation in conversations(&unrest, false) {
        match retick(world, conversation, now).await {
            Ok(true) => swept.ticks += 1,
            Ok(false) => swept.waiting += 1,
            Err(error) => {
                swept.failed += 1;
                log_failure(world, conversation, &error);
            }
        }
    }
    for waiting in unrest.iter().filter(|unrest| unrest.erasure) {
        // A late write of a run that was under way is gone only after the longest run.
        if now.since(waiting.since) < LONGEST_RUN {
            swept.waiting += 1;
        } else if forget::resume(world, &waiting.conversation).await.is_ok() {
            swept.erasures += 1;
        } else {
            swept.failed += 1;
        }
    }
    Ok(swept)
}

/// What was taken up at a start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Leases of dead runs, freed.
    pub leases: usize,
    /// Conversations that something waits in, ticked.
    pub ticks: usize,
    /// Erasures that went on.
    pub erasures: usize,
}

/// Goes on where a process ended whose queues ended with it: only for one that holds the data folder alone, before
/// it works on anything. Earlier leases are those of the dead: those of what waits are freed here, the others are
/// passed over from now on. And what waits for a moment to come (a backoff, a send
/// refused for now) has no tick any more that would wake it, so that is ticked too.
pub async fn recover(world: &World, limit: usize) -> Result<Recovered, FlowError> {
    let now = world.now();
    world.alone.begin(now);
    // Into the future, for the clock may have stepped back meanwhile.
    let unrest = world.store.unrest(now.plus(RETICK_EVERY), limit).await?;
    let mut recovered = Recovered::default();
    for conversation in conversations(&unrest, false) {
        match wake(world, conversation, now).await {
            Ok(was_leased) => {
                recovered.leases += usize::from(was_leased);
                recovered.ticks += 1;
            }
            Err(error) => log_failure(world, conversation, &error),
        }
    }
    for conversation in conversations(&unrest, true) {
        match forget::resume(world, conversation).await {
            Ok(()) => recovered.erasures += 1,
            // The sweeper comes back to it.
            Err(error) => log_failure(world, conversation, &error),
        }
    }
    Ok(recovered)
}

/// Frees a conversation and ticks it. Yields whether there was a lease.
async fn wake(
    world: &World,
    conversation: &ConversationId,
    now: Timestamp,
) -> Result<bool, FlowError> {
    let was_leased = free(world, conversation).await?;
    world
        .ticks
        .tick(conversation, &dedup(world, conversation, now))
        .await?;
    Ok(was_leased)
}

/// One conversation that cannot be helped keeps nobody else from being served.
fn log_failure(world: &World, conversation: &ConversationId, error: &FlowError) {
    let hash = world.hasher.conversation(conversation);
    tracing::warn!(conversation.hash = hash, %error, "a conversation could not be swept");
}

/// Frees a conversation of its lease. Yields whether there was one.
async fn free(world: &World, conversation: &ConversationId) -> Result<bool, FlowError> {
    // A webhook that comes in meanwhile may add an alias to the state.
    for _ in 0..FREE_TRIES {
        let peek = world.store.peek(conversation, 1).await?;
        let Some(state) = peek.state.filter(|state| state.lease.is_some()) else {
            return Ok(false);
        };
        let expected = state.version;
        let mut free = state;
        free.lease = None;
        free.version += 1;
        let swapped = world
            .store
            .swap_state(conversation, expected, &free)
            .await?;
        if swapped == Swapped::Done {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sends a fresh tick, unless the conversation rightly waits.
async fn retick(
    world: &World,
    conversation: &ConversationId,
    now: Timestamp,
) -> Result<bool, FlowError> {
    let peek = look::peek(world, conversation, 1).await?;
    let waits_until = peek.state.map_or(Timestamp::default(), |state| {
        let leased = state.lease.map(|lease| lease.until).unwrap_or_default();
        leased.max(state.hold_until.unwrap_or_default())
    });
    if waits_until > now {
        return Ok(false);
    }
    world
        .ticks
        .tick(conversation, &dedup(world, conversation, now))
        .await?;
    Ok(true)
}

fn dedup(world: &World, conversation: &ConversationId, now: Timestamp) -> String {
    let bucket = now.ms() / u64::try_from(RETICK_EVERY.as_millis()).unwrap_or(u64::MAX);
    let text = format!("{bucket}#{}", conversation.key());
    world.hasher.hash("sweep", &text)
}

fn conversations(unrest: &[Unrest], erasure: bool) -> BTreeSet<&ConversationId> {
    unrest
        .iter()
        .filter(|one| one.erasure == erasure)
        .map(|one| &one.conversation)
        .collect()
}
