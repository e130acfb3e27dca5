//! The person's yes, looked at just before the call it is for: what they wrote meanwhile may have taken it back.
//!
//! A run that has written, or has passed its ceiling, goes on with its own batch whatever comes; its yes does not.

use super::look;
use super::process::PENDING_MAX;
use super::think::Task;
use crate::domain::{Exchange, ToolCall};
use crate::policy::confirm;

/// Whether `call` has the person's yes, after `past` and with nothing waiting that this run does not answer. What cannot
/// be looked at is no yes: it is asked for again.
pub async fn is_given(task: Task<'_>, past: &[Exchange], call: &ToolCall) -> bool {
    let taken_over_at = task.claimed.state.taken_over_at;
    if !confirm::is_agreed(past, taken_over_at, task.batch, call) {
        return false;
    }
    let peek = look::of_a_run(task.world, &task.visit.conversation, PENDING_MAX).await;
    let ids = task.batch.ids();
    peek.is_ok_and(|peek| peek.pending.iter().all(|event| ids.contains(&event.id)))
}
