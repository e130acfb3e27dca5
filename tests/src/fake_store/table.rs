//! What the fake table holds, and how it prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::sync::Arc;

use jiff::civil::Date;
use recado::domain::{
    AgentId, Alias, Call, ChargeKind, ContactId, Content, ConversationId, Counters, Entry, EntryId,
    Event, Fact, FactId, Hasher, MessageId, Reply, ReplyId, RunId, State, Summary, Timestamp,
};
use recado::ports::Erasure;

use super::Guards;

/// Whether an item can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Health {
    /// It can.
    #[default]
    Fine,
    /// A newer program wrote it.
    Future,
    /// Something in it is broken.
    Broken,
}

/// A message as stored.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    /// The message; absent where only the bare tombstone is left.
    pub event: Option<Event>,
    /// A reply's id, or `closed:` and the reason.
    pub answered_by: Option<String>,
    /// Its place in history: the reply, and which message of the batch.
    pub turn: Option<(ReplyId, usize)>,
    /// Whether it can be read.
    pub health: Health,
}

/// A reply as stored.
#[derive(Debug, Clone)]
pub struct StoredReply {
    /// The reply.
    pub reply: Reply,
    /// The claim that committed it.
    pub epoch: u64,
    /// Who moved it back to `ready` last.
    pub given_back_by: Option<RunId>,
    /// Since when it is where it is.
    pub since: Timestamp,
    /// The provider's id, where it gave one.
    pub provider_id: Option<String>,
    /// Why it failed.
    pub failure: Option<String>,
}

/// A call as stored.
#[derive(Debug, Clone)]
pub struct StoredCall {
    /// The call.
    pub call: Call,
    /// The claim that stored it.
    pub epoch: u64,
    /// Whether its reply is committed.
    pub in_history: bool,
}

/// Everything under one conversation's key.
#[derive(Clone, Default)]
pub struct Person {
    /// The state.
    pub state: Option<State>,
    /// Messages.
    pub events: BTreeMap<MessageId, StoredEvent>,
    /// Replies.
    pub replies: BTreeMap<ReplyId, StoredReply>,
    /// Calls, by reply and number.
    pub calls: BTreeMap<(ReplyId, u16), StoredCall>,
    /// The running summary.
    pub summary: Option<Summary>,
    /// Facts.
    pub facts: BTreeMap<FactId, Fact>,
    /// The agenda.
    pub agenda: BTreeMap<EntryId, Entry>,
}

impl Person {
    /// Items under the key.
    pub fn items(&self) -> usize {
        usize::from(self.state.is_some())
            + self.events.len()
            + self.replies.len()
            + self.calls.len()
            + usize::from(self.summary.is_some())
            + self.facts.len()
            + self.agenda.len()
    }
}

/// An alias's ended lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// When the newest of them was erased.
    pub forgotten_at: Timestamp,
    /// Keyed hashes of the conversations.
    pub lives: BTreeSet<String>,
}

/// The whole table.
#[derive(Clone)]
pub struct Table {
    /// Which conditions hold.
    pub guards: Guards,
    /// What lies under each conversation's key.
    pub people: BTreeMap<ConversationId, Person>,
    /// Which contact each alias names.
    pub aliases: BTreeMap<(AgentId, Alias), ContactId>,
    /// By agent and keyed hash of the alias.
    pub tombstones: BTreeMap<(AgentId, String), Tombstone>,
    /// Erasures under way, by agent and keyed hash of the life.
    pub jobs: BTreeMap<(AgentId, String), Erasure>,
    /// Those of them that cannot be read.
    pub damaged_jobs: BTreeSet<(AgentId, String)>,
    /// What each agent's days have cost, by model and kind.
    pub ledger: Rows<(AgentId, Date)>,
    /// What each conversation has cost, by the keyed hash of it.
    pub spend: Rows<(AgentId, String, Date)>,
    /// Runs that were booked.
    pub booked: BTreeSet<RunId>,
    pub(super) hasher: Arc<Hasher>,
}

/// Counters by place, model and kind.
pub type Rows<P> = BTreeMap<(P, String, ChargeKind), Counters>;

impl Table {
    pub(super) fn new(hasher: Arc<Hasher>) -> Self {
        Self {
            guards: Guards::default(),
            people: BTreeMap::new(),
            aliases: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            jobs: BTreeMap::new(),
            damaged_jobs: BTreeSet::new(),
            ledger: BTreeMap::new(),
            spend: BTreeMap::new(),
            booked: BTreeSet::new(),
            hasher,
        }
    }

    pub(super) fn person(&mut self, conversation: &ConversationId) -> &mut Person {
        self.people.entry(conversation.clone()).or_default()
    }

