//! Breakers as this process knew them seconds ago, so that hardly a turn asks the table for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::{Breaker, Timestamp};
use crate::error::StoreError;
use crate::ports::{Breakers, Clock, Written};

/// What is older is read again: a model that others left out is asked no longer than this.
const FRESH: Duration = Duration::from_secs(5);

/// See the module.
pub struct CachedBreakers {
    table: Arc<dyn Breakers>,
    clock: Arc<dyn Clock>,
    known: Mutex<BTreeMap<String, (Timestamp, Option<Breaker>)>>,
}

impl CachedBreakers {
    /// Before this table.
    pub fn new(table: Arc<dyn Breakers>, clock: Arc<dyn Clock>) -> Self {
        Self {
            table,
            clock,
            known: Mutex::default(),
        }
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut BTreeMap<String, (Timestamp, Option<Breaker>)>) -> T,
    ) -> T {
        act(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, model: &str, breaker: Option<Breaker>) {
        let now = self.clock.now();
        self.with(|known| known.insert(model.to_owned(), (now, breaker)));
    }
}

#[async_trait]
impl Breakers for CachedBreakers {
    async fn breaker(&self, model: &str) -> Result<Option<Breaker>, StoreError> {
        let now = self.clock.now();
        let known = self.with(|known| known.get(model).copied());
        if let Some((read_at, breaker)) = known
            // A clock that was set back must not make it last.
            && (read_at..read_at.plus(FRESH)).contains(&now)
        {
            return Ok(breaker);
        }
        let breaker = self.table.breaker(model).await?;
        self.keep(model, breaker);
        Ok(breaker)
    }

    async fn swap_breaker(
        &self,
        model: &str,
        seen: Option<&Breaker>,
        next: Option<&Breaker>,
    ) -> Result<Written, StoreError> {
        // Whatever comes of it, what was known is no longer to be trusted.
        self.with(|known| known.remove(model));
        let written = self.table.swap_breaker(model, seen, next).await?;
        if written == Written::Done {
            self.keep(model, next.copied());
        }
        Ok(written)
    }
}
