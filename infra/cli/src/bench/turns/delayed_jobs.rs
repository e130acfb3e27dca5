//! The plain debounce: each message schedules a job after the window, and a job acts only where its message is still
//! the newest, or where the first pending message has reached the ceiling by then. While another run works, the job
//! tries again every three seconds. Whether an answer is still wanted is asked once, at its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use recado::domain::Timestamp;

use super::algorithm::{Answered, End, Rig, Run};
use super::generator::{Call, Fragment};

/// How long a job waits that finds another run at work.
const LOCKED_RETRY: Duration = Duration::from_secs(3);

/// Its runs on these messages. A second delivery is stored nowhere and schedules nothing.
pub(super) fn answer(
    rig: &Rig,
    fragments: &[Fragment],
    calls: &mut dyn Iterator<Item = Call>,
) -> Vec<Run> {
    let timing = &rig.agent.timing;
    let mut answered = Answered::none(fragments);
    let mut runs = Vec::new();
    let mut locked_until = Timestamp::default();
    let first_wake =
        |fragment: &Fragment| fragment.stored_at.plus(timing.window).plus(rig.delays.wake);
    let mut jobs: BinaryHeap<Reverse<(Timestamp, usize)>> = fragments
        .iter()
        .enumerate()
        .map(|(place, fragment)| Reverse((first_wake(fragment), place)))
        .collect();
    while let Some(Reverse((now, place))) = jobs.pop() {
        let pending = answered.pending(now);
        let Some(first) = pending.first() else {
            continue;
        };
        let is_newest = fragments
            .get(place + 1)
            .is_none_or(|next| next.stored_at > now);
        if !is_newest && now.since(fragments[*first].stored_at) < timing.ceiling {
            continue;
        }
        if now < locked_until {
            let again_at = now.plus(LOCKED_RETRY).plus(rig.delays.wake);
            jobs.push(Reverse((again_at, place)));
            continue;
        }
        let Some(call) = calls.next() else { break };
        let run = run(rig, fragments, &mut answered, now, call);
        locked_until = match run.end {
            End::Sent(at) | End::Dropped(at) => at,
        };
        runs.push(run);
    }
    runs
}

/// One run of a job that acts at `now`.
fn run(
    rig: &Rig,
    fragments: &[Fragment],
    answered: &mut Answered<'_>,
    now: Timestamp,
    call: Call,
) -> Run {
    let began_at = now.plus(rig.delays.claim);
    let batch = answered.pending(began_at);
    let ended_at = began_at.plus(call.takes);
    let is_newer =
        |fragment: &Fragment| fragment.stored_at > began_at && fragment.stored_at <= ended_at;
    let oldest = batch.first().map(|place| fragments[*place].stored_at);
    let is_under_ceiling =
        oldest.is_some_and(|oldest| ended_at.since(oldest) < rig.agent.timing.ceiling);
    let is_unwritten = call.writes_after.is_none();
    let end = if fragments.iter().any(is_newer) && is_unwritten && is_under_ceiling {
        End::Dropped(ended_at)
    } else {
        let committed_at = ended_at.plus(rig.delays.commit);
        answered.answer(&batch, committed_at);
        End::Sent(committed_at.plus(rig.delays.send))
    };
    Run {
        batch,
        began_at,
        end,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{call, dropped, rig, said, sent};
    use super::*;

    #[test]
    fn only_the_newest_acts_and_discards_are_learnt_at_the_end() {
        for (label, stored_s, writes, runs) in [
            ("one message", vec![0.0], None, vec![sent(&[0], 5.0, 11.0)]),
            (
                "a newer one within the window",
                vec![0.0, 3.0],
                None,
                vec![sent(&[0, 1], 8.0, 14.0)],
            ),
            (
                "a newer one during the run: found at its end, and the lock is tried every 3 s from its own wake",
                vec![0.0, 5.5],
                None,
                vec![dropped(&[0], 5.0, 11.0), sent(&[0, 1], 13.5, 19.5)],
            ),
            (
                "after a write the answer stands",
                vec![0.0, 5.5],
                Some(1.0),
                vec![sent(&[0], 5.0, 11.0), sent(&[1], 13.5, 19.5)],
            ),
            (
                "the ceiling is seen by the next job that wakes, not when it passes",
                vec![0.0, 4.0, 8.0, 12.0, 15.9, 20.0, 24.0],
                None,
                vec![
                    sent(&[0, 1, 2, 3, 4, 5], 20.9, 26.9),
                    sent(&[6], 29.0, 35.0),
                ],
            ),
        ] {
            let mut calls = std::iter::repeat(call(6.0, writes));
            let done = answer(&rig(), &said(&stored_s), &mut calls);
            assert_eq!(done, runs, "{label}");
        }
    }
}
