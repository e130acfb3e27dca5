//! Hand-made schedules through our policies.

use super::super::algorithm::Delays;
use super::super::samples::{call, dropped, fragment, rig, said, sent};
use super::*;

/// The runs on one thought, each of six seconds.
fn runs(stored_s: &[f64], writes_after_s: Option<f64>) -> Vec<Run> {
    let mut calls = std::iter::repeat(call(6.0, writes_after_s));
    answer(&rig(), &said(stored_s), &mut calls)
}

#[test]
fn a_run_begins_after_the_window_and_is_dropped_by_the_next_look() {
    for (label, stored_s, right) in [
        ("one message", vec![0.0], vec![sent(&[0], 5.0, 11.0)]),
        (
            "a newer one moves the window",
            vec![0.0, 4.9],
            vec![sent(&[0, 1], 9.9, 15.9)],
        ),
        (
            "a newer one during the call: dropped within a second, and its own window is waited for",
            vec![0.0, 5.5],
            vec![dropped(&[0], 5.0, 6.0), sent(&[0, 1], 10.5, 16.5)],
        ),
        (
            "in the last moment of the call",
            vec![0.0, 10.9],
            vec![dropped(&[0], 5.0, 11.0), sent(&[0, 1], 15.9, 21.9)],
        ),
        (
            "after the reply it is another turn",
            vec![0.0, 11.1],
            vec![sent(&[0], 5.0, 11.0), sent(&[1], 16.1, 22.1)],
        ),
    ] {
        assert_eq!(runs(&stored_s, None), right, "{label}");
    }
}

#[test]
fn after_a_write_the_answer_stands_and_what_came_meanwhile_is_the_next_turn() {
    for (label, writes_after_s, right) in [
        (
            "written before the look that sees the newer one",
            0.8,
            vec![sent(&[0], 5.0, 11.0), sent(&[1], 11.0, 17.0)],
        ),
        (
            "not yet written at that look",
            1.2,
            vec![dropped(&[0], 5.0, 6.0), sent(&[0, 1], 10.5, 16.5)],
        ),
    ] {
        assert_eq!(runs(&[0.0, 5.5], Some(writes_after_s)), right, "{label}");
    }
}

#[test]
fn the_ceiling_is_kept_to_the_moment_and_ends_the_dropping() {
    for (label, stored_s, right) in [
        (
            "who never pauses is answered at the ceiling",
            vec![0.0, 4.0, 8.0, 12.0, 16.0, 19.0],
            vec![sent(&[0, 1, 2, 3, 4, 5], 20.0, 26.0)],
        ),
        (
            "what comes past it gets its own answer, its window over by then",
            vec![0.0, 4.0, 8.0, 12.0, 16.0, 20.5],
            vec![sent(&[0, 1, 2, 3, 4], 20.0, 26.0), sent(&[5], 26.0, 32.0)],
        ),
        (
            "what comes in the last second before it is seen just in time",
            vec![0.0, 4.0, 8.5, 13.2, 19.5],
            vec![
                dropped(&[0, 1, 2, 3], 18.2, 19.9),
                sent(&[0, 1, 2, 3, 4], 20.0, 26.0),
            ],
        ),
    ] {
        assert_eq!(runs(&stored_s, None), right, "{label}");
    }
}

#[test]
fn a_late_fragment_is_answered_after_its_delivery_and_a_second_delivery_changes_nothing() {
    let mut late = vec![fragment(0, 1.0, 1.0), fragment(0, 0.0, 14.0)];
    let mut calls = std::iter::repeat(call(6.0, None));
    let right = [sent(&[0], 6.0, 12.0), sent(&[1], 19.0, 25.0)];
    assert_eq!(answer(&rig(), &late, &mut calls), right);
    for (label, doubled_s) in [("while it waits", 2.0), ("when it is answered", 13.0)] {
        late[0].doubled_at = Some(super::super::samples::at(doubled_s));
        assert_eq!(answer(&rig(), &late, &mut calls), right, "{label}");
    }
}

#[test]
fn what_machinery_takes_is_added_where_it_is_taken() {
    let rig = Rig {
        delays: Delays::TYPICAL,
        ..rig()
    };
    for (label, stored_s, right) in [
        (
            "wake, claim, commit and send",
            vec![0.0],
            vec![sent(&[0], 5.05, 11.15)],
        ),
        (
            "a message between decision and claim is waited for",
            vec![0.0, 5.03],
            vec![sent(&[0, 1], 10.06, 16.16)],
        ),
        (
            "one between the last look and the send is not seen",
            vec![0.0, 11.1],
            vec![sent(&[0], 5.05, 11.15), sent(&[1], 16.13, 22.23)],
        ),
    ] {
        let mut calls = std::iter::repeat(call(6.0, None));
        assert_eq!(answer(&rig, &said(&stored_s), &mut calls), right, "{label}");
    }
}

#[test]
fn without_calls_nothing_is_answered_and_no_run_is_made_up() {
    let none = answer(&rig(), &said(&[0.0, 1.0]), &mut std::iter::empty());
    assert_eq!(none, []);
}
