//! The pending messages answered together: one user turn of the prompt.

use super::event::{ClosedReason, Event};
use super::ids::{MessageId, ReplyId};

/// Pending messages in order, at most [`Batch::MAX`] of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch(Vec<Event>);

impl Batch {
    /// A commit is one transaction of at most 100 items; this leaves room for reply, state and calls.
    pub const MAX: usize = 80;

    /// The first [`Batch::MAX`] of `pending`, in the order they were sent.
    pub fn from_pending(mut pending: Vec<Event>) -> Self {
        pending.sort_by(|a, b| a.order().cmp(&b.order()));
        pending.truncate(Self::MAX);
        Self(pending)
    }

    /// The messages, oldest first.
    pub fn events(&self) -> &[Event] {
        &self.0
    }

    /// The ids, oldest first.
    pub fn ids(&self) -> Vec<MessageId> {
        self.0.iter().map(|event| event.id.clone()).collect()
    }

    /// Whether there is nothing to answer.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `id` is one of its messages.
    pub fn holds(&self, id: &MessageId) -> bool {
        self.0.iter().any(|event| event.id == *id)
    }
}

/// Messages to be closed without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closure {
    /// Which.
    pub events: Vec<MessageId>,
    /// Why.
    pub reason: ClosedReason,
    /// The sealed turn that ends with it.
    pub ends: Option<EndedTurn>,
}

/// A turn that tools were called for and that nobody will answer: it becomes history as it is, so that a later turn knows
/// what was done and does not do it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedTurn {
    /// The reply it would have had.
    pub reply: ReplyId,
    /// Its messages among those that are closed, in order.
    pub messages: Vec<MessageId>,
    /// The numbers of its calls. One that still runs is of unknown outcome.
    pub calls: Vec<u16>,
}
