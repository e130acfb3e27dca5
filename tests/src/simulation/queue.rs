//! The queues as the schedule has them: ticks that are lost, come twice or are refused.

use std::sync::Arc;

use async_trait::async_trait;
use recado::domain::ConversationId;
use recado::error::TicksError;
use recado::ports::{Receipt, Ticks};

use super::core::Core;
use super::invocation::{Role, role};
use super::plan::Fault;
use super::switches::Switches;
use crate::fake_ticks::FakeTicks;

/// What a lost tick may cost: the sweeper's patience, its period, and a dedup id that is still known.
pub const LOST_TICK_MS: u64 = 50_000 + 60_000 + 300_000 + 70_000;

/// See the module.
pub struct SimTicks {
    core: Arc<Core>,
    queues: Arc<FakeTicks>,
    switches: Switches,
}

impl SimTicks {
    /// Around these queues.
    pub fn new(core: Arc<Core>, queues: Arc<FakeTicks>, switches: Switches) -> Self {
        Self {
            core,
            queues,
            switches,
        }
    }

    fn refused(
        &self,
        operation: &'static str,
        of: Option<&ConversationId>,
    ) -> Result<(), TicksError> {
        if self.core.strikes(Fault::QueueRefuses, 15) {
            self.core.trouble(of, 330_000);
            let source = "injected".into();
            return Err(TicksError { operation, source });
        }
        Ok(())
    }
}

#[async_trait]
impl Ticks for SimTicks {
    async fn tick(&self, of: &ConversationId, dedup: &str) -> Result<(), TicksError> {
        self.core.elsewhere(3).await;
        self.refused("sending a tick", Some(of))?;
        let again = role() != Some(Role::Ingest);
        if self.core.strikes(Fault::TickLost, 8) {
            self.core.trouble(Some(of), LOST_TICK_MS);
            return Ok(());
        }
        let key = of.key();
        let dedup = if self.switches.holds("new_dedup") {
            dedup
        } else {
            &key
        };
        self.core.trace("tick", u64::from(again));
        self.core.tell(Some(of), || "a tick is sent".to_owned());
        self.queues.tick(of, dedup).await?;
        if self.core.strikes(Fault::TickDoubled, 8) {
            self.queues.tick(of, &format!("{dedup}-again")).await?;
        }
        self.core.elsewhere(1).await;
        Ok(())
    }

    async fn hold(&self, receipt: &Receipt, seconds: u32) -> Result<(), TicksError> {
        self.core.elsewhere(2).await;
        if self.core.strikes(Fault::HoldFails, 15) {
            self.core.trouble(None, 330_000);
            let (operation, source) = ("holding a tick", "injected".into());
            return Err(TicksError { operation, source });
        }
        self.core.trace("hold", u64::from(seconds));
        if !self.switches.holds("hold") {
            return Ok(());
        }
        self.queues.hold(receipt, seconds).await
    }

    async fn compact(&self, of: &ConversationId) -> Result<(), TicksError> {
        self.core.elsewhere(3).await;
        self.refused("asking for a compaction", Some(of))?;
        self.core.trace("compact", 0);
        self.queues.compact(of).await?;
        if self.core.strikes(Fault::CompactionDoubled, 2) {
            self.queues.compact(of).await?;
        }
        Ok(())
    }
}
