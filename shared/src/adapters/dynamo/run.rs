//! A run: messages in, the front of a conversation, claims and releases, closing, and the one commit.

use std::fmt::Write;

use aws_sdk_dynamodb::types::AttributeValue;

use super::DynamoStore;
use super::calls;
use super::fields::Fields;
use super::items::{decode_event, decode_reply, encode_event, encode_reply, key_of};
use super::keys::{FRONT_FROM, ItemKey, MEMORY_FROM, Place, Slot};
use super::request::{Answer, Item, Statement, number, text};
use super::schema::{ITEM, SLOT};
use super::state::{decode_state, encode_state};
use crate::domain::{ConversationId, Event, MessageId, Spent, State};
use crate::error::StoreError;
use crate::ports::{Appended, Commit, Peek, Release, Swapped, Written};

/// Rows read beside the pending messages: the state and a few replies on their way.
const FRONT_MARGIN: usize = 5;

impl DynamoStore {
    pub(super) async fn append_event(
        &self,
        conversation: &ConversationId,
        event: &Event,
    ) -> Result<Appended, StoreError> {
        let put = Statement::put(encode_event(&self.hasher, conversation, event))
            .when("attribute_not_exists(#item)");
        if event.closed.is_some() {
            // No tick will ever look at it, so a late one of an erased person must not be stored at all.
            let lives = Statement::check(key_of(conversation, &ItemKey::State))
                .when("attribute_exists(#item)");
            let written = self.transact("append", vec![lives, put], None).await?;
            return Ok(match written {
                Written::Done => Appended::New,
                Written::Lost => Appended::AtRest,
            });
        }
        Ok(match self.write("append", put).await? {
            Answer::Given(()) => Appended::New,
            Answer::Lost(Some(old)) if old.contains_key(SLOT) && is_pending(&old) => {
                Appended::Pending
            }
            Answer::Lost(_) => Appended::AtRest,
        })
    }

    pub(super) async fn read_front(
        &self,
        conversation: &ConversationId,
        pending_max: usize,
    ) -> Result<Peek, StoreError> {
        let mut peek = Peek::default();
        let mut from = None;
        loop {
            let limit = pending_max + FRONT_MARGIN;
            let page = self
                .live_page("peek", conversation, (FRONT_FROM, MEMORY_FROM), limit, from)
                .await?;
            for item in &page.items {
                self.sort_into(&mut peek, conversation, item)?;
            }
            from = page.next;
            if from.is_none() || peek.pending.len() >= pending_max {
                break;
            }
        }
        peek.pending.truncate(pending_max);
        Ok(peek)
    }

    fn sort_into(
        &self,
        peek: &mut Peek,
        conversation: &ConversationId,
        item: &Item,
    ) -> Result<(), StoreError> {
        match slot_of(item) {
            Some(Slot::State) => peek.state = Some(decode_state(item)?),
            Some(Slot::Outbox(_)) => {
                let reply = self.or_aside(conversation, item, decode_reply(item))?;
                peek.outbox.extend(reply);
            }
            _ => {
                let event = self.or_aside(conversation, item, decode_event(item))?;
                peek.pending.extend(event);
            }
        }
        Ok(())
    }

    pub(super) async fn swap(
        &self,
        conversation: &ConversationId,
        expected: u64,
        state: &State,
    ) -> Result<Swapped, StoreError> {
        let put = Statement::put(encode_state(conversation, state))
            .when("#version = :expected")
            .with(":expected", number(expected));
        Ok(match self.write("swap the state", put).await? {
            Answer::Given(()) => Swapped::Done,
            Answer::Lost(found) => Swapped::Lost(
                found
                    .map(|item| decode_state(&item))
                    .transpose()?
                    .map(Box::new),
            ),
        })
    }

