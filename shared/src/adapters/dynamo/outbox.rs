//! The outbox: who may send a reply, and what became of it.
//!
//! Every move out of `sending` tests the sender's token, except what a status webhook tells.

use std::fmt::Write;

use super::DynamoStore;
use super::items::{decode_reply, key_of, shard};
use super::keys::{ItemKey, Place, Slot};
use super::request::{Answer, Item, Statement, number, text};
use crate::domain::reply::Settlement;
use crate::domain::{
    ConversationId, DeliveryStatus, Reply, ReplyId, ReplyKind, ReplyStatus, RunId, Timestamp,
};
use crate::error::StoreError;
use crate::ports::{Noted, Written};

impl DynamoStore {
    pub(super) async fn take_to_send(
        &self,
        conversation: &ConversationId,
        reply: &Reply,
        token: RunId,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let take = Statement::update(
            key_of(conversation, &ItemKey::Reply(reply.id)),
            "SET #status = :sending, #token = :token, #unrest_since = :now",
        )
        .when("#status = :ready OR (#status = :sending AND #token = :token)")
        .with(":ready", text(ReplyStatus::Ready.as_str()))
        .with(":sending", text(ReplyStatus::Sending.as_str()))
        .with(":token", text(token))
        .with(":now", number(now));
        let state = Statement::check(key_of(conversation, &ItemKey::State));
        let state = if reply.kind == ReplyKind::OptOut {
            state.when("attribute_exists(#item)")
        } else {
            state.when("attribute_exists(#item) AND attribute_not_exists(#opt_out_sent_at)")
        };
        self.transact("mark a reply sending", vec![take, state], None)
            .await
    }

    pub(super) async fn settle_reply(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let from: &[ReplyStatus] = match (settlement, token) {
            (Settlement::Sent { .. }, Some(_)) => &[ReplyStatus::Sending, ReplyStatus::Unknown],
            (_, Some(_)) => &[ReplyStatus::Sending],
            (Settlement::Failed { .. }, None) => &[ReplyStatus::Ready],
            (_, None) => return Ok(Written::Lost),
        };
        let update = self.outcome(conversation, reply, token, settlement, now);
        // The provider has been asked by now: what is not written down is an unknown outcome.
        let update = moved(update, from, token).patiently();
        let found = match self.write("settle a reply", update).await? {
            Answer::Given(()) => return Ok(Written::Done),
            Answer::Lost(None) => return Ok(Written::Lost),
            Answer::Lost(Some(found)) => found,
        };
        let seen = decode_reply(&found)?;
        if is_settled(&found, &seen, token, settlement) {
            return Ok(Written::Done);
        }
        let is_ready = settlement.status() == ReplyStatus::Ready;
        if !is_ready || seen.status != ReplyStatus::Unknown {
            return Ok(Written::Lost);
        }
        // A refusal learnt late: the reply goes out after all, unless a later one has gone before it or another run, which
        // found nothing to send, may be writing one.
        let update = self.outcome(conversation, reply, token, settlement, now);
        let update = moved(update, &[ReplyStatus::Unknown], token);
        let newest = Statement::check(key_of(conversation, &ItemKey::State))
            .when(
                "#last_reply <= :reply AND (attribute_not_exists(#lease_run) OR #lease_run = :owner)",
            )
            .with(":owner", token.map_or_else(|| text(""), text))
            .with(":reply", text(reply));
        self.transact("settle a reply", vec![update, newest], None)
            .await
    }

