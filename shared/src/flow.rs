//! The way of a message, one line per arrow, over ports.
//!
//! ```text
//! ingest     verified events -> resolve -> append -> tick
//! process    tick -> peek -> decide -> hold | close | deliver | answer -> look again, until at rest
//! run        claim -> batch -> memory -> context -> model and tools (watched) -> commit -> send -> release -> book
//! compact    job -> plan -> one model call -> check -> one transaction
//! sweep      whatever is not at rest for too long -> a fresh tick
//! forget     tombstones, job and state in one transaction -> the rest, in an order that a crash can repeat
//! ```

use std::sync::Arc;

use crate::domain::{ConversationId, Hasher, RunId, Step, Timestamp};
use crate::error::{StoreError, TicksError};
use crate::ports::{
    Agents, Breakers, Chance, Clock, Journal, Ledger, Messenger, Model, Store, Ticks, Tools,
};

pub mod act;
mod agreement;
pub mod bill;
mod breakers;
mod choose;
mod close;
pub mod compact;
pub mod converse;
mod dead_runs;
pub mod deliver;
pub mod forget;
pub mod ingest;
mod insist;
mod kept_reads;
pub mod lease;
pub mod look;
pub mod pause;
mod poison;
pub mod process;
pub mod run;
pub mod sweep;
pub mod think;
pub mod watch;

pub use dead_runs::DeadRuns;
pub use kept_reads::KeptReads;

/// Everything outside, as the flow sees it.
#[derive(Clone)]
pub struct World {
    /// The table.
    pub store: Arc<dyn Store>,
    /// The queues.
    pub ticks: Arc<dyn Ticks>,
    /// The models.
    pub models: Arc<dyn Model>,
    /// Which models are left out for a while.
    pub breakers: Arc<dyn Breakers>,
    /// Where costs are kept.
    pub ledger: Arc<dyn Ledger>,
    /// What the models may call.
    pub tools: Arc<dyn Tools>,
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
    /// Runs known to be over.
    pub dead_runs: DeadRuns,
    /// What dropped runs have read.
    pub kept_reads: KeptReads,
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

    /// A new run's id: of after the dead, also where the clock has stepped back behind them.
    fn new_run(&self) -> RunId {
        let made_at = self.now().max(self.dead_runs.end());
        RunId::from_parts(made_at.ms(), self.chance.bits())
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
