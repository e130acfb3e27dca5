//! A look at the front of a conversation: what every decision starts from.

use super::World;
use crate::domain::{ConversationId, MessageId, State};
use crate::error::StoreError;
use crate::ports::Peek;

/// A sealed batch is found among this many messages that came before it.
const SEALED_WITHIN: usize = 2_000;

/// State, outbox and at most `pending_max` pending messages, without the lease of a run that is known to be over; more messages
/// where the sealed batch is not among the first ones, for what is not seen of it would be taken for closed.
pub async fn peek(
    world: &World,
    conversation: &ConversationId,
    pending_max: usize,
) -> Result<Peek, StoreError> {
    let mut peek = world.store.peek(conversation, pending_max).await?;
    let is_full = pending_max > 1 && peek.pending.len() >= pending_max;
    if is_full
        && peek
            .state
            .as_ref()
            .is_some_and(|state| misses_some(state, &peek))
    {
        peek = world.store.peek(conversation, SEALED_WITHIN).await?;
    }
    if let Some(state) = &mut peek.state {
        state.lease = state.lease.filter(|lease| !world.dead_runs.hold(lease));
    }
    Ok(peek)
}

fn misses_some(state: &State, peek: &Peek) -> bool {
    let seen = |id: &MessageId| peek.pending.iter().any(|event| event.id == *id);
    let sealed = state.sealed.as_ref();
    sealed.is_some_and(|sealed| !sealed.events.iter().all(seen))
}
