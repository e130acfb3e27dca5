//! A table in memory that keeps every condition of the real one, and can be told to forget any of them.
//!
//! The simulation runs on it: it is deterministic, its faults are the caller's choice, and everything it holds can
//! be looked at. The contract in `store_contract` holds it to what the DynamoDB adapter does.

mod agenda;
mod calls;
mod erase;
pub mod guards;
mod identity;
mod ledger;
mod memory;
mod outbox;
mod run;
mod table;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use recado::domain::batch::Closure;
use recado::domain::memory::Fold;
use recado::domain::reply::Settlement;
use recado::domain::{
    AgentId, Alias, Call, ContactId, ConversationId, DeliveryStatus, Event, Hasher, Memory,
    MessageId, Reply, ReplyId, RunId, State, Timestamp, ToolResult,
};
use recado::error::StoreError;
use recado::ports::{
    AliasAddition, Appended, Commit, Creation, Erasure, Known, NewCalls, Noted, Peek, Release,
    Store, Swapped, Unrest, Written,
};

pub use guards::Guards;
pub use table::{Health, Person, StoredCall, StoredEvent, StoredReply, Table, Tombstone};

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It fails and was not applied.
    FailBefore,
    /// It is applied, and its answer is lost.
    FailAfter,
    /// It arrives twice; the second answer is the one that is heard.
    Twice,
}

