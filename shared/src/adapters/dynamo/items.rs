//! The stored forms of everything a conversation holds, each with its format version `v`.

use super::fields::{Build, Fields};
use super::keys::{ItemKey, Place, Slot};
use super::request::{Item, key, texts};
use super::schema::{EXPIRES_AT, ITEM, SLOT, UNREST_SHARD, UNREST_SINCE};
use crate::domain::ids::IdError;
use crate::domain::{
    Address, BusinessNumber, Content, ConversationId, Event, Fact, Hasher, Kind, MessageId,
    PastMessage, Phone, Reply, ReplyId, ReplyKind, ReplyStatus, RunId, Summary, Timestamp,
};
use crate::error::StoreError;

/// The key of something under a conversation.
pub(super) fn key_of(conversation: &ConversationId, item: &ItemKey) -> Item {
    key(conversation.key(), item.encode())
}

/// The partition of the index `unrest` that a conversation's items are found in.
pub(super) fn shard(hasher: &Hasher, partition: &str) -> String {
    let hash = hasher.hash("unrest", partition);
    let first = hash.bytes().next().unwrap_or_default();
    // A hex digit; eight shards take its three lowest bits.
    let digit = char::from(first).to_digit(16).unwrap_or_default();
    (digit & 7).to_string()
}

/// An event whose words can be answered waits in its slot; one that is stored closed has none.
pub(super) fn encode_event(hasher: &Hasher, conversation: &ConversationId, event: &Event) -> Item {
    let item = Build::new(key_of(conversation, &ItemKey::Event(event.id.clone())))
        .text("reply_to", address_text(&event.reply_to))
        .text("number", &event.number)
        .number("sent_at", event.sent_at)
        .number("arrived_at", event.arrived_at)
        .number("dedup_until", dedup_until(event.arrived_at));
    let item = match &event.content {
        Content::Text(words) => item.text("text", words),
        Content::Unsupported(kind) => item.text("kind", kind),
    };
    match event.closed {
        Some(reason) => item
            .text("answered_by", format!("closed:{}", reason.as_str()))
            .number(EXPIRES_AT, dedup_until(event.arrived_at)),
        None => item
            .text(
                SLOT,
                Slot::Pending {
                    sent_at: event.sent_at,
                    arrived_at: event.arrived_at,
                    id: event.id.clone(),
                }
                .encode(),
            )
            .text(UNREST_SHARD, shard(hasher, &conversation.key()))
            .number(UNREST_SINCE, event.arrived_at),
    }
    .done()
}

/// Providers repeat a delivery for seven days; a message's id is kept for eight, in seconds since 1970.
fn dedup_until(arrived_at: Timestamp) -> u64 {
    const EIGHT_DAYS: u64 = 8 * 24 * 60 * 60;
    arrived_at.seconds() + 1 + EIGHT_DAYS
}

/// A pending message.
pub(super) fn decode_event(item: &Item) -> Result<Event, StoreError> {
    let fields = Fields::open("event", item)?;
    let content = match (fields.text_maybe("text")?, fields.has("kind")) {
        (Some(words), false) => Content::Text(words.to_owned()),
        (None, true) => Content::Unsupported(fields.parsed("kind", |text| Kind::parse(text))?),
        _ => return Err(fields.wrong("text", "either `text` or `kind`")),
    };
    Ok(Event {
        id: event_id(&fields)?,
        reply_to: fields.parsed("reply_to", parse_address)?,
        number: fields.parsed("number", |text| BusinessNumber::parse(text))?,
        sent_at: fields.time("sent_at")?,
        arrived_at: fields.time("arrived_at")?,
        content,
        closed: None,
    })
}

/// An answered message, as history tells it.
pub(super) fn decode_past(item: &Item) -> Result<PastMessage, StoreError> {
    let fields = Fields::open("event", item)?;
    Ok(PastMessage {
        id: event_id(&fields)?,
        sent_at: fields.time("sent_at")?,
        text: fields.text_maybe("text")?.unwrap_or_default().to_owned(),
    })
}

fn event_id(fields: &Fields<'_>) -> Result<MessageId, StoreError> {
    match ItemKey::decode(fields.text(ITEM)?) {
        Ok(ItemKey::Event(id)) => Ok(id),
        _ => Err(fields.wrong(ITEM, "an event's key")),
    }
}

fn address_text(address: &Address) -> &str {
    match address {
        Address::Phone(phone) => phone.as_str(),
        Address::Bsuid(bsuid) => bsuid.as_str(),
    }
}

/// Digits and BSUIDs cannot be taken for each other.
fn parse_address(text: &str) -> Result<Address, IdError> {
    Phone::parse(text)
        .map(Address::Phone)
        .or_else(|_| crate::domain::Bsuid::parse(text).map(Address::Bsuid))
}

/// A reply, in its outbox slot while it is not at rest.
pub(super) fn encode_reply(
    hasher: &Hasher,
    conversation: &ConversationId,
    reply: &Reply,
    epoch: u64,
) -> Item {
    let item = Build::new(key_of(conversation, &ItemKey::Reply(reply.id)))
        .text("kind", kind_word(reply.kind))
        .text("text", &reply.text)
        .text("number", &reply.number)
        .text("to", address_text(&reply.to))
        .text("status", reply.status.as_str())
        .text_maybe("token", reply.token)
        .number("refusals", reply.refusals)
        .number_maybe("refused_since", reply.refused_since)
        .number("committed_at", reply.committed_at)
        .counters_maybe("cost", reply.cost.as_ref())
        .number("epoch", epoch);
    if reply.status.is_at_rest() {
        item.text(SLOT, Slot::Turn(reply.id, Place::Answer).encode())
    } else {
        item.text(SLOT, Slot::Outbox(reply.id).encode())
            .text(UNREST_SHARD, shard(hasher, &conversation.key()))
            .number(UNREST_SINCE, reply.committed_at)
    }
    .done()
}

