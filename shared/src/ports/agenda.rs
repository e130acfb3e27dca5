//! Where a person's agenda is kept.

use async_trait::async_trait;

use super::Written;
use crate::domain::{ConversationId, Entry};
use crate::error::StoreError;

/// The agendas. An error means that the outcome is unknown, as for the table.
#[async_trait]
pub trait Agenda: Send + Sync {
    /// A person's entries, oldest first; consistent. May take several requests.
    async fn entries(&self, of: &ConversationId) -> Result<Vec<Entry>, StoreError>;
    /// ONE transaction: a new entry (version 1) where there is none of its id, a changed one over the version before
    /// it; `Lost` otherwise, and where the person's state is gone.
    async fn write(&self, of: &ConversationId, entry: &Entry) -> Result<Written, StoreError>;
}
