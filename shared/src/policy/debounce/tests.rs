//! Tables of the decision, with each boundary named.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::domain::agent;
use crate::domain::{
    Address, BusinessNumber, ClosedReason, Content, Lease, OptOut, Phone, Reply, ReplyId,
    ReplyKind, ReplyStatus, RunId, Sealed,
};

mod stops;

/// Milliseconds of the tests' zero: any moment that is not near 1970.
const ZERO: u64 = 1_700_000_000_000;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_ms(ZERO + ms)
}

fn said(id: &str, ms: u64, text: &str) -> Event {
    Event {
        id: MessageId::parse(id).unwrap(),
        reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
        number: BusinessNumber::parse("100").unwrap(),
        sent_at: at(ms),
        arrived_at: at(ms),
        content: Content::Text(text.to_owned()),
        closed: None,
    }
}

fn run() -> RunId {
    RunId::from_parts(ZERO, 1)
}

fn reply() -> Reply {
    Reply {
        id: ReplyId::from_parts(ZERO, 1),
        kind: ReplyKind::Answer,
        text: "olá".to_owned(),
        number: BusinessNumber::parse("100").unwrap(),
        to: Address::Phone(Phone::parse("5511900000001").unwrap()),
        status: ReplyStatus::Ready,
        token: None,
        refusals: 0,
        refused_since: None,
        committed_at: at(0),
        cost: None,
    }
}

fn seen(pending: Vec<Event>) -> Peek {
    Peek {
        state: Some(State::new(Vec::new(), at(0))),
        outbox: Vec::new(),
        pending,
    }
}

fn with(mut peek: Peek, change: impl FnOnce(&mut State)) -> Peek {
    change(peek.state.as_mut().unwrap());
    peek
}

