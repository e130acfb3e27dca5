//! The ledger in the fake table.

use async_trait::async_trait;
use jiff::civil::Date;
use recado::domain::{AgentId, Booking, ChargeKind, ConversationId, Counters, Line};
use recado::error::StoreError;
use recado::ports::Ledger;

use super::{FakeStore, Table};

impl Table {
    fn spend_hash(&self, of: &ConversationId) -> String {
        self.hasher.hash("spend", &of.key())
    }

    /// Adds it, or nothing where it was added before: the token of the real request. Yields whether it did.
    pub fn book(&mut self, booking: &Booking) -> bool {
        if !self.booked.insert(booking.run) {
            return false;
        }
        let (of, day) = (&booking.conversation, booking.day);
        let (agent, hash) = (of.agent.clone(), self.spend_hash(of));
        let lives = self.state(of).is_some() || !self.guards.spend_of_the_living_only;
        for ((model, kind), counters) in booking.lines() {
            let place = ((agent.clone(), day), model.clone(), kind);
            let row = self.ledger.entry(place).or_default();
            *row = row.plus(&counters);
            if lives {
                let place = ((agent.clone(), hash.clone(), day), model, kind);
                let row = self.spend.entry(place).or_default();
                *row = row.plus(&counters);
            }
        }
        true
    }

    /// What this conversation has cost is gone. Yields how many rows that were.
    pub(super) fn erase_spend(&mut self, of: &ConversationId) -> u64 {
        let hash = self.spend_hash(of);
        let before = self.spend.len();
        self.spend
            .retain(|((agent, one, _), _, _), _| (agent, one) != (&of.agent, &hash));
        (before - self.spend.len()) as u64
    }

    /// What this conversation has cost, by day, model and kind.
    pub fn spend_of(&self, of: &ConversationId) -> Vec<Line> {
        let hash = self.spend_hash(of);
        let rows = self.spend.iter();
        let ours = rows.filter(|(((agent, one, _), _, _), _)| (agent, one) == (&of.agent, &hash));
        ours.map(|(((_, _, day), model, kind), counters)| line(*day, model, *kind, *counters))
            .collect()
    }

    fn of_day(&self, agent: &AgentId, day: Date) -> Vec<Line> {
        let rows = self.ledger.iter();
        let ours = rows.filter(|((place, _, _), _)| (&place.0, place.1) == (agent, day));
        ours.map(|((_, model, kind), counters)| line(day, model, *kind, *counters))
            .collect()
    }
}

fn line(day: Date, model: &str, kind: ChargeKind, counters: Counters) -> Line {
    Line {
        day,
        model: model.to_owned(),
        kind,
        counters,
    }
}

#[async_trait]
impl Ledger for FakeStore {
    async fn book(&self, booking: &Booking) -> Result<(), StoreError> {
        let book = |table: &mut Table| {
            table.book(booking);
            Ok(())
        };
        self.perform("book", book).await
    }

    async fn of_day(&self, agent: &AgentId, day: Date) -> Result<Vec<Line>, StoreError> {
        self.perform("of_day", |table| Ok(table.of_day(agent, day)))
            .await
    }

    async fn of_conversation(&self, of: &ConversationId) -> Result<Vec<Line>, StoreError> {
        self.perform("of_conversation", |table| Ok(table.spend_of(of)))
            .await
    }
}
