//! The simplest way: the first message opens a window of fixed length, and what is stored by its end is answered.
//! A run is never dropped; what comes during it opens the next window, and one run at a time works.

use std::time::Duration;

use recado::domain::Timestamp;

use super::algorithm::{Answered, End, Rig, Run};
use super::generator::{Call, Fragment};

/// Its runs on these messages.
pub(super) fn answer(
    rig: &Rig,
    window: Duration,
    fragments: &[Fragment],
    calls: &mut dyn Iterator<Item = Call>,
) -> Vec<Run> {
    let mut answered = Answered::none(fragments);
    let mut runs = Vec::new();
    let mut free_at = Timestamp::default();
    for (place, fragment) in fragments.iter().enumerate() {
        // The oldest that is still unanswered opens a window; places are in the order of storing.
        let ends_at = fragment.stored_at.plus(window);
        let wakes_at = ends_at.plus(rig.delays.wake).max(free_at);
        if !answered.is_pending(place, wakes_at) {
            continue;
        }
        let Some(call) = calls.next() else { break };
        let began_at = wakes_at.plus(rig.delays.claim);
        let batch = answered.pending(began_at);
        let committed_at = began_at.plus(call.takes).plus(rig.delays.commit);
        let sent_at = committed_at.plus(rig.delays.send);
        answered.answer(&batch, committed_at);
        free_at = sent_at;
        runs.push(Run {
            batch,
            began_at,
            end: End::Sent(sent_at),
        });
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::super::samples::{call, rig, said, sent};
    use super::*;

    #[test]
    fn the_first_message_opens_the_window_and_a_run_is_never_dropped() {
        let window = Duration::from_secs(5);
        for (label, stored_s, runs) in [
            ("one message", vec![0.0], vec![sent(&[0], 5.0, 9.0)]),
            (
                "what comes within it",
                vec![0.0, 4.9],
                vec![sent(&[0, 1], 5.0, 9.0)],
            ),
            (
                "what comes during the run waits for its own window",
                vec![0.0, 6.0],
                vec![sent(&[0], 5.0, 9.0), sent(&[1], 11.0, 15.0)],
            ),
            (
                "the next run waits for this one",
                vec![0.0, 5.1, 8.0, 12.0],
                vec![
                    sent(&[0], 5.0, 9.0),
                    sent(&[1, 2], 10.1, 14.1),
                    sent(&[3], 17.0, 21.0),
                ],
            ),
        ] {
            let mut calls = std::iter::repeat(call(4.0, None));
            let done = answer(&rig(), window, &said(&stored_s), &mut calls);
            assert_eq!(done, runs, "{label}");
        }
    }

    #[test]
    fn a_run_longer_than_the_window_delays_the_next() {
        let mut calls = std::iter::repeat(call(9.0, None));
        let done = answer(
            &rig(),
            Duration::from_secs(5),
            &said(&[0.0, 5.5]),
            &mut calls,
        );
        assert_eq!(done, [sent(&[0], 5.0, 14.0), sent(&[1], 14.0, 23.0)]);
    }
}
