//! STOP: heard before anything goes out, confirmed once.

use super::*;

#[test]
fn a_stop_is_confirmed_at_once_with_all_that_came_before_it() {
    let burst = vec![
        said("a", 0, "oi"),
        said("b", 900, "PARAR!"),
        said("c", 1_800, "ok"),
    ];
    let decision = decide(&seen(burst), &agent::sample(), at(2_000));
    assert!(matches!(decision, Decision::ConfirmOptOut(_)));
    assert_eq!(
        names(&decision),
        ["a", "b"],
        "what follows the stop is a new thought"
    );
}

#[test]
fn after_a_stop_what_came_before_is_closed_and_what_comes_later_is_answered() {
    let opted_out = |state: &mut State| {
        state.opt_out = Some(OptOut { sent_at: at(1_000) });
    };
    let both = vec![said("old", 500, "espera"), said("new", 60_000, "voltei")];
    let decision = decide(&with(seen(both), opted_out), &agent::sample(), at(70_000));
    assert!(matches!(&decision, Decision::Close(c) if c.reason == ClosedReason::OptedOut));
    assert_eq!(names(&decision), ["old"]);
    let new = with(seen(vec![said("new", 60_000, "voltei")]), opted_out);
    assert_eq!(names(&decide(&new, &agent::sample(), at(70_000))), ["new"]);
}

#[test]
fn a_message_of_the_same_second_as_the_stop_does_not_take_it_back() {
    let mut same_second = said("same", 1_000, "oi");
    same_second.arrived_at = at(1_900);
    let peek = with(seen(vec![same_second]), |state| {
        state.opt_out = Some(OptOut { sent_at: at(1_000) });
    });
    let decision = decide(&peek, &agent::sample(), at(70_000));
    assert!(matches!(&decision, Decision::Close(c) if c.reason == ClosedReason::OptedOut));
}

#[test]
fn a_second_stop_is_closed_in_silence() {
    let again = with(seen(vec![said("b", 60_000, "PARAR")]), |state| {
        state.opt_out = Some(OptOut { sent_at: at(1_000) });
    });
    let decision = decide(&again, &agent::sample(), at(70_000));
    assert!(matches!(&decision, Decision::Close(c) if c.reason == ClosedReason::OptedOut));
    assert_eq!(names(&decision), ["b"]);
}

#[test]
fn a_stop_behind_a_flood_is_in_its_own_batch() {
    let mut flood: Vec<Event> = (0..80)
        .map(|n| said(&format!("m{n:02}"), n, "oi"))
        .collect();
    flood.push(said("stop", 90, "parar"));
    flood.extend((0..200).map(|n| said(&format!("z{n:03}"), 91 + n, "oi")));
    let decision = decide(&seen(flood), &agent::sample(), at(1_000));
    assert_eq!(names(&decision).len(), Batch::MAX);
    assert!(matches!(decision, Decision::ConfirmOptOut(_)));
    assert_eq!(names(&decision).last(), Some(&"stop"));
}

#[test]
fn a_stop_goes_before_a_reply_that_waits_to_be_sent() {
    let mut peek = seen(vec![said("a", 0, "parar")]);
    peek.outbox.push(reply());
    assert!(matches!(
        decide(&peek, &agent::sample(), at(100)),
        Decision::ConfirmOptOut(_)
    ));
    peek.outbox[0].status = ReplyStatus::Sending;
    assert_eq!(decide(&peek, &agent::sample(), at(100)), Decision::Deliver);
}

#[test]
fn once_a_limit_is_told_messages_are_closed_until_its_time_and_a_stop_is_confirmed_still() {
    let limited = |events| {
        with(seen(events), |state| {
            state.limited_until = Some(at(9_000));
        })
    };
    let agent = agent::sample();
    let one = || limited(vec![said("a", 0, "oi")]);
    let decision = decide(&one(), &agent, at(8_999));
    assert!(matches!(&decision, Decision::Close(c) if c.reason == ClosedReason::SpendLimit));
    assert_eq!(names(&decision), ["a"]);
    assert!(matches!(
        decide(&one(), &agent, at(9_000)),
        Decision::Answer(_)
    ));
    let stop = limited(vec![said("a", 0, "oi"), said("b", 500, "parar")]);
    let decision = decide(&stop, &agent, at(1_000));
    assert!(matches!(decision, Decision::ConfirmOptOut(_)));
    assert_eq!(names(&decision), ["a", "b"]);
}
