//! Every minute: whatever is not at rest for too long gets a fresh tick, and a crashed `forget` goes on.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};

use super::forget::{self, LONGEST_RUN};
use super::{FlowError, World};
use super::{look, poison};
use crate::domain::time::whole_ms;
use crate::domain::{ConversationId, Timestamp};
use crate::policy::debounce;
use crate::ports::{Swapped, Unrest};

/// One fresh tick per conversation in this time, at most: SQS swallows a repeated dedup id for as long.
const RETICK_EVERY: Duration = Duration::from_mins(5);

/// Beyond anything that a clock which was wrong has dated.
const FAR: Duration = Duration::from_hours(24 * 365 * 10);

/// How often a dead run's lease is tried to be freed at a start.
const FREE_TRIES: u32 = 5;

/// What one sweep is allowed and what it looks for.
#[derive(Debug, Clone, Copy)]
pub struct Broom {
    /// What has waited less than this is left to its own tick.
    pub grace: Duration,
    /// Conversations ticked in one sweep. Those that rightly wait do not count, up to [`LOOKED_AT_MAX`] of both.
    pub limit: usize,
}

/// Conversations looked at in one sweep: about a minute of the table's answers, [`LOOKS_AT_ONCE`] at a time.
pub const LOOKED_AT_MAX: usize = 20_000;

/// Conversations looked at side by side.
const LOOKS_AT_ONCE: usize = 16;

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

/// Looks for what is not at rest. One conversation that cannot be helped never keeps the others from it, nor do many
/// that rightly wait: then as many more are looked at.
pub async fn sweep(world: &World, broom: Broom) -> Result<Swept, FlowError> {
    let now = world.now();
    let old = now.minus(broom.grace);
    let ahead = now.plus(RETICK_EVERY);
    let before = if looks_ahead(now) { now.plus(FAR) } else { old };
    let mut swept = Swept::default();
    let mut seen = BTreeSet::new();
    let mut limit = broom.limit;
    loop {
        let unrest = world.store.unrest(before, limit).await?;
        let is_due = |one: &&Unrest| !one.erasure && (one.since <= old || one.since > ahead);
        let waiting = unrest.iter().filter(is_due);
        let fresh: Vec<ConversationId> = waiting
            .map(|one| one.conversation.clone())
            .filter(|conversation| seen.insert(conversation.clone()))
            .collect();
        let looks = fresh.into_iter().map(|one| retick(world, one, now));
        let mut looks = stream::iter(looks).buffered(LOOKS_AT_ONCE);
        while let Some(looked) = looks.next().await {
            match looked {
                Looked::Ticked => swept.ticks += 1,
                Looked::Waits => swept.waiting += 1,
                Looked::Failed => swept.failed += 1,
            }
        }
        let is_all = unrest.len() < limit;
        if is_all || swept.ticks >= broom.limit || limit >= LOOKED_AT_MAX {
            resume_erasures(world, &unrest, now, &mut swept).await;
            return Ok(swept);
        }
        limit = limit.saturating_mul(2).min(LOOKED_AT_MAX);
    }
}

/// Whether this sweep is one of those, every five minutes, that also look at what is dated ahead of now: the clock was ahead
/// when it came, and has stepped back.
fn looks_ahead(now: Timestamp) -> bool {
    let minute = now.seconds() / 60;
    minute.is_multiple_of(RETICK_EVERY.as_secs() / 60)
}

/// Goes on with each erasure whose process died in the middle of it.
async fn resume_erasures(world: &World, unrest: &[Unrest], now: Timestamp, swept: &mut Swept) {
    for waiting in unrest.iter().filter(|unrest| unrest.erasure) {
        // A late write of a run that was under way is gone only after the longest run.
        if now.since(waiting.since) < LONGEST_RUN {
            swept.waiting += 1;
            continue;
        }
        let of = &waiting.conversation;
        match kept_apart(world, of, forget::resume(world, of)).await {
            Some(()) => swept.erasures += 1,
            None => swept.failed += 1,
        }
    }
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
    world.dead_runs.all_before(now);
    // Into the future, for the clock may have stepped back meanwhile.
    let unrest = world.store.unrest(now.plus(FAR), limit).await?;
    let mut recovered = Recovered::default();
    for conversation in conversations(&unrest, false) {
        let waking = wake(world, conversation, now);
        if let Some(was_leased) = kept_apart(world, conversation, waking).await {
            recovered.leases += usize::from(was_leased);
            recovered.ticks += 1;
        }
    }
    for conversation in conversations(&unrest, true) {
        // Where it fails the sweeper comes back to it.
        let resuming = forget::resume(world, conversation);
        let resumed = kept_apart(world, conversation, resuming).await;
        recovered.erasures += usize::from(resumed.is_some());
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

/// One conversation that cannot be helped, or that breaks the program, keeps nobody else from being served. `None` where
/// it was not.
async fn kept_apart<T>(
    world: &World,
    conversation: &ConversationId,
    work: impl Future<Output = Result<T, FlowError>>,
) -> Option<T> {
    let hash = || world.hasher.conversation(conversation);
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(Ok(done)) => Some(done),
        Ok(Err(error)) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::warn!(conversation.hash = hash(), %error, cause, "a conversation could not be swept");
            None
        }
        Err(_panic) => {
            tracing::error!(conversation.hash = hash(), "a panic was caught in a sweep");
            None
        }
    }
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

/// What one look of a sweep did.
enum Looked {
    Ticked,
    Waits,
    Failed,
}

/// Sends a fresh tick, unless the conversation rightly waits.
async fn retick(world: &World, conversation: ConversationId, now: Timestamp) -> Looked {
    let ticked = async {
        let peek = look::peek(world, &conversation, 1).await?;
        let waits_until = peek.state.as_ref().map_or(Timestamp::default(), |state| {
            let leased = state.lease.map(|lease| lease.until).unwrap_or_default();
            leased.max(debounce::held_until(state, now).unwrap_or_default())
        });
        if waits_until > now {
            return Ok(Looked::Waits);
        }
        if poison::nothing_readable(world, &conversation, &peek).await?
            || poison::close_beyond_help(world, &conversation, &peek).await?
        {
            return Ok(Looked::Waits);
        }
        let dedup = dedup(world, &conversation, now);
        world.ticks.tick(&conversation, &dedup).await?;
        Ok(Looked::Ticked)
    };
    let looked = kept_apart(world, &conversation, ticked).await;
    looked.unwrap_or(Looked::Failed)
}

fn dedup(world: &World, conversation: &ConversationId, now: Timestamp) -> String {
    let bucket = now.ms() / whole_ms(RETICK_EVERY);
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
