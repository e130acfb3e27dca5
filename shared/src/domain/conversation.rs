//! The state of a conversation: who works on it, since when, and what the person decided.

use std::collections::BTreeMap;

use super::charge::{Session, Spent};
use super::ids::{Alias, ContactId, MessageId, ReplyId, RunId};
use super::time::Timestamp;

/// One run's right to work on the conversation until a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Whose.
    pub run: RunId,
    /// When it ends by itself.
    pub until: Timestamp,
}

/// A batch that a write call has been made for: a rerun answers exactly it, under the same reply id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The reply it will be answered by.
    pub reply: ReplyId,
    /// Its messages.
    pub events: Vec<MessageId>,
}

/// The person's STOP: nothing is sent until they write again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptOut {
    /// When the STOP was sent, by the provider's clock: what was sent until then is covered by it.
    pub sent_at: Timestamp,
}

/// Everything about a conversation that is not a message, a reply or a memory. Every write raises `version`.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Compare-and-set token: raised by every write.
    pub version: u64,
    /// Raised by every claim; a commit tests it, so a run that lost its lease cannot commit.
    pub epoch: u64,
    /// Who works on it now.
    pub lease: Option<Lease>,
    /// The batch a write call was made for.
    pub sealed: Option<Sealed>,
    /// Runs since the last success (holds are not runs).
    pub attempts: u32,
    /// When the first of those runs began: giving up is by time.
    pub first_attempt_at: Option<Timestamp>,
    /// No run before this moment (backoff).
    pub hold_until: Option<Timestamp>,
    /// Runs that ended in a panic since the last success.
    pub crashes: u32,
    /// Learnt tokens per estimated token, by model.
    pub token_factors: BTreeMap<String, f64>,
    /// Turns up to and including this one stay out of the prompt until the next compaction.
    pub cut_point: Option<ReplyId>,
    /// The newest committed reply: the next one's id is greater.
    pub last_reply: Option<ReplyId>,
    /// When the newest answered message was sent: "last wrote N days ago" counts from it.
    pub last_inbound_at: Option<Timestamp>,
    /// The person's STOP.
    pub opt_out: Option<OptOut>,
    /// A human has taken over until this moment.
    pub paused_until: Option<Timestamp>,
    /// When a human last took over: what the person wrote since may be an answer to that one.
    pub taken_over_at: Option<Timestamp>,
    /// What it has cost on its newest day with a cost; compactions are not in it.
    pub spent: Option<Spent>,
    /// The newest session.
    pub session: Option<Session>,
    /// A spending limit was reached, and the person told: until then messages are closed.
    pub limited_until: Option<Timestamp>,
    /// Every alias that names this contact: what `forget` has to delete.
    pub aliases: Vec<Alias>,
    /// Contacts of other memories that one of these aliases came together with in one message, at most [`State::MET_MAX`].
    pub met: Vec<ContactId>,
    /// When the contact was created.
    pub created_at: Timestamp,
}

impl State {
    /// A person has no more aliases: all of them are read, each with its tombstone, in one transaction of 100 items. One
    /// that comes after is not remembered.
    pub const ALIASES_MAX: usize = 50;

    /// Enough to name them all to an operator; who meets more is no person.
    pub const MET_MAX: usize = 10;

    /// The state of a contact that has just written for the first time.
    pub fn new(aliases: Vec<Alias>, created_at: Timestamp) -> Self {
        Self {
            version: 1,
            epoch: 0,
            lease: None,
            sealed: None,
            attempts: 0,
            first_attempt_at: None,
            hold_until: None,
            crashes: 0,
            token_factors: BTreeMap::new(),
            cut_point: None,
            last_reply: None,
            last_inbound_at: None,
            opt_out: None,
            paused_until: None,
            taken_over_at: None,
            spent: None,
            session: None,
            limited_until: None,
            aliases,
            met: Vec::new(),
            created_at,
        }
    }

    /// Whether a human holds the conversation at `now`.
    pub fn is_paused(&self, now: Timestamp) -> bool {
        self.paused_until.is_some_and(|until| until > now)
    }

    /// Whether messages are closed at `now`, for a spending limit is reached.
    pub fn is_limited(&self, now: Timestamp) -> bool {
        self.limited_until.is_some_and(|until| until > now)
    }
}