pub(super) fn decode_reply(item: &Item) -> Result<Reply, StoreError> {
    let fields = Fields::open("reply", item)?;
    let Ok(ItemKey::Reply(id)) = ItemKey::decode(fields.text(ITEM)?) else {
        return Err(fields.wrong(ITEM, "a reply's key"));
    };
    Ok(Reply {
        id,
        kind: parse_kind(&fields)?,
        text: fields.text("text")?.to_owned(),
        number: fields.parsed("number", |text| BusinessNumber::parse(text))?,
        to: fields.parsed("to", parse_address)?,
        status: parse_status(&fields)?,
        token: fields.parsed_maybe("token", RunId::parse)?,
        refusals: fields.number("refusals")?,
        refused_since: fields.time_maybe("refused_since")?,
        committed_at: fields.time("committed_at")?,
        cost: fields.counters_maybe("cost")?,
    })
}

const KINDS: [ReplyKind; 4] = [
    ReplyKind::Answer,
    ReplyKind::OptOut,
    ReplyKind::Apology,
    ReplyKind::OverLimit,
];
const STATUSES: [ReplyStatus; 5] = [
    ReplyStatus::Ready,
    ReplyStatus::Sending,
    ReplyStatus::Sent,
    ReplyStatus::Failed,
    ReplyStatus::Unknown,
];

const fn kind_word(kind: ReplyKind) -> &'static str {
    match kind {
        ReplyKind::Answer => "answer",
        ReplyKind::OptOut => "opt_out",
        ReplyKind::Apology => "apology",
        ReplyKind::OverLimit => "over_limit",
    }
}

fn parse_kind(fields: &Fields<'_>) -> Result<ReplyKind, StoreError> {
    let word = fields.text("kind")?;
    KINDS
        .into_iter()
        .find(|kind| kind_word(*kind) == word)
        .ok_or_else(|| fields.wrong("kind", "a kind of reply"))
}

fn parse_status(fields: &Fields<'_>) -> Result<ReplyStatus, StoreError> {
    let word = fields.text("status")?;
    STATUSES
        .into_iter()
        .find(|status| status.as_str() == word)
        .ok_or_else(|| fields.wrong("status", "a reply's status"))
}

pub(super) fn encode_summary(conversation: &ConversationId, summary: &Summary) -> Item {
    Build::new(key_of(conversation, &ItemKey::Summary))
        .text(SLOT, Slot::Summary.encode())
        .number("version", summary.version)
        .text("text", &summary.text)
        .text("through", summary.through)
        .number("written_at", summary.written_at)
        .done()
}

pub(super) fn decode_summary(item: &Item) -> Result<Summary, StoreError> {
    let fields = Fields::open("summary", item)?;
    Ok(Summary {
        version: fields.number("version")?,
        text: fields.text("text")?.to_owned(),
        through: fields.parsed("through", ReplyId::parse)?,
        written_at: fields.time("written_at")?,
    })
}

pub(super) fn encode_fact(conversation: &ConversationId, fact: &Fact) -> Item {
    let slot = Slot::Fact {
        said_at: fact.said_at,
        id: fact.id,
    };
    Build::new(key_of(conversation, &ItemKey::Fact(fact.id)))
        .text(SLOT, slot.encode())
        .text("text", &fact.text)
        .set("sources", texts(&fact.sources))
        .number("said_at", fact.said_at)
        .done()
}

pub(super) fn decode_fact(item: &Item) -> Result<Fact, StoreError> {
    let fields = Fields::open("fact", item)?;
    let Ok(ItemKey::Fact(id)) = ItemKey::decode(fields.text(ITEM)?) else {
        return Err(fields.wrong(ITEM, "a fact's key"));
    };
    Ok(Fact {
        id,
        text: fields.text("text")?.to_owned(),
        sources: fields.parsed_list("sources", |text| MessageId::parse(text))?,
        said_at: fields.time("said_at")?,
    })
}

/// The kind of an item under a conversation, for a log; never its key.
pub(super) fn kind_of(key: &str) -> &'static str {
    match ItemKey::decode(key) {
        Ok(ItemKey::State) => "state",
        Ok(ItemKey::Event(_)) => "event",
        Ok(ItemKey::Reply(_)) => "reply",
        Ok(ItemKey::Call(..)) => "call",
        Ok(ItemKey::Summary) => "summary",
        Ok(ItemKey::Fact(_)) => "fact",
        Ok(ItemKey::Entry(_)) => "agenda entry",
        Err(_) => "item",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{BusinessNumber, ClosedReason, Kind, Phone};

    fn event(closed: Option<ClosedReason>) -> Event {
        Event {
            id: MessageId::parse("wamid.1").unwrap(),
            reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
            number: BusinessNumber::parse("100").unwrap(),
            sent_at: Timestamp::from_ms(1_000_000),
            arrived_at: Timestamp::from_ms(1_000_000),
            content: Content::Unsupported(Kind::parse("image").unwrap()),
            closed,
        }
    }

    #[test]
    fn what_is_stored_closed_goes_by_itself_and_what_waits_never_does() {
        let hasher = Hasher::new(b"a key for tests only");
        let conversation = ConversationId::parse("recepcao#5511900000001").unwrap();
        let item = |closed| encode_event(&hasher, &conversation, &event(closed));
        let closed = item(Some(ClosedReason::KindNotAnswered));
        let eight_days_later = (1_000 + 1 + 8 * 86_400).to_string();
        assert_eq!(closed[EXPIRES_AT].as_n().unwrap(), &eight_days_later);
        assert!(!item(None).contains_key(EXPIRES_AT));
    }
}
