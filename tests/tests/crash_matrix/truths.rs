//! What holds at rest, whatever was struck.

use std::collections::BTreeMap;

use recado::domain::{Counters, ReplyKind, ReplyStatus};

use crate::Cell;
use crate::bench::Bench;
use crate::steps::{Mode, Strike};

/// Everything at rest, one reply to a message, one send to a reply.
pub fn hold(bench: &Bench, cell: &Cell) {
    let table = bench.table();
    assert!(table.jobs.is_empty(), "{cell}: an erasure is left");
    let mut sends: BTreeMap<_, usize> = BTreeMap::new();
    for delivered in bench.fakes.messenger.delivered() {
        *sends.entry(delivered.reply).or_default() += 1;
    }
    assert!(sends.values().all(|n| *n == 1), "{cell}: a doubled send");
    booked(bench, cell);
    for person in table.people.values() {
        for stored in person.events.values() {
            assert!(stored.answered_by.is_some(), "{cell}: a message waits");
        }
        for (id, stored) in &person.replies {
            let status = stored.reply.status;
            assert!(status.is_at_rest(), "{cell}: a reply is {status:?}");
            assert_ne!(status, ReplyStatus::Failed, "{cell}");
            let sent = sends.contains_key(id);
            if status == ReplyStatus::Unknown {
                let excused = cell.leaves_a_send_unknown();
                assert!(excused, "{cell}: nobody knows whether a reply was sent");
            } else {
                assert!(sent || stored.provider_id.is_none(), "{cell}: not sent");
            }
        }
    }
}

/// What the models reported is booked once at most, and by whoever lives to book it: only a death loses a booking, or a
/// call whose answer nobody heard.
fn booked(bench: &Bench, cell: &Cell) {
    let table = bench.table();
    let counted = |rows: &mut dyn Iterator<Item = &Counters>| {
        rows.map(|row| row.calls - row.estimated_calls).sum::<u64>()
    };
    let booked = counted(&mut table.ledger.values());
    // Each report is of twenty tokens.
    let reported = bench.fakes.model.metered().output / 20;
    assert!(
        booked <= reported,
        "{cell}: {booked} of {reported} calls booked"
    );
    let is_heard = |(strike, step): &(Strike, &str)| {
        let lives = matches!(
            strike.mode,
            Mode::FailAfter | Mode::FailBefore | Mode::Twice
        );
        lives && *step != "converse"
    };
    if cell.strikes.iter().all(is_heard) {
        assert_eq!(booked, reported, "{cell}: a booking is lost");
    }
}

/// What was said to Ana; what was lost in a send of unknown outcome is missing.
pub fn said(bench: &Bench, cell: &Cell, right: &[&str]) {
    let texts = bench.fakes.messenger.texts();
    if cell.loses_a_send() {
        assert_eq!(texts.len() + 1, right.len(), "{cell}: {texts:?}");
        let committed = replies(bench, None);
        assert_eq!(committed, right.len(), "{cell}: committed all the same");
    } else {
        assert_eq!(texts, right, "{cell}");
    }
}

/// Ana's replies, or those of one kind.
pub fn replies(bench: &Bench, kind: Option<ReplyKind>) -> usize {
    let table = bench.table();
    let Some(person) = table.people.get(&bench.ana()) else {
        return 0;
    };
    let of_kind = |kind_of: ReplyKind| kind.is_none_or(|kind| kind == kind_of);
    let replies = person.replies.values();
    replies.filter(|one| of_kind(one.reply.kind)).count()
}
