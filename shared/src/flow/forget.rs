//! Everything of one contact of one agent goes, in an order that a crash can repeat.
//!
//! First ONE transaction: tombstones, the erasure job, the state. From then on nothing can be answered or created
//! for this life. Then the rest, until nothing is left; the sweeper looks once more after the longest run and only
//! then ends the job. Unavoidable: an effect or a send that was already under way.

use std::time::Duration;

use super::look;
use super::{FlowError, World};
use crate::domain::{Alias, ContactId, ConversationId, State, Step, Timestamp};
use crate::ports::{Erasure, Written};

/// No run lasts longer: function timeout, lease margin and a little.
pub const LONGEST_RUN: Duration = Duration::from_secs(150);

/// How often a live run is asked for while `forget` waits for its end.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a `forget` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgotten {
    /// Nobody of this id is known.
    Nobody,
    /// Gone: this many items besides the state.
    Gone {
        /// How many.
        items: u64,
        /// Contacts of other memories that came together with this one in a message; they are still there unless somebody
        /// forgot them. After a crash nobody knows them any more.
        met: Vec<ContactId>,
    },
}

/// Forgets a person. Waits for a live run first, as long as that run's lease at most.
pub async fn forget(world: &World, conversation: &ConversationId) -> Result<Forgotten, FlowError> {
    loop {
        let peek = look::peek(world, conversation, 1).await?;
        let Some(state) = peek.state else {
            return match world
                .store
                .erasure(&conversation.agent, conversation)
                .await?
            {
                Some(erasure) => erase(world, &erasure, Vec::new()).await,
                None => Ok(Forgotten::Nobody),
            };
        };
        if state.lease.is_some_and(|lease| lease.until > world.now()) {
            world.clock.sleep(LOOK_EVERY).await;
            continue;
        }
        let erasure = Erasure {
            conversation: conversation.clone(),
            aliases: state.aliases.clone(),
            forgotten_at: date(world, conversation, &state.aliases).await?,
        };
        // Lost means that the state moved (a new alias, say): its list of aliases is read again.
        if world.store.begin_erasure(&erasure, state.version).await? == Written::Done {
            return erase(world, &erasure, state.met).await;
        }
    }
}

/// Now, or the date of an earlier erasure where the clock has stepped back since: a tombstone's date only goes forward,
/// or what it kept out could come in again.
async fn date(
    world: &World,
    conversation: &ConversationId,
    aliases: &[Alias],
) -> Result<Timestamp, FlowError> {
    let mut date = world.now();
    // A list of before there was a limit may be longer than one snapshot holds.
    for some in aliases.chunks(State::ALIASES_MAX) {
        let known = world.store.resolve(&conversation.agent, some).await?;
        let ended = known.iter().filter_map(|known| known.ended.as_ref());
        date = ended.map(|ended| ended.at).fold(date, Timestamp::max);
    }
    Ok(date)
}

/// Goes on with an erasure that was begun, and ends it once the longest run has passed.
pub async fn resume(world: &World, conversation: &ConversationId) -> Result<(), FlowError> {
    let Some(erasure) = world
        .store
        .erasure(&conversation.agent, conversation)
        .await?
    else {
        return Ok(());
    };
    erase(world, &erasure, Vec::new()).await?;
    if is_over(&erasure, world.now()) {
        world.store.end_erasure(&erasure).await?;
    }
    Ok(())
}

fn is_over(erasure: &Erasure, now: Timestamp) -> bool {
    now.since(erasure.forgotten_at) >= LONGEST_RUN
}

async fn erase(
    world: &World,
    erasure: &Erasure,
    met: Vec<ContactId>,
) -> Result<Forgotten, FlowError> {
    let mut items = 0;
    world.kept_reads.drop_of(&erasure.conversation);
    loop {
        let gone = world.store.erase(erasure).await?;
        if gone == 0 {
            world.note(&erasure.conversation, &Step::Forgotten { items });
            return Ok(Forgotten::Gone { items, met });
        }
        items += gone;
    }
}
