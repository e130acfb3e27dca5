//! What the log adds up to: every message of both sides, and how far each has come.

use std::collections::{BTreeMap, HashMap};

use recado::domain::{Phone, Timestamp};
use serde::{Deserialize, Serialize};

use super::people;
use super::records::Record;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The person, on their phone.
    Person,
    /// The back end.
    Agent,
}

/// How far a message has come, as far as the back end knows: a person's message is delivered once its webhook was
/// answered with 2xx; for an answer each step is told by a status webhook and counts once that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A later text of a burst, not yet written.
    Planned,
    /// Written or accepted; the other side has not been told.
    Waiting,
    /// The provider has it.
    Sent,
    /// It reached the other side.
    Delivered,
    /// The other side has read it.
    Read,
}

impl Progress {
    /// The word in webhooks and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Read => "read",
        }
    }
}

/// One message of a conversation.
#[derive(Clone, Serialize)]
pub struct ChatMessage {
    /// The provider's id.
    pub id: String,
    /// Whose phone the conversation is on.
    pub phone: Phone,
    /// Who wrote it.
    pub side: Side,
    /// The words.
    pub text: String,
    /// When it was written or accepted, in milliseconds since 1970.
    pub at: Timestamp,
    /// How far it has come.
    pub status: Progress,
    /// When it came that far.
    pub status_at: Timestamp,
    /// The reply's id that the back end handed over with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// How often the back end was told of it without a 2xx.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// How the last of those tries ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to this function"
)]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// All messages, found by id, by person and by reply.
#[derive(Default)]
pub struct Book {
    messages: Vec<ChatMessage>,
    by_id: HashMap<String, usize>,
    by_phone: BTreeMap<Phone, Vec<usize>>,
    by_reply: HashMap<String, Vec<usize>>,
    by_contact: HashMap<String, Phone>,
}

impl Book {
    /// Takes one record of the log into account; gives the message it is about.
    pub fn apply(&mut self, record: Record) -> Option<&ChatMessage> {
        match record {
            Record::Wrote { id, from, text, at } => {
                self.add(ChatMessage::new(id, from, Side::Person, text, at))
            }
            Record::Accepted {
                id,
                to,
                text,
                reply,
                at,
            } => {
                let message = ChatMessage::new(id, to, Side::Agent, text, at);
                self.add(ChatMessage { reply, ..message })
            }
            Record::Progressed { id, progress, at } => {
                let message = self.message_mut(&id)?;
                if progress > message.status {
                    message.status = progress;
                    message.status_at = at;
                }
                message.problem = None;
                Some(message)
            }
        }
    }

    fn add(&mut self, message: ChatMessage) -> Option<&ChatMessage> {
        let index = self.messages.len();
        self.by_id.insert(message.id.clone(), index);
        if !self.by_phone.contains_key(&message.phone) {
            for id in people::contact_ids(&message.phone) {
                self.by_contact.insert(id, message.phone.clone());
            }
        }
        self.by_phone
            .entry(message.phone.clone())
            .or_default()
            .push(index);
        if let Some(reply) = &message.reply {
            self.by_reply.entry(reply.clone()).or_default().push(index);
        }
        self.messages.push(message);
        self.messages.last()
    }

    /// One message.
    pub fn message(&self, id: &str) -> Option<&ChatMessage> {
        self.by_id
            .get(id)
            .and_then(|index| self.messages.get(*index))
    }

    fn message_mut(&mut self, id: &str) -> Option<&mut ChatMessage> {
        self.by_id
            .get(id)
            .and_then(|index| self.messages.get_mut(*index))
    }

    /// Notes that a try to tell the back end of a message begins (no problem) or has failed.
    pub fn note_try(&mut self, id: &str, problem: Option<&str>) -> Option<&ChatMessage> {
        let message = self.message_mut(id)?;
        if message.status == Progress::Planned {
            message.status = Progress::Waiting;
            message.status_at = message.at;
        }
        if let Some(problem) = problem {
            message.failures = message.failures.saturating_add(1);
            message.problem = Some(problem.to_owned());
        }
        Some(message)
    }

