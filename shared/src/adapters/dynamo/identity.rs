//! Who a person is: aliases and tombstones in one snapshot, contacts created and extended in one transaction.
//!
//! A tombstone past its `expires_at` needs no special case: it refuses only messages sent before the erasure it
//! tells of, and those are late at any time.

use aws_sdk_dynamodb::types::{Get, TransactGetItem};

use super::DynamoStore;
use super::fault::plain;
use super::fields::{Build, Fields};
use super::items::key_of;
use super::keys::{ALIAS, ItemKey, TOMBSTONE, alias_partition, tombstone_partition};
use super::request::{Answer, Item, Statement, TRANSACTION_MAX, key, number, text, texts};
use super::state::encode_state;
use crate::domain::{AgentId, Alias, ContactId, ConversationId, State, Timestamp};
use crate::error::StoreError;
use crate::ports::{AliasAddition, Creation, Ended, Known, Written};

impl DynamoStore {
    pub(super) async fn resolve_aliases(
        &self,
        agent: &AgentId,
        aliases: &[Alias],
    ) -> Result<Vec<Known>, StoreError> {
        if aliases.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.call("resolve", "TransactGetItems");
        if aliases.len() * 2 > TRANSACTION_MAX {
            return Err(call.unavailable(plain("more aliases than one transaction reads")));
        }
        let mut reads = Vec::with_capacity(aliases.len() * 2);
        for alias in aliases {
            for key in [alias_key(agent, alias), self.tombstone_key(agent, alias)] {
                let get = Get::builder()
                    .table_name(&self.table)
                    .set_key(Some(key))
                    .build()
                    .map_err(|_| call.unavailable(plain("the transaction could not be built")))?;
                reads.push(TransactGetItem::builder().get(get).build());
            }
        }
        let request = self
            .client
            .transact_get_items()
            .set_transact_items(Some(reads));
        let mut items = self
            .ask(call, || request.clone().send())
            .await?
            .responses
            .unwrap_or_default()
            .into_iter();
        let mut next = || items.next().and_then(|response| response.item);
        aliases
            .iter()
            .map(|alias| {
                let (alias_item, tombstone) = (next(), next());
                Ok(Known {
                    alias: alias.clone(),
                    contact: alias_item.as_ref().map(decode_alias).transpose()?,
                    ended: tombstone.as_ref().map(decode_tombstone).transpose()?,
                })
            })
            .collect()
    }

    pub(super) async fn create(&self, creation: &Creation) -> Result<Written, StoreError> {
        let conversation = &creation.conversation;
        let state = encode_state(conversation, &creation.state);
        let mut statements = vec![Statement::put(state).when("attribute_not_exists(#item)")];
        for alias in &creation.state.aliases {
            let ended = creation.stale.iter().find(|(stale, _)| stale == alias);
            let ended = ended.map(|(_, life)| life);
            statements.push(name_alias(conversation, alias, ended));
            statements.push(self.not_erased(conversation, alias, creation.event_sent_at));
        }
        self.transact("create a contact", statements, None).await
    }

    pub(super) async fn extend(&self, addition: &AliasAddition) -> Result<Written, StoreError> {
        let conversation = &addition.conversation;
        let alias = &addition.alias;
        let list = Statement::update(
            key_of(conversation, &ItemKey::State),
            "SET #aliases = list_append(#aliases, :alias), #version = #version + :one",
        )
        // Nobody has no list, and what has no list has no size.
        .when("size(#aliases) < :most")
        .with(":alias", texts([alias.as_str()]))
        .with(":most", number(State::ALIASES_MAX))
        .with(":one", number(1));
        let statements = vec![
            list,
            name_alias(conversation, alias, addition.stale.as_ref()),
            self.not_erased(conversation, alias, addition.event_sent_at),
        ];
        self.transact("add an alias", statements, None).await
    }

    pub(super) async fn meet(
        &self,
        conversation: &ConversationId,
        other: &ContactId,
    ) -> Result<Written, StoreError> {
        let update = Statement::update(
            key_of(conversation, &ItemKey::State),
            "SET #met = list_append(#met, :other), #version = #version + :one",
        )
        // Nobody has no list, and what has no list has no size.
        .when("size(#met) < :most AND NOT contains(#met, :contact)")
        .with(":other", texts([other]))
        .with(":contact", text(other))
        .with(":most", number(State::MET_MAX))
        .with(":one", number(1));
        Ok(match self.write("note a meeting", update).await? {
            Answer::Given(()) => Written::Done,
            Answer::Lost(_) => Written::Lost,
        })
    }

    pub(super) fn tombstone_key(&self, agent: &AgentId, alias: &Alias) -> Item {
        key(tombstone_partition(&self.hasher, agent, alias), TOMBSTONE)
    }

    /// The alias went through no erasure since the event was sent, and none of this very life.
    fn not_erased(
        &self,
        conversation: &ConversationId,
        alias: &Alias,
        event_sent_at: Timestamp,
    ) -> Statement {
        Statement::check(self.tombstone_key(&conversation.agent, alias))
            .when(
                "attribute_not_exists(#item) \
                 OR (#forgotten_at < :sent_at AND NOT contains(#lives, :life))",
            )
            .with(":sent_at", number(event_sent_at))
            .with(":life", text(self.hasher.life(conversation)))
    }
}

pub(super) fn alias_key(agent: &AgentId, alias: &Alias) -> Item {
    key(alias_partition(agent, alias), ALIAS)
}

/// The alias names this contact from now on, if it names nobody, or still the ended life.
fn name_alias(
    conversation: &ConversationId,
    alias: &Alias,
    ended: Option<&ContactId>,
) -> Statement {
    let item = Build::new(alias_key(&conversation.agent, alias))
        .text("contact", &conversation.contact)
        .done();
    match ended {
        None => Statement::put(item).when("attribute_not_exists(#item)"),
        Some(ended) => Statement::put(item)
            .when("attribute_not_exists(#item) OR #contact = :ended")
            .with(":ended", text(ended)),
    }
}

fn decode_alias(item: &Item) -> Result<ContactId, StoreError> {
    Fields::open("alias", item)?.parsed("contact", |text| ContactId::parse(text))
}

fn decode_tombstone(item: &Item) -> Result<Ended, StoreError> {
    let fields = Fields::open("tombstone", item)?;
    Ok(Ended {
        at: fields.time("forgotten_at")?,
        lives: fields.names("lives")?,
    })
}