    pub(super) async fn end_run(
        &self,
        conversation: &ConversationId,
        release: &Release,
    ) -> Result<Written, StoreError> {
        let mut set =
            "SET #attempts = :attempts, #crashes = :crashes, #version = #version + :one".to_owned();
        let mut remove = " REMOVE #lease_run, #lease_until".to_owned();
        let mut values = Vec::new();
        for (field, moment) in [
            ("first_attempt_at", release.first_attempt_at),
            ("hold_until", release.hold_until),
        ] {
            set_or_remove(&mut set, &mut remove, field, moment.is_some());
            values.extend(moment.map(|moment| (format!(":{field}"), number(moment))));
        }
        if let Some(spent) = release.spent {
            set.push_str(SET_SPENT);
            values.extend(spent_values(spent));
        }
        let mut update = Statement::update(key_of(conversation, &ItemKey::State), set + &remove)
            .when("#epoch = :epoch AND #lease_run = :run")
            .with(":epoch", number(release.epoch))
            .with(":run", text(release.run))
            .with(":attempts", number(release.attempts))
            .with(":crashes", number(release.crashes))
            .with(":one", number(1));
        for (name, value) in values {
            update = update.with(&name, value);
        }
        Ok(match self.write("release", update).await? {
            Answer::Given(()) => Written::Done,
            // An earlier try whose answer was lost left exactly what this one asks for.
            Answer::Lost(Some(found)) if release.is_left_in(&decode_state(&found)?) => {
                Written::Done
            }
            Answer::Lost(_) => Written::Lost,
        })
    }

    pub(super) async fn delete_late_events(
        &self,
        conversation: &ConversationId,
        events: &[MessageId],
    ) -> Result<Written, StoreError> {
        let gone = Statement::check(key_of(conversation, &ItemKey::State))
            .when("attribute_not_exists(#item)");
        let delete =
            |id: &MessageId| Statement::delete(key_of(conversation, &ItemKey::Event(id.clone())));
        let statements = std::iter::once(gone)
            .chain(events.iter().map(delete))
            .collect();
        self.transact("delete late messages", statements, None)
            .await
    }

    pub(super) async fn commit_reply(
        &self,
        conversation: &ConversationId,
        commit: &Commit,
    ) -> Result<Written, StoreError> {
        let reply = encode_reply(&self.hasher, conversation, &commit.reply, commit.epoch);
        let mut statements = vec![
            move_on(conversation, commit),
            Statement::put(reply).when("attribute_not_exists(#item)"),
        ];
        for (id, n) in commit.answered.iter().zip(0..) {
            let slot = Slot::Turn(commit.reply.id, Place::Message(n));
            statements.push(
                Statement::update(
                    key_of(conversation, &ItemKey::Event(id.clone())),
                    "SET #answered_by = :reply, #slot = :slot REMOVE #unrest_shard, #unrest_since",
                )
                .when(STILL_PENDING)
                .with(":reply", text(commit.reply.id))
                .with(":slot", text(slot.encode())),
            );
        }
        statements.extend(calls::committed(conversation, commit));
        // Tokens are known to the whole account, not to one table.
        let name = format!(
            "{}#{}#{}#{}",
            self.table,
            conversation.key(),
            commit.reply.id,
            commit.epoch
        );
        let token = self.hasher.hash("commit", &name);
        match self.transact("commit", statements, Some(token)).await? {
            Written::Done => Ok(Written::Done),
            Written::Lost => self.was_committed(conversation, commit).await,
        }
    }

    /// A repeat of an applied commit loses to itself: its reply is there and carries its epoch.
    async fn was_committed(
        &self,
        conversation: &ConversationId,
        commit: &Commit,
    ) -> Result<Written, StoreError> {
        let key = key_of(conversation, &ItemKey::Reply(commit.reply.id));
        let Some(found) = self.get("commit", key).await? else {
            return Ok(Written::Lost);
        };
        let epoch: u64 = Fields::open("reply", &found)?.number("epoch")?;
        Ok(if epoch == commit.epoch {
            Written::Done
        } else {
            Written::Lost
        })
    }
}

/// Whether the conversation is still the run's, and its person may be answered.
pub(super) const FENCE: &str = "#epoch = :epoch AND #lease_run = :run AND attribute_not_exists(#opt_out_sent_at) \
     AND (attribute_not_exists(#paused_until) OR #paused_until <= :now)";

