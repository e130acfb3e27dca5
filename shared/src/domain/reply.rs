//! What we say, and where it stands between the commit and the person.

use serde::{Deserialize, Serialize};

use super::charge::Counters;
use super::ids::{Address, BusinessNumber, ReplyId, RunId};
use super::time::Timestamp;

/// Why a reply was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyKind {
    /// The model's answer to a batch.
    Answer,
    /// The one confirmation of a STOP: the only reply that is sent to someone who opted out.
    OptOut,
    /// The honest line after giving up.
    Apology,
    /// The honest line once a day's spending limit is reached.
    OverLimit,
}

/// Where a reply stands. `Ready` and `Sending` are not at rest: the sweeper looks after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    /// Committed, not sent.
    Ready,
    /// Someone holds the right to send it.
    Sending,
    /// The provider has it.
    Sent,
    /// The provider refused it for good, or it was withheld.
    Failed,
    /// The provider may or may not have it; a status webhook, a look-up or the operator will tell.
    Unknown,
}

impl ReplyStatus {
    /// Whether nothing more is to be done for it.
    pub const fn is_at_rest(self) -> bool {
        matches!(self, Self::Sent | Self::Failed | Self::Unknown)
    }

    /// The word stored in the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// A committed reply.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    /// Chosen at the claim; orders the turns.
    pub id: ReplyId,
    /// Why it was written.
    pub kind: ReplyKind,
    /// The words.
    pub text: String,
    /// The business number it leaves by: that of the newest message it answers.
    pub number: BusinessNumber,
    /// Where it goes: that of the newest message it answers.
    pub to: Address,
    /// Where it stands.
    pub status: ReplyStatus,
    /// Who holds the right to send it; every move out of `Sending` tests it.
    pub token: Option<RunId>,
    /// How often a send was refused for now.
    pub refusals: u32,
    /// When the first of the passing refusals came that have been going on since; absent where the last thing that kept it
    /// waiting was none of the provider's (no connection, or what an operator had to mend).
    pub refused_since: Option<Timestamp>,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// What the run that wrote it has cost; absent where no model was asked.
    pub cost: Option<Counters>,
}

impl std::fmt::Debug for Reply {
    /// Never the words themselves.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reply({}, {:?}, {:?})", self.id, self.kind, self.status)
    }
}

/// How a move out of `Sending` (or `Unknown`) ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// The provider has it, under this id.
    Sent {
        /// The provider's id of the message, where known.
        provider_id: Option<String>,
    },
    /// Refused for good, or withheld; why, in the provider's code or our word.
    Failed {
        /// Code or word, never text.
        code: String,
    },
    /// No one knows.
    Unknown,
    /// Surely not sent: it may be sent again.
    Ready {
        /// Since when the provider has been refusing it for now; see [`Reply::refused_since`].
        refused_since: Option<Timestamp>,
    },
}

impl Settlement {
    /// The status it leads to.
    pub const fn status(&self) -> ReplyStatus {
        match self {
            Self::Sent { .. } => ReplyStatus::Sent,
            Self::Failed { .. } => ReplyStatus::Failed,
            Self::Unknown => ReplyStatus::Unknown,
            Self::Ready { .. } => ReplyStatus::Ready,
        }
    }
}
