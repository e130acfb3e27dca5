//! Aliases, tombstones and the creation of contacts in the fake table.

use recado::domain::{AgentId, Alias, ContactId, ConversationId, State, Timestamp};
use recado::ports::{AliasAddition, Creation, Ended, Known, Written};

use super::Table;

impl Table {
    pub(super) fn resolve(&self, agent: &AgentId, aliases: &[Alias]) -> Vec<Known> {
        let known = |alias: &Alias| {
            let hash = self.hasher.alias(agent, alias);
            let tombstone = self.tombstones.get(&(agent.clone(), hash));
            Known {
                alias: alias.clone(),
                contact: self.aliases.get(&(agent.clone(), alias.clone())).cloned(),
                ended: tombstone.map(|tombstone| Ended {
                    at: tombstone.forgotten_at,
                    lives: tombstone.lives.iter().cloned().collect(),
                }),
            }
        };
        aliases.iter().map(known).collect()
    }

    pub(super) fn create_contact(&mut self, creation: &Creation) -> Written {
        let conversation = &creation.conversation;
        if self.guards.one_life_per_contact && self.state(conversation).is_some() {
            return Written::Lost;
        }
        for alias in &creation.state.aliases {
            let stale = creation.stale.iter().find(|(stale, _)| stale == alias);
            let stale = stale.map(|(_, life)| life);
            if !self.is_free(conversation, alias, stale)
                || self.is_erased(conversation, alias, creation.event_sent_at)
            {
                return Written::Lost;
            }
        }
        for alias in &creation.state.aliases {
            self.name(conversation, alias);
        }
        self.person(conversation).state = Some(creation.state.clone());
        Written::Done
    }

    pub(super) fn add_alias(&mut self, addition: &AliasAddition) -> Written {
        let AliasAddition {
            conversation,
            alias,
            stale,
            event_sent_at,
        } = addition;
        if self.guards.exists_on_updates && self.state(conversation).is_none() {
            return Written::Lost;
        }
        if !self.is_free(conversation, alias, stale.as_ref())
            || self.is_erased(conversation, alias, *event_sent_at)
        {
            return Written::Lost;
        }
        let listed = self
            .state(conversation)
            .map_or(0, |state| state.aliases.len());
        if self.guards.aliases_are_few && listed >= State::ALIASES_MAX {
            return Written::Lost;
        }
        self.name(conversation, alias);
        if self.guards.alias_list_in_state {
            let state = &mut self.person(conversation).state;
            let state = state.get_or_insert_with(|| State::new(Vec::new(), *event_sent_at));
            state.aliases.push(alias.clone());
            state.version += 1;
        }
        Written::Done
    }

    pub(super) fn note_meeting(
        &mut self,
        conversation: &ConversationId,
        other: &ContactId,
    ) -> Written {
        if self.guards.exists_on_updates && self.state(conversation).is_none() {
            return Written::Lost;
        }
        let state = &mut self.person(conversation).state;
        let state = state.get_or_insert_with(|| State::new(Vec::new(), Timestamp::default()));
        if state.met.contains(other) || state.met.len() >= State::MET_MAX {
            return Written::Lost;
        }
        state.met.push(other.clone());
        state.version += 1;
        Written::Done
    }

    fn name(&mut self, conversation: &ConversationId, alias: &Alias) {
        let key = (conversation.agent.clone(), alias.clone());
        self.aliases.insert(key, conversation.contact.clone());
    }

    fn is_free(
        &self,
        conversation: &ConversationId,
        alias: &Alias,
        stale: Option<&ContactId>,
    ) -> bool {
        let key = (conversation.agent.clone(), alias.clone());
        !self.guards.alias_is_free
            || self
                .aliases
                .get(&key)
                .is_none_or(|named| Some(named) == stale)
    }

    /// Whether the alias went through an erasure since the event was sent, or through one of this very life.
    fn is_erased(
        &self,
        conversation: &ConversationId,
        alias: &Alias,
        event_sent_at: Timestamp,
    ) -> bool {
        let hash = self.hasher.alias(&conversation.agent, alias);
        let Some(tombstone) = self.tombstones.get(&(conversation.agent.clone(), hash)) else {
            return false;
        };
        let life = self.hasher.life(conversation);
        let late = self.guards.tombstone_at_creation && tombstone.forgotten_at >= event_sent_at;
        let used = self.guards.one_life_per_contact && tombstone.lives.contains(&life);
        late || used
    }
}
