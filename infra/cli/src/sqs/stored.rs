//! A message inside a queue: when it came, who holds it, how often it was given out.

use super::message::Draft;

/// Longest time one receive may hold a message, extensions included.
pub(super) const HOLD_S_MAX: u32 = 43_200;

/// A message in a queue.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub id: String,
    pub draft: Draft,
    pub deduplication: Option<String>,
    pub sent_at: u64,
    pub delay_ms: u64,
    pub hold: Option<Hold>,
    pub receives: u32,
    first_received_at: Option<u64>,
    dead_letter_source: Option<String>,
}

/// A receive that has the message, until its visibility timeout passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub since: u64,
    pub until: u64,
}

/// One message as a receive hands it out.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The message id.
    pub id: String,
    /// What deletes it, or changes its visibility, while this receive holds it.
    pub receipt: String,
    /// The message itself.
    pub draft: Draft,
    /// The deduplication id, given or computed (FIFO only).
    pub deduplication: Option<String>,
    /// The place in the queue's order.
    pub sequence: u64,
    /// When it was sent, in ms.
    pub sent_at: u64,
    /// When it was first received, in ms.
    pub first_received_at: u64,
    /// How often it has been received, this time included.
    pub receives: u32,
    /// The queue it was a dead letter of.
    pub dead_letter_source: Option<String>,
}

impl Stored {
    /// A message just sent.
    pub fn new(
        id: String,
        draft: Draft,
        deduplication: Option<String>,
        delay_ms: u64,
        now: u64,
    ) -> Self {
        Self {
            id,
            draft,
            deduplication,
            sent_at: now,
            delay_ms,
            hold: None,
            receives: 0,
            first_received_at: None,
            dead_letter_source: None,
        }
    }

    /// Whether a receive holds it now.
    pub fn is_held(&self, now: u64) -> bool {
        self.hold.is_some_and(|hold| hold.until > now)
    }

    /// Gives it to a receive; the number of that receive makes its receipt.
    pub fn hold_for(&mut self, visibility_s: u32, now: u64) -> u32 {
        self.hold = Some(Hold {
            since: now,
            until: now + u64::from(visibility_s) * 1000,
        });
        self.first_received_at.get_or_insert(now);
        self.receives += 1;
        self.receives
    }

    /// What the receive that holds it is told.
    pub fn delivery(&self, sequence: u64, receipt: String) -> Delivery {
        Delivery {
            id: self.id.clone(),
            receipt,
            draft: self.draft.clone(),
            deduplication: self.deduplication.clone(),
            sequence,
            sent_at: self.sent_at,
            first_received_at: self.first_received_at.unwrap_or(self.sent_at),
            receives: self.receives,
            dead_letter_source: self.dead_letter_source.clone(),
        }
    }

    /// The same as a dead letter of the named queue: visible at once, its count of receives kept.
    pub fn into_dead_letter(mut self, source: &str, sent_at: u64) -> Self {
        self.hold = None;
        self.delay_ms = 0;
        self.sent_at = sent_at;
        self.dead_letter_source = Some(source.to_owned());
        self
    }

    /// The queue this is a dead letter of.
    pub fn origin(&self) -> Option<&str> {
        self.dead_letter_source.as_deref()
    }
}

/// A message id in the form of a UUID, from the message's place: two places never share one, and no randomness is needed.
pub(super) fn message_id(queue: &str, generation: u64, sequence: u64) -> String {
    let digits = hex::encode(md5::compute(format!("{queue}/{generation}/{sequence}")).0);
    [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ]
    .join("-")
}