    pub(super) fn state(&self, conversation: &ConversationId) -> Option<&State> {
        self.people.get(conversation)?.state.as_ref()
    }

    /// Everything it holds, one item a line, words and ids and all: a test's view, never a log's.
    pub fn dump(&self) -> String {
        let mut lines = String::new();
        self.write_to(&mut lines)
            .unwrap_or_else(|fmt::Error| lines.push_str("(cut short)"));
        lines
    }

    fn write_to(&self, to: &mut String) -> fmt::Result {
        for ((agent, alias), contact) in &self.aliases {
            writeln!(to, "{agent}#alias#{} -> {contact}", alias.as_str())?;
        }
        for ((agent, hash), tombstone) in &self.tombstones {
            let Tombstone {
                forgotten_at,
                lives,
            } = tombstone;
            writeln!(to, "{agent}#forgotten#{hash} at {forgotten_at}: {lives:?}")?;
        }
        for ((agent, hash), job) in &self.jobs {
            let aliases: Vec<_> = job.aliases.iter().map(Alias::as_str).collect();
            let (key, at) = (job.conversation.key(), job.forgotten_at);
            writeln!(to, "{agent}#erasure#{hash} at {at}: {key} {aliases:?}")?;
        }
        for (((agent, day), model, kind), counters) in &self.ledger {
            writeln!(to, "{agent}#ledger#{day} {model} {kind:?}: {counters:?}")?;
        }
        for (((agent, hash, day), model, kind), counters) in &self.spend {
            writeln!(
                to,
                "{agent}#spend#{hash} {day} {model} {kind:?}: {counters:?}"
            )?;
        }
        for (conversation, person) in &self.people {
            person.write_to(to, &conversation.key())?;
        }
        Ok(())
    }
}

impl Person {
    fn write_to(&self, to: &mut String, key: &str) -> fmt::Result {
        if let Some(state) = &self.state {
            let aliases: Vec<_> = state.aliases.iter().map(Alias::as_str).collect();
            writeln!(to, "{key} state {state:?} {aliases:?}")?;
        }
        for (id, stored) in &self.events {
            let words = match stored.event.as_ref().map(|event| &event.content) {
                None => "(bare)".to_owned(),
                Some(Content::Text(text)) => format!("{text:?}"),
                Some(Content::Unsupported(kind)) => format!("<{kind}>"),
            };
            let by = stored.answered_by.as_deref().unwrap_or("-");
            let to_whom = stored.event.as_ref().map(|event| match &event.reply_to {
                recado::domain::Address::Phone(phone) => phone.as_str(),
                recado::domain::Address::Bsuid(bsuid) => bsuid.as_str(),
            });
            let to_whom = to_whom.unwrap_or("-");
            writeln!(
                to,
                "{key} event#{id} from {to_whom}: {words} answered by {by}"
            )?;
        }
        for (id, stored) in &self.replies {
            let Reply { text, .. } = &stored.reply;
            let (at, refusals) = (stored.since, stored.reply.refusals);
            let refused_since = stored.reply.refused_since;
            write!(to, "{key} reply#{id} {:?} since {at}", stored.reply.status)?;
            write!(to, " token {:?} refusals {refusals}", stored.reply.token)?;
            write!(to, " refused since {refused_since:?}")?;
            let outcome = (&stored.provider_id, &stored.failure);
            writeln!(to, " outcome {outcome:?}: {text:?}")?;
        }
        for ((reply, n), stored) in &self.calls {
            let recado::domain::ToolCall {
                tool, arguments, ..
            } = &stored.call.call;
            let result = stored.call.result.as_ref();
            let outcome = result.map_or("running", |result| result.as_str());
            let said = result.and_then(|result| result.text()).unwrap_or_default();
            let arguments = arguments.as_str();
            write!(
                to,
                "{key} call#{reply}#{n} {tool} {arguments}: {outcome} {said:?}"
            )?;
            writeln!(to, " in history {}", stored.in_history)?;
        }
        if let Some(summary) = &self.summary {
            let Summary { version, text, .. } = summary;
            writeln!(to, "{key} summary {version}: {text:?}")?;
        }
        for (id, fact) in &self.facts {
            writeln!(to, "{key} fact#{id}: {:?}", fact.text)?;
        }
        for (id, entry) in &self.agenda {
            let (title, text, status) = (&entry.title, &entry.text, entry.status.as_str());
            let version = entry.version;
            writeln!(
                to,
                "{key} agenda#{id} {version} {status}: {title:?} {text:?}"
            )?;
        }
        Ok(())
    }
}
