//! Every IO the system can do, on one page. Adapters implement these; `flow` is written against them.

mod agenda;
mod breakers;
mod ledger;
mod run;
mod written;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::batch::Closure;
pub use crate::domain::identity::{Ended, Known};
use crate::domain::memory::Fold;
use crate::domain::reply::Settlement;
pub use crate::domain::tool::NewCalls;
use crate::domain::{
    Address, Agent, AgentId, Alias, BusinessNumber, Call, ContactId, ConversationId,
    DeliveryStatus, Event, Memory, MessageId, ModelReply, Prompt, Reply, ReplyId, RunId, State,
    Step, Timestamp, Tool, ToolCall, ToolResult,
};
use crate::error::{ModelError, SendError, StoreError, TicksError};
pub use agenda::Agenda;
pub use breakers::Breakers;
pub use ledger::Ledger;
pub use run::{Commit, Release};
pub use written::{Appended, Noted, Swapped, Written};

/// The table. Every method is one request or one transaction, unless its page says otherwise.
/// An error means that the outcome is unknown: the caller looks again before it concludes anything.
#[async_trait]
pub trait Store: Send + Sync {
    // Identity: see `policy::identity` for what is concluded from these.

    /// What each alias names and which lives ended under it, in ONE snapshot of all of them.
    async fn resolve(&self, agent: &AgentId, aliases: &[Alias]) -> Result<Vec<Known>, StoreError>;
    /// Creates a contact: its state and its aliases, unless someone else did or its life has ended.
    async fn create_contact(&self, creation: &Creation) -> Result<Written, StoreError>;
    /// Adds an alias to a contact whose state exists, and to the list in that state; raises its version. `Lost` too where
    /// the list is full ([`State::ALIASES_MAX`]).
    async fn add_alias(&self, addition: &AliasAddition) -> Result<Written, StoreError>;

    /// Notes in a contact's state that one of its aliases came together with one of `other`, for whoever forgets it;
    /// raises its version. `Lost` where that is noted, the list is full ([`State::MET_MAX`]) or the state gone.
    async fn note_meeting(
        &self,
        conversation: &ConversationId,
        other: &ContactId,
    ) -> Result<Written, StoreError>;

    // Messages in.

    /// Stores an event unless its id is there already. One that is stored closed needs a living person besides: no
    /// tick will look at it, so nobody would delete it after an erasure (then it is `AtRest`: nothing to do).
    async fn append(
        &self,
        conversation: &ConversationId,
        event: &Event,
    ) -> Result<Appended, StoreError>;

    // A run.

    /// State, outbox and at most `pending_max` pending messages; consistent, oldest first.
    async fn peek(
        &self,
        conversation: &ConversationId,
        pending_max: usize,
    ) -> Result<Peek, StoreError>;
    /// Replaces the state if it is still at `expected` version. `Lost` holds what is there instead.
    async fn swap_state(
        &self,
        conversation: &ConversationId,
        expected: u64,
        state: &State,
    ) -> Result<Swapped, StoreError>;
    /// Ends a run without a commit. `Lost` where the lease is no longer this run's.
    async fn release(
        &self,
        conversation: &ConversationId,
        release: &Release,
    ) -> Result<Written, StoreError>;
    /// ONE transaction: pending messages are closed if the state is still at `expected` version, which is raised, and so is
    /// the epoch: no run that is still about may act or answer any more. What was counted against them (attempts, panics)
    /// is counted against nothing else. A turn that ends with them becomes history, and its seal is opened. `Lost` where
    /// one of the messages no longer waits, or a call is not there.
    async fn close(
        &self,
        conversation: &ConversationId,
        expected: u64,
        closure: &Closure,
        now: Timestamp,
    ) -> Result<Written, StoreError>;
    /// Deletes late messages of an erased person, if the conversation still has no state.
    async fn delete_late(
        &self,
        conversation: &ConversationId,
        events: &[MessageId],
    ) -> Result<Written, StoreError>;
    /// The three layers of memory; consistent. May take several requests.
    async fn load(&self, conversation: &ConversationId) -> Result<Memory, StoreError>;
    /// ONE transaction: the events are answered by the reply, the reply is `ready`, the state moves on.
    /// `Lost` means fenced: another epoch, an event no longer pending, an opt-out or a pause.
    async fn commit(
        &self,
        conversation: &ConversationId,
        commit: &Commit,
    ) -> Result<Written, StoreError>;

