//! The way of a message, one line per arrow, over ports.

use std::sync::Arc;

use crate::domain::Hasher;
use crate::ports::{Agents, Chance, Clock, Journal, Messenger, Model, Store, Ticks};

pub mod ingest;

/// Everything outside that a message meets on its way.
#[derive(Clone)]
pub struct World {
    /// The table.
    pub store: Arc<dyn Store>,
    /// The queues.
    pub ticks: Arc<dyn Ticks>,
    /// The language models.
    pub models: Arc<dyn Model>,
    /// The way back to the person.
    pub messenger: Arc<dyn Messenger>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// The agents of this installation.
    pub agents: Arc<dyn Agents>,
    /// Where the story of each conversation is told.
    pub journal: Arc<dyn Journal>,
    /// Makes what stands for a person in logs and queue ids.
    pub hasher: Arc<Hasher>,
}