pub(super) const STILL_PENDING: &str =
    "attribute_exists(#item) AND attribute_not_exists(#answered_by)";

/// The state after a commit: the seal, the counts and the hold are gone, the lease stays until the reply is sent.
fn move_on(conversation: &ConversationId, commit: &Commit) -> Statement {
    let mut set = "SET #attempts = :zero, #crashes = :zero, #last_reply = :reply, \
                   #last_inbound_at = :inbound, #version = #version + :one"
        .to_owned();
    let mut remove =
        " REMOVE #first_attempt_at, #hold_until, #sealed_reply, #sealed_events".to_owned();
    set_or_remove(
        &mut set,
        &mut remove,
        "cut_point",
        commit.cut_point.is_some(),
    );
    if commit.token_factor.is_some() {
        set.push_str(", #token_factors.#model = :factor");
    }
    if commit.opt_out.is_some() {
        set.push_str(", #opt_out_sent_at = :stop_sent");
    }
    if commit.paused_until.is_some() {
        set.push_str(", #paused_until = :paused_until");
    }
    if commit.limited_until.is_some() {
        set.push_str(", #limited_until = :limited_until");
    }
    if commit.spent.is_some() {
        set.push_str(SET_SPENT);
    }
    if commit.session.is_some() {
        set.push_str(
            ", #session_began_at = :session_began_at, #session_exchanges = :session_exchanges, \
             #session_is_over = :session_is_over",
        );
    }
    let mut update = Statement::update(key_of(conversation, &ItemKey::State), set + &remove)
        .when(FENCE)
        .with(":epoch", number(commit.epoch))
        .with(":run", text(commit.run))
        .with(":now", number(commit.now))
        .with(":zero", number(0))
        .with(":one", number(1))
        .with(":reply", text(commit.reply.id))
        .with(":inbound", number(commit.last_inbound_at));
    if let Some(cut_point) = commit.cut_point {
        update = update.with(":cut_point", text(cut_point));
    }
    if let Some((model, factor)) = &commit.token_factor {
        update = update
            .naming("#model", model)
            .with(":factor", number(factor));
    }
    if let Some(opt_out) = &commit.opt_out {
        update = update.with(":stop_sent", number(opt_out.sent_at));
    }
    with_moments_and_money(update, commit)
}

/// The values of what only some commits change.
fn with_moments_and_money(mut update: Statement, commit: &Commit) -> Statement {
    for (name, until) in [
        (":paused_until", commit.paused_until),
        (":limited_until", commit.limited_until),
    ] {
        if let Some(until) = until {
            update = update.with(name, number(until));
        }
    }
    for (name, value) in commit.spent.into_iter().flat_map(spent_values) {
        update = update.with(&name, value);
    }
    match commit.session {
        Some(session) => update
            .with(":session_began_at", number(session.began_at))
            .with(":session_exchanges", number(session.exchanges))
            .with(":session_is_over", AttributeValue::Bool(session.is_over)),
        None => update,
    }
}

const SET_SPENT: &str = ", #spent_day = :spent_day, #spent_micro_usd = :spent_micro_usd";

fn spent_values(spent: Spent) -> [(String, AttributeValue); 2] {
    [
        (":spent_day".to_owned(), text(spent.day)),
        (":spent_micro_usd".to_owned(), number(spent.micro_usd)),
    ]
}

fn set_or_remove(set: &mut String, remove: &mut String, field: &str, present: bool) {
    // Writing to a text cannot fail.
    let _ = if present {
        write!(set, ", #{field} = :{field}")
    } else {
        write!(remove, ", #{field}")
    };
}

fn slot_of(item: &Item) -> Option<Slot> {
    item.get(SLOT)
        .and_then(|slot| slot.as_s().ok())
        .and_then(|slot| Slot::decode(slot).ok())
}

fn is_pending(item: &Item) -> bool {
    item.contains_key(ITEM) && !item.contains_key("answered_by")
}
