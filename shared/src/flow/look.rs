//! A look at the front of a conversation: what every decision starts from.

use super::World;
use super::forget::LONGEST_RUN;
use crate::domain::{ConversationId, Lease};
use crate::error::StoreError;
use crate::ports::Peek;

/// A sealed batch and a STOP are found among this many messages that came before them.
const LOOKED_THROUGH_MAX: usize = 2_000;

/// State, outbox and pending messages, without a lease that keeps nobody out (see [`is_void`]). At most `pending_max` messages
/// where that is all there is. Where there may be more (and more than one was asked for) they are looked through: a STOP
/// among them goes before everything else, and what is not seen of a sealed batch would be taken for closed.
pub async fn peek(
    world: &World,
    conversation: &ConversationId,
    pending_max: usize,
) -> Result<Peek, StoreError> {
    let mut peek = of_a_run(world, conversation, pending_max).await?;
    if let Some(state) = &mut peek.state {
        state.lease = state.lease.filter(|lease| !is_void(world, lease));
    }
    Ok(peek)
}

/// The same with whatever lease is there: a run knows its own.
pub async fn of_a_run(
    world: &World,
    conversation: &ConversationId,
    pending_max: usize,
) -> Result<Peek, StoreError> {
    let peek = world.store.peek(conversation, pending_max).await?;
    if pending_max > 1 && peek.pending.len() >= pending_max {
        return world.store.peek(conversation, LOOKED_THROUGH_MAX).await;
    }
    Ok(peek)
}

/// Whether its run is known to be over, or it ends later than any run that began by now: then it is of before the clock
/// stepped back, and would silence the person for as long as the step was. The epoch fences a run that lives all the same.
fn is_void(world: &World, lease: &Lease) -> bool {
    world.dead_runs.hold(lease) || lease.until > world.now().plus(LONGEST_RUN)
}
