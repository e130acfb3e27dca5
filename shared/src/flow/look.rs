//! A look at the front of a conversation: what every decision starts from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::World;
use crate::domain::{ConversationId, Lease, Timestamp};
use crate::error::StoreError;
use crate::ports::Peek;

/// State, outbox and at most `pending_max` pending messages, without the lease of a process that is gone.
pub async fn peek(
    world: &World,
    conversation: &ConversationId,
    pending_max: usize,
) -> Result<Peek, StoreError> {
    let mut peek = world.store.peek(conversation, pending_max).await?;
    if let Some(state) = &mut peek.state {
        state.lease = state.lease.filter(|lease| !world.alone.outlived(lease));
    }
    Ok(peek)
}

/// Since when a process is the only one that works on its table: true of a local run, which holds its data folder
/// alone, and never of a Lambda. A lease of an earlier run is a dead process's then, and silences nobody.
#[derive(Debug, Clone, Default)]
pub struct Alone(Arc<AtomicU64>);

impl Alone {
    /// From `now` on. Clones are told too.
    pub fn begin(&self, now: Timestamp) {
        self.0.store(now.ms(), Ordering::Relaxed);
    }

    /// Whether the lease is one of a process that is gone.
    fn outlived(&self, lease: &Lease) -> bool {
        lease.run.made_at_ms() < self.0.load(Ordering::Relaxed)
    }
}
