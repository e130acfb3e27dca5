//! The ledger of a schedule: the fake one behind latency and errors, on its own way to the table.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::Date;
use recado::domain::{AgentId, Booking, ConversationId, Counters, Line};
use recado::error::StoreError;
use recado::ports::Ledger;

use super::core::Core;
use super::invocation::here;
use super::plan::Fault;
use crate::fake_store::{FakeStore, unavailable};

/// See the module.
pub struct SimLedger {
    core: Arc<Core>,
    table: Arc<FakeStore>,
}

impl SimLedger {
    /// In this table.
    pub fn new(core: Arc<Core>, table: Arc<FakeStore>) -> Self {
        Self { core, table }
    }

    /// The way there; whether it fails on it.
    async fn way(&self, operation: &'static str) -> Result<(), StoreError> {
        let core = &self.core;
        core.elsewhere(core.pick(1..8)).await;
        if core.strikes(Fault::LedgerFails, 4) {
            core.trouble(None, 5_000);
            core.witness(|witness| witness.books_fail(here()));
            return Err(unavailable(operation, "injected"));
        }
        Ok(())
    }
}

#[async_trait]
impl Ledger for SimLedger {
    async fn book(&self, booking: &Booking) -> Result<(), StoreError> {
        self.way("book").await?;
        if self.table.touch(|table| table.book(booking)) {
            self.core.witness(|witness| witness.booked(here(), booking));
        }
        let total = Counters::sum(&booking.charges);
        self.core
            .tell(Some(&booking.conversation), || format!("booked {total:?}"));
        self.core.trace("book", total.calls);
        // Applied, and its answer lost.
        self.way("book").await
    }

    async fn of_day(&self, agent: &AgentId, day: Date) -> Result<Vec<Line>, StoreError> {
        self.way("of_day").await?;
        self.table.of_day(agent, day).await
    }

    async fn of_conversation(&self, of: &ConversationId) -> Result<Vec<Line>, StoreError> {
        self.way("of_conversation").await?;
        self.table.of_conversation(of).await
    }
}
