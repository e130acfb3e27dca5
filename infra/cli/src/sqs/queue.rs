//! One queue as a pure state machine: time is an argument in milliseconds, nothing waits and nothing reads a clock.
//!
//! Invariants of a FIFO queue: at any moment at most one receive holds messages of a group, and messages of a group are given
//! out in the order of their sequence numbers.

mod dead_letters;

use std::collections::{BTreeMap, HashSet};

use super::deduplication::{Memory, Sent};
use super::message::{Draft, ranged};
use super::receipt::Receipt;
use super::refusal::{Code, Refusal};
use super::rules::{check_size, check_standard, deduplication_id, expired};
use super::settings::Settings;
use super::stored::{Delivery, HOLD_S_MAX, Stored, message_id};

/// Sequence numbers have twenty digits, as SQS's have.
const SEQUENCE_BASE: u64 = 10_000_000_000_000_000_000;

/// A queue: its settings, its messages in order, and the deduplication ids it remembers.
#[derive(Debug)]
pub struct Queue {
    name: String,
    generation: u64,
    settings: Settings,
    created_at: u64,
    modified_at: u64,
    last_sequence: u64,
    messages: BTreeMap<u64, Stored>,
    memory: Memory,
}

/// How many messages are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Could be received, or wait behind their group.
    pub visible: usize,
    /// Held by a receive.
    pub in_flight: usize,
    /// Still in their delay.
    pub delayed: usize,
}

/// What a receive found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub deliveries: Vec<Delivery>,
    pub dead: Vec<Stored>,
}