    /// Both sides of one person's conversation, in order of time.
    pub fn conversation(&self, phone: &Phone) -> Vec<ChatMessage> {
        let indexes = self
            .by_phone
            .get(phone)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut messages: Vec<_> = indexes
            .iter()
            .filter_map(|index| self.messages.get(*index))
            .cloned()
            .collect();
        messages.sort_by_key(|message| message.at);
        messages
    }

    /// The next text of this person that the back end has not taken.
    pub fn next_untaken(&self, phone: &Phone) -> Option<&ChatMessage> {
        let indexes = self.by_phone.get(phone)?;
        indexes
            .iter()
            .filter_map(|index| self.messages.get(*index))
            .filter(|message| message.side == Side::Person && message.status < Progress::Sent)
            .min_by_key(|message| message.at)
    }

    /// What was accepted for a reply: normally one message.
    pub fn accepted_for(&self, reply: &str) -> impl Iterator<Item = &ChatMessage> {
        let indexes = self
            .by_reply
            .get(reply)
            .map(Vec::as_slice)
            .unwrap_or_default();
        indexes.iter().filter_map(|index| self.messages.get(*index))
    }

    /// Answers whose statuses the back end does not all know.
    pub fn untold(&self) -> Vec<ChatMessage> {
        self.messages
            .iter()
            .filter(|message| message.side == Side::Agent && message.status < Progress::Read)
            .cloned()
            .collect()
    }

    /// Everyone who has a conversation.
    pub fn phones(&self) -> impl Iterator<Item = &Phone> {
        self.by_phone.keys()
    }

    /// The newest message of a person's conversation.
    pub fn newest(&self, phone: &Phone) -> Option<&ChatMessage> {
        let index = self.by_phone.get(phone)?.last()?;
        self.messages.get(*index)
    }

    /// Whose id this is: a BSUID or a phone in canonical form.
    pub fn phone_of(&self, id: &str) -> Option<&Phone> {
        self.by_contact.get(id)
    }
}

impl ChatMessage {
    fn new(id: String, phone: Phone, side: Side, text: String, at: Timestamp) -> Self {
        let status = match side {
            Side::Person => Progress::Planned,
            Side::Agent => Progress::Waiting,
        };
        Self {
            id,
            phone,
            side,
            text,
            at,
            status,
            status_at: at,
            reply: None,
            failures: 0,
            problem: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrote(id: &str, at: u64) -> Record {
        Record::Wrote {
            id: id.to_owned(),
            from: Phone::parse("5511900000001").unwrap(),
            text: id.to_owned(),
            at: Timestamp::from_ms(at),
        }
    }

    fn progressed(id: &str, progress: Progress) -> Record {
        Record::Progressed {
            id: id.to_owned(),
            progress,
            at: Timestamp::from_ms(9),
        }
    }

    #[test]
    fn the_next_untaken_text_is_the_earliest_that_was_not_taken() {
        let phone = Phone::parse("5511900000001").unwrap();
        let mut book = Book::default();
        for record in [wrote("late", 5), wrote("early", 3)] {
            book.apply(record);
        }
        assert_eq!(book.next_untaken(&phone).unwrap().id, "early");
        book.apply(progressed("early", Progress::Delivered));
        assert_eq!(book.next_untaken(&phone).unwrap().id, "late");
        book.apply(progressed("late", Progress::Delivered));
        assert!(book.next_untaken(&phone).is_none());
    }

    #[test]
    fn progress_never_goes_back() {
        let mut book = Book::default();
        book.apply(wrote("a", 1));
        book.apply(progressed("a", Progress::Read));
        book.apply(progressed("a", Progress::Sent));
        assert_eq!(book.message("a").unwrap().status, Progress::Read);
    }

    #[test]
    fn a_bsuid_leads_back_to_its_phone() {
        let phone = Phone::parse("5511900000001").unwrap();
        let mut book = Book::default();
        assert!(book.phone_of(&people::bsuid(&phone)).is_none());
        book.apply(wrote("a", 1));
        assert_eq!(book.phone_of(&people::bsuid(&phone)), Some(&phone));
    }
}
