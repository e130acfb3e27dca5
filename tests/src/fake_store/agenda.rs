//! The agenda in the fake table.

use async_trait::async_trait;
use recado::domain::{ConversationId, Entry};
use recado::error::StoreError;
use recado::ports::{Agenda, Written};

use super::{FakeStore, Table};

impl Table {
    pub(super) fn entries(&self, of: &ConversationId) -> Vec<Entry> {
        let person = self.people.get(of);
        let entries = person.into_iter().flat_map(|person| person.agenda.values());
        let mut entries: Vec<Entry> = entries.cloned().collect();
        entries.sort_by(|one, two| {
            let order = |entry: &Entry| (entry.made_at, entry.id.clone());
            order(one).cmp(&order(two))
        });
        entries
    }

    fn write_entry(&mut self, of: &ConversationId, entry: &Entry) -> Written {
        let Some(person) = self.people.get_mut(of) else {
            return Written::Lost;
        };
        let found = person.agenda.get(&entry.id);
        if found == Some(entry) {
            return Written::Done;
        }
        let before = found.map_or(0, |found| found.version);
        if person.state.is_none() || before + 1 != entry.version {
            return Written::Lost;
        }
        person.agenda.insert(entry.id.clone(), entry.clone());
        Written::Done
    }
}

#[async_trait]
impl Agenda for FakeStore {
    async fn entries(&self, of: &ConversationId) -> Result<Vec<Entry>, StoreError> {
        self.perform("entries", |table| Ok(table.entries(of))).await
    }

    async fn write(&self, of: &ConversationId, entry: &Entry) -> Result<Written, StoreError> {
        self.perform("write_entry", |table| Ok(table.write_entry(of, entry)))
            .await
    }
}
