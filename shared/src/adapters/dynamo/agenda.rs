//! The agenda: entries beside the memory, each written in one transaction with a look whether the person lives.

use async_trait::async_trait;

use super::DynamoStore;
use super::fields::{Build, Fields};
use super::items::key_of;
use super::keys::{AGENDA_FROM, AGENDA_TO, ItemKey, Slot};
use super::request::{Item, Statement, number};
use super::schema::{EXPIRES_AT, ITEM, SLOT};
use crate::domain::{ConversationId, Day, Entry, EntryKind, EntryStatus, Priority, Timestamp};
use crate::error::StoreError;
use crate::ports::{Agenda, Written};

/// What is done, cancelled or long past goes by itself after so many seconds.
const OVER_SECONDS: u64 = 30 * 24 * 60 * 60;
/// More than one person may have.
const PAGE: usize = 1000;

#[async_trait]
impl Agenda for DynamoStore {
    async fn entries(&self, of: &ConversationId) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let mut from = None;
        loop {
            let range = (AGENDA_FROM, AGENDA_TO);
            let page = self
                .live_page("read the agenda", of, range, PAGE, from)
                .await?;
            for item in &page.items {
                entries.extend(self.or_aside(of, item, decode_entry(item))?);
            }
            from = page.next;
            if from.is_none() {
                return Ok(entries);
            }
        }
    }

    async fn write(&self, of: &ConversationId, entry: &Entry) -> Result<Written, StoreError> {
        let lives = Statement::check(key_of(of, &ItemKey::State)).when("attribute_exists(#item)");
        let put = Statement::put(encode_entry(of, entry));
        let put = match entry.version {
            ..=1 => put.when("attribute_not_exists(#item)"),
            version => put
                .when("#version = :before")
                .with(":before", number(version - 1)),
        };
        let statements = vec![lives, put];
        match self.transact("write the agenda", statements, None).await? {
            Written::Done => Ok(Written::Done),
            // A repeat of an applied write loses to itself: its entry is there.
            Written::Lost => {
                let key = key_of(of, &ItemKey::Entry(entry.id.clone()));
                let found = self.get("write the agenda", key).await?;
                let found = found.map(|item| decode_entry(&item)).transpose()?;
                Ok(match found {
                    Some(found) if found == *entry => Written::Done,
                    _ => Written::Lost,
                })
            }
        }
    }
}

fn encode_entry(conversation: &ConversationId, entry: &Entry) -> Item {
    let slot = Slot::Entry {
        made_at: entry.made_at,
        id: entry.id.clone(),
    };
    Build::new(key_of(conversation, &ItemKey::Entry(entry.id.clone())))
        .text(SLOT, slot.encode())
        .text("kind", entry.kind.as_str())
        .text("title", &entry.title)
        .text_maybe("text", entry.text.as_ref())
        .text_maybe("day", entry.day)
        .text_maybe("until", entry.until)
        .text("priority", entry.priority.as_str())
        .text("status", entry.status.as_str())
        .number("version", entry.version)
        .text("written_by", &entry.written_by)
        .number("made_at", entry.made_at)
        .number("changed_at", entry.changed_at)
        .number_maybe(EXPIRES_AT, expires_at(entry))
        .done()
}

/// When nobody will ask for it any more, in seconds since 1970; a memo or task that stands never goes.
fn expires_at(entry: &Entry) -> Option<u64> {
    if !entry.is_open() {
        return Some(entry.changed_at.seconds() + OVER_SECONDS);
    }
    let last = entry.until.or(entry.day)?;
    if entry.kind != EntryKind::Appointment {
        return None;
    }
    // In UTC, which is a day off at most.
    let midnight = jiff::tz::TimeZone::UTC
        .to_timestamp(last.date().at(0, 0, 0, 0))
        .ok()?;
    let seconds = u64::try_from(midnight.as_second()).ok()?;
    let written = Timestamp::seconds(entry.changed_at);
    Some(seconds.max(written) + OVER_SECONDS)
}

