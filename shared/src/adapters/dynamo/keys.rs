//! The one codec of the table's keys: partition keys, sort keys, and the slots that order the index `live`.
//!
//! No other file builds or takes apart a key. Numbers are padded, so that the order of the text is theirs.

mod ledger;

use crate::domain::ids::IdError;
use crate::domain::{
    AgentId, Alias, ConversationId, EntryId, FactId, Hasher, MessageId, ReplyId, Timestamp,
};

pub(super) use ledger::{DayKey, SpendKey, ledger_partition, spend_partition};

/// Sort key of an alias.
pub(super) const ALIAS: &str = "alias";
/// Sort key of a tombstone.
pub(super) const TOMBSTONE: &str = "tombstone";
/// Sort key of an erasure's job.
pub(super) const JOB: &str = "job";

/// Where a model's breaker is. No conversation's, whatever an agent is called: no model is called like a phone or a BSUID.
pub(super) fn breaker_partition(model: &str) -> String {
    format!("breaker#{model}")
}

/// Partition of what belongs to the installation as a whole; no agent's, for it has no `#`.
pub(super) const INSTALLATION: &str = "installation";
/// Sort key of what tells the table's own hash key from another.
pub(super) const KEY_CHECK: &str = "key_check";

/// Slots of state, outbox and pending messages lie from here ...
pub(super) const FRONT_FROM: &str = "1";
/// ... to here, and those of the memory from here on.
pub(super) const MEMORY_FROM: &str = "4";
/// The agenda's slots lie from here ...
pub(super) const AGENDA_FROM: &str = "5a";
/// ... to here, behind the facts.
pub(super) const AGENDA_TO: &str = "5b";
/// No slot lies behind this one.
pub(super) const MEMORY_TO: &str = "7";

const NOT_A_KEY: IdError = IdError {
    what: "a key",
    problem: "has a form this program does not write",
};

/// Where an alias says whose it is.
pub(super) fn alias_partition(agent: &AgentId, alias: &Alias) -> String {
    format!("{agent}#alias#{}", alias.as_str())
}

/// Where an alias's erasures are remembered, by a keyed hash only.
pub(super) fn tombstone_partition(hasher: &Hasher, agent: &AgentId, alias: &Alias) -> String {
    format!("{agent}#forgotten#{}", hasher.alias(agent, alias))
}

/// Where an erasure under way is found, by a keyed hash of the life that ends.
pub(super) fn erasure_partition(hasher: &Hasher, conversation: &ConversationId) -> String {
    format!(
        "{}#erasure#{}",
        conversation.agent,
        hasher.life(conversation)
    )
}

/// What lies under a conversation's partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ItemKey {
    /// The state.
    State,
    /// A message of the person.
    Event(MessageId),
    /// A reply of ours.
    Reply(ReplyId),
    /// The n-th call of a reply's turn.
    Call(ReplyId, u16),
    /// The running summary.
    Summary,
    /// A fact.
    Fact(FactId),
    /// An entry of the agenda.
    Entry(EntryId),
}

impl ItemKey {
    /// The sort key.
    pub(super) fn encode(&self) -> String {
        match self {
            Self::State => "state".to_owned(),
            Self::Event(id) => format!("event#{id}"),
            Self::Reply(id) => format!("reply#{id}"),
            Self::Call(reply, n) => format!("{}{n:02}", calls_of(*reply)),
            Self::Summary => "summary".to_owned(),
            Self::Fact(id) => format!("fact#{id}"),
            Self::Entry(id) => format!("agenda#{id}"),
        }
    }

    /// Reads back what [`ItemKey::encode`] gave.
    pub(super) fn decode(key: &str) -> Result<Self, IdError> {
        match key.split_once('#') {
            None if key == "state" => Ok(Self::State),
            None if key == "summary" => Ok(Self::Summary),
            Some(("event", id)) => MessageId::parse(id).map(Self::Event),
            Some(("reply", id)) => ReplyId::parse(id).map(Self::Reply),
            Some(("call", rest)) => {
                let (reply, n) = rest.split_once('#').ok_or(NOT_A_KEY)?;
                let n = n.parse().map_err(|_| NOT_A_KEY)?;
                Ok(Self::Call(ReplyId::parse(reply)?, n))
            }
            Some(("fact", id)) => FactId::parse(id).map(Self::Fact),
            Some(("agenda", id)) => EntryId::parse(id).map(Self::Entry),
            _ => Err(NOT_A_KEY),
        }
    }
}

/// What the keys of a reply's calls begin with; they sort by number.
pub(super) fn calls_of(reply: ReplyId) -> String {
    format!("call#{reply}#")
}

