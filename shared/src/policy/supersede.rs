//! Whether a run that is thinking should go on: a newer message belongs to the same thought.
//!
//! Invariant: a run is dropped only while nothing was written by a tool and the ceiling has not passed, so the
//! ceiling bounds how often a thought starts anew.

use std::time::Duration;

use super::opt_out;
use crate::domain::{Agent, Batch, RunId, Timestamp};
use crate::ports::Peek;

/// How often a run looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The last look that can still drop a run comes this long before the ceiling: the look itself takes a while.
const BEFORE_CEILING: Duration = Duration::from_millis(100);

/// What a look at the conversation means for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Nothing changed that matters.
    GoOn,
    /// A newer message, a STOP or a human came: drop the call and look again.
    Superseded,
    /// The conversation is no longer this run's: another run, or a `forget`.
    Lost,
}

/// Decides from one look. `wrote` tells whether a write call is stored under the run's reply, by any run.
pub fn decide(
    peek: &Peek,
    run: RunId,
    batch: &Batch,
    wrote: bool,
    agent: &Agent,
    now: Timestamp,
) -> Watch {
    let Some(state) = &peek.state else {
        return Watch::Lost;
    };
    if state.lease.is_none_or(|lease| lease.run != run) {
        return Watch::Lost;
    }
    if state.is_paused(now) || state.opt_out.is_some() {
        return Watch::Superseded;
    }
    let past_ceiling = now >= ceiling(batch, agent, now);
    // A full batch always leaves others behind; they are the next turn, not a correction of this one.
    let is_full = batch.events().len() >= Batch::MAX;
    let newer = || peek.pending.iter().filter(|event| !batch.holds(&event.id));
    // A STOP is heard at any time: no answer goes out after it.
    let stops = newer().any(|event| {
        event
            .text()
            .is_some_and(|text| opt_out::is_stop(text, &agent.opt_out_words))
    });
    if stops && !wrote {
        return Watch::Superseded;
    }
    let newer = newer().next().is_some();
    if newer && !wrote && !past_ceiling && !is_full {
        Watch::Superseded
    } else {
        Watch::GoOn
    }
}

/// When a run looks next, having looked (or begun) at `now`: a second later, and once just before the ceiling. Without
/// that one, a message of the last second before the ceiling would be seen only when no call may be dropped for it any
/// more, and the answer would ignore it.
pub fn next_look(batch: &Batch, agent: &Agent, now: Timestamp) -> Timestamp {
    let regular = now.plus(LOOK_EVERY);
    let last_chance = ceiling(batch, agent, now).minus(BEFORE_CEILING);
    if now < last_chance {
        regular.min(last_chance)
    } else {
        regular
    }
}

/// From here on a run over `batch` is not dropped for a newer message.
fn ceiling(batch: &Batch, agent: &Agent, now: Timestamp) -> Timestamp {
    let arrivals = batch.events().iter().map(|event| event.arrived_at);
    arrivals.min().unwrap_or(now).plus(agent.timing.ceiling)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        Address, BusinessNumber, Content, Event, Lease, MessageId, OptOut, Phone, State, agent,
    };

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(1_700_000_000_000 + ms)
    }

    fn said(n: usize, ms: u64) -> Event {
        Event {
            id: MessageId::parse(format!("m{n}")).unwrap(),
            reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
            number: BusinessNumber::parse("100").unwrap(),
            sent_at: at(ms),
            arrived_at: at(ms),
            content: Content::Text("oi".to_owned()),
            closed: None,
        }
    }

    fn run(n: u128) -> RunId {
        RunId::from_parts(1, n)
    }

    /// What run 1 sees `now` ms after the first of `batch` messages, with `newer` more behind them.
    fn watch(
        batch: usize,
        newer: usize,
        wrote: bool,
        now: u64,
        change: impl FnOnce(&mut State),
    ) -> Watch {
        let all: Vec<Event> = (0..batch + newer).map(|n| said(n, n as u64)).collect();
        let mut state = State::new(Vec::new(), at(0));
        state.lease = Some(Lease {
            run: run(1),
            until: at(120_000),
        });
        change(&mut state);
        let peek = Peek {
            state: Some(state),
            outbox: Vec::new(),
            pending: all.clone(),
        };
        let batch = Batch::from_pending(all[..batch].to_vec());
        decide(&peek, run(1), &batch, wrote, &agent::sample(), at(now))
    }

    #[test]
    fn a_newer_message_drops_the_run_unless_it_wrote_or_the_ceiling_has_passed() {
        let same = |_: &mut State| {};
        for (label, watched, right) in [
            ("nothing new", watch(2, 0, false, 6_000, same), Watch::GoOn),
            (
                "a newer message",
                watch(2, 1, false, 6_000, same),
                Watch::Superseded,
            ),
            ("a tool wrote", watch(2, 1, true, 6_000, same), Watch::GoOn),
            (
                "a ms before the ceiling",
                watch(2, 1, false, 19_999, same),
                Watch::Superseded,
            ),
            (
                "at the ceiling",
                watch(2, 1, false, 20_000, same),
                Watch::GoOn,
            ),
            (
                "a full batch",
                watch(80, 1, false, 1_000, same),
                Watch::GoOn,
            ),
        ] {
            assert_eq!(watched, right, "{label}");
        }
    }

    #[test]
    fn it_looks_every_second_and_once_just_before_the_ceiling() {
        let batch = Batch::from_pending(vec![said(1, 3_000), said(0, 0)]);
        for (label, now, next) in [
            ("far from the ceiling", 5_000, 6_000),
            ("the look after this one is the last chance", 18_900, 19_900),
            ("less than a second to it", 19_400, 19_900),
            ("a ms to it", 19_899, 19_900),
            ("after it every second again", 19_900, 20_900),
            ("past the ceiling", 20_000, 21_000),
        ] {
            assert_eq!(
                next_look(&batch, &agent::sample(), at(now)),
                at(next),
                "{label}"
            );
        }
        let mut impatient = agent::sample();
        impatient.timing.ceiling = Duration::from_millis(50);
        let next = next_look(&batch, &impatient, at(0));
        assert_eq!(next, at(1_000), "a ceiling shorter than the margin");
    }

    #[test]
    fn a_human_or_a_stop_drops_the_run_and_another_lease_ends_it() {
        let paused = watch(1, 0, false, 0, |state| state.paused_until = Some(at(1)));
        let stopped = watch(1, 0, true, 30_000, |state| {
            state.opt_out = Some(OptOut { sent_at: at(0) });
        });
        let other = watch(1, 0, false, 0, |state| {
            state.lease = Some(Lease {
                run: run(2),
                until: at(1),
            });
        });
        let none = watch(1, 0, false, 0, |state| state.lease = None);
        assert_eq!((paused, stopped), (Watch::Superseded, Watch::Superseded));
        assert_eq!((other, none), (Watch::Lost, Watch::Lost));
    }

    #[test]
    fn a_forgotten_person_ends_the_run() {
        let batch = Batch::from_pending(vec![said(0, 0)]);
        let watched = decide(
            &Peek::default(),
            run(1),
            &batch,
            true,
            &agent::sample(),
            at(0),
        );
        assert_eq!(watched, Watch::Lost);
    }
}