    // Tool calls: no history until the reply commits.

    /// What runs under this reply have called so far, in order; consistent.
    async fn calls(&self, of: &ConversationId, reply: ReplyId) -> Result<Vec<Call>, StoreError>;
    /// ONE transaction: new calls, with the first write the seal, and the version raised. `Lost` means fenced, as for a
    /// commit.
    async fn store_calls(&self, of: &ConversationId, new: &NewCalls)
    -> Result<Written, StoreError>;
    /// Notes what came of a call that is there and has no result yet: the first one told stays.
    async fn store_result(
        &self,
        of: &ConversationId,
        (reply, n): (ReplyId, u16),
        result: &ToolResult,
    ) -> Result<Written, StoreError>;

    // The outbox.

    /// Takes the right to send: from `ready` (or from `sending` under this very token) to `sending`.
    async fn mark_sending(
        &self,
        conversation: &ConversationId,
        reply: &Reply,
        token: RunId,
        now: Timestamp,
    ) -> Result<Written, StoreError>;
    /// Moves a reply on, if its token is still `token` and it is in one of the states that allow it:
    /// `sending` to anything, `unknown` to `sent` or `ready`, `ready` (token absent) to `failed`.
    async fn settle(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Result<Written, StoreError>;
    /// Notes what the provider's webhook says of a reply that exists.
    async fn note_status(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        status: &DeliveryStatus,
        now: Timestamp,
    ) -> Result<Noted, StoreError>;

    // Compaction.

    /// Writes one compaction, if the summary is still the one it was computed from and the person lives.
    async fn fold(
        &self,
        conversation: &ConversationId,
        fold: &Fold,
        now: Timestamp,
    ) -> Result<Written, StoreError>;

    // The sweeper.

    /// What is not at rest since before `before`, at most `limit`; eventually consistent, several requests.
    async fn unrest(&self, before: Timestamp, limit: usize) -> Result<Vec<Unrest>, StoreError>;

    // Forgetting: in this order, each step repeatable.

    /// ONE transaction, if the state is at `expected` version: tombstones for all aliases, the erasure
    /// job, the state deleted. The ended life is noted under the alias its contact id was made of too, where that is no
    /// longer one of its own: only the life, so that the alias's new owner loses no message.
    async fn begin_erasure(&self, erasure: &Erasure, expected: u64) -> Result<Written, StoreError>;
    /// An erasure that was begun and not ended.
    async fn erasure(
        &self,
        agent: &AgentId,
        conversation: &ConversationId,
    ) -> Result<Option<Erasure>, StoreError>;
    /// Deletes the aliases that still name the ended life, then whatever is left under the
    /// conversation's key. Gives how many items went; call it again until it gives zero.
    async fn erase(&self, erasure: &Erasure) -> Result<u64, StoreError>;
    /// Deletes the job: the erasure is done.
    async fn end_erasure(&self, erasure: &Erasure) -> Result<(), StoreError>;
}

/// A contact to create.
#[derive(Debug, Clone, PartialEq)]
pub struct Creation {
    /// Its conversation, of a contact id that no life has used.
    pub conversation: ConversationId,
    /// Its state, with the aliases to write in its list.
    pub state: State,
    /// When the first event was sent: every tombstone must be older.
    pub event_sent_at: Timestamp,
    /// The aliases that still name an ended life, with that life: they are replaced only if they still do.
    pub stale: Vec<(Alias, ContactId)>,
}

/// An alias to add to a contact.
#[derive(Debug, Clone, PartialEq)]
pub struct AliasAddition {
    /// The contact's conversation.
    pub conversation: ConversationId,
    /// The new alias.
    pub alias: Alias,
    /// An ended life that the alias still names.
    pub stale: Option<ContactId>,
    /// When the event that ties them was sent: the alias's tombstone must be older.
    pub event_sent_at: Timestamp,
}

/// The front of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Peek {
    /// Its state; absent after a `forget`.
    pub state: Option<State>,
    /// Replies not at rest, oldest first.
    pub outbox: Vec<Reply>,
    /// Pending messages in the order they were sent.
    pub pending: Vec<Event>,
}

