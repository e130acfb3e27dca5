//! Each definition on a schedule that is small enough to be told by hand.

use super::super::samples::{dropped, fragment, said, sent};
use super::*;

fn figures(fragments: &[Fragment], runs: &[Run]) -> Figures {
    let mut tally = Tally::default();
    tally.add(fragments, runs);
    tally.figures("of hand".to_owned())
}

#[track_caller]
fn same(left: f64, right: f64, label: &str) {
    assert!(
        (left - right).abs() < 1e-9,
        "{label}: {left} is not {right}"
    );
}

#[test]
fn a_thought_is_split_by_two_replies_and_one_reply_to_two_thoughts_splits_none() {
    let two_thoughts = [
        fragment(0, 0.0, 0.1),
        fragment(0, 2.0, 2.1),
        fragment(1, 4.0, 4.1),
    ];
    for (label, runs, split, replies) in [
        (
            "one reply to both",
            vec![sent(&[0, 1, 2], 9.1, 12.0)],
            0.0,
            0.5,
        ),
        (
            "one reply each",
            vec![sent(&[0, 1], 4.0, 5.0), sent(&[2], 9.1, 12.0)],
            0.0,
            1.0,
        ),
        (
            "two replies to the first, of which one answers the second too",
            vec![sent(&[0], 2.0, 3.0), sent(&[1, 2], 9.1, 12.0)],
            50.0,
            1.0,
        ),
        (
            "a dropped run splits nothing",
            vec![dropped(&[0], 2.0, 3.0), sent(&[0, 1, 2], 9.1, 12.0)],
            0.0,
            0.5,
        ),
    ] {
        let of = figures(&two_thoughts, &runs);
        same(of.split_percent_of_thoughts, split, label);
        same(of.replies_per_thought, replies, label);
        assert_eq!((of.thoughts, of.unanswered_messages), (2, 0), "{label}");
    }
}

#[test]
fn a_reply_ignores_what_was_stored_before_it_was_sent_and_nobody_answered_yet() {
    for (label, stored_s, runs, ignoring) in [
        (
            "stored during the run",
            vec![0.0, 6.0],
            vec![sent(&[0], 5.0, 9.0), sent(&[1], 11.0, 15.0)],
            50.0,
        ),
        (
            "stored as it was sent",
            vec![0.0, 9.0],
            vec![sent(&[0], 5.0, 9.0), sent(&[1], 14.0, 18.0)],
            0.0,
        ),
        (
            "a ms before it was sent",
            vec![0.0, 8.999],
            vec![sent(&[0], 5.0, 9.0), sent(&[1], 14.0, 18.0)],
            50.0,
        ),
        (
            "answered by an earlier reply",
            vec![0.0, 1.0, 12.0],
            vec![sent(&[0, 1], 6.0, 9.0), sent(&[2], 17.0, 20.0)],
            0.0,
        ),
        (
            "one run may ignore several messages: it is one reply",
            vec![0.0, 6.0, 7.0],
            vec![sent(&[0], 5.0, 9.0), sent(&[1, 2], 12.0, 15.0)],
            50.0,
        ),
        (
            "a dropped run sends nothing that could ignore",
            vec![0.0, 6.0],
            vec![dropped(&[0], 5.0, 7.0), sent(&[0, 1], 11.0, 15.0)],
            0.0,
        ),
    ] {
        let of = figures(&said(&stored_s), &runs);
        same(of.ignoring_percent_of_replies, ignoring, label);
    }
}

#[test]
fn discarded_calls_are_counted_with_what_they_had_worked() {
    let runs = [
        dropped(&[0], 5.0, 6.0),
        dropped(&[0, 1], 8.0, 10.5),
        sent(&[0, 1, 2], 13.0, 15.0),
    ];
    let of = figures(&said(&[0.0, 3.0, 8.0]), &runs);
    same(of.discarded_calls_per_thought, 2.0, "calls");
    same(of.discarded_model_s_per_thought, 3.5, "seconds");
}

#[test]
fn the_wait_counts_from_the_sending_of_the_last_fragment_to_the_run_that_answers_it() {
    // The fragment that was sent last is delivered first; the other comes late, and gets a reply of its own.
    let fragments = [fragment(0, 2.0, 2.2), fragment(0, 1.0, 14.0)];
    let runs = [
        dropped(&[0], 7.2, 8.0),
        sent(&[0], 9.0, 13.0),
        sent(&[1], 19.0, 23.0),
    ];
    let of = figures(&fragments, &runs);
    same(of.last_fragment_to_start_s.max, 7.0, "to start");
    same(of.last_fragment_to_sent_s.max, 11.0, "to sent");
    same(
        of.first_pending_to_start_max_s,
        6.8,
        "first pending: from its storing, to the later of its two runs",
    );
}

#[test]
fn first_pending_looks_at_dropped_runs_too() {
    let runs = [
        dropped(&[0], 19.0, 20.0),
        sent(&[0, 1], 20.0, 22.0),
        sent(&[2], 45.0, 47.0),
    ];
    let of = figures(&said(&[0.0, 19.5, 24.0]), &runs[..2]);
    same(of.first_pending_to_start_max_s, 20.0, "the answer");
    assert_eq!(of.unanswered_messages, 1);
    let of = figures(&said(&[0.0, 19.5, 24.0]), &runs);
    same(of.first_pending_to_start_max_s, 21.0, "the next turn");
    assert_eq!(of.unanswered_messages, 0);
}

#[test]
fn percentiles_are_the_nearest_rank() {
    let hundred: Vec<Duration> = (1..=100).map(Duration::from_secs).collect();
    let three: Vec<Duration> = (1..=3).map(Duration::from_secs).collect();
    for (label, sorted, percent, right) in [
        ("half of a hundred", &hundred, 50, 50.0),
        ("95 of a hundred", &hundred, 95, 95.0),
        ("all of them", &hundred, 100, 100.0),
        ("the fastest", &hundred, 0, 1.0),
        ("half of three", &three, 50, 2.0),
        ("95 % of three", &three, 95, 3.0),
        ("of nothing", &Vec::new(), 50, 0.0),
    ] {
        same(percentile_s(sorted, percent), right, label);
    }
}
