//! The ledger: counters that are only ever added to. Its rows hold numbers, and a keyed hash in place of a conversation.
//!
//! An agent's day is spread over shards, so that no row is hot; a conversation's rows go after a while by themselves.

use async_trait::async_trait;
use jiff::civil::Date;

use super::DynamoStore;
use super::fields::Fields;
use super::items::key_of;
use super::keys::{DayKey, ItemKey, SpendKey, ledger_partition, spend_partition};
use super::request::{Item, Statement, key, number, text};
use super::schema::{CONVERSATION, FORMAT_VERSION, ITEM};
use crate::domain::{AgentId, Booking, ChargeKind, ConversationId, Counters, Line};
use crate::error::StoreError;
use crate::ports::{Ledger, Written};

/// A conversation's costs are kept for a year and a bit, in seconds.
const KEPT: u64 = 400 * 24 * 60 * 60;

#[async_trait]
impl Ledger for DynamoStore {
    async fn book(&self, booking: &Booking) -> Result<(), StoreError> {
        let mut both = self.day_rows(booking);
        both.extend(self.spend_rows(booking));
        if self.book_as("booking", booking, both).await? == Written::Lost {
            // The person was forgotten meanwhile: the money is spent all the same, and nothing says on whom.
            let day = self.day_rows(booking);
            self.book_as("booking of nobody", booking, day).await?;
        }
        Ok(())
    }

    async fn of_day(&self, agent: &AgentId, day: Date) -> Result<Vec<Line>, StoreError> {
        let items = self.rows(ledger_partition(agent, day)).await?;
        let mut lines: Vec<Line> = Vec::new();
        for item in &items {
            let fields = Fields::open("ledger line", item)?;
            let key = fields.parsed(ITEM, DayKey::decode)?;
            let counters = fields.counters()?;
            let (model, kind) = (key.model, key.kind);
            let same = |line: &&mut Line| line.model == model && line.kind == kind;
            match lines.iter_mut().find(same) {
                Some(line) => line.counters = line.counters.plus(&counters),
                None => lines.push(Line {
                    day,
                    model,
                    kind,
                    counters,
                }),
            }
        }
        let by = |line: &Line| (line.model.clone(), line.kind);
        lines.sort_by_key(by);
        Ok(lines)
    }

    async fn of_conversation(&self, of: &ConversationId) -> Result<Vec<Line>, StoreError> {
        let items = self.rows(spend_partition(&self.hasher, of)).await?;
        let line = |item: &Item| {
            let fields = Fields::open("ledger line", item)?;
            let SpendKey { day, model, kind } = fields.parsed(ITEM, SpendKey::decode)?;
            Ok(Line {
                day,
                model,
                kind,
                counters: fields.counters()?,
            })
        };
        let mut lines = items.iter().map(line).collect::<Result<Vec<_>, _>>()?;
        let by = |line: &Line| (line.day, line.model.clone(), line.kind);
        lines.sort_by_key(by);
        Ok(lines)
    }
}

impl DynamoStore {
    /// What is added to the agent's day.
    fn day_rows(&self, booking: &Booking) -> Vec<Statement> {
        // Spread by the run: its id's end is chance.
        let shard = self.hasher.hash("ledger", &booking.run.to_string());
        let shard = shard.chars().next().and_then(|first| first.to_digit(16));
        let shard = shard.unwrap_or_default() & 7;
        let ledger = ledger_partition(&booking.conversation.agent, booking.day);
        let row = |((model, kind), counters): ((String, ChargeKind), Counters)| {
            let line = DayKey { shard, model, kind };
            add(key(&ledger, line.encode()), &counters, None)
        };
        booking.lines().into_iter().map(row).collect()
    }

    /// What is added to the person's own rows, which they must still be there for.
    fn spend_rows(&self, booking: &Booking) -> Vec<Statement> {
        let (of, day) = (&booking.conversation, booking.day);
        let spend = spend_partition(&self.hasher, of);
        let until = booking.began_at.seconds() + KEPT;
        let lives = Statement::check(key_of(of, &ItemKey::State)).when("attribute_exists(#item)");
        let row = |((model, kind), counters): ((String, ChargeKind), Counters)| {
            let line = SpendKey { day, model, kind };
            add(key(&spend, line.encode()), &counters, Some(until))
        };
        let rows = booking.lines().into_iter().map(row);
        std::iter::once(lives).chain(rows).collect()
    }

    /// One transaction, under a token of its own: a repeat within ten minutes adds nothing.
    async fn book_as(
        &self,
        name: &str,
        booking: &Booking,
        statements: Vec<Statement>,
    ) -> Result<Written, StoreError> {
        let run = format!("{}#{}", self.table, booking.run);
        let token = self.hasher.hash(name, &run);
        self.transact("book", statements, Some(token)).await
    }
}

/// Adds what was counted to a row; makes it where it is not there.
fn add(row: Item, counters: &Counters, expires_at: Option<u64>) -> Statement {
    let counted = || {
        counters
            .fields()
            .into_iter()
            .filter(|(_, count)| *count > 0)
    };
    let adds: Vec<String> = counted()
        .map(|(name, _)| format!("#{name} :{name}"))
        .collect();
    let expires = expires_at.map_or("", |_| ", #expires_at = :expires_at");
    let change = format!("SET #v = :v{expires} ADD {}", adds.join(", "));
    let mut statement = Statement::update(row, change).with(":v", number(FORMAT_VERSION));
    for (name, count) in counted() {
        statement = statement.with(&format!(":{name}"), number(count));
    }
    match expires_at {
        Some(at) => statement.with(":expires_at", number(at)),
        None => statement,
    }
}

impl DynamoStore {
    /// Everything under a partition key, as it is now.
    pub(super) async fn rows(&self, partition: String) -> Result<Vec<Item>, StoreError> {
        let (mut rows, mut from) = (Vec::new(), None);
        loop {
            let request = self
                .client
                .query()
                .table_name(&self.table)
                .consistent_read(true)
                .key_condition_expression("#conversation = :conversation")
                .expression_attribute_names("#conversation", CONVERSATION)
                .expression_attribute_values(":conversation", text(&partition))
                .set_exclusive_start_key(from);
            let call = self.call("read the ledger", "Query");
            let page = self.ask(call, || request.clone().send()).await?;
            rows.extend(page.items.unwrap_or_default());
            from = page.last_evaluated_key.filter(|key| !key.is_empty());
            if from.is_none() {
                return Ok(rows);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_ledger_reads_back_whatever_a_model_is_called() {
        let day = jiff::civil::date(2026, 11, 30);
        for model in ["gpt-5-mini", "anthropic/claude#x", "#", "", "modelo é"] {
            for kind in ChargeKind::ALL {
                let model = model.to_owned();
                let line = DayKey {
                    shard: 7,
                    model: model.clone(),
                    kind,
                };
                assert_eq!(DayKey::decode(&line.encode()), Ok(line));
                let line = SpendKey { day, model, kind };
                assert_eq!(SpendKey::decode(&line.encode()), Ok(line));
            }
        }
        for odd in [
            "",
            "1",
            "1#x",
            "9x#m#answer",
            "1#m#other",
            "2026-13-01#m#answer",
        ] {
            assert!(
                DayKey::decode(odd).is_err() || odd.starts_with("2026"),
                "{odd}"
            );
            assert!(SpendKey::decode(odd).is_err(), "{odd}");
        }
    }
}