/// A conversation with something not at rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrest {
    /// Which.
    pub conversation: ConversationId,
    /// Since when.
    pub since: Timestamp,
    /// Whether it is a crashed erasure that waits, not a message or a reply.
    pub erasure: bool,
}

/// A `forget`, from its first transaction to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The life that ends.
    pub conversation: ConversationId,
    /// Its aliases, from the state that was deleted.
    pub aliases: Vec<Alias>,
    /// When.
    pub forgotten_at: Timestamp,
}

/// The queues. A tick says only "look at this conversation".
#[async_trait]
pub trait Ticks: Send + Sync {
    /// Sends a tick; a `dedup` key sent within five minutes before is swallowed by the queue.
    async fn tick(&self, conversation: &ConversationId, dedup: &str) -> Result<(), TicksError>;
    /// Keeps the received tick invisible for `seconds` from now, 0 to 43,200.
    async fn hold(&self, receipt: &Receipt, seconds: u32) -> Result<(), TicksError>;
    /// Asks for a compaction of this conversation.
    async fn compact(&self, conversation: &ConversationId) -> Result<(), TicksError>;
}

/// What the queue gave with a received tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub String);

/// The language models.
#[async_trait]
pub trait Model: Send + Sync {
    /// One call to `model`, given up after `timeout`. Yields words that are never blank, or calls.
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError>;
}

/// What a model may call.
#[async_trait]
pub trait Tools: Send + Sync {
    /// The tools of an agent, in the order its models are told of them; the same for all its people.
    async fn declared(&self, agent: &Agent) -> Vec<Tool>;
    /// Makes a call, given up after `timeout`. Of two calls with one `key` an idempotent tool makes one effect.
    async fn run(
        &self,
        of: &ConversationId,
        call: &ToolCall,
        key: &str,
        timeout: Duration,
    ) -> ToolResult;
}

/// The way back to the person.
#[async_trait]
pub trait Messenger: Send + Sync {
    /// Sends one text. Yields the provider's id of the message.
    async fn send(&self, outgoing: &Outgoing) -> Result<String, SendError>;
    /// Whether the provider has `reply`, where it can be asked.
    async fn look_up(&self, reply: ReplyId) -> LookUp;
}

/// A text to send.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The business number it leaves by.
    pub number: BusinessNumber,
    /// Where it goes.
    pub to: Address,
    /// The reply it belongs to; handed to the provider, which names it in its status webhooks.
    pub reply: ReplyId,
    /// The words.
    pub text: String,
}

/// What the provider says when asked for a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUp {
    /// It has it, under this id.
    Sent(String),
    /// It never got it.
    NotReceived,
    /// It cannot be asked, or did not answer.
    CannotTell,
}

/// Time.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The moment.
    fn now(&self) -> Timestamp;
    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// Chance.
pub trait Chance: Send + Sync {
    /// 128 random bits, for ids.
    fn bits(&self) -> u128;
    /// A number in `0.0..1.0`, for jitter.
    fn fraction(&self) -> f64;
}

/// The agents of this installation.
#[async_trait]
pub trait Agents: Send + Sync {
    /// The agent that answers on a business number.
    async fn by_number(&self, number: &BusinessNumber) -> Option<Arc<Agent>>;
    /// The agent of this id.
    async fn by_id(&self, id: &AgentId) -> Option<Arc<Agent>>;
}

/// Where the story of each conversation is told: the log on AWS, the page of a local run, a test's trace.
pub trait Journal: Send + Sync {
    /// Notes one step. Must not block.
    fn note(&self, conversation: &ConversationId, step: &Step);
}
