//! The table on DynamoDB: the port `Store` with every condition the protocol rests on.
//!
//! A read is never trusted: whatever a run concluded from it is tested again where it is written. `keys` builds and
//! takes apart keys, `items` the stored forms, `request` sends; the other files follow the port's sections.

mod agenda;
mod breakers;
mod calls;
mod close;
mod erase;
mod fault;
mod fields;
mod identity;
mod items;
mod key_check;
mod keys;
mod ledger;
mod live;
mod memory;
mod outbox;
mod request;
mod run;
pub mod schema;
mod state;
mod sweep;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;

use crate::domain::batch::Closure;
use crate::domain::memory::Fold;
use crate::domain::reply::Settlement;
use crate::domain::{
    AgentId, Alias, Call, ContactId, ConversationId, DeliveryStatus, Event, Hasher, Memory,
    MessageId, Reply, ReplyId, RunId, State, Timestamp, ToolResult,
};
use crate::error::StoreError;
use crate::ports::{
    AliasAddition, Appended, Commit, Creation, Erasure, Known, NewCalls, Noted, Peek, Release,
    Store, Swapped, Unrest, Written,
};

/// The table.
pub struct DynamoStore {
    client: Client,
    table: String,
    hasher: Arc<Hasher>,
}

impl DynamoStore {
    /// The table of this name; `hasher` names people in tombstones and logs.
    pub fn new(client: Client, table: impl Into<String>, hasher: Arc<Hasher>) -> Self {
        Self {
            client,
            table: table.into(),
            hasher,
        }
    }
}

impl fmt::Debug for DynamoStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamoStore({})", self.table)
    }
}

#[async_trait]
impl Store for DynamoStore {
    async fn resolve(&self, agent: &AgentId, aliases: &[Alias]) -> Result<Vec<Known>, StoreError> {
        self.resolve_aliases(agent, aliases).await
    }

    async fn create_contact(&self, creation: &Creation) -> Result<Written, StoreError> {
        self.create(creation).await
    }

    async fn add_alias(&self, addition: &AliasAddition) -> Result<Written, StoreError> {
        self.extend(addition).await
    }

    async fn note_meeting(
        &self,
        conversation: &ConversationId,
        other: &ContactId,
    ) -> Result<Written, StoreError> {
        self.meet(conversation, other).await
    }

    async fn append(
        &self,
        conversation: &ConversationId,
        event: &Event,
    ) -> Result<Appended, StoreError> {
        self.append_event(conversation, event).await
    }

    async fn peek(
        &self,
        conversation: &ConversationId,
        pending_max: usize,
    ) -> Result<Peek, StoreError> {
        self.read_front(conversation, pending_max).await
    }

    async fn swap_state(
        &self,
        conversation: &ConversationId,
        expected: u64,
        state: &State,
    ) -> Result<Swapped, StoreError> {
        self.swap(conversation, expected, state).await
    }

    async fn release(
        &self,
        conversation: &ConversationId,
        release: &Release,
    ) -> Result<Written, StoreError> {
        self.end_run(conversation, release).await
    }

    async fn close(
        &self,
        conversation: &ConversationId,
        expected: u64,
        closure: &Closure,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.close_events(conversation, expected, closure, now)
            .await
    }

    async fn delete_late(
        &self,
        conversation: &ConversationId,
        events: &[MessageId],
    ) -> Result<Written, StoreError> {
        self.delete_late_events(conversation, events).await
    }

    async fn load(&self, conversation: &ConversationId) -> Result<Memory, StoreError> {
        self.read_memory(conversation).await
    }

    async fn commit(
        &self,
        conversation: &ConversationId,
        commit: &Commit,
    ) -> Result<Written, StoreError> {
        self.commit_reply(conversation, commit).await
    }

    async fn calls(&self, of: &ConversationId, reply: ReplyId) -> Result<Vec<Call>, StoreError> {
        self.read_calls(of, reply).await
    }

    async fn store_calls(
        &self,
        of: &ConversationId,
        new: &NewCalls,
    ) -> Result<Written, StoreError> {
        self.write_calls(of, new).await
    }

    async fn store_result(
        &self,
        of: &ConversationId,
        place: (ReplyId, u16),
        result: &ToolResult,
    ) -> Result<Written, StoreError> {
        self.write_result(of, place, result).await
    }

    async fn mark_sending(
        &self,
        conversation: &ConversationId,
        reply: &Reply,
        token: RunId,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.take_to_send(conversation, reply, token, now).await
    }

    async fn settle(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.settle_reply(conversation, reply, token, settlement, now)
            .await
    }

    async fn note_status(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        status: &DeliveryStatus,
        now: Timestamp,
    ) -> Result<Noted, StoreError> {
        self.note_delivery(conversation, reply, status, now).await
    }

    async fn fold(
        &self,
        conversation: &ConversationId,
        fold: &Fold,
        _now: Timestamp,
    ) -> Result<Written, StoreError> {
        self.write_fold(conversation, fold).await
    }

    async fn unrest(&self, before: Timestamp, limit: usize) -> Result<Vec<Unrest>, StoreError> {
        self.read_unrest(before, limit).await
    }

    async fn begin_erasure(&self, erasure: &Erasure, expected: u64) -> Result<Written, StoreError> {
        self.begin(erasure, expected).await
    }

    async fn erasure(
        &self,
        _agent: &AgentId,
        conversation: &ConversationId,
    ) -> Result<Option<Erasure>, StoreError> {
        self.find_erasure(conversation).await
    }

    async fn erase(&self, erasure: &Erasure) -> Result<u64, StoreError> {
        self.erase_life(erasure).await
    }

    async fn end_erasure(&self, erasure: &Erasure) -> Result<(), StoreError> {
        self.end(erasure).await
    }
}
