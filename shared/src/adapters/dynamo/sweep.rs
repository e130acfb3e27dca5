//! The sweeper's view: what is not at rest, oldest first, over all shards of the index `unrest`.

use std::collections::BTreeMap;

use super::DynamoStore;
use super::fields::Fields;
use super::keys::JOB;
use super::request::{Item, number, text};
use super::schema::{CONVERSATION, ITEM, SHARDS, UNREST, UNREST_SHARD, UNREST_SINCE};
use crate::domain::{ConversationId, Timestamp};
use crate::error::StoreError;
use crate::ports::Unrest;

/// Partition key and whether it is an erasure's, to the oldest moment found.
type Oldest = BTreeMap<(String, bool), Timestamp>;

impl DynamoStore {
    pub(super) async fn read_unrest(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<Unrest>, StoreError> {
        let mut found = Oldest::new();
        for shard in 0..SHARDS {
            self.read_shard(shard, before, limit, &mut found).await?;
        }
        let mut oldest: Vec<_> = found.into_iter().collect();
        oldest.sort_by(|(a, since_a), (b, since_b)| since_a.cmp(since_b).then(a.cmp(b)));
        let mut unrest = Vec::new();
        for ((partition, erasure), since) in oldest {
            if unrest.len() == limit {
                break;
            }
            let conversation = if erasure {
                self.conversation_of_job(&partition).await?
            } else {
                ConversationId::parse(&partition).ok()
            };
            let Some(conversation) = conversation else {
                tracing::warn!(
                    item.hash = self.hasher.hash("item", &partition),
                    "an entry of the index `unrest` leads nowhere and is set aside"
                );
                continue;
            };
            unrest.push(Unrest {
                conversation,
                since,
                erasure,
            });
        }
        Ok(unrest)
    }

    /// Adds the oldest conversations of one shard, at most `limit`.
    async fn read_shard(
        &self,
        shard: u8,
        before: Timestamp,
        limit: usize,
        found: &mut Oldest,
    ) -> Result<(), StoreError> {
        let call = self.call("look for unrest", "Query");
        let mut from: Option<Item> = None;
        let mut own = Oldest::new();
        loop {
            let request = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(UNREST)
                .key_condition_expression("#shard = :shard AND #since < :before")
                .expression_attribute_names("#shard", UNREST_SHARD)
                .expression_attribute_names("#since", UNREST_SINCE)
                .expression_attribute_values(":shard", text(shard))
                .expression_attribute_values(":before", number(before))
                .limit(i32::try_from(limit.clamp(1, 1000)).unwrap_or(1000))
                .set_exclusive_start_key(from);
            let page = self.ask(call, || request.clone().send()).await?;
            for item in page.items.unwrap_or_default() {
                let read = |field: &str| item.get(field).and_then(|value| value.as_s().ok());
                let since = item.get(UNREST_SINCE).and_then(|value| value.as_n().ok());
                let since = since.and_then(|digits| digits.parse().ok());
                let (Some(partition), Some(key), Some(since)) =
                    (read(CONVERSATION), read(ITEM), since)
                else {
                    continue;
                };
                own.entry((partition.clone(), key == JOB))
                    .or_insert(Timestamp::from_ms(since));
            }
            from = page.last_evaluated_key.filter(|key| !key.is_empty());
            if from.is_none() || own.len() >= limit {
                found.extend(own);
                return Ok(());
            }
        }
    }

    /// A job's key holds a hash only; the job itself says whose it is. Gone by now: the erasure has ended. One that cannot be
    /// read, or not by this program, waits for the program that can: it must not keep the others from being found.
    async fn conversation_of_job(
        &self,
        partition: &str,
    ) -> Result<Option<ConversationId>, StoreError> {
        let key = super::request::key(partition, JOB);
        let Some(job) = self.get("look for unrest", key).await? else {
            return Ok(None);
        };
        let erases = Fields::open("job", &job)
            .and_then(|fields| fields.parsed("erases", ConversationId::parse));
        Ok(erases
            .inspect_err(|error| tracing::warn!(%error, "an erasure's job cannot be read"))
            .ok())
    }
}
