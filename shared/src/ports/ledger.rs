//! Where costs are kept: numbers by day, model and kind, and for each conversation under a keyed hash.

use async_trait::async_trait;
use jiff::civil::Date;

use crate::domain::{AgentId, Booking, ConversationId, Line};
use crate::error::StoreError;

/// The ledger. An error means that the outcome is unknown, as for the table.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// ONE transaction: adds what a run has cost to the agent's day and to the conversation, or to the day alone where the
    /// person was forgotten meanwhile. A run that is booked again within ten minutes counts once.
    async fn book(&self, booking: &Booking) -> Result<(), StoreError>;
    /// An agent's day, one line for each model and kind, in their order; consistent. May take several requests.
    async fn of_day(&self, agent: &AgentId, day: Date) -> Result<Vec<Line>, StoreError>;
    /// A conversation's days, oldest first, the same way.
    async fn of_conversation(&self, of: &ConversationId) -> Result<Vec<Line>, StoreError>;
    /// The known cost of an agent's day, in millionths of a US dollar. May be a minute old.
    async fn spent_on(&self, agent: &AgentId, day: Date) -> Result<u64, StoreError> {
        let lines = self.of_day(agent, day).await?;
        let costs = lines.iter().map(|line| line.counters.micro_usd);
        Ok(costs.fold(0, u64::saturating_add))
    }
}