pub(super) fn decode_entry(item: &Item) -> Result<Entry, StoreError> {
    let fields = Fields::open("agenda entry", item)?;
    let Ok(ItemKey::Entry(id)) = ItemKey::decode(fields.text(ITEM)?) else {
        return Err(fields.wrong(ITEM, "an entry's key"));
    };
    let day = |field| match fields.text_maybe(field)? {
        None => Ok(None),
        Some(text) => Day::parse(text)
            .map(Some)
            .ok_or_else(|| fields.wrong(field, "a day or a moment")),
    };
    Ok(Entry {
        id,
        kind: EntryKind::parse(fields.text("kind")?)
            .ok_or_else(|| fields.wrong("kind", "a kind of entry"))?,
        title: fields.text("title")?.to_owned(),
        text: fields.text_maybe("text")?.map(str::to_owned),
        day: day("day")?,
        until: day("until")?,
        priority: Priority::parse(fields.text("priority")?)
            .ok_or_else(|| fields.wrong("priority", "a priority"))?,
        status: EntryStatus::parse(fields.text("status")?)
            .ok_or_else(|| fields.wrong("status", "an entry's status"))?,
        version: fields.number("version")?,
        written_by: fields.text("written_by")?.to_owned(),
        made_at: fields.time("made_at")?,
        changed_at: fields.time("changed_at")?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::EntryId;

    fn day() -> impl Strategy<Value = Option<Day>> {
        let moment = (1..=12_i8, 1..=28_i8, 0..24_i8, 0..60_i8);
        prop_oneof![
            Just(None),
            moment.prop_map(|(month, day, hour, minute)| {
                let date = jiff::civil::date(2026, month, day);
                Some(if minute % 2 == 0 {
                    Day::Whole(date)
                } else {
                    Day::At(date.at(hour, minute, 0, 0))
                })
            }),
        ]
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let words = ("\\PC{1,20}", proptest::option::of("\\PC{0,20}"));
        let kinds = (0..3_usize, 0..3_usize, 0..3_usize);
        (words, kinds, day(), day(), 1..9_u32).prop_map(|(words, kinds, day, until, version)| {
            Entry {
                id: EntryId::parse("a1").unwrap(),
                kind: EntryKind::ALL[kinds.0],
                title: words.0,
                text: words.1,
                day,
                until,
                priority: Priority::ALL[kinds.1],
                status: EntryStatus::ALL[kinds.2],
                version,
                written_by: "k1".to_owned(),
                made_at: Timestamp::from_ms(1_000),
                changed_at: Timestamp::from_ms(2_000),
            }
        })
    }

    proptest! {
        #[test]
        fn an_entry_reads_back_as_itself(entry in entry()) {
            let conversation = ConversationId::parse("recepcao#5511900000001").unwrap();
            let item = encode_entry(&conversation, &entry);
            prop_assert!(item.contains_key("v"));
            prop_assert_eq!(decode_entry(&item).unwrap(), entry);
        }
    }

    #[test]
    fn only_what_is_over_goes_by_itself() {
        let entry = |kind, status, day: Option<&str>| Entry {
            id: EntryId::parse("a1").unwrap(),
            kind,
            title: "t".to_owned(),
            text: None,
            day: day.and_then(Day::parse),
            until: None,
            priority: Priority::Normal,
            status,
            version: 1,
            written_by: "k".to_owned(),
            made_at: Timestamp::from_ms(0),
            changed_at: Timestamp::from_ms(5_000),
        };
        for (label, entry, right) in [
            (
                "a task that stands",
                entry(EntryKind::Task, EntryStatus::Open, Some("2026-01-02")),
                None,
            ),
            (
                "a memo",
                entry(EntryKind::Memo, EntryStatus::Open, None),
                None,
            ),
            (
                "a task that is done",
                entry(EntryKind::Task, EntryStatus::Done, None),
                Some(5 + OVER_SECONDS),
            ),
            (
                "an appointment",
                entry(
                    EntryKind::Appointment,
                    EntryStatus::Open,
                    Some("1970-01-02T10:00"),
                ),
                Some(86_400 + OVER_SECONDS),
            ),
        ] {
            assert_eq!(expires_at(&entry), right, "{label}");
        }
    }
}