fn names(decision: &Decision) -> Vec<&str> {
    match decision {
        Decision::Answer(batch) | Decision::ConfirmOptOut(batch) | Decision::Apologise(batch) => {
            batch
                .events()
                .iter()
                .map(|event| event.id.as_str())
                .collect()
        }
        Decision::Close(closure) => closure.events.iter().map(MessageId::as_str).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_thought_is_answered_at_the_windows_end_or_at_the_ceiling() {
    let two = || seen(vec![said("a", 0, "oi"), said("b", 3_000, "queria marcar")]);
    let steady: Vec<Event> = (0..7)
        .map(|n| said(&format!("m{n}"), n * 3_000, "mais uma coisa"))
        .collect();
    let hold = |ms| Decision::HoldUntil(at(ms), HoldReason::Window);
    for (label, peek, now, right) in [
        (
            "one, at once",
            seen(vec![said("a", 0, "oi")]),
            0,
            hold(5_000),
        ),
        (
            "one, a ms too soon",
            seen(vec![said("a", 0, "oi")]),
            4_999,
            hold(5_000),
        ),
        ("two: the newest counts", two(), 5_000, hold(8_000)),
        (
            "steady stream, before the ceiling",
            seen(steady.clone()),
            19_000,
            hold(20_000),
        ),
    ] {
        assert_eq!(decide(&peek, &agent::sample(), at(now)), right, "{label}");
    }
    for (label, peek, now, right) in [
        ("window's end", two(), 8_000, vec!["a", "b"]),
        (
            "ceiling",
            seen(steady),
            20_000,
            vec!["m0", "m1", "m2", "m3", "m4", "m5", "m6"],
        ),
    ] {
        let decision = decide(&peek, &agent::sample(), at(now));
        assert!(matches!(decision, Decision::Answer(_)), "{label}");
        assert_eq!(names(&decision), right, "{label}");
    }
}

#[test]
fn a_full_batch_is_answered_at_once_and_holds_80() {
    let flood: Vec<Event> = (0..81)
        .map(|n| said(&format!("m{n:02}"), n, "oi"))
        .collect();
    let decision = decide(&seen(flood), &agent::sample(), at(81));
    assert_eq!(names(&decision).len(), 80);
}

#[test]
fn a_late_message_takes_its_place_by_the_providers_time() {
    let mut late = said("late", 0, "antes");
    late.arrived_at = at(4_000);
    let peek = seen(vec![said("b", 2_000, "depois"), late]);
    assert_eq!(
        names(&decide(&peek, &agent::sample(), at(9_000))),
        ["late", "b"]
    );
}

#[test]
fn nothing_to_do_is_ignored_and_a_live_lease_is_waited_for() {
    let leased = with(seen(vec![said("a", 0, "oi")]), |state| {
        state.lease = Some(Lease {
            run: run(),
            until: at(90_000),
        });
    });
    let agent = agent::sample();
    assert_eq!(decide(&seen(Vec::new()), &agent, at(0)), Decision::Ignore);
    assert_eq!(decide(&Peek::default(), &agent, at(0)), Decision::Ignore);
    let right = Decision::HoldUntil(at(90_000), HoldReason::Leased);
    assert_eq!(decide(&leased, &agent, at(50_000)), right);
    assert!(
        matches!(decide(&leased, &agent, at(90_000)), Decision::Answer(_)),
        "lease ended"
    );
}

#[test]
fn the_outbox_goes_before_new_messages() {
    let mut peek = seen(vec![said("a", 0, "oi")]);
    peek.outbox.push(reply());
    let agent = agent::sample();
    assert_eq!(decide(&peek, &agent, at(9_000)), Decision::Deliver);
    let refused = with(peek, |state| state.hold_until = Some(at(10_000)));
    let right = Decision::HoldUntil(at(10_000), HoldReason::SendLater);
    assert_eq!(decide(&refused, &agent, at(9_000)), right);
}

#[test]
fn while_a_human_holds_the_conversation_messages_are_closed() {
    let peek = || {
        with(seen(vec![said("a", 0, "oi")]), |s| {
            s.paused_until = Some(at(9_000));
        })
    };
    let agent = agent::sample();
    let decision = decide(&peek(), &agent, at(8_999));
    assert!(matches!(&decision, Decision::Close(c) if c.reason == ClosedReason::Paused));
    assert!(
        matches!(decide(&peek(), &agent, at(9_000)), Decision::Answer(_)),
        "pause is over"
    );
}

#[test]
fn messages_without_a_state_are_late_ones_of_an_erased_person() {
    let peek = Peek {
        state: None,
        ..seen(vec![said("a", 0, "oi")])
    };
    let right = Decision::DeleteLate(vec![MessageId::parse("a").unwrap()]);
    assert_eq!(decide(&peek, &agent::sample(), at(0)), right);
}

#[test]
fn what_was_counted_against_closed_messages_says_nothing_about_newer_ones() {
    let peek = with(seen(vec![said("b", 86_400_000, "oi")]), |state| {
        state.first_attempt_at = Some(at(10_000));
        state.attempts = 1;
        state.crashes = 3;
    });
    let state = peek.state.as_ref().unwrap();
    assert_eq!(first_attempt(state, &peek.pending), None);
    let decision = decide(&peek, &agent::sample(), at(86_405_000));
    assert_eq!(names(&decision), ["b"]);
    assert!(matches!(decision, Decision::Answer(_)), "{decision:?}");
}

#[test]
fn giving_up_is_by_time_and_a_message_that_crashes_every_run_gets_the_honest_line() {
    let tried = |first: u64, crashes: u32| {
        with(seen(vec![said("a", 0, "oi")]), |state| {
            state.first_attempt_at = Some(at(first));
            state.attempts = 19;
            state.hold_until = Some(at(12_000));
            state.crashes = crashes;
        })
    };
    let agent = agent::sample();
    for (label, peek, now, gives_up) in [
        ("many tries, little time", tried(10_000, 0), 309_999, false),
        ("five minutes", tried(10_000, 0), 310_000, true),
        ("two panics", tried(10_000, 2), 20_000, false),
        ("three panics", tried(10_000, 3), 20_000, true),
    ] {
        let decision = decide(&peek, &agent, at(now));
        assert_eq!(
            matches!(decision, Decision::Apologise(_)),
            gives_up,
            "{label}"
        );
    }
}

#[test]
fn a_backoff_is_waited_for_unless_the_window_ends_later() {
    let backing_off = with(seen(vec![said("a", 0, "oi")]), |s| {
        s.hold_until = Some(at(9_000));
    });
    let agent = agent::sample();
    let right = Decision::HoldUntil(at(9_000), HoldReason::Backoff);
    assert_eq!(decide(&backing_off, &agent, at(6_000)), right);
    let newer = with(
        seen(vec![said("a", 0, "oi"), said("b", 6_000, "e aí")]),
        |state| {
            state.hold_until = Some(at(9_000));
        },
    );
    let right = Decision::HoldUntil(at(11_000), HoldReason::Window);
    assert_eq!(decide(&newer, &agent, at(7_000)), right);
}

#[test]
fn a_sealed_batch_is_answered_less_what_is_closed_and_an_empty_one_is_opened() {
    let sealed = |ids: &[&str]| {
        let events = ids
            .iter()
            .map(|id| MessageId::parse(*id).unwrap())
            .collect();
        Some(Sealed {
            reply: ReplyId::from_parts(ZERO, 9),
            events,
        })
    };
    let pending = vec![said("b", 0, "dois"), said("c", 100, "três")];
    for (label, seal, right) in [
        ("a was closed", sealed(&["a", "b"]), vec!["b"]),
        ("all were closed", sealed(&["a"]), vec!["b", "c"]),
        ("no seal", None, vec!["b", "c"]),
    ] {
        let peek = with(seen(pending.clone()), |state| state.sealed = seal);
        assert_eq!(
            names(&decide(&peek, &agent::sample(), at(9_000))),
            right,
            "{label}"
        );
    }
}

/// A STOP that came late: the write that was made meanwhile would be made again under another reply.
#[test]
fn a_late_stop_is_confirmed_together_with_the_sealed_batch() {
    let pending = vec![
        said("stop", 0, "parar"),
        said("b", 100, "marca"),
        said("c", 200, "oi"),
    ];
    let confirmed = |seal: Option<Sealed>| {
        let peek = with(seen(pending.clone()), |state| state.sealed = seal);
        match decide(&peek, &agent::sample(), at(9_000)) {
            Decision::ConfirmOptOut(batch) => batch.ids(),
            other => panic!("{other:?}"),
        }
    };
    let sealed = Sealed {
        reply: ReplyId::from_parts(ZERO, 9),
        events: vec![pending[1].id.clone()],
    };
    assert_eq!(
        confirmed(Some(sealed)),
        [pending[0].id.clone(), pending[1].id.clone()]
    );
    assert_eq!(confirmed(None), [pending[0].id.clone()]);
}

#[test]
fn a_clock_that_stepped_back_holds_nobody_for_as_long_as_the_step() {
    let agent = agent::sample();
    let far_ahead = seen(vec![said("a", 3_600_000, "oi")]);
    assert_eq!(names(&decide(&far_ahead, &agent, at(0))), ["a"]);
    let skewed = seen(vec![said("a", 300, "oi")]);
    let right = Decision::HoldUntil(at(5_300), HoldReason::Window);
    assert_eq!(
        decide(&skewed, &agent, at(0)),
        right,
        "clocks of two machines differ a little"
    );
}

#[test]
fn a_run_that_was_cut_off_is_tried_again_after_a_long_stop() {
    let cut_off = |hold_until| {
        with(seen(vec![said("a", 0, "oi")]), |state| {
            state.first_attempt_at = Some(at(5_000));
            state.attempts = 1;
            state.hold_until = hold_until;
        })
    };
    let agent = agent::sample();
    let later = at(3_600_000);
    for (label, peek) in [
        ("it never ended", cut_off(None)),
        ("it failed an hour ago", cut_off(Some(at(7_000)))),
    ] {
        assert!(
            matches!(decide(&peek, &agent, later), Decision::Answer(_)),
            "{label}"
        );
    }
    let failed_lately = cut_off(Some(at(3_590_000)));
    assert!(matches!(
        decide(&failed_lately, &agent, later),
        Decision::Apologise(_)
    ));
}

proptest! {
    #[test]
    fn pending_messages_are_never_ignored_and_never_answered_early(
        arrivals in prop::collection::vec(0_u64..60_000, 1..100),
        now in 50_000_u64..120_000,
    ) {
        let pending: Vec<Event> = arrivals
            .iter()
            .enumerate()
            .map(|(n, ms)| said(&format!("m{n}"), *ms, "oi"))
            .collect();
        let (first, last) = (arrivals.iter().min().unwrap(), arrivals.iter().max().unwrap());
        // Arrivals ahead of the clock have a test of their own.
        prop_assume!(now >= *last);
        let decision = decide(&seen(pending), &agent::sample(), at(now));
        match decision {
            Decision::Answer(batch) => prop_assert!(
                arrivals.len() >= Batch::MAX || now >= (last + 5_000).min(first + 20_000),
                "answered {} early", batch.events().len()
            ),
            Decision::HoldUntil(until, HoldReason::Window) => {
                prop_assert!(until > at(now));
                prop_assert!(until.since(at(now)) <= Duration::from_secs(20));
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
