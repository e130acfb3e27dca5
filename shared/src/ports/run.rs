//! How a run ends.

use crate::domain::{
    Call, MessageId, OptOut, Reply, ReplyId, RunId, Session, Spent, State, Timestamp,
};

/// How a run ends without a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Whose lease it was.
    pub run: RunId,
    /// Which claim.
    pub epoch: u64,
    /// Runs counted so far; zero starts anew.
    pub attempts: u32,
    /// When the first of them began.
    pub first_attempt_at: Option<Timestamp>,
    /// No run before this moment.
    pub hold_until: Option<Timestamp>,
    /// Panics counted so far.
    pub crashes: u32,
    /// What the conversation has cost on its newest day, this run included; absent leaves what is there.
    pub spent: Option<Spent>,
}

impl Release {
    /// Whether `state` is what this release leaves: an earlier try of it, whose answer was lost, was made.
    pub fn is_left_in(&self, state: &State) -> bool {
        state.epoch == self.epoch
            && state.lease.is_none()
            && state.attempts == self.attempts
            && state.first_attempt_at == self.first_attempt_at
            && state.hold_until == self.hold_until
            && state.crashes == self.crashes
            && (self.spent.is_none() || state.spent == self.spent)
    }
}

/// One commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// Whose lease it is.
    pub run: RunId,
    /// Which claim; another epoch in the table means fenced.
    pub epoch: u64,
    /// The reply, `ready`.
    pub reply: Reply,
    /// What it answers: the set, never a watermark.
    pub answered: Vec<MessageId>,
    /// All calls of its turn, each with its result: from here on they are history.
    pub calls: Vec<Call>,
    /// When the newest of them was sent.
    pub last_inbound_at: Timestamp,
    /// Turns up to here stay out of the prompt.
    pub cut_point: Option<ReplyId>,
    /// The factor learnt by this run, for its model.
    pub token_factor: Option<(String, f64)>,
    /// The STOP that this reply confirms.
    pub opt_out: Option<OptOut>,
    /// Until when a human has the conversation, where this reply hands it over.
    pub paused_until: Option<Timestamp>,
    /// What the conversation has cost on its newest day, this run so far included; absent leaves what is there.
    pub spent: Option<Spent>,
    /// The session this turn belongs to; absent where it is none of a session.
    pub session: Option<Session>,
    /// Until when messages are closed, where this reply says that a spending limit is reached.
    pub limited_until: Option<Timestamp>,
    /// The moment of the commit; a pause that is over by now does not fence.
    pub now: Timestamp,
}
