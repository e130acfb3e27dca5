//! The way of a message, one line per arrow, over ports.
//!
//! ```text
//! ingest     verified events -> resolve -> append -> tick
//! process    tick -> peek -> decide -> hold | close | deliver | answer -> look again, until at rest
//! run        claim -> batch -> memory -> context -> model (watched) -> commit -> send -> release
//! compact    job -> plan -> one model call -> check -> one transaction
//! sweep      whatever is not at rest for too long -> a fresh tick
//! forget     tombstones, job and state in one transaction -> the rest, in an order that a crash can repeat
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::{ConversationId, Hasher, Lease, RunId, Step, Timestamp};
use crate::error::{StoreError, TicksError};
use crate::ports::{Agents, Chance, Clock, Journal, Messenger, Model, Peek, Store, Ticks};

pub mod compact;
pub mod deliver;
pub mod forget;
pub mod ingest;
pub mod process;
pub mod run;
pub mod sweep;
pub mod think;

/// Everything outside, as the flow sees it.
#[derive(Clone)]
pub struct World {
    /// The table.
    pub store: Arc<dyn Store>,
    /// The queues.
    pub ticks: Arc<dyn Ticks>,
    /// The models.
    pub models: Arc<dyn Model>,
    /// The way back to the person.
    pub messenger: Arc<dyn Messenger>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// The agents.
    pub agents: Arc<dyn Agents>,
    /// The story.
    pub journal: Arc<dyn Journal>,
    /// What stands for a person where the person must not be named.
    pub hasher: Arc<Hasher>,
    /// Since when this process is the only one.
    pub alone: Alone,
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

impl World {
    /// The moment.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Notes one step of a conversation's story.
    pub fn note(&self, conversation: &ConversationId, step: &Step) {
        self.journal.note(conversation, step);
    }

    /// A look at the front of a conversation, without the lease of a process that is gone.
    async fn peek(
        &self,
        conversation: &ConversationId,
        pending_max: usize,
    ) -> Result<Peek, StoreError> {
        let mut peek = self.store.peek(conversation, pending_max).await?;
        if let Some(state) = &mut peek.state {
            state.lease = state.lease.filter(|lease| !self.alone.outlived(lease));
        }
        Ok(peek)
    }

    /// A new run's id.
    fn new_run(&self) -> RunId {
        RunId::from_parts(self.now().ms(), self.chance.bits())
    }
}

/// A failure that no step could deal with: the tick is held and everything is looked at again.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The table.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The queues.
    #[error(transparent)]
    Ticks(#[from] TicksError),
}
