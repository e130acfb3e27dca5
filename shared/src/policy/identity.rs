//! Whose event is it: the canonical form of a phone, and the decision between a known contact, a new one and an
//! erased one. The ingest flow reads what its aliases name, asks here, and writes what is answered.
//!
//! Invariants: a contact id is used for ONE life; an event sent at or before an erasure of one of its aliases never
//! reaches anybody; two memories are never merged.

use crate::domain::{AgentId, Alias, ContactId, ConversationId, Hasher, Known, Phone, Timestamp};

/// More lives than this under one id is no person but an error in the table.
const LIVES_MAX: u32 = 10_000;

/// The form of a phone that memory is found with. Never the form that is answered to.
///
/// Three countries write one line in two ways: Brazil with and without the ninth digit of a mobile, Mexico with and
/// without a 1 after the country code, Argentina with and without a 9. A phone of any other shape is its own form.
#[must_use]
pub fn canonical(phone: &Phone) -> Phone {
    let digits = phone.as_str();
    let other = match (digits.len(), digits.as_bytes()) {
        (12, [b'5', b'5', _, _, b'6'..=b'9', ..]) => {
            format!("{}9{}", &digits[..4], &digits[4..])
        }
        (13, [b'5', b'2', b'1', ..]) => format!("52{}", &digits[3..]),
        (13, [b'5', b'4', b'9', ..]) => format!("54{}", &digits[3..]),
        _ => return phone.clone(),
    };
    Phone::parse(other).unwrap_or_else(|_| phone.clone())
}

/// Whose event it is, and what has to be written before it can be stored under that contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// A contact that lives.
    Known {
        /// Whose.
        contact: ContactId,
        /// The event's other ids, which name nobody yet.
        add: Vec<Addition>,
    },
    /// A person who writes for the first time, or for the first time after an erasure.
    Create {
        /// An id that no ended life has used, as far as the tombstones tell.
        contact: ContactId,
        /// All the event's ids.
        aliases: Vec<Alias>,
        /// Those that still name an ended life, with that life.
        stale: Vec<(Alias, ContactId)>,
    },
    /// It was sent at or before an erasure: it belongs to what was erased.
    Late,
    /// Its ids name different contacts. One takes the event, nothing is merged.
    Conflict {
        /// The phone's contact.
        take: ContactId,
        /// The other one.
        other: ContactId,
    },
}

/// An alias to add to a contact that lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The alias.
    pub alias: Alias,
    /// The ended life it still names.
    pub stale: Option<ContactId>,
}

/// Decides whose event it is, from what ONE snapshot says of all its aliases.
///
/// `taken` are the contact ids that a creation was refused for because their state exists. `None` where there is no
/// alias to go by.
#[must_use]
pub fn decide(
    agent: &AgentId,
    known: &[Known],
    sent_at: Timestamp,
    taken: &[ContactId],
    hasher: &Hasher,
) -> Option<Decision> {
    let ended = |contact: &ContactId| life_has_ended(agent, contact, known, hasher);
    let erased_since = |known: &Known| known.ended.as_ref().is_some_and(|e| e.at >= sent_at);
    if known.iter().any(erased_since) {
        return Some(Decision::Late);
    }
    let ordered = phone_first(known);
    let mut living = ordered
        .iter()
        .filter_map(|known| known.contact.as_ref())
        .filter(|contact| !ended(contact));
    let Some(contact) = living.next() else {
        return create(agent, &ordered, taken, hasher);
    };
    if let Some(other) = living.find(|other| *other != contact) {
        return Some(Decision::Conflict {
            take: contact.clone(),
            other: other.clone(),
        });
    }
    let missing = |known: &&&Known| known.contact.as_ref().is_none_or(ended);
    let add = ordered.iter().filter(missing).map(|known| Addition {
        alias: known.alias.clone(),
        stale: known.contact.clone(),
    });
    Some(Decision::Known {
        contact: contact.clone(),
        add: add.collect(),
    })
}

/// The contacts that live among those `known` names, the phone's first, each once.
#[must_use]
pub fn living(agent: &AgentId, known: &[Known], hasher: &Hasher) -> Vec<ContactId> {
    let mut contacts: Vec<ContactId> = Vec::new();
    for contact in phone_first(known).iter().filter_map(|k| k.contact.as_ref()) {
        if !contacts.contains(contact) && !life_has_ended(agent, contact, known, hasher) {
            contacts.push(contact.clone());
        }
    }
    contacts
}

fn create(
    agent: &AgentId,
    known: &[&Known],
    taken: &[ContactId],
    hasher: &Hasher,
) -> Option<Decision> {
    let base = known.first()?.alias.as_str();
    let ended: Vec<&String> = known
        .iter()
        .filter_map(|known| known.ended.as_ref())
        .flat_map(|ended| &ended.lives)
        .collect();
    let contact = (1..=LIVES_MAX)
        .filter_map(|life| match life {
            1 => ContactId::parse(base).ok(),
            _ => ContactId::parse(format!("{base}~{life}")).ok(),
        })
        .find(|contact| {
            !taken.contains(contact) && !ended.contains(&&life(agent, contact, hasher))
        })?;
    let stale = known
        .iter()
        .filter_map(|known| Some((known.alias.clone(), known.contact.clone()?)));
    Some(Decision::Create {
        contact,
        aliases: known.iter().map(|known| known.alias.clone()).collect(),
        stale: stale.collect(),
    })
}

/// Any tombstone of the event will do: an erasure writes one for each alias, all in one transaction.
fn life_has_ended(agent: &AgentId, contact: &ContactId, known: &[Known], hasher: &Hasher) -> bool {
    let mut ended = known
        .iter()
        .filter_map(|known| known.ended.as_ref())
        .peekable();
    if ended.peek().is_none() {
        return false;
    }
    let life = life(agent, contact, hasher);
    ended.any(|ended| ended.lives.contains(&life))
}

fn life(agent: &AgentId, contact: &ContactId, hasher: &Hasher) -> String {
    hasher.life(&ConversationId {
        agent: agent.clone(),
        contact: contact.clone(),
    })
}

/// The phone goes first: it names the contact, and it takes a contested event.
fn phone_first(known: &[Known]) -> Vec<&Known> {
    let mut ordered: Vec<&Known> = known.iter().collect();
    ordered.sort_by_key(|known| matches!(known.alias, Alias::Bsuid(_)));
    ordered
}

#[cfg(test)]
mod tests;
