//! The ledger with a memory of what an agent's day has cost: asked of the table once a minute, its own bookings on top.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::civil::Date;

use crate::domain::{AgentId, Booking, ConversationId, Counters, Line, Timestamp};
use crate::error::StoreError;
use crate::ports::{Clock, Ledger};

/// What other processes have booked is seen after this long.
const FRESH: Duration = Duration::from_mins(1);

/// See the module.
pub struct CachedLedger {
    table: Arc<dyn Ledger>,
    clock: Arc<dyn Clock>,
    /// By agent: its newest day that was asked for, and what it had cost when.
    known: Mutex<BTreeMap<AgentId, Known>>,
}

#[derive(Clone, Copy)]
struct Known {
    day: Date,
    read_at: Timestamp,
    micro_usd: u64,
}

impl CachedLedger {
    /// Before this table.
    pub fn new(table: Arc<dyn Ledger>, clock: Arc<dyn Clock>) -> Self {
        Self {
            table,
            clock,
            known: Mutex::default(),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<AgentId, Known>) -> T) -> T {
        act(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Ledger for CachedLedger {
    async fn book(&self, booking: &Booking) -> Result<(), StoreError> {
        self.table.book(booking).await?;
        let more = Counters::sum(&booking.charges).micro_usd;
        self.with(|known| {
            let known = known.get_mut(&booking.conversation.agent);
            if let Some(known) = known.filter(|known| known.day == booking.day) {
                known.micro_usd = known.micro_usd.saturating_add(more);
            }
        });
        Ok(())
    }

    async fn of_day(&self, agent: &AgentId, day: Date) -> Result<Vec<Line>, StoreError> {
        self.table.of_day(agent, day).await
    }

    async fn of_conversation(&self, of: &ConversationId) -> Result<Vec<Line>, StoreError> {
        self.table.of_conversation(of).await
    }

    async fn spent_on(&self, agent: &AgentId, day: Date) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let known = self.with(|known| known.get(agent).copied());
        if let Some(known) = known.filter(|known| known.day == day)
            // A clock that was set back must not make it last.
            && (known.read_at..known.read_at.plus(FRESH)).contains(&now)
        {
            return Ok(known.micro_usd);
        }
        let micro_usd = self.table.spent_on(agent, day).await?;
        let read = Known {
            day,
            read_at: now,
            micro_usd,
        };
        self.with(|known| known.insert(agent.clone(), read));
        Ok(micro_usd)
    }
}
