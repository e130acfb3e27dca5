//! Which messages are closed without an answer, and what else ends with them.
//!
//! Invariant: a sealed turn ends in one closing with all of its messages that still wait, or not at all.

use super::{debounce, opt_out};
use crate::domain::batch::{Closure, EndedTurn};
use crate::domain::{Batch, ClosedReason, Event, OptOut, State, Timestamp};

/// What is closed now: what came before a STOP, and everything while a human has taken over or a spending limit is reached.
/// `stop` is the place of the newest STOP in `pending`.
pub fn decide(
    state: &State,
    pending: &[Event],
    stop: Option<usize>,
    now: Timestamp,
) -> Option<Closure> {
    // Who is opted out and says STOP again has had their confirmation.
    if let (Some(_), Some(stop)) = (&state.opt_out, stop) {
        let said = &pending[..=stop];
        return closing(state, pending, ClosedReason::OptedOut, |event| {
            said.iter().any(|one| one.id == event.id)
        });
    }
    let covered = |opt_out| closing_covered(state, pending, opt_out);
    if let Some(closure) = state.opt_out.as_ref().and_then(covered) {
        return Some(closure);
    }
    if state.is_paused(now) {
        return closing(state, pending, ClosedReason::Paused, |_| true);
    }
    // A STOP is confirmed even so.
    if stop.is_none() && state.is_limited(now) {
        return closing(state, pending, ClosedReason::SpendLimit, |_| true);
    }
    None
}

/// The messages that `opt_out` covers; `None` where all of `pending` came after it.
pub fn closing_covered(state: &State, pending: &[Event], opt_out: &OptOut) -> Option<Closure> {
    closing(state, pending, ClosedReason::OptedOut, |event| {
        opt_out::covers(opt_out, event)
    })
}

/// The first [`Batch::MAX`] of `pending` that `goes` names, those of a sealed turn before all others; `None` where there are
/// none.
pub fn closing(
    state: &State,
    pending: &[Event],
    reason: ClosedReason,
    goes: impl Fn(&Event) -> bool,
) -> Option<Closure> {
    let sealed = debounce::still_sealed(state, pending);
    let of_it = |event: &Event| sealed.is_some_and(|sealed| sealed.events.contains(&event.id));
    let mut going: Vec<&Event> = pending.iter().filter(|event| goes(event)).collect();
    going.sort_by_key(|event| !of_it(event));
    going.truncate(Batch::MAX);
    let ids = |events: &[&Event]| events.iter().map(|event| event.id.clone()).collect();
    let turn: Vec<&Event> = going.iter().copied().filter(|one| of_it(one)).collect();
    let all = pending.iter().filter(|event| of_it(event)).count();
    let ends = sealed.filter(|_| turn.len() == all);
    (!going.is_empty()).then(|| Closure {
        events: ids(&going),
        reason,
        ends: ends.map(|sealed| EndedTurn {
            reply: sealed.reply,
            messages: ids(&turn),
            // What was called is in the table, not in the state.
            calls: Vec::new(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Address, BusinessNumber, Content, MessageId, Phone, ReplyId, Sealed};

    const NOW: Timestamp = Timestamp::from_ms(1_767_607_200_000);

    fn said(n: usize) -> Event {
        Event {
            id: id(n),
            reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
            number: BusinessNumber::parse("100").unwrap(),
            sent_at: NOW.minus(std::time::Duration::from_secs(200 - n as u64)),
            arrived_at: NOW,
            content: Content::Text("oi".to_owned()),
            closed: None,
        }
    }

    fn id(n: usize) -> MessageId {
        MessageId::parse(format!("m{n}")).unwrap()
    }

    fn paused(sealed: &[usize]) -> State {
        let mut state = State::new(Vec::new(), NOW);
        state.paused_until = Some(NOW.plus(std::time::Duration::from_mins(1)));
        state.sealed = (!sealed.is_empty()).then(|| Sealed {
            reply: ReplyId::from_parts(1, 2),
            events: sealed.iter().map(|n| id(*n)).collect(),
        });
        state
    }

    fn closed(state: &State, pending: std::ops::Range<usize>) -> Closure {
        let pending: Vec<Event> = pending.map(said).collect();
        decide(state, &pending, None, NOW).unwrap()
    }

    #[test]
    fn a_sealed_turn_ends_with_the_closing_of_its_last_messages() {
        for (label, sealed, pending, right) in [
            ("nothing was done", vec![], 0..2, None),
            ("all of it", vec![0, 1], 0..2, Some(vec![0, 1])),
            ("and newer words", vec![0, 1], 0..3, Some(vec![0, 1])),
            ("what is left of it", vec![0, 1], 1..3, Some(vec![1])),
            ("of a turn that is over", vec![0], 1..3, None),
            (
                "more than one closing holds",
                vec![98, 99],
                0..100,
                Some(vec![98, 99]),
            ),
        ] {
            let closure = closed(&paused(&sealed), pending.clone());
            let right = right.map(|turn| EndedTurn {
                reply: ReplyId::from_parts(1, 2),
                messages: turn.iter().map(|n| id(*n)).collect(),
                calls: Vec::new(),
            });
            assert_eq!(closure.ends, right, "{label}");
            assert_eq!(
                closure.events.len(),
                pending.len().min(Batch::MAX),
                "{label}"
            );
        }
    }

    #[test]
    fn a_sealed_turn_that_a_stop_covers_in_part_goes_on() {
        let mut state = paused(&[0, 1]);
        state.paused_until = None;
        let pending = [said(0), said(1)];
        let sent_at = pending[0].sent_at;
        state.opt_out = Some(OptOut { sent_at });
        let closure = decide(&state, &pending, None, NOW).unwrap();
        assert_eq!((closure.events, closure.ends), (vec![id(0)], None));
    }
}
