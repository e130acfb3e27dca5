//! What a provider told us: messages of people and statuses of our replies.

use serde::{Deserialize, Serialize};

use super::ids::{Address, Alias, BusinessNumber, Kind, MessageId, ReplyId};
use super::time::Timestamp;

/// What a message holds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Words, at most 32 KB (longer ones were cut, with a mark).
    Text(String),
    /// A kind that is kept but not answered yet.
    Unsupported(Kind),
}

impl std::fmt::Debug for Content {
    /// Never the words themselves.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Unsupported(kind) => write!(f, "Unsupported({kind})"),
        }
    }
}

/// A message as it arrived, before it is known whose memory it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// The provider's id: what makes a repeated delivery a repeat.
    pub id: MessageId,
    /// Every id this event gives for the person, phones canonical; at least one.
    pub aliases: Vec<Alias>,
    /// Where the answer goes.
    pub reply_to: Address,
    /// The business number that carried it.
    pub number: BusinessNumber,
    /// When the provider says it was sent; clamped to the arrival.
    pub sent_at: Timestamp,
    /// When it reached us.
    pub arrived_at: Timestamp,
    /// What it holds.
    pub content: Content,
}

/// A message as stored under its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The provider's id.
    pub id: MessageId,
    /// Where the answer goes.
    pub reply_to: Address,
    /// The business number that carried it, kept for audit and for the way back.
    pub number: BusinessNumber,
    /// When it was sent, by the provider's clock; orders messages inside a batch.
    pub sent_at: Timestamp,
    /// When it reached us; breaks ties, for providers count in seconds.
    pub arrived_at: Timestamp,
    /// What it holds.
    pub content: Content,
    /// Set where the event is stored already closed (a kind that is not answered).
    pub closed: Option<ClosedReason>,
}

impl Event {
    /// The key that orders messages inside a batch.
    pub fn order(&self) -> (Timestamp, Timestamp, &MessageId) {
        (self.sent_at, self.arrived_at, &self.id)
    }

    /// The words, where it has any.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Unsupported(_) => None,
        }
    }
}

/// Why a message will never be answered. Stored on the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedReason {
    /// Its kind has no words yet.
    KindNotAnswered,
    /// It came before the person's STOP and was not answered by then.
    OptedOut,
    /// A human has taken over.
    Paused,
    /// No run could begin on it for a day, and WhatsApp lets nothing be said freely after that.
    Expired,
    /// A spending limit is reached for today, and the person was told so.
    SpendLimit,
}

impl ClosedReason {
    /// The word stored on the event and shown to the operator.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KindNotAnswered => "kind_not_answered",
            Self::OptedOut => "opted_out",
            Self::Paused => "paused",
            Self::Expired => "expired",
            Self::SpendLimit => "spend_limit",
        }
    }
}

/// What a provider says about a reply of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// Accepted, delivered or read: in every case it was sent. `id` is the provider's message id.
    Sent,
    /// It will not arrive; the provider's error code.
    Failed(String),
}

/// A status webhook that names a reply of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusUpdate {
    /// The reply, from the data the provider hands back.
    pub reply: ReplyId,
    /// Every id it gives for the person, phones canonical; at least one.
    pub aliases: Vec<Alias>,
    /// The business number that sent it.
    pub number: BusinessNumber,
    /// The provider's id of the sent message.
    pub message: MessageId,
    /// What happened.
    pub status: DeliveryStatus,
}

/// One thing a provider told us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderEvent {
    /// A person wrote.
    Message(Inbound),
    /// A reply of ours moved on.
    Status(StatusUpdate),
}