/// Decides what happens to each request; may take its time.
#[async_trait]
pub trait Faults: Send + Sync {
    /// Called before `operation`, named as in the port. `resolve.aliases` comes between the two reads of a
    /// resolve that is no snapshot.
    async fn before(&self, operation: &'static str) -> Fault;

    /// Called once it is applied, before its answer is given.
    async fn after(&self, _operation: &'static str) {}
}

/// No faults.
struct Calm;

#[async_trait]
impl Faults for Calm {
    async fn before(&self, _operation: &'static str) -> Fault {
        Fault::None
    }
}

/// Nothing happens to any request.
pub fn calm() -> Arc<dyn Faults> {
    Arc::new(Calm)
}

/// The table in memory.
pub struct FakeStore {
    table: Mutex<Table>,
    faults: Arc<dyn Faults>,
}

impl FakeStore {
    /// An empty table with all guards and no faults.
    pub fn new(hasher: Arc<Hasher>) -> Self {
        Self {
            table: Mutex::new(Table::new(hasher)),
            faults: calm(),
        }
    }

    /// With these guards.
    #[must_use]
    pub fn with_guards(self, guards: Guards) -> Self {
        self.touch(|table| table.guards = guards);
        self
    }

    /// With these faults.
    #[must_use]
    pub fn with_faults(self, faults: Arc<dyn Faults>) -> Self {
        Self { faults, ..self }
    }

    /// Everything it holds, as of now.
    pub fn look(&self) -> Table {
        self.touch(|table| table.clone())
    }

    /// Reaches into the table past the port, for what only an accident could bring about.
    pub fn touch<T>(&self, reach: impl FnOnce(&mut Table) -> T) -> T {
        // A panic inside an operation is the test's to report; the data is plain and stays readable.
        reach(&mut self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn perform<T>(
        &self,
        operation: &'static str,
        act: impl Fn(&mut Table) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let fault = self.faults.before(operation).await;
        if fault == Fault::FailBefore {
            return Err(unavailable(operation, "was not applied"));
        }
        let mut given = self.touch(&act);
        if fault == Fault::Twice {
            given = self.touch(&act);
        }
        self.faults.after(operation).await;
        if fault == Fault::FailAfter {
            return Err(unavailable(operation, "was applied, its answer is lost"));
        }
        given
    }
}

pub(crate) fn unavailable(operation: &'static str, what: &'static str) -> StoreError {
    StoreError::Unavailable {
        operation,
        source: what.into(),
    }
}

/// What one transaction of the real table holds at most.
fn fits(operation: &'static str, items: usize) -> Result<(), StoreError> {
    if items > 100 {
        return Err(unavailable(
            operation,
            "more items than one transaction holds",
        ));
    }
    Ok(())
}

#[async_trait]
impl Store for FakeStore {
    async fn resolve(&self, agent: &AgentId, aliases: &[Alias]) -> Result<Vec<Known>, StoreError> {
        let snapshot = self
            .perform("resolve", |table| {
                fits("resolve", aliases.len() * 2)?;
                Ok(table.resolve(agent, aliases))
            })
            .await?;
        if self.touch(|table| table.guards.snapshot_resolve) {
            return Ok(snapshot);
        }
        // Tombstones as they were, aliases as they are by now.
        let later = self
            .perform("resolve.aliases", |table| Ok(table.resolve(agent, aliases)))
            .await?;
        let mixed = snapshot
            .into_iter()
            .zip(later)
            .map(|(before, after)| Known {
                ended: before.ended,
                ..after
            });
        Ok(mixed.collect())
    }

    async fn create_contact(&self, creation: &Creation) -> Result<Written, StoreError> {
        self.perform("create_contact", |table| Ok(table.create_contact(creation)))
            .await
    }

    async fn add_alias(&self, addition: &AliasAddition) -> Result<Written, StoreError> {
        self.perform("add_alias", |table| Ok(table.add_alias(addition)))
            .await
    }

    async fn note_meeting(
        &self,
        conversation: &ConversationId,
        other: &ContactId,
    ) -> Result<Written, StoreError> {
        self.perform("note_meeting", |table| {
            Ok(table.note_meeting(conversation, other))
        })
        .await
    }

    async fn append(
        &self,
        conversation: &ConversationId,
        event: &Event,
    ) -> Result<Appended, StoreError> {
        self.perform("append", |table| Ok(table.append(conversation, event)))
            .await
    }

    async fn peek(
        &self,
        conversation: &ConversationId,
        pending_max: usize,
    ) -> Result<Peek, StoreError> {
        self.perform("peek", |table| table.peek(conversation, pending_max))
            .await
    }

    async fn swap_state(
        &self,
        conversation: &ConversationId,
        expected: u64,
        state: &State,
    ) -> Result<Swapped, StoreError> {
        self.perform("swap_state", |table| {
            Ok(table.swap_state(conversation, expected, state))
        })
        .await
    }

    async fn release(
        &self,
        conversation: &ConversationId,
        release: &Release,
    ) -> Result<Written, StoreError> {
        self.perform("release", |table| Ok(table.release(conversation, release)))
            .await
    }

    async fn close(
        &self,
        conversation: &ConversationId,
        expected: u64,
        closure: &Closure,
        _now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.perform("close", |table| {
            fits("close", closure.events.len() + 1)?;
            Ok(table.close(conversation, expected, closure))
        })
        .await
    }

    async fn delete_late(
        &self,
        conversation: &ConversationId,
        events: &[MessageId],
    ) -> Result<Written, StoreError> {
        self.perform("delete_late", |table| {
            fits("delete_late", events.len() + 1)?;
            Ok(table.delete_late(conversation, events))
        })
        .await
    }

    async fn load(&self, conversation: &ConversationId) -> Result<Memory, StoreError> {
        self.perform("load", |table| table.load(conversation)).await
    }

    async fn commit(
        &self,
        conversation: &ConversationId,
        commit: &Commit,
    ) -> Result<Written, StoreError> {
        self.perform("commit", |table| {
            fits("commit", commit.answered.len() + commit.calls.len() + 2)?;
            Ok(table.commit(conversation, commit))
        })
        .await
    }

    async fn calls(&self, of: &ConversationId, reply: ReplyId) -> Result<Vec<Call>, StoreError> {
        self.perform("calls", |table| Ok(table.calls(of, reply)))
            .await
    }

    async fn store_calls(
        &self,
        of: &ConversationId,
        new: &NewCalls,
    ) -> Result<Written, StoreError> {
        self.perform("store_calls", |table| Ok(table.store_calls(of, new)))
            .await
    }

    async fn store_result(
        &self,
        of: &ConversationId,
        place: (ReplyId, u16),
        result: &ToolResult,
    ) -> Result<Written, StoreError> {
        self.perform("store_result", |table| {
            Ok(table.store_result(of, place, result))
        })
        .await
    }

    async fn mark_sending(
        &self,
        conversation: &ConversationId,
        reply: &Reply,
        token: RunId,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.perform("mark_sending", |table| {
            Ok(table.mark_sending(conversation, reply, token, now))
        })
        .await
    }

    async fn settle(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.perform("settle", |table| {
            Ok(table.settle(conversation, reply, token, settlement, now))
        })
        .await
    }

    async fn note_status(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        status: &DeliveryStatus,
        now: Timestamp,
    ) -> Result<Noted, StoreError> {
        self.perform("note_status", |table| {
            Ok(table.note_status(conversation, reply, status, now))
        })
        .await
    }

    async fn fold(
        &self,
        conversation: &ConversationId,
        fold: &Fold,
        _now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.perform("fold", |table| table.fold(conversation, fold))
            .await
    }

    async fn unrest(&self, before: Timestamp, limit: usize) -> Result<Vec<Unrest>, StoreError> {
        self.perform("unrest", |table| Ok(table.unrest(before, limit)))
            .await
    }

    async fn begin_erasure(&self, erasure: &Erasure, expected: u64) -> Result<Written, StoreError> {
        self.perform("begin_erasure", |table| {
            Ok(table.begin_erasure(erasure, expected))
        })
        .await
    }

    async fn erasure(
        &self,
        _agent: &AgentId,
        conversation: &ConversationId,
    ) -> Result<Option<Erasure>, StoreError> {
        self.perform("erasure", |table| {
            if table.job_is_damaged(conversation) {
                return Err(StoreError::Undecodable {
                    item: "job",
                    reason: "it is damaged".to_owned(),
                });
            }
            Ok(table.erasure(conversation))
        })
        .await
    }

    async fn erase(&self, erasure: &Erasure) -> Result<u64, StoreError> {
        self.perform("erase", |table| Ok(table.erase(erasure)))
            .await
    }

    async fn end_erasure(&self, erasure: &Erasure) -> Result<(), StoreError> {
        self.perform("end_erasure", |table| {
            table.end_erasure(erasure);
            Ok(())
        })
        .await
    }
}
