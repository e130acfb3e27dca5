//! Tables of both decisions, with each boundary named.

use super::*;
use crate::domain::{
    Address, BusinessNumber, Content, Event, Lease, MessageId, OptOut, Phone, RunId,
};

const NOW: Timestamp = Timestamp::from_ms(1_767_607_200_000);

fn ago(duration: Duration) -> Timestamp {
    NOW.minus(duration)
}

fn said(arrived_at: Timestamp) -> Event {
    Event {
        id: MessageId::parse("m1").unwrap(),
        reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
        number: BusinessNumber::parse("100").unwrap(),
        sent_at: arrived_at,
        arrived_at,
        content: Content::Text("oi".to_owned()),
        closed: None,
    }
}

fn seen(change: impl FnOnce(&mut State)) -> Peek {
    let mut state = State::new(Vec::new(), ago(Duration::from_hours(48)));
    change(&mut state);
    Peek {
        state: Some(state),
        outbox: Vec::new(),
        pending: vec![said(ago(Duration::from_mins(5)))],
    }
}

fn counted_so_far(crashes: u32) -> impl FnOnce(&mut State) {
    move |state| {
        state.crashes = crashes;
        state.first_attempt_at = Some(ago(Duration::from_mins(1)));
    }
}

#[test]
fn panics_are_counted_and_the_third_is_the_last_without_consequence() {
    let table = [
        ("the first", seen(|_| {}), Poisoned::Count(1)),
        ("the second", seen(counted_so_far(1)), Poisoned::Count(2)),
        ("the third", seen(counted_so_far(2)), Poisoned::Count(3)),
        ("the fourth", seen(counted_so_far(3)), Poisoned::Apologise),
    ];
    for (label, peek, right) in table {
        assert_eq!(decide(&peek, || None, NOW), right, "{label}");
    }
}

#[test]
fn what_was_counted_against_older_messages_says_nothing_about_newer_ones() {
    let mut peek = seen(counted_so_far(3));
    peek.pending = vec![said(ago(Duration::from_secs(30)))];
    assert_eq!(decide(&peek, || None, NOW), Poisoned::Count(1));
}

#[test]
fn nothing_is_counted_where_someone_else_works_or_a_backoff_runs() {
    let soon = NOW.plus(Duration::from_secs(10));
    let lease = Lease {
        run: RunId::from_parts(1, 1),
        until: soon,
    };
    let leased = seen(|state| state.lease = Some(lease));
    assert_eq!(decide(&leased, || None, NOW), Poisoned::HoldUntil(soon));
    let held = seen(|state| state.hold_until = Some(soon));
    assert_eq!(decide(&held, || None, NOW), Poisoned::HoldUntil(soon));
    let nobody = Peek {
        state: None,
        ..seen(|_| {})
    };
    let later = NOW.plus(BACKOFF_MAX);
    assert_eq!(decide(&nobody, || None, NOW), Poisoned::HoldUntil(later));
}

#[test]
fn who_is_not_to_be_written_to_is_not_written_to() {
    let opted_out = seen(|state| {
        counted_so_far(3)(state);
        state.opt_out = Some(OptOut { sent_at: NOW });
    });
    let paused = seen(|state| {
        counted_so_far(3)(state);
        state.paused_until = Some(NOW.plus(Duration::from_hours(1)));
    });
    for (peek, right) in [
        (opted_out, ClosedReason::OptedOut),
        (paused, ClosedReason::Paused),
    ] {
        let Poisoned::Close(closure) = decide(&peek, || None, NOW) else {
            panic!("{right:?}");
        };
        assert_eq!((closure.events.len(), closure.reason), (1, right));
    }
}

/// A STOP holds until they write again, for the honest line as for an answer.
#[test]
fn who_wrote_after_their_stop_is_owed_the_honest_line() {
    let stopped = ago(Duration::from_mins(6));
    let mut peek = seen(|state| {
        counted_so_far(3)(state);
        state.opt_out = Some(OptOut { sent_at: stopped });
    });
    assert_eq!(decide(&peek, || None, NOW), Poisoned::Apologise);
    let covered = Event {
        id: MessageId::parse("m0").unwrap(),
        ..said(stopped)
    };
    peek.pending.insert(0, covered);
    let Poisoned::Close(closure) = decide(&peek, || None, NOW) else {
        panic!("what it covers goes first");
    };
    assert_eq!(closure.events, [MessageId::parse("m0").unwrap()]);
}

#[test]
fn what_the_ordinary_decision_closes_is_closed() {
    let peek = seen(counted_so_far(3));
    let ordinary = everything(&peek, ClosedReason::OptedOut);
    let closed = decide(&peek, || ordinary.clone(), NOW);
    assert_eq!(Some(closed), ordinary.clone().map(Poisoned::Close));
    let first = decide(&seen(counted_so_far(1)), || ordinary, NOW);
    assert_eq!(first, Poisoned::Count(2), "it is counted first");
}

#[test]
fn only_what_waited_a_day_and_was_never_begun_on_is_beyond_help() {
    let waiting = |ms: u64, state: fn(&mut State)| {
        let mut peek = seen(state);
        peek.pending = vec![said(ago(REVIVED_FOR)), said(ago(Duration::from_millis(ms)))];
        beyond_help(&peek, NOW).is_some()
    };
    let day = 24 * 3_600_000;
    assert!(waiting(day, |_| {}), "a day");
    assert!(!waiting(day - 1, |_| {}), "the newest: a day less 1 ms");
    assert!(
        !waiting(day, |state| state.first_attempt_at = Some(NOW)),
        "a run has begun"
    );
    let empty = Peek {
        pending: Vec::new(),
        ..seen(|_| {})
    };
    assert_eq!(beyond_help(&empty, NOW), None);
}
