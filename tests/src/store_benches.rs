//! The tables the contract is run against: the fake, the embedded DynamoDB, and any endpoint of its protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;
use recado::adapters::dynamo::{DynamoStore, schema};
use recado::domain::{ConversationId, Hasher, MessageId};
use recado::ports::{Agenda, Breakers, Ledger, Store};
use recado_cli::dynamo::{Data, Dynamo};

use crate::fake_store::{FakeStore, Guards, Health};
use crate::store_contract::{Bench, Damage};
use crate::store_mutants::Mutator;

/// The hasher of every test.
pub fn hasher() -> Arc<Hasher> {
    Arc::new(Hasher::new(b"a key for tests, 32 bytes long .."))
}

/// The fake table.
pub struct FakeBench {
    store: FakeStore,
    hasher: Arc<Hasher>,
}

impl FakeBench {
    /// An empty one with these guards.
    pub fn with_guards(guards: Guards) -> Self {
        let hasher = hasher();
        Self {
            store: FakeStore::new(Arc::clone(&hasher)).with_guards(guards),
            hasher,
        }
    }
}

#[async_trait]
impl Bench for FakeBench {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn agenda(&self) -> &dyn Agenda {
        &self.store
    }

    fn ledger(&self) -> &dyn Ledger {
        &self.store
    }

    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    async fn dump(&self) -> String {
        self.store.look().dump()
    }

    async fn damage(&self, conversation: &ConversationId, event: &MessageId, damage: Damage) {
        self.store.touch(|table| {
            let person = table.people.get_mut(conversation).expect("a person");
            let stored = person.events.get_mut(event).expect("a message");
            stored.health = match damage {
                Damage::Future => Health::Future,
                Damage::Broken => Health::Broken,
            };
        });
    }

    async fn damage_job(&self, conversation: &ConversationId, _damage: Damage) {
        let key = (conversation.agent.clone(), self.hasher.life(conversation));
        self.store.touch(|table| table.damaged_jobs.insert(key));
    }
}

/// A table behind DynamoDB's protocol.
pub struct DynamoBench {
    store: DynamoStore,
    client: Client,
    table: String,
    hasher: Arc<Hasher>,
    /// Serves as long as the bench lives.
    _embedded: Option<Dynamo>,
}

impl DynamoBench {
    /// An empty table in an embedded DynamoDB of its own.
    pub async fn embedded() -> Self {
        Self::mutated(Mutator::default()).await
    }

    /// The same, with requests that pass through the mutator.
    pub async fn mutated(mutator: Mutator) -> Self {
        let loopback = ([127, 0, 0, 1], 0).into();
        let dynamo = Dynamo::start(&Data::Memory, loopback).expect("the embedded DynamoDB");
        let url = dynamo.url().to_owned();
        Self {
            _embedded: Some(dynamo),
            ..Self::at(&url, "recado", mutator).await
        }
    }

    /// The table of this name behind `url`, made if it is not there.
    pub async fn at(url: &str, table: &str, mutator: Mutator) -> Self {
        let client = client(url, mutator);
        schema::create_table(&client, table).await.expect("a table");
        let hasher = hasher();
        Self {
            store: DynamoStore::new(client.clone(), table, Arc::clone(&hasher)),
            client,
            table: table.to_owned(),
            hasher,
            _embedded: None,
        }
    }

    /// The breakers in it.
    pub fn breakers(&self) -> &dyn Breakers {
        &self.store
    }

    /// Every item, attributes in order.
    pub async fn items(&self) -> Vec<BTreeMap<String, AttributeValue>> {
        let mut items = Vec::new();
        let mut from = None;
        loop {
            let scan = self.client.scan().table_name(&self.table);
            let scan = scan.consistent_read(true).set_exclusive_start_key(from);
            let page = scan.send().await.expect("scan");
            let sorted = page.items.unwrap_or_default().into_iter();
            items.extend(sorted.map(BTreeMap::from_iter));
            from = page.last_evaluated_key.filter(|key| !key.is_empty());
            if from.is_none() {
                return items;
            }
        }
    }
}

/// A client of an endpoint that takes any credentials.
fn client(url: &str, mutator: Mutator) -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(url)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .interceptor(mutator)
        .build();
    Client::from_conf(config)
}

#[async_trait]
impl Bench for DynamoBench {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn agenda(&self) -> &dyn Agenda {
        &self.store
    }

    fn ledger(&self) -> &dyn Ledger {
        &self.store
    }

    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    async fn dump(&self) -> String {
        let items = self.items().await;
        let mut lines: Vec<_> = items.iter().map(|item| format!("{item:?}")).collect();
        lines.sort();
        lines.join("\n")
    }

    async fn damage(&self, conversation: &ConversationId, event: &MessageId, damage: Damage) {
        let key = (conversation.key(), format!("event#{event}"));
        let broken = ("sent_at", AttributeValue::S("at noon".to_owned()));
        self.spoil(key, damage, broken).await;
    }

    async fn damage_job(&self, conversation: &ConversationId, damage: Damage) {
        let (agent, life) = (&conversation.agent, self.hasher.life(conversation));
        let key = (format!("{agent}#erasure#{life}"), "job".to_owned());
        // Of this program's version again, after what a newer one left.
        self.spoil(
            key.clone(),
            damage,
            ("v", AttributeValue::N("1".to_owned())),
        )
        .await;
        let nobody = ("erases", AttributeValue::S("nobody".to_owned()));
        self.spoil(key, damage, nobody).await;
    }
}

impl DynamoBench {
    /// Gives an item a future version, or this value in one field.
    async fn spoil(
        &self,
        (partition, item): (String, String),
        damage: Damage,
        broken: (&str, AttributeValue),
    ) {
        let (field, value) = match damage {
            Damage::Future => ("v", AttributeValue::N("2".to_owned())),
            Damage::Broken => broken,
        };
        let update = self.client.update_item().table_name(&self.table);
        update
            .key("conversation", AttributeValue::S(partition))
            .key("item", AttributeValue::S(item))
            .update_expression("SET #field = :value")
            .expression_attribute_names("#field", field)
            .expression_attribute_values(":value", value)
            .send()
            .await
            .expect("damage");
    }
}
