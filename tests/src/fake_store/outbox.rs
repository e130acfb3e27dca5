//! The outbox of the fake table.

use recado::domain::reply::Settlement;
use recado::domain::{
    Address, BusinessNumber, ConversationId, DeliveryStatus, Phone, Reply, ReplyId, ReplyKind,
    ReplyStatus, RunId, Timestamp,
};
use recado::ports::{Noted, Written};

use super::Table;
use super::table::StoredReply;

impl Table {
    pub(super) fn mark_sending(
        &mut self,
        conversation: &ConversationId,
        reply: &Reply,
        token: RunId,
        now: Timestamp,
    ) -> Written {
        let guards = self.guards;
        let allowed = match self.state(conversation) {
            None => !guards.exists_on_updates,
            Some(state) => {
                !guards.opt_out_at_sending
                    || state.opt_out.is_none()
                    || reply.kind == ReplyKind::OptOut
            }
        };
        if !allowed {
            return Written::Lost;
        }
        let Some(stored) = self.reply(conversation, reply.id, now) else {
            return Written::Lost;
        };
        let mine = !guards.sender_token || stored.reply.token == Some(token);
        match stored.reply.status {
            ReplyStatus::Ready => {}
            ReplyStatus::Sending if mine => {}
            _ => return Written::Lost,
        }
        stored.reply.status = ReplyStatus::Sending;
        stored.reply.token = Some(token);
        stored.since = now;
        Written::Done
    }

    pub(super) fn settle(
        &mut self,
        conversation: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Written {
        let guards = self.guards;
        let newest = self.state(conversation).map(|state| state.last_reply);
        let lease = self.state(conversation).and_then(|state| state.lease);
        let undisturbed =
            !guards.no_run_meanwhile || lease.is_none_or(|lease| Some(lease.run) == token);
        let Some(stored) = self.reply(conversation, reply, now) else {
            return Written::Lost;
        };
        if was_settled(stored, token, settlement) {
            return Written::Done;
        }
        let mine = !guards.sender_token || stored.reply.token == token;
        let alone = match newest {
            None => !guards.exists_on_updates,
            Some(newest) => !guards.no_later_reply || newest.is_none_or(|newest| newest <= reply),
        };
        let allowed = match (stored.reply.status, settlement, token) {
            (ReplyStatus::Sending, _, Some(_))
            | (ReplyStatus::Unknown, Settlement::Sent { .. }, Some(_))
            | (ReplyStatus::Ready, Settlement::Failed { .. }, None) => mine,
            (ReplyStatus::Unknown, Settlement::Ready { .. }, Some(_)) => {
                mine && alone && undisturbed
            }
            _ => false,
        };
        if !allowed {
            return Written::Lost;
        }
        apply(stored, settlement, token, now);
        Written::Done
    }

    pub(super) fn note_status(
        &mut self,
        conversation: &ConversationId,
        reply: ReplyId,
        status: &DeliveryStatus,
        now: Timestamp,
    ) -> Noted {
        let Some(stored) = self.reply(conversation, reply, now) else {
            return Noted::Nothing;
        };
        let settlement = match status {
            DeliveryStatus::Sent => Settlement::Sent { provider_id: None },
            DeliveryStatus::Failed(code) => Settlement::Failed { code: code.clone() },
        };
        let (from, to) = (stored.reply.status, settlement.status());
        if from == to {
            return Noted::Already;
        }
        let told = matches!(from, ReplyStatus::Sending | ReplyStatus::Unknown)
            || (from == ReplyStatus::Sent && to == ReplyStatus::Failed);
        if !told {
            return Noted::Nothing;
        }
        apply(stored, &settlement, None, now);
        Noted::Now
    }

    /// The reply; without `exists_on_updates` an update brings back a shell of one that is gone.
    fn reply(
        &mut self,
        conversation: &ConversationId,
        id: ReplyId,
        now: Timestamp,
    ) -> Option<&mut StoredReply> {
        let exists = self.guards.exists_on_updates;
        let replies = &mut self.person(conversation).replies;
        if exists && !replies.contains_key(&id) {
            return None;
        }
        Some(replies.entry(id).or_insert_with(|| shell(id, now)))
    }
}

fn shell(id: ReplyId, now: Timestamp) -> StoredReply {
    StoredReply {
        reply: Reply {
            id,
            kind: ReplyKind::Answer,
            text: String::new(),
            number: BusinessNumber::parse("none").expect("a number"),
            to: Address::Phone(Phone::parse("00000").expect("a phone")),
            status: ReplyStatus::Ready,
            token: None,
            refusals: 0,
            refused_since: None,
            committed_at: now,
            cost: None,
        },
        epoch: 0,
        given_back_by: None,
        since: now,
        provider_id: None,
        failure: None,
    }
}

fn was_settled(stored: &StoredReply, token: Option<RunId>, settlement: &Settlement) -> bool {
    stored.reply.status == settlement.status()
        && match settlement {
            Settlement::Ready { .. } => token.is_some() && stored.given_back_by == token,
            _ => stored.reply.token == token,
        }
}

fn apply(stored: &mut StoredReply, settlement: &Settlement, token: Option<RunId>, now: Timestamp) {
    stored.reply.status = settlement.status();
    stored.since = now;
    match settlement {
        Settlement::Sent { provider_id } => {
            if provider_id.is_some() {
                stored.provider_id.clone_from(provider_id);
            }
        }
        Settlement::Failed { code } => stored.failure = Some(code.clone()),
        Settlement::Unknown => {}
        Settlement::Ready { refused_since } => {
            stored.reply.token = None;
            stored.reply.refused_since = *refused_since;
            stored.reply.refusals += 1;
            stored.given_back_by = token;
        }
    }
}
