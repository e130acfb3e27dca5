//! Forgetting, in steps that a crash can repeat: tombstones, job and state at once; then aliases and items; then the job.

use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, WriteRequest};

use super::DynamoStore;
use super::fault::plain;
use super::fields::{Build, Fields};
use super::identity::alias_key;
use super::items::{key_of, shard};
use super::keys::{ItemKey, JOB, erasure_partition, spend_partition};
use super::request::{Answer, Item, Statement, TRANSACTION_MAX, key, number, text, texts};
use super::schema::{CONVERSATION, FORMAT_VERSION, ITEM, UNREST_SHARD, UNREST_SINCE};
use crate::domain::{Alias, ConversationId};
use crate::error::StoreError;
use crate::ports::{Erasure, Written};

const THIRTY_DAYS: u64 = 30 * 24 * 60 * 60;
/// Tombstones beside state, job and the one of the alias that the life began under.
const ALIASES_AT_ONCE: usize = TRANSACTION_MAX - 3;
/// Items one batch of deletes holds.
const BATCH_MAX: usize = 25;

impl DynamoStore {
    pub(super) async fn begin(
        &self,
        erasure: &Erasure,
        expected: u64,
    ) -> Result<Written, StoreError> {
        let state = Statement::delete(key_of(&erasure.conversation, &ItemKey::State))
            .when("#version = :expected")
            .with(":expected", number(expected));
        let mut statements = vec![state, Statement::put(self.encode_job(erasure))];
        // One transaction holds them all, but for lists of before there was a limit. What does not fit goes first: after a
        // crash its aliases count as missing, and the next try finds state and list as they were.
        let first = erasure.aliases.len().saturating_sub(ALIASES_AT_ONCE);
        let (before, with_it) = erasure.aliases.split_at(first);
        for some in before.chunks(TRANSACTION_MAX) {
            let buried = some.iter().map(|alias| self.bury(erasure, alias));
            self.transact("begin an erasure", buried.collect(), None)
                .await?;
        }
        for alias in with_it {
            statements.push(self.bury(erasure, alias));
        }
        let once_ours = erasure.conversation.contact.named_after();
        let once_ours = once_ours.filter(|alias| !erasure.aliases.contains(alias));
        statements.extend(once_ours.map(|alias| self.note_life(erasure, &alias)));
        match self.transact("begin an erasure", statements, None).await? {
            Written::Done => Ok(Written::Done),
            // An earlier try whose answer was lost has left this very job.
            Written::Lost => Ok(match self.find_erasure(&erasure.conversation).await? {
                Some(found) if found == *erasure => Written::Done,
                _ => Written::Lost,
            }),
        }
    }

    /// The alias's tombstone: hashes and a moment, nothing a person could be known by.
    fn bury(&self, erasure: &Erasure, alias: &Alias) -> Statement {
        let conversation = &erasure.conversation;
        let life = self.hasher.life(conversation);
        Statement::update(
            self.tombstone_key(&conversation.agent, alias),
            "SET #v = :v, #forgotten_at = :at, #expires_at = :expires_at ADD #lives :life",
        )
        .with(":v", number(FORMAT_VERSION))
        .with(":at", number(erasure.forgotten_at))
        .with(
            ":expires_at",
            number(erasure.forgotten_at.seconds() + THIRTY_DAYS),
        )
        .with(":life", AttributeValue::Ss(vec![life]))
    }

    /// An alias that somebody else has by now: the life that began under it is not lived again, and no message is refused.
    fn note_life(&self, erasure: &Erasure, alias: &Alias) -> Statement {
        let conversation = &erasure.conversation;
        Statement::update(
            self.tombstone_key(&conversation.agent, alias),
            "SET #v = :v, #forgotten_at = if_not_exists(#forgotten_at, :never), \
             #expires_at = :expires_at ADD #lives :life",
        )
        .with(":v", number(FORMAT_VERSION))
        .with(":never", number(0))
        .with(
            ":expires_at",
            number(erasure.forgotten_at.seconds() + THIRTY_DAYS),
        )
        .with(
            ":life",
            AttributeValue::Ss(vec![self.hasher.life(conversation)]),
        )
    }

