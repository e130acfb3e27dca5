//! The steps of a conversation's story, as the journal tells it: ids, times and numbers, never words.

use std::time::Duration;

use super::breaker::Chosen;
use super::charge::{Counters, SpendLimit};
use super::event::ClosedReason;
use super::ids::{MessageId, ReplyId, ToolName};
use super::prompt::Usage;
use super::reply::ReplyKind;
use super::routing::Routed;
use super::time::Timestamp;
use super::tool::Effect;
use crate::error::ModelErrorClass;

/// Why a tick is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HoldReason {
    /// The person may still be writing.
    Window,
    /// Another run holds the lease.
    Leased,
    /// A failed run backs off.
    Backoff,
    /// The claim was lost several times in a row.
    Contended,
    /// A send was refused for now.
    SendLater,
    /// This invocation has too little time left for a run.
    ShortOfTime,
    /// An item of a newer version of the program.
    FutureVersion,
}

/// What a model call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To answer.
    Answer,
    /// To write summary and facts.
    Compaction,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A message was stored (`fresh`) or was there already.
    Received {
        /// Its id.
        event: MessageId,
        /// Whether it is new.
        fresh: bool,
    },
    /// The tick waits.
    Held {
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: HoldReason,
    },
    /// A run began.
    Claimed {
        /// The reply it will write.
        reply: ReplyId,
        /// The messages it answers.
        batch: Vec<MessageId>,
    },
    /// The model that a run begins with was chosen between the main and the light one.
    Routed {
        /// Which, as configured.
        model: String,
        /// Why.
        routed: Routed,
    },
    /// A model answered.
    ModelCalled {
        /// Which, as the provider names it.
        model: String,
        /// What for.
        purpose: Purpose,
        /// Why this one was asked.
        why: Chosen,
        /// What it cost.
        usage: Usage,
        /// How long it took.
        took: Duration,
    },
    /// A model call failed.
    ModelFailed {
        /// Which, as configured.
        model: String,
        /// What for.
        purpose: Purpose,
        /// How.
        class: ModelErrorClass,
        /// Status and provider code.
        reason: String,
    },
    /// A model is left out from now on, and the fallback answers: told once in an incident.
    ModelIncident {
        /// Which, as configured.
        model: String,
        /// How it failed.
        class: ModelErrorClass,
        /// Since when.
        since: Timestamp,
    },
    /// A model that was left out answers again.
    ModelRecovered {
        /// Which, as configured.
        model: String,
        /// Since when it was left out.
        since: Timestamp,
    },
    /// A call was made or refused, or what came of it is known from an earlier run.
    ToolCalled {
        /// The reply it is made for.
        reply: ReplyId,
        /// Which tool.
        tool: ToolName,
        /// What it does.
        effect: Effect,
        /// What came of it: `ok`, `error`, `unknown`; `preview` where it waits for the person's yes; `kept` where a dropped run
        /// has just read the same; `refused` where it was not made, for the model asked for it wrongly.
        outcome: &'static str,
        /// How long it took.
        took: Duration,
    },
    /// The run was dropped: a newer message belongs to the same thought.
    Superseded {
        /// The reply that was not written.
        reply: ReplyId,
    },
    /// The answer is committed.
    Committed {
        /// The reply.
        reply: ReplyId,
        /// Why it was written.
        kind: ReplyKind,
        /// The messages it answers.
        answered: Vec<MessageId>,
    },
    /// A day's spending limit is reached: the person is told so, and no model is asked.
    LimitReached {
        /// The reply that says so.
        reply: ReplyId,
        /// Whose limit.
        limit: SpendLimit,
        /// Until when further messages are closed without another word.
        until: Timestamp,
    },
    /// What a run or a compaction has cost is in the ledger.
    Booked {
        /// The reply that the run was to write; absent for a compaction.
        reply: Option<ReplyId>,
        /// All of it.
        total: Counters,
    },
    /// A human has the conversation from here on.
    HandedOff {
        /// The reply that says so.
        reply: ReplyId,
        /// Until when the agent keeps quiet, unless it is given back before.
        until: Timestamp,
    },
    /// An operator has taken the conversation over.
    Paused {
        /// Until when the agent keeps quiet, unless it is given back before.
        until: Timestamp,
    },
    /// The conversation is the agent's again, by an operator's word.
    Resumed,
    /// The commit was refused: the run no longer held the conversation.
    Fenced {
        /// The reply that was not written.
        reply: ReplyId,
    },
    /// The provider has the reply.
    Sent {
        /// Which.
        reply: ReplyId,
    },
    /// The provider refused the reply.
    SendRefused {
        /// Which.
        reply: ReplyId,
        /// The provider's code, or our word.
        code: String,
        /// Whether it is tried again.
        again: bool,
    },
    /// No one knows whether the provider has the reply.
    SendUnknown {
        /// Which.
        reply: ReplyId,
    },
    /// Messages were closed without an answer.
    Closed {
        /// How many.
        events: usize,
        /// Why.
        reason: ClosedReason,
    },
    /// Old turns became memory.
    Compacted {
        /// Live messages that went.
        items: usize,
        /// Facts written.
        facts: usize,
    },
    /// A compaction's outcome was not good enough; nothing changed.
    CompactionRefused {
        /// Why, in a few words.
        reason: &'static str,
    },
    /// Everything about the person is gone.
    Forgotten {
        /// Items deleted.
        items: u64,
    },
}
