//! The stored form of a conversation's state.

use aws_sdk_dynamodb::types::AttributeValue;

use super::fields::{Build, Fields};
use super::items::key_of;
use super::keys::{ItemKey, Slot};
use super::request::{Item, number, texts};
use super::schema::SLOT;
use crate::domain::ids::IdError;
use crate::domain::{
    Alias, ContactId, ConversationId, Lease, MessageId, OptOut, ReplyId, RunId, Sealed, Session,
    Spent, State,
};
use crate::error::StoreError;

pub(super) fn encode_state(conversation: &ConversationId, state: &State) -> Item {
    let factors = state
        .token_factors
        .iter()
        .map(|(model, factor)| (model.clone(), number(factor)))
        .collect();
    let item = Build::new(key_of(conversation, &ItemKey::State))
        .text(SLOT, Slot::State.encode())
        .number("version", state.version)
        .number("epoch", state.epoch)
        .text_maybe("lease_run", state.lease.map(|lease| lease.run))
        .number_maybe("lease_until", state.lease.map(|lease| lease.until))
        .number("attempts", state.attempts)
        .number_maybe("first_attempt_at", state.first_attempt_at)
        .number_maybe("hold_until", state.hold_until)
        .number("crashes", state.crashes)
        .set("token_factors", AttributeValue::M(factors))
        .text_maybe("cut_point", state.cut_point)
        .text_maybe("last_reply", state.last_reply)
        .number_maybe("last_inbound_at", state.last_inbound_at)
        .number_maybe("paused_until", state.paused_until)
        .number_maybe("taken_over_at", state.taken_over_at)
        .text_maybe("spent_day", state.spent.map(|spent| spent.day))
        .number_maybe("spent_micro_usd", state.spent.map(|spent| spent.micro_usd))
        .number_maybe("limited_until", state.limited_until)
        .set("aliases", texts(state.aliases.iter().map(Alias::as_str)))
        .set("met", texts(&state.met))
        .number("created_at", state.created_at);
    let item = match state.session {
        Some(session) => item
            .number("session_began_at", session.began_at)
            .number("session_exchanges", session.exchanges)
            .set("session_is_over", AttributeValue::Bool(session.is_over)),
        None => item,
    };
    let item = match &state.sealed {
        Some(sealed) => item
            .text("sealed_reply", sealed.reply)
            .set("sealed_events", texts(&sealed.events)),
        None => item,
    };
    match &state.opt_out {
        Some(opt_out) => item.number("opt_out_sent_at", opt_out.sent_at),
        None => item,
    }
    .done()
}

pub(super) fn decode_state(item: &Item) -> Result<State, StoreError> {
    let fields = Fields::open("state", item)?;
    let lease = fields
        .parsed_maybe("lease_run", RunId::parse)?
        .map(|run| {
            let until = fields.time("lease_until")?;
            Ok::<_, StoreError>(Lease { run, until })
        })
        .transpose()?;
    let sealed = fields
        .parsed_maybe("sealed_reply", ReplyId::parse)?
        .map(|reply| {
            let events = fields.parsed_list("sealed_events", |text| MessageId::parse(text))?;
            Ok::<_, StoreError>(Sealed { reply, events })
        })
        .transpose()?;
    let opt_out = fields
        .time_maybe("opt_out_sent_at")?
        .map(|sent_at| OptOut { sent_at });
    Ok(State {
        version: fields.number("version")?,
        epoch: fields.number("epoch")?,
        lease,
        sealed,
        attempts: fields.number("attempts")?,
        first_attempt_at: fields.time_maybe("first_attempt_at")?,
        hold_until: fields.time_maybe("hold_until")?,
        crashes: fields.number("crashes")?,
        token_factors: fields.factors("token_factors")?,
        cut_point: fields.parsed_maybe("cut_point", ReplyId::parse)?,
        last_reply: fields.parsed_maybe("last_reply", ReplyId::parse)?,
        last_inbound_at: fields.time_maybe("last_inbound_at")?,
        opt_out,
        paused_until: fields.time_maybe("paused_until")?,
        taken_over_at: fields.time_maybe("taken_over_at")?,
        spent: decode_spent(&fields)?,
        session: decode_session(&fields)?,
        limited_until: fields.time_maybe("limited_until")?,
        aliases: fields.parsed_list("aliases", Alias::parse)?,
        // States of before it was kept have none.
        met: if item.contains_key("met") {
            fields.parsed_list("met", |text| ContactId::parse(text))?
        } else {
            Vec::new()
        },
        created_at: fields.time("created_at")?,
    })
}

fn decode_spent(fields: &Fields<'_>) -> Result<Option<Spent>, StoreError> {
    let day = fields.parsed_maybe("spent_day", parse_day)?;
    day.map(|day| {
        let micro_usd = fields.number("spent_micro_usd")?;
        Ok(Spent { day, micro_usd })
    })
    .transpose()
}

/// `2026-11-30`.
fn parse_day(text: &str) -> Result<jiff::civil::Date, IdError> {
    text.parse().map_err(|_| IdError {
        what: "a day",
        problem: "is not written as 2026-11-30",
    })
}

fn decode_session(fields: &Fields<'_>) -> Result<Option<Session>, StoreError> {
    let began_at = fields.time_maybe("session_began_at")?;
    began_at
        .map(|began_at| {
            Ok(Session {
                began_at,
                exchanges: fields.number("session_exchanges")?,
                is_over: fields.is_true("session_is_over"),
            })
        })
        .transpose()
}
