//! The breakers of a schedule: the fake ones behind latency and errors, on their own way to the table.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::Breaker;
use recado::error::StoreError;
use recado::ports::{Breakers, Written};

use super::core::Core;
use super::plan::Fault;
use crate::fake_breakers::FakeBreakers;
use crate::fake_store::unavailable;

/// See the module.
pub struct SimBreakers {
    core: Arc<Core>,
    table: FakeBreakers,
}

impl SimBreakers {
    /// All closed.
    pub fn new(core: Arc<Core>) -> Self {
        let table = FakeBreakers::default();
        Self { core, table }
    }

    /// The way there; whether it fails on it.
    async fn way(&self, operation: &'static str) -> Result<(), StoreError> {
        let core = &self.core;
        core.elsewhere(core.pick(1..8)).await;
        if core.strikes(Fault::BreakerFails, 4) {
            if core.pick(0..3) == 0 {
                let ms = core.pick(1_000..20_000);
                core.trouble(None, 20_000);
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            return Err(unavailable(operation, "injected"));
        }
        Ok(())
    }
}

#[async_trait]
impl Breakers for SimBreakers {
    async fn breaker(&self, model: &str) -> Result<Option<Breaker>, StoreError> {
        self.way("breaker").await?;
        let given = self.table.breaker(model).await;
        let is_open = matches!(given, Ok(Some(_)));
        self.core.trace("breaker", u64::from(is_open));
        given
    }

    async fn swap_breaker(
        &self,
        model: &str,
        seen: Option<&Breaker>,
        next: Option<&Breaker>,
    ) -> Result<Written, StoreError> {
        self.way("swap_breaker").await?;
        let written = self.table.swap_breaker(model, seen, next).await;
        self.core.tell(None, || {
            let until = next.map(|next| next.open_until);
            format!("breaker of {model} until {until:?}: {written:?}")
        });
        self.core.trace(
            "swap_breaker",
            u64::from(matches!(written, Ok(Written::Done))),
        );
        // Applied, and its answer lost.
        self.way("swap_breaker").await?;
        written
    }
}
