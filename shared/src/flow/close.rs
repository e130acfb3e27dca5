//! Closes messages without an answer. What was done for a sealed turn that ends with them stays known: it becomes history.

use super::{FlowError, World};
use crate::domain::batch::Closure;
use crate::domain::{ConversationId, Step};
use crate::error::StoreError;
use crate::ports::{Peek, Written};

/// Closes them, if nothing changed since `peek`. Yields whether it did.
pub async fn close(
    world: &World,
    conversation: &ConversationId,
    peek: &Peek,
    mut closure: Closure,
) -> Result<bool, FlowError> {
    if let Some(turn) = &mut closure.ends {
        let stored = world.store.calls(conversation, turn.reply).await;
        turn.calls = match stored {
            Ok(calls) => calls.iter().map(|call| call.n).collect(),
            // As for a text of the agent's own: what cannot be read must not keep the person waiting for good.
            Err(error @ StoreError::Undecodable { .. }) => {
                tracing::warn!(
                    conversation.hash = world.hasher.conversation(conversation),
                    turn = %turn.reply,
                    %error,
                    "what was done for a turn cannot be read, so no later one is told of it"
                );
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        };
        if turn.calls.is_empty() {
            // Nothing is to be told of it: its words go like those of any other closed message.
            turn.messages.clear();
        }
    }
    let version = peek.state.as_ref().map_or(0, |state| state.version);
    let now = world.now();
    let written = world
        .store
        .close(conversation, version, &closure, now)
        .await?;
    let closed = written == Written::Done;
    if closed {
        let (events, reason) = (closure.events.len(), closure.reason);
        world.note(conversation, &Step::Closed { events, reason });
    }
    Ok(closed)
}
