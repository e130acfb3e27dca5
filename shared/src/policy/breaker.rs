//! When a model is left out, for how long, and who tries it again.
//!
//! Invariant: while a breaker is open at most one run asks its model. An incident opens it once, from its first failure to
//! the first sign of life, however often it is tried between.

use std::time::Duration;

use crate::domain::{Breaker, RunId, Timestamp};
use crate::error::ModelErrorClass;

/// What may pass by itself is tried again after this long.
const PAUSE: Duration = Duration::from_secs(30);
/// What an operator has to mend is tried again after this long, and nothing is left out for longer at a time.
const LONG_PAUSE: Duration = Duration::from_mins(5);

/// What a run does about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It asks it.
    Closed,
    /// It goes on to the next one, since this one failed like this.
    Open(ModelErrorClass),
    /// It may ask it, if it takes the right to: one run at a time.
    Probe,
}

/// What follows from what is known of a model.
pub fn gate(known: Option<&Breaker>, now: Timestamp) -> Gate {
    match known {
        None => Gate::Closed,
        Some(breaker) if now < breaker.open_until => Gate::Open(breaker.class),
        Some(_) => Gate::Probe,
    }
}

/// Whether a failure tells nothing of the request: the model itself cannot be had. Any other shows that it answers.
pub const fn is_of_model(class: ModelErrorClass) -> bool {
    use ModelErrorClass::{Auth, Missing, Quota, Throttled, Transient};
    matches!(class, Transient | Throttled | Quota | Auth | Missing)
}

/// How long a model that failed like this is left alone: 30 s; as long as it asked for, between that and 5 minutes; 5
/// minutes where waiting does not help.
pub fn pause(class: ModelErrorClass, retry_after: Option<Duration>) -> Duration {
    match class {
        ModelErrorClass::Quota | ModelErrorClass::Auth | ModelErrorClass::Missing => LONG_PAUSE,
        _ => retry_after.unwrap_or_default().clamp(PAUSE, LONG_PAUSE),
    }
}

/// The breaker of a model that a run had to leave.
pub fn opened(
    class: ModelErrorClass,
    retry_after: Option<Duration>,
    now: Timestamp,
    mark: RunId,
) -> Breaker {
    Breaker {
        class,
        since: now,
        open_until: now.plus(pause(class, retry_after)),
        mark,
    }
}

/// The right to try the model of an open breaker: everyone else leaves it out until `until`, when the one who has it is
/// taken for dead.
pub fn probing(open: &Breaker, until: Timestamp, mark: RunId) -> Breaker {
    Breaker {
        open_until: until,
        mark,
        ..*open
    }
}

/// After a probe that failed, which began at `began`: its pause counts from there, so that one that hung costs no further
/// wait.
pub fn reopened(
    probing: &Breaker,
    class: ModelErrorClass,
    retry_after: Option<Duration>,
    (began, now): (Timestamp, Timestamp),
    mark: RunId,
) -> Breaker {
    Breaker {
        class,
        open_until: began.plus(pause(class, retry_after)).max(now),
        mark,
        ..*probing
    }
}

/// After a probe that was dropped and told nothing: the next run may try.
pub fn untried(probing: &Breaker, now: Timestamp, mark: RunId) -> Breaker {
    Breaker {
        open_until: now,
        mark,
        ..*probing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_ms(1_000_000 + seconds * 1_000)
    }

    fn mark(n: u64) -> RunId {
        RunId::from_parts(n, 0)
    }

    #[test]
    fn a_model_is_asked_left_out_or_tried() {
        let open = opened(ModelErrorClass::Transient, None, at(0), mark(1));
        for (label, known, now, right) in [
            ("nothing known", None, at(0), Gate::Closed),
            (
                "just opened",
                Some(&open),
                at(0),
                Gate::Open(ModelErrorClass::Transient),
            ),
            (
                "the last second",
                Some(&open),
                at(29),
                Gate::Open(ModelErrorClass::Transient),
            ),
            ("its pause is over", Some(&open), at(30), Gate::Probe),
            ("long over", Some(&open), at(3_000), Gate::Probe),
        ] {
            assert_eq!(gate(known, now), right, "{label}");
        }
    }

    #[test]
    fn a_pause_is_of_its_class() {
        use ModelErrorClass::{Auth, Missing, Quota, Throttled, Transient};
        let asked = |seconds| Some(Duration::from_secs(seconds));
        for (label, class, retry_after, right_s) in [
            ("transient", Transient, None, 30),
            ("throttled without a wait", Throttled, None, 30),
            ("throttled for a moment", Throttled, asked(2), 30),
            ("throttled for a minute", Throttled, asked(60), 60),
            ("throttled for a day", Throttled, asked(86_400), 300),
            ("no money", Quota, asked(1), 300),
            ("no right", Auth, None, 300),
            ("no such model", Missing, None, 300),
        ] {
            assert_eq!(pause(class, retry_after).as_secs(), right_s, "{label}");
        }
    }

    #[test]
    fn an_incident_keeps_its_beginning_through_every_probe() {
        let open = opened(ModelErrorClass::Transient, None, at(0), mark(1));
        let probe = probing(&open, at(90), mark(2));
        assert_eq!((probe.since, probe.open_until), (at(0), at(90)));
        let class = ModelErrorClass::Quota;
        let again = reopened(&probe, class, None, (at(40), at(41)), mark(3));
        assert_eq!((again.since, again.class), (at(0), class));
        assert_eq!(again.open_until, at(340));
        let dropped = untried(&probe, at(41), mark(4));
        assert_eq!(gate(Some(&dropped), at(41)), Gate::Probe);
    }

    #[test]
    fn a_probe_that_hung_is_followed_by_the_next_at_once() {
        let open = opened(ModelErrorClass::Transient, None, at(0), mark(1));
        let probe = probing(&open, at(95), mark(2));
        let again = reopened(&probe, open.class, None, (at(40), at(90)), mark(3));
        assert_eq!(again.open_until, at(90));
    }
}