    fn encode_job(&self, erasure: &Erasure) -> Item {
        let conversation = &erasure.conversation;
        let partition = erasure_partition(&self.hasher, conversation);
        Build::new(key(&partition, JOB))
            .text("erases", conversation.key())
            .set("aliases", texts(erasure.aliases.iter().map(Alias::as_str)))
            .number("forgotten_at", erasure.forgotten_at)
            .text(UNREST_SHARD, shard(&self.hasher, &partition))
            .number(UNREST_SINCE, erasure.forgotten_at)
            .done()
    }

    pub(super) async fn find_erasure(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<Erasure>, StoreError> {
        let partition = erasure_partition(&self.hasher, conversation);
        let Some(job) = self.get("find an erasure", key(partition, JOB)).await? else {
            return Ok(None);
        };
        let fields = Fields::open("job", &job)?;
        Ok(Some(Erasure {
            conversation: fields.parsed("erases", ConversationId::parse)?,
            aliases: fields.parsed_list("aliases", Alias::parse)?,
            forgotten_at: fields.time("forgotten_at")?,
        }))
    }

    pub(super) async fn erase_life(&self, erasure: &Erasure) -> Result<u64, StoreError> {
        let conversation = &erasure.conversation;
        let mut gone = 0;
        for alias in &erasure.aliases {
            let delete = Statement::delete(alias_key(&conversation.agent, alias))
                .when("#contact = :ended")
                .with(":ended", text(&conversation.contact));
            if let Answer::Given(()) = self.write("erase an alias", delete).await? {
                gone += 1;
            }
        }
        let spend = spend_partition(&self.hasher, conversation);
        for partition in [conversation.key(), spend] {
            gone += self.erase_under(&partition).await?;
        }
        Ok(gone)
    }

    /// Everything under a partition key goes.
    async fn erase_under(&self, partition: &str) -> Result<u64, StoreError> {
        let (mut gone, mut from) = (0, None);
        loop {
            let (keys, next) = self.keys_under(partition, from).await?;
            for batch in keys.chunks(BATCH_MAX) {
                self.delete_all(batch).await?;
            }
            gone += u64::try_from(keys.len()).unwrap_or(u64::MAX);
            from = next;
            if from.is_none() {
                return Ok(gone);
            }
        }
    }

    pub(super) async fn end(&self, erasure: &Erasure) -> Result<(), StoreError> {
        let partition = erasure_partition(&self.hasher, &erasure.conversation);
        let delete = Statement::delete(key(partition, JOB));
        self.write("end an erasure", delete).await.map(drop)
    }

    /// The keys of everything under a partition key, live or not, as it is now.
    async fn keys_under(
        &self,
        partition: &str,
        from: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>), StoreError> {
        let request = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("#conversation = :conversation")
            .projection_expression("#conversation, #item")
            .expression_attribute_names("#conversation", CONVERSATION)
            .expression_attribute_names("#item", ITEM)
            .expression_attribute_values(":conversation", text(partition))
            .set_exclusive_start_key(from);
        let call = self.call("erase", "Query");
        let page = self.ask(call, || request.clone().send()).await?;
        let next = page.last_evaluated_key.filter(|key| !key.is_empty());
        Ok((page.items.unwrap_or_default(), next))
    }

    async fn delete_all(&self, keys: &[Item]) -> Result<(), StoreError> {
        let call = self.call("erase", "BatchWriteItem");
        let mut left = keys
            .iter()
            .map(|key| {
                let delete = DeleteRequest::builder()
                    .set_key(Some(key.clone()))
                    .build()
                    .map_err(|_| call.unavailable(plain("the batch could not be built")))?;
                Ok(WriteRequest::builder().delete_request(delete).build())
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        let mut wait = std::time::Duration::from_millis(20);
        for _ in 0..8 {
            let request = self
                .client
                .batch_write_item()
                .request_items(&self.table, left);
            let answer = self.ask(call, || request.clone().send()).await?;
            left = answer
                .unprocessed_items
                .and_then(|mut tables| tables.remove(&self.table))
                .unwrap_or_default();
            if left.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        Err(call.unavailable(plain("the table is too busy to delete everything now")))
    }
}