/// A place within one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The n-th message of the batch.
    Message(u16),
    /// What we said, after all messages.
    Answer,
    /// The n-th call; it is told before the answer and read after it.
    Call(u16),
}

/// A place in the index `live`; what is not live has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slot {
    /// The state: first.
    State,
    /// A reply that is not at rest.
    Outbox(ReplyId),
    /// A message that waits, ordered like [`crate::domain::Event::order`].
    Pending {
        /// When it was sent.
        sent_at: Timestamp,
        /// When it reached us.
        arrived_at: Timestamp,
        /// Its id.
        id: MessageId,
    },
    /// The summary.
    Summary,
    /// A fact, ordered by when it was said.
    Fact {
        /// When it was said.
        said_at: Timestamp,
        /// Its id.
        id: FactId,
    },
    /// An entry of the agenda, ordered by when it was made.
    Entry {
        /// When it was made.
        made_at: Timestamp,
        /// Its id.
        id: EntryId,
    },
    /// An answered message, or a reply at rest.
    Turn(ReplyId, Place),
}

impl Slot {
    /// The index's sort key.
    pub(super) fn encode(&self) -> String {
        match self {
            Self::State => "1#state".to_owned(),
            Self::Outbox(reply) => format!("2#outbox#{reply}"),
            Self::Pending {
                sent_at,
                arrived_at,
                id,
            } => format!(
                "3#pending#{:020}#{:020}#{id}",
                sent_at.ms(),
                arrived_at.ms()
            ),
            Self::Summary => "4#summary".to_owned(),
            Self::Fact { said_at, id } => format!("5#fact#{:020}#{id}", said_at.ms()),
            Self::Entry { made_at, id } => format!("5a#agenda#{:020}#{id}", made_at.ms()),
            Self::Turn(reply, Place::Message(n)) => format!("6#turn#{reply}#{n:05}"),
            Self::Turn(reply, Place::Answer) => format!("6#turn#{reply}#answer"),
            Self::Turn(reply, Place::Call(n)) => format!("6#turn#{reply}#call#{n:05}"),
        }
    }

    /// Reads back what [`Slot::encode`] gave.
    pub(super) fn decode(slot: &str) -> Result<Self, IdError> {
        let mut parts = slot.splitn(3, '#');
        let (rank, name, rest) = (parts.next(), parts.next(), parts.next());
        match (rank, name, rest) {
            (Some("1"), Some("state"), None) => Ok(Self::State),
            (Some("2"), Some("outbox"), Some(reply)) => ReplyId::parse(reply).map(Self::Outbox),
            (Some("3"), Some("pending"), Some(rest)) => {
                let (sent_at, rest) = moment(rest)?;
                let (arrived_at, id) = moment(rest)?;
                Ok(Self::Pending {
                    sent_at,
                    arrived_at,
                    id: MessageId::parse(id)?,
                })
            }
            (Some("4"), Some("summary"), None) => Ok(Self::Summary),
            (Some("5"), Some("fact"), Some(rest)) => {
                let (said_at, id) = moment(rest)?;
                Ok(Self::Fact {
                    said_at,
                    id: FactId::parse(id)?,
                })
            }
            (Some("5a"), Some("agenda"), Some(rest)) => {
                let (made_at, id) = moment(rest)?;
                Ok(Self::Entry {
                    made_at,
                    id: EntryId::parse(id)?,
                })
            }
            (Some("6"), Some("turn"), Some(rest)) => {
                let (reply, place) = rest.split_once('#').ok_or(NOT_A_KEY)?;
                let number = |n: &str| n.parse().map_err(|_| NOT_A_KEY);
                let place = match place.split_once('#') {
                    None if place == "answer" => Place::Answer,
                    None => Place::Message(number(place)?),
                    Some(("call", n)) => Place::Call(number(n)?),
                    Some(_) => return Err(NOT_A_KEY),
                };
                Ok(Self::Turn(ReplyId::parse(reply)?, place))
            }
            _ => Err(NOT_A_KEY),
        }
    }
}

