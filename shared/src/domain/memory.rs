//! What the agent remembers of a person: recent turns, one running summary, durable facts.

use super::agenda::Entry;
use super::ids::{FactId, MessageId, ReplyId};
use super::reply::ReplyKind;
use super::time::Timestamp;
use super::tool::{Call, ToolResult};

/// The running summary of everything compacted so far.
#[derive(Clone, PartialEq, Eq)]
pub struct Summary {
    /// Raised by every compaction; the next one is conditional on it.
    pub version: u64,
    /// Under 200 words.
    pub text: String,
    /// The newest turn it covers.
    pub through: ReplyId,
    /// When it was written.
    pub written_at: Timestamp,
}

/// One short line worth knowing in weeks.
#[derive(Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its id.
    pub id: FactId,
    /// At most 160 characters.
    pub text: String,
    /// The messages it was taken from.
    pub sources: Vec<MessageId>,
    /// When the person said it: the newest of its sources.
    pub said_at: Timestamp,
}

/// Never the words themselves.
impl std::fmt::Debug for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fact({}, {} bytes)", self.id, self.text.len())
    }
}

/// An answered message.
#[derive(Clone, PartialEq, Eq)]
pub struct PastMessage {
    /// The provider's id.
    pub id: MessageId,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// The words.
    pub text: String,
}

/// One turn of both sides: the messages of a batch and the reply that answered them.
#[derive(Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The reply's id: orders the turns.
    pub reply: ReplyId,
    /// The person's messages, oldest first.
    pub messages: Vec<PastMessage>,
    /// What was asked of tools meanwhile, in order; each with its result.
    pub calls: Vec<Call>,
    /// What we said; absent where only one side is left.
    pub answer: Option<String>,
    /// False where the answer surely never reached the person: refused for good, or withheld.
    pub delivered: bool,
    /// True where the provider said that it took the answer.
    pub known_sent: bool,
    /// Why the reply was written.
    pub kind: ReplyKind,
}

impl Exchange {
    /// Everything stored of it: what a compaction of it has to touch.
    pub fn stored(&self) -> usize {
        self.items() + self.calls.len()
    }

    /// At most so many bytes are stored of it: its words, and 1 KB for the rest of each item.
    pub fn bytes(&self) -> usize {
        let messages = self.messages.iter().map(|message| message.text.len());
        let calls = self.calls.iter().map(|call| {
            let result = call.result.as_ref().and_then(ToolResult::text);
            call.call.arguments.as_str().len() + result.map_or(0, str::len)
        });
        let answer = self.answer.iter().map(String::len);
        messages.chain(calls).chain(answer).sum::<usize>() + 1024 * self.stored()
    }

    /// Live items of either side: what the numbers 40 and 20 of a compaction count.
    pub fn items(&self) -> usize {
        self.messages.len() + usize::from(self.answer.is_some())
    }
}

/// Never the words themselves.
impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Exchange({}, {} items)", self.reply, self.items())
    }
}

/// The three layers, as read after the claim, and the agenda, which no compaction touches.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// The running summary.
    pub summary: Option<Summary>,
    /// The facts, oldest first.
    pub facts: Vec<Fact>,
    /// The turns that are not compacted, oldest first.
    pub exchanges: Vec<Exchange>,
    /// The agenda, oldest entry first.
    pub agenda: Vec<Entry>,
}

impl Memory {
    /// Live messages of either side.
    pub fn items(&self) -> usize {
        self.exchanges.iter().map(Exchange::items).sum()
    }
}

/// Memory prints as counts, never as words.
impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field(
                "summary",
                &self.summary.as_ref().map(|summary| summary.version),
            )
            .field("facts", &self.facts.len())
            .field("items", &self.items())
            .finish_non_exhaustive()
    }
}

/// One compaction as it is written: a prefix of the turns becomes summary and facts in one transaction.
#[derive(Clone, PartialEq, Eq)]
pub struct Fold {
    /// The summary's version this fold was computed from; `None` where there was no summary.
    pub from_version: Option<u64>,
    /// The new summary.
    pub summary: Summary,
    /// New or rewritten facts.
    pub facts: Vec<Fact>,
    /// Facts that no longer hold.
    pub retired: Vec<FactId>,
    /// Messages whose text goes; a bare tombstone stays for the dedup.
    pub messages: Vec<MessageId>,
    /// Replies that go.
    pub replies: Vec<ReplyId>,
    /// Calls of those replies that go with them, by their numbers.
    pub calls: Vec<(ReplyId, u16)>,
}

/// A fold prints as counts, never as words.
impl std::fmt::Debug for Fold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fold")
            .field("version", &self.summary.version)
            .field("facts", &self.facts.len())
            .field("retired", &self.retired.len())
            .field("messages", &self.messages.len())
            .field("replies", &self.replies.len())
            .finish_non_exhaustive()
    }
}
