//! One queue as a pure state machine: time is an argument in milliseconds, nothing waits and nothing reads a clock.
//!
//! Invariants of a FIFO queue: at any moment at most one receive holds messages of a group, and messages of a group are given
//! out in the order of their sequence numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::deduplication::{Memory, Sent};
use super::message::{Draft, ranged};
use super::receipt::Receipt;
use super::refusal::{Code, Refusal};
use super::settings::Settings;

/// Longest time one receive may hold a message, extensions included.
const HOLD_S_MAX: u32 = 43_200;
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

/// A message in a queue.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    id: String,
    draft: Draft,
    deduplication: Option<String>,
    sent_at: u64,
    delay_ms: u64,
    hold: Option<Hold>,
    receives: u32,
    first_received_at: Option<u64>,
    dead_letter_source: Option<String>,
}

/// A receive that has the message, until its visibility timeout passes.
#[derive(Clone, Copy, Debug)]
struct Hold {
    since: u64,
    until: u64,
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

impl Stored {
    /// The queue this is a dead letter of.
    pub fn origin(&self) -> Option<&str> {
        self.dead_letter_source.as_deref()
    }
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
        if draft.bytes() > self.settings.message_bytes_max as usize {
            return Err(Refusal::new(
                Code::InvalidParameterValue,
                format!(
                    "One or more parameters are invalid. Reason: Message must be shorter than {} bytes.",
                    self.settings.message_bytes_max
                ),
            ));
        }
        if !self.settings.fifo {
            check_standard(&draft)?;
            let delay_s = draft.delay_s().unwrap_or(self.settings.delay_s);
            return Ok(self.append(draft, None, u64::from(delay_s) * 1000, now));
        }
        let deduplication = self.check_fifo(&draft)?;
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
        let mut closed = self.groups_in_flight(now);
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
                closed.extend(group.map(str::to_owned));
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
            .filter_map(|sequence| self.hold(sequence, visibility_s, now))
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
        let held = latest && stored.hold.is_some_and(|hold| hold.until > now);
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
            match stored.hold {
                Some(hold) if hold.until > now => counts.in_flight += 1,
                None if self.available_at(stored) > now => counts.delayed += 1,
                _ => counts.visible += 1,
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

    /// Takes out what is not in flight and whose origin is accepted: what a redrive moves.
    pub(super) fn take_idle(
        &mut self,
        accepted: impl Fn(Option<&str>) -> bool,
        now: u64,
    ) -> Vec<Stored> {
        self.forget_expired(now);
        let busy = self.groups_in_flight(now);
        let leaves = |stored: &Stored| {
            self.available_at(stored) <= now
                && !stored
                    .draft
                    .group()
                    .is_some_and(|group| busy.contains(group))
                && accepted(stored.origin())
        };
        let sequences: Vec<u64> = self
            .messages
            .iter()
            .filter(|(_, stored)| leaves(stored))
            .map(|(sequence, _)| *sequence)
            .collect();
        sequences
            .iter()
            .filter_map(|sequence| self.messages.remove(sequence))
            .collect()
    }

    /// Takes in a dead letter of another queue, at the end of the order.
    pub(super) fn bury(&mut self, mut stored: Stored, source: &str, now: u64) {
        stored.hold = None;
        stored.delay_ms = 0;
        stored.dead_letter_source = Some(source.to_owned());
        if self.settings.fifo {
            // A FIFO dead letter begins a new retention; a standard one keeps its age.
            stored.sent_at = now;
        }
        self.last_sequence += 1;
        self.messages.insert(self.last_sequence, stored);
    }

    /// Takes in a redriven message as a new one.
    pub(super) fn revive(&mut self, stored: Stored, now: u64) {
        self.append(stored.draft, stored.deduplication, 0, now);
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
        let stored = Stored {
            id: id.clone(),
            draft,
            deduplication,
            sent_at: now,
            delay_ms,
            hold: None,
            receives: 0,
            first_received_at: None,
            dead_letter_source: None,
        };
        self.messages.insert(sequence, stored);
        Sent {
            id,
            sequence: self.settings.fifo.then_some(sequence),
        }
    }

    fn hold(&mut self, sequence: u64, visibility_s: u32, now: u64) -> Option<Delivery> {
        let stored = self.messages.get_mut(&sequence)?;
        stored.hold = Some(Hold {
            since: now,
            until: now + u64::from(visibility_s) * 1000,
        });
        stored.receives += 1;
        let receipt = Receipt {
            queue: self.name.clone(),
            generation: self.generation,
            sequence,
            receive: stored.receives,
        };
        Some(Delivery {
            id: stored.id.clone(),
            receipt: receipt.encode(),
            draft: stored.draft.clone(),
            deduplication: stored.deduplication.clone(),
            sequence,
            sent_at: stored.sent_at,
            first_received_at: *stored.first_received_at.get_or_insert(now),
            receives: stored.receives,
            dead_letter_source: stored.dead_letter_source.clone(),
        })
    }

    fn available_at(&self, stored: &Stored) -> u64 {
        match stored.hold {
            Some(hold) => hold.until,
            // A FIFO queue has one delay, and changing it reaches back; a standard message carries its own.
            None if self.settings.fifo && stored.dead_letter_source.is_none() => {
                stored.sent_at + u64::from(self.settings.delay_s) * 1000
            }
            None if self.settings.fifo => stored.sent_at,
            None => stored.sent_at + stored.delay_ms,
        }
    }

    fn groups_in_flight(&self, now: u64) -> BTreeSet<String> {
        self.messages
            .values()
            .filter(|stored| stored.hold.is_some_and(|hold| hold.until > now))
            .filter_map(|stored| stored.draft.group().map(str::to_owned))
            .collect()
    }

    fn forget_expired(&mut self, now: u64) {
        let retention_ms = u64::from(self.settings.retention_s) * 1000;
        self.messages
            .retain(|_, stored| stored.sent_at + retention_ms > now);
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

    /// A FIFO message's deduplication id, given or computed, after the rules for FIFO.
    fn check_fifo(&self, draft: &Draft) -> Result<String, Refusal> {
        if let Some(seconds) = draft.delay_s() {
            return Err(wrong_kind("DelaySeconds", seconds));
        }
        if draft.group().is_none() {
            return Err(Refusal::missing("MessageGroupId"));
        }
        match draft.deduplication() {
            Some(id) => Ok(id.to_owned()),
            None if self.settings.content_deduplication => Ok(draft.content_hash()),
            None => Err(Refusal::new(
                Code::InvalidParameterValue,
                "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
                 provided explicitly",
            )),
        }
    }
}

fn check_standard(draft: &Draft) -> Result<(), Refusal> {
    if let Some(id) = draft.deduplication() {
        return Err(wrong_kind("MessageDeduplicationId", id));
    }
    if draft.group().is_some() {
        return Err(Refusal::unsupported(
            "MessageGroupId on a standard queue (fair queues)",
        ));
    }
    Ok(())
}

fn wrong_kind(parameter: &str, value: impl std::fmt::Display) -> Refusal {
    let reason = "The request include parameter that is not valid for this queue type.";
    Refusal::value(parameter, value, reason)
}

fn expired(handle: &str) -> Refusal {
    Refusal::value("ReceiptHandle", handle, "The receipt handle has expired.")
}

/// A message id in the form of a UUID, from the message's place: two places never share one, and no randomness is needed.
fn message_id(queue: &str, generation: u64, sequence: u64) -> String {
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
