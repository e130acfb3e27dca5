//! Memory, compaction and the sweeper's view in the fake table.

use std::collections::BTreeMap;

use recado::domain::memory::Fold;
use recado::domain::{
    ConversationId, Exchange, Memory, PastMessage, ReplyId, ReplyKind, ReplyStatus, Timestamp,
};
use recado::error::StoreError;
use recado::ports::{Unrest, Written};

use super::table::Person;
use super::{Table, fits, run::readable};

impl Table {
    pub(super) fn load(&self, conversation: &ConversationId) -> Result<Memory, StoreError> {
        let Some(person) = self.people.get(conversation) else {
            return Ok(Memory::default());
        };
        let mut facts: Vec<_> = person.facts.values().cloned().collect();
        facts.sort_by_key(|fact| (fact.said_at, fact.id));
        Ok(Memory {
            summary: person.summary.clone(),
            facts,
            exchanges: exchanges(person)?,
            agenda: self.entries(conversation),
        })
    }

    pub(super) fn fold(
        &mut self,
        conversation: &ConversationId,
        fold: &Fold,
    ) -> Result<Written, StoreError> {
        let went = fold.messages.len() + fold.replies.len() + fold.calls.len();
        let touched = fold.facts.len() + went;
        fits("fold", touched + fold.retired.len() + 2)?;
        if !self.may_fold(conversation, fold) {
            return Ok(Written::Lost);
        }
        let person = self.person(conversation);
        person.summary = Some(fold.summary.clone());
        for id in &fold.retired {
            person.facts.remove(id);
        }
        for fact in &fold.facts {
            person.facts.insert(fact.id, fact.clone());
        }
        for id in &fold.messages {
            let stored = person.events.entry(id.clone());
            let stored = stored.or_insert_with(|| super::StoredEvent {
                event: None,
                answered_by: Some("unknown".to_owned()),
                turn: None,
                health: super::Health::Fine,
            });
            stored.event = None;
            stored.turn = None;
        }
        for id in &fold.replies {
            person.replies.remove(id);
        }
        for place in &fold.calls {
            person.calls.remove(place);
        }
        Ok(Written::Done)
    }

    fn may_fold(&self, conversation: &ConversationId, fold: &Fold) -> bool {
        let guards = self.guards;
        let nobody = Person::default();
        let person = self.people.get(conversation).unwrap_or(&nobody);
        if guards.state_on_creations && person.state.is_none() {
            return false;
        }
        let version = person.summary.as_ref().map(|summary| summary.version);
        if guards.summary_version && version != fold.from_version {
            return false;
        }
        let answered = fold.messages.iter().all(|id| match person.events.get(id) {
            None => !guards.exists_on_updates,
            Some(stored) => !guards.fold_at_rest_only || stored.answered_by.is_some(),
        });
        let at_rest = fold.replies.iter().all(|id| {
            let stored = person.replies.get(id);
            !guards.fold_at_rest_only
                || stored.is_none_or(|stored| stored.reply.status.is_at_rest())
        });
        answered && at_rest
    }

    pub(super) fn unrest(&self, before: Timestamp, limit: usize) -> Vec<Unrest> {
        let mut found: Vec<Unrest> = self
            .people
            .iter()
            .filter_map(|(conversation, person)| {
                let waiting = person.events.values();
                let waiting = waiting.filter(|stored| stored.answered_by.is_none());
                let waiting = waiting.filter_map(|stored| stored.event.as_ref());
                let arrived = waiting.map(|event| event.arrived_at);
                let leaving = person.replies.values();
                let leaving = leaving.filter(|stored| !stored.reply.status.is_at_rest());
                let since = arrived.chain(leaving.map(|stored| stored.since)).min()?;
                Some(Unrest {
                    conversation: conversation.clone(),
                    since,
                    erasure: false,
                })
            })
            .chain(self.readable_jobs().map(|job| Unrest {
                conversation: job.conversation.clone(),
                since: job.forgotten_at,
                erasure: true,
            }))
            .filter(|unrest| unrest.since < before)
            .collect();
        found.sort_by(|one, two| {
            let order = |unrest: &Unrest| (unrest.since, unrest.conversation.clone());
            order(one).cmp(&order(two))
        });
        found.truncate(limit);
        found
    }
}

/// The turns in order: answered messages and replies at rest.
fn exchanges(person: &Person) -> Result<Vec<Exchange>, StoreError> {
    let mut turns: BTreeMap<ReplyId, Exchange> = BTreeMap::new();
    let empty = |reply| Exchange {
        reply,
        messages: Vec::new(),
        calls: Vec::new(),
        answer: None,
        delivered: true,
        known_sent: false,
        kind: ReplyKind::Answer,
    };
    let mut answered: Vec<_> = person
        .events
        .values()
        .filter_map(|stored| Some((stored.turn?, stored)))
        .collect();
    answered.sort_by_key(|(turn, _)| *turn);
    for ((reply, _), stored) in answered {
        for event in readable(std::iter::once(stored))? {
            let past = PastMessage {
                sent_at: event.sent_at,
                text: event.text().unwrap_or_default().to_owned(),
                id: event.id,
            };
            let turn = turns.entry(reply).or_insert_with(|| empty(reply));
            turn.messages.push(past);
        }
    }
    for stored in person.replies.values() {
        let reply = &stored.reply;
        if reply.status.is_at_rest() {
            let turn = turns.entry(reply.id).or_insert_with(|| empty(reply.id));
            turn.answer = Some(reply.text.clone());
            turn.delivered = reply.status != ReplyStatus::Failed;
            turn.known_sent = reply.status == ReplyStatus::Sent;
            turn.kind = reply.kind;
        }
    }
    let past = person.calls.iter().filter(|(_, stored)| stored.in_history);
    for ((reply, _), stored) in past {
        let turn = turns.entry(*reply).or_insert_with(|| empty(*reply));
        turn.calls.push(stored.call.clone());
    }
    Ok(turns.into_values().collect())
}
