//! A look at the front of a conversation: what every decision starts from.

use super::World;
use crate::domain::ConversationId;
use crate::error::StoreError;
use crate::ports::Peek;

/// A sealed batch and a STOP are found among this many messages that came before them.
const LOOKED_THROUGH_MAX: usize = 2_000;

/// State, outbox and pending messages, without the lease of a run that is known to be over. At most `pending_max` messages
/// where that is all there is. Where there may be more (and more than one was asked for) they are looked through: a STOP
/// among them goes before everything else, and what is not seen of a sealed batch would be taken for closed.
pub async fn peek(
    world: &World,
    conversation: &ConversationId,
    pending_max: usize,
) -> Result<Peek, StoreError> {
    let mut peek = world.store.peek(conversation, pending_max).await?;
    if pending_max > 1 && peek.pending.len() >= pending_max {
        peek = world.store.peek(conversation, LOOKED_THROUGH_MAX).await?;
    }
    if let Some(state) = &mut peek.state {
        state.lease = state.lease.filter(|lease| !world.dead_runs.hold(lease));
    }
    Ok(peek)
}
