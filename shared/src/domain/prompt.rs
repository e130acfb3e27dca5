//! One conversation form for every model; an adapter encodes it for its provider.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tool::{AnsweredCall, AskedCall, Tool};
use crate::error::Metered;

/// One turn of the history.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// The person: one block per message.
    User(Vec<String>),
    /// What the agent asked of its tools before it spoke, each call with its result.
    Calls(Vec<AnsweredCall>),
    /// The agent.
    Assistant(String),
}

/// Never the words themselves.
impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User(blocks) => write!(f, "User({} blocks)", blocks.len()),
            Self::Calls(calls) => write!(f, "Calls({})", calls.len()),
            Self::Assistant(text) => write!(f, "Assistant({} bytes)", text.len()),
        }
    }
}

/// What the answer must be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Words for the person.
    Text,
    /// One JSON object of this schema.
    Json {
        /// At most 64 of `A-Z a-z 0-9 _ -`.
        name: &'static str,
        /// JSON Schema in the strict subset: every property required, nothing additional.
        schema: Value,
    },
}

/// A provider's own items around some calls (what the model thought before them), as they came. They go back to the
/// very model that gave them and to no other: another one refuses them, or reads them wrongly.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
pub struct Carried {
    by: String,
    items: Vec<Value>,
}

impl Carried {
    /// Nothing: the calls alone say it all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Items that the model `by` gave.
    pub fn new(by: impl Into<String>, items: Vec<Value>) -> Self {
        Self {
            by: by.into(),
            items,
        }
    }

    /// Whether there is nothing to hand back.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items, where the model `by` gave them.
    pub fn of(&self, by: &str) -> Option<&[Value]> {
        (!self.is_empty() && self.by == by).then_some(self.items.as_slice())
    }
}

/// Never the words themselves.
impl std::fmt::Debug for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Carried({} items by {})", self.items.len(), self.by)
    }
}

/// What the model asked of its tools at once, while it works on the last turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Round {
    /// Each call with its result.
    pub calls: Vec<AnsweredCall>,
    /// The provider's own items that held the calls; none where a later run goes on.
    pub carried: Carried,
}

/// A request to a model, ordered by how seldom each part changes.
#[derive(Clone, PartialEq, Serialize)]
pub struct Prompt {
    /// What the model may call: the same for all people of an agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Engine rules, ours and not the persona's: the same for all people of an agent.
    pub rules: String,
    /// The persona: the same for all people of an agent.
    pub persona: String,
    /// Summary and facts as labelled data; frozen between compactions.
    pub memory: Option<String>,
    /// Past turns, append only; starts at a user turn.
    pub history: Vec<Turn>,
    /// The last user turn: one block per message. Never empty.
    pub last: Vec<String>,
    /// Volatile notes (date, days away), sent after the last turn's blocks: nothing cached follows them.
    pub notes: Vec<String>,
    /// What came of the calls so far, after the last turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// How long the person had been silent before these words; absent where they never wrote before. It decides whether
    /// a mark at the end of the conversation pays, and is told to nobody.
    #[serde(skip)]
    pub pause: Option<Duration>,
    /// Whether it must answer in words now, though there are tools.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub words_only: bool,
    /// What the answer must be.
    pub output: Output,
    /// Cap of the answer.
    pub output_tokens_max: u32,
    /// A keyed hash that names the conversation to the provider's cache and abuse control.
    pub person_key: String,
}

/// Never the words themselves.
impl std::fmt::Debug for Prompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Prompt({} turns, {} blocks)",
            self.history.len(),
            self.last.len()
        )
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// By itself.
    Complete,
    /// At the cap of output tokens: the text is there but incomplete.
    Cut,
}

/// Tokens of one call in disjoint buckets, as every provider can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens paid in full.
    pub input_uncached: u64,
    /// Input tokens read from the provider's cache.
    pub input_cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub input_cache_write: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// What the provider itself says that the call cost, in millionths of a US dollar; absent where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

impl From<&Metered> for Usage {
    fn from(metered: &Metered) -> Self {
        Self {
            input_uncached: metered.input_uncached,
            input_cache_read: metered.input_cache_read,
            input_cache_write: metered.input_cache_write,
            output: metered.output,
            cost_micro_usd: metered.cost_micro_usd,
        }
    }
}

impl Usage {
    /// The same as part of a failure of this model.
    pub fn metered(&self, model: impl Into<String>) -> Metered {
        Metered {
            model: model.into(),
            input_uncached: self.input_uncached,
            input_cache_read: self.input_cache_read,
            input_cache_write: self.input_cache_write,
            output: self.output,
            cost_micro_usd: self.cost_micro_usd,
        }
    }

    /// All input tokens, at most `u64::MAX`: a provider may report any numbers.
    pub const fn input(&self) -> u64 {
        self.input_uncached
            .saturating_add(self.input_cache_read)
            .saturating_add(self.input_cache_write)
    }
}

/// A model's answer.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct ModelReply {
    /// The words, or the JSON object as text. Blank only where there are calls.
    pub text: String,
    /// What it asks of its tools before it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<AskedCall>,
    /// The provider's own items that hold the calls, to be handed back with their results.
    #[serde(skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// How it ended.
    pub finish: Finish,
    /// What it cost; all zero where the provider did not say.
    pub usage: Usage,
    /// The model that answered, as the provider names it.
    pub model: String,
}

/// Never the words themselves.
impl std::fmt::Debug for ModelReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ModelReply({}, {:?}, {:?})",
            self.model, self.finish, self.usage
        )
    }
}
