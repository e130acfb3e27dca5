//! Forgetting in the fake table.

use recado::domain::{ConversationId, Timestamp};
use recado::ports::{Erasure, Written};

use super::Table;
use super::table::Tombstone;

impl Table {
    pub(super) fn begin_erasure(&mut self, erasure: &Erasure, expected: u64) -> Written {
        let conversation = &erasure.conversation;
        let version = self.state(conversation).map(|state| state.version);
        if self.guards.erasure_by_version && version != Some(expected) {
            return match self.erasure(conversation) {
                Some(found) if found == *erasure => Written::Done,
                _ => Written::Lost,
            };
        }
        let agent = &conversation.agent;
        let life = self.hasher.life(conversation);
        for alias in &erasure.aliases {
            let key = (agent.clone(), self.hasher.alias(agent, alias));
            let tombstone = self.tombstones.entry(key).or_insert_with(|| Tombstone {
                forgotten_at: erasure.forgotten_at,
                lives: std::collections::BTreeSet::new(),
            });
            tombstone.forgotten_at = erasure.forgotten_at;
            tombstone.lives.insert(life.clone());
        }
        let once_ours = conversation.contact.named_after();
        let once_ours = once_ours.filter(|alias| !erasure.aliases.contains(alias));
        if let Some(alias) = once_ours.filter(|_| self.guards.life_under_its_first_alias) {
            let key = (agent.clone(), self.hasher.alias(agent, &alias));
            let tombstone = self.tombstones.entry(key).or_insert_with(|| Tombstone {
                forgotten_at: Timestamp::default(),
                lives: std::collections::BTreeSet::new(),
            });
            tombstone.lives.insert(life.clone());
        }
        self.jobs.insert((agent.clone(), life), erasure.clone());
        self.person(conversation).state = None;
        Written::Done
    }

    pub(super) fn erasure(&self, conversation: &ConversationId) -> Option<Erasure> {
        let key = (conversation.agent.clone(), self.hasher.life(conversation));
        self.jobs.get(&key).cloned()
    }

    /// Whether this person's erasure is under way and its job cannot be read.
    pub(super) fn job_is_damaged(&self, conversation: &ConversationId) -> bool {
        let key = (conversation.agent.clone(), self.hasher.life(conversation));
        self.damaged_jobs.contains(&key)
    }

    /// Erasures under way whose jobs can be read.
    pub(super) fn readable_jobs(&self) -> impl Iterator<Item = &Erasure> {
        let jobs = self.jobs.iter();
        let readable = jobs.filter(|(key, _)| !self.damaged_jobs.contains(*key));
        readable.map(|(_, job)| job)
    }

    pub(super) fn erase(&mut self, erasure: &Erasure) -> u64 {
        let conversation = &erasure.conversation;
        let mut gone = 0;
        for alias in &erasure.aliases {
            let key = (conversation.agent.clone(), alias.clone());
            let named = self.aliases.get(&key);
            let ours = named.is_some_and(|named| {
                !self.guards.aliases_of_ended_life_only || *named == conversation.contact
            });
            if ours {
                self.aliases.remove(&key);
                gone += 1;
            }
        }
        let person = self.people.remove(conversation).unwrap_or_default();
        gone + person.items() as u64 + self.erase_spend(conversation)
    }

    pub(super) fn end_erasure(&mut self, erasure: &Erasure) {
        let conversation = &erasure.conversation;
        let key = (conversation.agent.clone(), self.hasher.life(conversation));
        self.jobs.remove(&key);
    }
}
