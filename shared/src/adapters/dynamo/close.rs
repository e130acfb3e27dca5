//! Closing: messages that nobody will answer, and what was done for a turn that ends with them.

use super::DynamoStore;
use super::calls;
use super::items::key_of;
use super::keys::{ItemKey, Place, Slot};
use super::request::{Statement, number, text};
use super::run::STILL_PENDING;
use crate::domain::batch::{Closure, EndedTurn};
use crate::domain::{ConversationId, MessageId, Timestamp};
use crate::error::StoreError;
use crate::ports::Written;

impl DynamoStore {
    pub(super) async fn close_events(
        &self,
        conversation: &ConversationId,
        expected: u64,
        closure: &Closure,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let ends = closure.ends.as_ref();
        let mut statements = vec![fence(conversation, expected, ends)];
        for id in &closure.events {
            let place = ends.and_then(|turn| {
                let at = turn.messages.iter().zip(0..).find(|(one, _)| *one == id);
                at.map(|(_, n)| Slot::Turn(turn.reply, Place::Message(n)))
            });
            let answered_by = format!("closed:{}", closure.reason.as_str());
            let close =
                Statement::update(key_of(conversation, &event(id)), change(place.is_some()))
                    .when(STILL_PENDING)
                    .with(":answered_by", text(&answered_by))
                    .with(":now", number(now));
            statements.push(match place {
                Some(slot) => close.with(":slot", text(slot.encode())),
                None => close,
            });
        }
        if let Some(turn) = ends {
            statements.extend(calls::left(conversation, turn));
        }
        self.transact("close messages", statements, None).await
    }
}

fn event(id: &MessageId) -> ItemKey {
    ItemKey::Event(id.clone())
}

/// Of a message: it goes where it belongs to a turn, and else its words go once no provider repeats it.
const fn change(is_told: bool) -> &'static str {
    if is_told {
        "SET #answered_by = :answered_by, #closed_at = :now, #slot = :slot REMOVE #unrest_shard, #unrest_since"
    } else {
        "SET #answered_by = :answered_by, #closed_at = :now, #expires_at = #dedup_until \
         REMOVE #slot, #unrest_shard, #unrest_since"
    }
}

/// The state after it: nothing is counted, and whoever had the lease has it no longer.
fn fence(conversation: &ConversationId, expected: u64, ends: Option<&EndedTurn>) -> Statement {
    let mut set = "SET #version = #version + :one, #epoch = #epoch + :one, #attempts = :zero, \
                   #crashes = :zero"
        .to_owned();
    let mut remove = " REMOVE #first_attempt_at, #lease_run, #lease_until".to_owned();
    if ends.is_some() {
        // The next turn comes after it.
        set.push_str(", #last_reply = :reply");
        remove.push_str(", #sealed_reply, #sealed_events");
    }
    let fence = Statement::update(key_of(conversation, &ItemKey::State), set + &remove)
        .when("#version = :expected")
        .with(":expected", number(expected))
        .with(":one", number(1))
        .with(":zero", number(0));
    match ends {
        Some(turn) => fence.with(":reply", text(turn.reply)),
        None => fence,
    }
}
