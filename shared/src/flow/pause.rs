//! An operator takes a person over from the agent, or gives them back.

use super::{FlowError, World, look};
use crate::domain::{ConversationId, Step, Timestamp};
use crate::ports::Swapped;

/// Sets until when the agent keeps quiet with a person; `None` gives them back at once. Yields whether there is such a
/// person. A run that is under way is fenced at its commit; what was committed before is still sent.
pub async fn set(
    world: &World,
    conversation: &ConversationId,
    until: Option<Timestamp>,
) -> Result<bool, FlowError> {
    loop {
        let Some(mut state) = look::peek(world, conversation, 1).await?.state else {
            return Ok(false);
        };
        if state.paused_until == until {
            return Ok(true);
        }
        let expected = state.version;
        state.paused_until = until;
        if until.is_some() {
            state.taken_over_at = Some(world.now());
        }
        state.version += 1;
        let swapped = world
            .store
            .swap_state(conversation, expected, &state)
            .await?;
        if swapped == Swapped::Done {
            let step = match until {
                Some(until) => Step::Paused { until },
                None => Step::Resumed,
            };
            world.note(conversation, &step);
            return Ok(true);
        }
        // Somebody else was quicker: on what they left.
    }
}