/// The padded moment at the front of `text`, and what follows it.
fn moment(text: &str) -> Result<(Timestamp, &str), IdError> {
    let (digits, rest) = text.split_once('#').ok_or(NOT_A_KEY)?;
    let ms = digits.parse().map_err(|_| NOT_A_KEY)?;
    Ok((Timestamp::from_ms(ms), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message_id() -> impl Strategy<Value = MessageId> {
        "[^\\x00]{1,80}".prop_map(|text| MessageId::parse(text).expect("within the limits"))
    }

    fn slot() -> impl Strategy<Value = Slot> {
        let reply = (0..1_u64 << 48, any::<u128>())
            .prop_map(|(ms, chance)| ReplyId::from_parts(ms, chance));
        let fact =
            (0..1_u64 << 48, any::<u128>()).prop_map(|(ms, chance)| FactId::from_parts(ms, chance));
        let moment = any::<u64>().prop_map(Timestamp::from_ms);
        let entry = "[a-z0-9]{32}".prop_map(|text| EntryId::parse(text).expect("an id"));
        prop_oneof![
            Just(Slot::State),
            Just(Slot::Summary),
            reply.clone().prop_map(Slot::Outbox),
            (moment.clone(), moment.clone(), message_id()).prop_map(|(sent_at, arrived_at, id)| {
                Slot::Pending {
                    sent_at,
                    arrived_at,
                    id,
                }
            }),
            (moment.clone(), fact).prop_map(|(said_at, id)| Slot::Fact { said_at, id }),
            (moment, entry).prop_map(|(made_at, id)| Slot::Entry { made_at, id }),
            (reply.clone(), any::<u16>())
                .prop_map(|(reply, n)| Slot::Turn(reply, Place::Message(n))),
            (reply.clone(), any::<u16>()).prop_map(|(reply, n)| Slot::Turn(reply, Place::Call(n))),
            reply.prop_map(|reply| Slot::Turn(reply, Place::Answer)),
        ]
    }

    /// The order the index must have, from the slots' meaning.
    fn rank(slot: &Slot) -> (u8, Timestamp, Timestamp, String, Option<Place>) {
        let zero = Timestamp::from_ms(0);
        match slot {
            Slot::State => (1, zero, zero, String::new(), None),
            Slot::Outbox(reply) => (2, zero, zero, reply.to_string(), None),
            Slot::Pending {
                sent_at,
                arrived_at,
                id,
            } => (3, *sent_at, *arrived_at, id.to_string(), None),
            Slot::Summary => (4, zero, zero, String::new(), None),
            Slot::Fact { said_at, id } => (5, *said_at, zero, id.to_string(), None),
            Slot::Entry { made_at, id } => (6, *made_at, zero, id.to_string(), None),
            Slot::Turn(reply, place) => (7, zero, zero, reply.to_string(), Some(*place)),
        }
    }

    proptest! {
        #[test]
        fn a_slot_reads_back_as_itself(slot in slot()) {
            prop_assert_eq!(Slot::decode(&slot.encode()), Ok(slot));
        }

        #[test]
        fn slots_sort_as_text_as_they_sort_by_meaning(one in slot(), two in slot()) {
            prop_assert_eq!(one.encode().cmp(&two.encode()), rank(&one).cmp(&rank(&two)));
        }

        #[test]
        fn a_sort_key_reads_back_as_itself(id in message_id(), ms in 0..1_u64 << 48, chance: u128, n: u16) {
            for key in [
                ItemKey::State,
                ItemKey::Summary,
                ItemKey::Event(id.clone()),
                ItemKey::Reply(ReplyId::from_parts(ms, chance)),
                ItemKey::Call(ReplyId::from_parts(ms, chance), n),
                ItemKey::Fact(FactId::from_parts(ms, chance)),
                ItemKey::Entry(EntryId::parse(format!("{chance:032x}")).expect("an id")),
            ] {
                prop_assert_eq!(ItemKey::decode(&key.encode()), Ok(key));
            }
        }

        #[test]
        fn any_text_is_read_or_refused_but_never_panics(text in ".{0,60}") {
            let _ = (Slot::decode(&text), ItemKey::decode(&text));
        }
    }

    #[test]
    fn the_agenda_is_a_range_of_slots_between_facts_and_turns() {
        let zero = Timestamp::from_ms(0);
        let entry = Slot::Entry {
            made_at: Timestamp::from_ms(u64::MAX),
            id: EntryId::parse("z").unwrap(),
        };
        let fact = Slot::Fact {
            said_at: zero,
            id: FactId::from_parts(1, 2),
        };
        let turn = Slot::Turn(ReplyId::from_parts(1, 2), Place::Answer);
        for (slot, within) in [(entry, true), (fact, false), (turn, false)] {
            let text = slot.encode();
            assert_eq!(*AGENDA_FROM < *text && *text < *AGENDA_TO, within);
        }
    }

    #[test]
    fn the_front_and_the_memory_are_ranges_of_slots() {
        let reply = ReplyId::from_parts(1, 2);
        for (slot, front) in [
            (Slot::State, true),
            (Slot::Outbox(reply), true),
            (Slot::Summary, false),
            (Slot::Turn(reply, Place::Answer), false),
        ] {
            let text = slot.encode();
            assert_eq!(*FRONT_FROM < *text && *text < *MEMORY_FROM, front);
            assert_eq!(*MEMORY_FROM < *text && *text < *MEMORY_TO, !front);
        }
    }
}