    pub(super) async fn note_delivery(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        status: &DeliveryStatus,
        now: Timestamp,
    ) -> Result<Noted, StoreError> {
        let (from, settlement): (&[ReplyStatus], _) = match status {
            DeliveryStatus::Sent => (
                &[ReplyStatus::Sending, ReplyStatus::Unknown],
                Settlement::Sent { provider_id: None },
            ),
            DeliveryStatus::Failed(code) => (
                &[
                    ReplyStatus::Sending,
                    ReplyStatus::Unknown,
                    ReplyStatus::Sent,
                ],
                Settlement::Failed { code: code.clone() },
            ),
        };
        let update = self.outcome(conversation, reply, None, &settlement, now);
        let update = in_status(update, from, "");
        Ok(match self.write("note a status", update).await? {
            Answer::Given(()) => Noted::Now,
            Answer::Lost(Some(found)) if decode_reply(&found)?.status == settlement.status() => {
                Noted::Already
            }
            Answer::Lost(_) => Noted::Nothing,
        })
    }

    /// The reply as the settlement leaves it, still without a condition.
    fn outcome(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Statement {
        let key = key_of(conversation, &ItemKey::Reply(reply));
        let turn = text(Slot::Turn(reply, Place::Answer).encode());
        let rest = |more: &str| {
            let expression = format!(
                "SET #status = :status, #slot = :slot, #settled_at = :now{more} \
                 REMOVE #unrest_shard, #unrest_since"
            );
            Statement::update(key.clone(), expression)
                .with(":slot", turn.clone())
                .with(":now", number(now))
        };
        let update = match settlement {
            Settlement::Sent {
                provider_id: Some(id),
            } => rest(", #provider_id = :provider_id").with(":provider_id", text(id)),
            Settlement::Sent { provider_id: None } | Settlement::Unknown => rest(""),
            Settlement::Failed { code } => {
                rest(", #failure = :failure").with(":failure", text(code))
            }
            Settlement::Ready { refused_since } => {
                let given_back = token.map(text);
                let (set, remove) = match refused_since {
                    Some(_) => (", #refused_since = :refused_since", ""),
                    None => ("", ", #refused_since"),
                };
                let expression = format!(
                    "SET #status = :status, #slot = :slot, #refusals = #refusals + :one, \
                     #given_back_by = :token, #unrest_shard = :shard, #unrest_since = :now{set} \
                     REMOVE #token, #settled_at{remove}"
                );
                let update = Statement::update(key.clone(), expression)
                    .with(":slot", text(Slot::Outbox(reply).encode()))
                    .with(":one", number(1))
                    .with(":shard", text(shard(&self.hasher, &conversation.key())))
                    .with(":now", number(now));
                let update = match refused_since {
                    Some(since) => update.with(":refused_since", number(since)),
                    None => update,
                };
                match given_back {
                    Some(token) => update.with(":token", token),
                    None => update,
                }
            }
        };
        update.with(":status", text(settlement.status().as_str()))
    }
}

/// Only from one of these statuses, and only under this token. Who has none moves only what is `ready`, and that holds none.
fn moved(update: Statement, from: &[ReplyStatus], token: Option<RunId>) -> Statement {
    match token {
        Some(token) => in_status(update, from, " AND #token = :token").with(":token", text(token)),
        None => in_status(update, from, ""),
    }
}

fn in_status(update: Statement, from: &[ReplyStatus], and: &str) -> Statement {
    let mut any = String::new();
    let mut update = update;
    for (n, status) in from.iter().enumerate() {
        let or = if n == 0 { "" } else { ", " };
        // Writing to a text cannot fail.
        let _ = write!(any, "{or}:from{n}");
        update = update.with(&format!(":from{n}"), text(status.as_str()));
    }
    update.when(format!("#status IN ({any}){and}"))
}

/// Whether an earlier try of the same settlement, whose answer was lost, has left the reply as it is.
fn is_settled(found: &Item, seen: &Reply, token: Option<RunId>, settlement: &Settlement) -> bool {
    if seen.status != settlement.status() {
        return false;
    }
    match settlement {
        Settlement::Ready { .. } => token.is_some_and(|token| {
            found.get("given_back_by").and_then(|by| by.as_s().ok()) == Some(&token.to_string())
        }),
        _ => seen.token == token,
    }
}
