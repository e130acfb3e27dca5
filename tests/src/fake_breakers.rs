//! Breakers in memory, with the one condition of the real table, and what became of each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use recado::domain::Breaker;
use recado::error::StoreError;
use recado::ports::{Breakers, Written};

use crate::fake_store::{Fault, Faults, calm, unavailable};

/// See the module.
pub struct FakeBreakers {
    faults: Arc<dyn Faults>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: BTreeMap<String, Breaker>,
    reads: usize,
    openings: usize,
}

impl Default for FakeBreakers {
    fn default() -> Self {
        Self::with_faults(calm())
    }
}

impl FakeBreakers {
    /// All closed, with these faults.
    pub fn with_faults(faults: Arc<dyn Faults>) -> Self {
        Self {
            faults,
            table: Mutex::default(),
        }
    }

    /// The breaker of this model, past the port.
    pub fn now(&self, model: &str) -> Option<Breaker> {
        self.table.lock().unwrap().open.get(model).copied()
    }

    /// How often one was read.
    pub fn reads(&self) -> usize {
        self.table.lock().unwrap().reads
    }

    /// How often one that was closed was opened.
    pub fn openings(&self) -> usize {
        self.table.lock().unwrap().openings
    }

    async fn perform<T>(
        &self,
        operation: &'static str,
        act: impl Fn(&mut Table) -> T,
    ) -> Result<T, StoreError> {
        let fault = self.faults.before(operation).await;
        if fault == Fault::FailBefore {
            return Err(unavailable(operation, "was not applied"));
        }
        let mut given = act(&mut self.table.lock().unwrap());
        if fault == Fault::Twice {
            given = act(&mut self.table.lock().unwrap());
        }
        self.faults.after(operation).await;
        if fault == Fault::FailAfter {
            return Err(unavailable(operation, "was applied, its answer is lost"));
        }
        Ok(given)
    }
}

impl Table {
    fn swap(&mut self, model: &str, seen: Option<&Breaker>, next: Option<&Breaker>) -> Written {
        let mark = |breaker: Option<&Breaker>| breaker.map(|breaker| breaker.mark);
        let here = mark(self.open.get(model));
        if here != mark(seen) {
            return if here == mark(next) {
                Written::Done
            } else {
                Written::Lost
            };
        }
        self.openings += usize::from(here.is_none() && next.is_some());
        match next {
            Some(next) => drop(self.open.insert(model.to_owned(), *next)),
            None => drop(self.open.remove(model)),
        }
        Written::Done
    }
}

#[async_trait]
impl Breakers for FakeBreakers {
    async fn breaker(&self, model: &str) -> Result<Option<Breaker>, StoreError> {
        self.perform("breaker", |table| {
            table.reads += 1;
            table.open.get(model).copied()
        })
        .await
    }

    async fn swap_breaker(
        &self,
        model: &str,
        seen: Option<&Breaker>,
        next: Option<&Breaker>,
    ) -> Result<Written, StoreError> {
        self.perform("swap_breaker", |table| table.swap(model, seen, next))
            .await
    }
}
