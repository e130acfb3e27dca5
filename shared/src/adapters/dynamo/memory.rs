//! The three layers of memory: read in the order of their slots, rewritten by one compaction in one transaction.

use std::collections::BTreeSet;

use super::DynamoStore;
use super::agenda::decode_entry;
use super::calls::decode_call;
use super::items::{
    decode_fact, decode_past, decode_reply, decode_summary, encode_fact, encode_summary, key_of,
};
use super::keys::{ItemKey, MEMORY_FROM, MEMORY_TO, Place, Slot};
use super::request::{Item, Statement, number, text};
use super::schema::SLOT;
use crate::domain::memory::Fold;
use crate::domain::{ConversationId, Exchange, Memory, MessageId, ReplyId, ReplyKind, ReplyStatus};
use crate::error::StoreError;
use crate::ports::Written;

/// DynamoDB cuts pages at 1 MB by itself; this only bounds one answer.
const PAGE: usize = 1000;

impl DynamoStore {
    pub(super) async fn read_memory(
        &self,
        conversation: &ConversationId,
    ) -> Result<Memory, StoreError> {
        let mut memory = Memory::default();
        let mut from = None;
        loop {
            let range = (MEMORY_FROM, MEMORY_TO);
            let page = self
                .live_page("load", conversation, range, PAGE, from)
                .await?;
            for item in &page.items {
                self.remember(&mut memory, conversation, item)?;
            }
            from = page.next;
            if from.is_none() {
                return Ok(memory);
            }
        }
    }

    fn remember(
        &self,
        memory: &mut Memory,
        conversation: &ConversationId,
        item: &Item,
    ) -> Result<(), StoreError> {
        let slot = item.get(SLOT).and_then(|slot| slot.as_s().ok());
        match slot.and_then(|slot| Slot::decode(slot).ok()) {
            Some(Slot::Summary) => {
                memory.summary = self.or_aside(conversation, item, decode_summary(item))?;
            }
            Some(Slot::Fact { .. }) => {
                let fact = self.or_aside(conversation, item, decode_fact(item))?;
                memory.facts.extend(fact);
            }
            Some(Slot::Turn(reply, Place::Message(_))) => {
                let message = self.or_aside(conversation, item, decode_past(item))?;
                exchange(memory, reply).messages.extend(message);
            }
            Some(Slot::Turn(reply, Place::Answer)) => {
                if let Some(said) = self.or_aside(conversation, item, decode_reply(item))? {
                    let exchange = exchange(memory, reply);
                    exchange.kind = said.kind;
                    exchange.delivered = said.status != ReplyStatus::Failed;
                    exchange.known_sent = said.status == ReplyStatus::Sent;
                    exchange.answer = Some(said.text);
                }
            }
            Some(Slot::Turn(reply, Place::Call(_))) => {
                let call = self.or_aside(conversation, item, decode_call(item))?;
                exchange(memory, reply).calls.extend(call);
            }
            Some(Slot::Entry { .. }) => {
                let entry = self.or_aside(conversation, item, decode_entry(item))?;
                memory.agenda.extend(entry);
            }
            // Whatever else a later version keeps between summary and turns.
            _ => {}
        }
        Ok(())
    }

    pub(super) async fn write_fold(
        &self,
        conversation: &ConversationId,
        fold: &Fold,
    ) -> Result<Written, StoreError> {
        let put = Statement::put(encode_summary(conversation, &fold.summary));
        let summary = match fold.from_version {
            None => put.when("attribute_not_exists(#item)"),
            Some(version) => put
                .when("#version = :version")
                .with(":version", number(version)),
        };
        let lives =
            Statement::check(key_of(conversation, &ItemKey::State)).when("attribute_exists(#item)");
        let mut statements = vec![lives, summary];
        for fact in &fold.facts {
            statements.push(Statement::put(encode_fact(conversation, fact)));
        }
        // One transaction touches an item once: a fact that is rewritten is not deleted as well.
        let written: BTreeSet<_> = fold.facts.iter().map(|fact| fact.id).collect();
        let retired: BTreeSet<_> = fold.retired.iter().copied().collect();
        for id in retired.difference(&written) {
            let key = key_of(conversation, &ItemKey::Fact(*id));
            statements.push(Statement::delete(key));
        }
        let messages: BTreeSet<_> = fold.messages.iter().collect();
        statements.extend(messages.into_iter().map(|id| bare(conversation, id)));
        let replies: BTreeSet<_> = fold.replies.iter().copied().collect();
        statements.extend(replies.into_iter().map(|id| drop_reply(conversation, id)));
        let calls: BTreeSet<_> = fold.calls.iter().copied().collect();
        statements.extend(
            calls.into_iter().map(|(reply, n)| {
                Statement::delete(key_of(conversation, &ItemKey::Call(reply, n)))
            }),
        );
        self.transact("write a compaction", statements, None).await
    }
}

/// The turn of `reply`: slots come in its order, so it is the last one or a new one.
fn exchange(memory: &mut Memory, reply: ReplyId) -> &mut Exchange {
    let exchanges = &mut memory.exchanges;
    let known = exchanges.iter().rposition(|turn| turn.reply == reply);
    let at = known.unwrap_or(exchanges.len());
    if known.is_none() {
        exchanges.push(Exchange {
            reply,
            messages: Vec::new(),
            calls: Vec::new(),
            answer: None,
            delivered: true,
            known_sent: false,
            kind: ReplyKind::Answer,
        });
    }
    &mut exchanges[at]
}

/// What stays of an answered message: its id, for the dedup, for as long as a provider may repeat it.
fn bare(conversation: &ConversationId, id: &MessageId) -> Statement {
    Statement::update(
        key_of(conversation, &ItemKey::Event(id.clone())),
        "SET #expires_at = #dedup_until \
         REMOVE #text, #kind, #reply_to, #number, #slot, #unrest_shard, #unrest_since",
    )
    .when("attribute_exists(#answered_by)")
}

fn drop_reply(conversation: &ConversationId, id: ReplyId) -> Statement {
    Statement::delete(key_of(conversation, &ItemKey::Reply(id)))
        .when("attribute_not_exists(#item) OR #status IN (:sent, :failed, :unknown)")
        .with(":sent", text(ReplyStatus::Sent.as_str()))
        .with(":failed", text(ReplyStatus::Failed.as_str()))
        .with(":unknown", text(ReplyStatus::Unknown.as_str()))
}