impl Queue {
    /// An empty queue. The generation tells its receipts from those of a deleted queue of the same name.
    pub fn new(name: &str, settings: Settings, generation: u64, now: u64) -> Self {
        Self {
            name: name.to_owned(),
            generation,
            settings,
            created_at: now,
            modified_at: now,
            // Grows over restarts, too.
            last_sequence: SEQUENCE_BASE.saturating_add(now.saturating_mul(1000)),
            messages: BTreeMap::new(),
            memory: Memory::default(),
        }
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The settable attributes.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// When the queue was created and when its settings last changed, in ms.
    pub fn dates(&self) -> (u64, u64) {
        (self.created_at, self.modified_at)
    }

    /// Replaces the settings. A FIFO delay and a retention reach back to messages already here, as on AWS.
    pub(super) fn configure(&mut self, settings: Settings, now: u64) {
        self.settings = settings;
        self.modified_at = now;
    }

    /// Takes a message in, or answers what was answered when its deduplication id was first seen.
    pub fn send(&mut self, draft: Draft, now: u64) -> Result<Sent, Refusal> {
        self.forget_expired(now);
        check_size(&draft, self.settings.message_bytes_max)?;
        if !self.settings.fifo {
            check_standard(&draft)?;
            let delay_s = draft.delay_s().unwrap_or(self.settings.delay_s);
            return Ok(self.append(draft, None, u64::from(delay_s) * 1000, now));
        }
        let deduplication = deduplication_id(&draft, self.settings.content_deduplication)?;
        let group = draft.group().unwrap_or_default().to_owned();
        let key = Memory::key(self.settings.scope, &group, &deduplication);
        if let Some(sent) = self.memory.recall(&key, now) {
            return Ok(sent.clone());
        }
        let sent = self.append(draft, Some(deduplication), 0, now);
        self.memory.remember(key, sent.clone(), now);
        Ok(sent)
    }

    /// Gives out up to `limit` messages and holds them for `visibility_s`. With `receives_max`, a message received that often
    /// already is taken out as dead instead.
    pub(super) fn receive(
        &mut self,
        limit: usize,
        visibility_s: u32,
        receives_max: Option<u32>,
        now: u64,
    ) -> Found {
        self.forget_expired(now);
        let mut closed = HashSet::new();
        let mut opened = HashSet::new();
        let mut chosen = Vec::new();
        let mut dead = Vec::new();
        for (sequence, stored) in &self.messages {
            if chosen.len() == limit {
                break;
            }
            let group = if self.settings.fifo {
                stored.draft.group()
            } else {
                None
            };
            if group.is_some_and(|group| closed.contains(group)) {
                continue;
            }
            if self.available_at(stored) > now {
                // What is delayed keeps its place: nothing of its group may overtake it.
                closed.extend(group);
            } else if group
                .is_some_and(|group| opened.insert(group) && self.is_in_flight(group, now))
            {
                closed.extend(group);
            } else if receives_max.is_some_and(|most| stored.receives >= most) {
                dead.push(*sequence);
            } else {
                chosen.push(*sequence);
            }
        }
        let dead = dead
            .iter()
            .filter_map(|sequence| self.messages.remove(sequence))
            .collect();
        let deliveries = chosen
            .into_iter()
            .filter_map(|sequence| self.give_out(sequence, visibility_s, now))
            .collect();
        Found { deliveries, dead }
    }

    /// Deletes the message a receipt names. On a FIFO queue the receipt must still hold it; on a standard one a receipt that
    /// was overtaken by a later receive deletes nothing and says nothing, as on AWS.
    pub fn delete(&mut self, handle: &str, now: u64) -> Result<(), Refusal> {
        self.forget_expired(now);
        let receipt = self.receipt(handle)?;
        let Some(stored) = self.messages.get(&receipt.sequence) else {
            return Ok(());
        };
        let latest = stored.receives == receipt.receive;
        let held = latest && stored.is_held(now);
        if self.settings.fifo && !held {
            return Err(expired(handle));
        }
        if latest {
            self.messages.remove(&receipt.sequence);
        }
        Ok(())
    }

    /// Ends the hold of a receipt that many seconds from now; 0 gives the message back at once.
    pub fn change_visibility(
        &mut self,
        handle: &str,
        seconds: i64,
        now: u64,
    ) -> Result<(), Refusal> {
        self.forget_expired(now);
        let seconds = ranged("VisibilityTimeout", seconds, 0, HOLD_S_MAX)?;
        let receipt = self.receipt(handle)?;
        let gone = "Message does not exist or is not available for visibility timeout change.";
        let fifo = self.settings.fifo;
        let stored = self
            .messages
            .get_mut(&receipt.sequence)
            .ok_or_else(|| Refusal::value("ReceiptHandle", handle, gone))?;
        let latest = stored.receives == receipt.receive;
        match &mut stored.hold {
            Some(hold) if latest && hold.until > now => {
                let until = now + u64::from(seconds) * 1000;
                if until > hold.since + u64::from(HOLD_S_MAX) * 1000 {
                    let reason = format!(
                        "Total VisibilityTimeout for the message is beyond the limit [{HOLD_S_MAX} seconds]"
                    );
                    return Err(Refusal::value("VisibilityTimeout", seconds, &reason));
                }
                hold.until = until;
                Ok(())
            }
            _ if fifo => Err(expired(handle)),
            _ if latest => Err(Refusal::new(
                Code::MessageNotInflight,
                "The message referred to is not in flight.",
            )),
            _ => Err(Refusal::value("ReceiptHandle", handle, gone)),
        }
    }

    /// Drops every message. Deduplication ids stay remembered.
    pub fn purge(&mut self) {
        self.messages.clear();
    }

    /// How many messages are visible, in flight and delayed.
    pub fn counts(&mut self, now: u64) -> Counts {
        self.forget_expired(now);
        let mut counts = Counts::default();
        for stored in self.messages.values() {
            if stored.is_held(now) {
                counts.in_flight += 1;
            } else if self.available_at(stored) > now {
                counts.delayed += 1;
            } else {
                counts.visible += 1;
            }
        }
        counts
    }

    /// The next moment at which time alone makes a message receivable: the end of a delay or of a hold.
    pub fn next_change(&self, now: u64) -> Option<u64> {
        self.messages
            .values()
            .map(|stored| self.available_at(stored))
            .filter(|moment| *moment > now)
            .min()
    }

    fn append(
        &mut self,
        draft: Draft,
        deduplication: Option<String>,
        delay_ms: u64,
        now: u64,
    ) -> Sent {
        self.last_sequence += 1;
        let sequence = self.last_sequence;
        let id = message_id(&self.name, self.generation, sequence);
        let sent = Sent {
            id: id.clone(),
            sequence: self.settings.fifo.then_some(sequence),
        };
        self.messages.insert(
            sequence,
            Stored::new(id, draft, deduplication, delay_ms, now),
        );
        sent
    }

    fn give_out(&mut self, sequence: u64, visibility_s: u32, now: u64) -> Option<Delivery> {
        let stored = self.messages.get_mut(&sequence)?;
        let receive = stored.hold_for(visibility_s, now);
        let receipt = Receipt {
            queue: self.name.clone(),
            generation: self.generation,
            sequence,
            receive,
        };
        Some(stored.delivery(sequence, receipt.encode()))
    }

    fn available_at(&self, stored: &Stored) -> u64 {
        match stored.hold {
            Some(hold) => hold.until,
            // A FIFO queue has one delay, and changing it reaches back; a standard message carries its own.
            None if self.settings.fifo && stored.origin().is_none() => {
                stored.sent_at + u64::from(self.settings.delay_s) * 1000
            }
            None if self.settings.fifo => stored.sent_at,
            None => stored.sent_at + stored.delay_ms,
        }
    }

    /// Whether a receive still holds a message of the group, be it behind one that came back already.
    fn is_in_flight(&self, group: &str, now: u64) -> bool {
        self.messages
            .values()
            .any(|stored| stored.is_held(now) && stored.draft.group() == Some(group))
    }

    fn forget_expired(&mut self, now: u64) {
        let retention_ms = u64::from(self.settings.retention_s) * 1000;
        // The oldest stands first; a clock that stepped back keeps what came after it a little longer.
        while let Some(oldest) = self.messages.first_entry() {
            if oldest.get().sent_at + retention_ms > now {
                break;
            }
            oldest.remove();
        }
    }

    fn receipt(&self, handle: &str) -> Result<Receipt, Refusal> {
        Receipt::parse(handle)
            .filter(|receipt| receipt.queue == self.name && receipt.generation == self.generation)
            .ok_or_else(|| {
                Refusal::new(
                    Code::ReceiptHandleIsInvalid,
                    format!("The input receipt handle \"{handle}\" is not a valid receipt handle."),
                )
            })
    }
}
