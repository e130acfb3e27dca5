//! How long to wait after a failure.
//!
//! Invariant: at least a second, at most a minute: a storm never builds up, and STOP never waits long behind it.

use std::time::Duration;

use super::debounce::BACKOFF_MAX;
use crate::domain::Timestamp;
use crate::error::ModelErrorClass;

/// Whether another run would only fail as this one did: the prompt is too long for the model even with half its history,
/// or the money is gone. The person is told at once, and no storm of requests begins.
pub const fn is_in_vain(class: ModelErrorClass) -> bool {
    matches!(class, ModelErrorClass::Overflow | ModelErrorClass::Quota)
}

/// The moment of the next run after the `attempts`-th failed one: doubling from 2 s, with up to half of it taken
/// off by `fraction` (0.0 to 1.0), and not before the provider's own `retry_after`.
pub fn next_run_at(
    attempts: u32,
    retry_after: Option<Duration>,
    fraction: f64,
    now: Timestamp,
) -> Timestamp {
    let doubled = Duration::from_secs(1_u64 << attempts.clamp(1, 6)).min(BACKOFF_MAX);
    let jittered = doubled.mul_f64(1.0 - fraction.clamp(0.0, 1.0) / 2.0);
    let asked = retry_after.unwrap_or_default().min(BACKOFF_MAX);
    now.plus(jittered.max(asked).max(Duration::from_secs(1)))
}

/// `until`, or `give_up_at` where that comes sooner: the honest line does not wait out a pause. At least a second from `now`.
pub fn not_past(until: Timestamp, give_up_at: Timestamp, now: Timestamp) -> Timestamp {
    until.min(give_up_at.max(now.plus(Duration::from_secs(1))))
}

/// The moment of the next try to send a reply that has waited since `since`: after half of that time, so that tries thin out
/// without a counter.
pub fn next_send_at(
    since: Timestamp,
    retry_after: Option<Duration>,
    fraction: f64,
    now: Timestamp,
) -> Timestamp {
    let half_of_it = now.since(since) / 2;
    let wait = half_of_it.clamp(Duration::from_secs(1), BACKOFF_MAX);
    let jittered = wait.mul_f64(1.0 - fraction.clamp(0.0, 1.0) / 4.0);
    let asked = retry_after.unwrap_or_default().min(BACKOFF_MAX);
    now.plus(jittered.max(asked).max(Duration::from_secs(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_a_minute_and_never_under_a_second() {
        let now = Timestamp::from_ms(1_000_000);
        let wait = |attempts, fraction| {
            next_run_at(attempts, None, fraction, now)
                .since(now)
                .as_millis()
        };
        for (label, attempts, fraction, right) in [
            ("first", 1, 0.0, 2_000),
            ("first, all jitter", 1, 1.0, 1_000),
            ("second", 2, 0.0, 4_000),
            ("fifth", 5, 0.0, 32_000),
            ("sixth meets the cap", 6, 0.0, 60_000),
            ("far beyond", 4_000_000_000, 0.0, 60_000),
            ("zero counts as one", 0, 0.0, 2_000),
        ] {
            assert_eq!(wait(attempts, fraction), right, "{label}");
        }
    }

    #[test]
    fn the_providers_own_wait_is_honoured_up_to_a_minute() {
        let now = Timestamp::from_ms(1_000_000);
        let wait = |asked| next_run_at(1, Some(asked), 0.0, now).since(now).as_secs();
        assert_eq!(wait(Duration::from_secs(20)), 20);
        assert_eq!(wait(Duration::from_hours(1)), 60);
    }

    #[test]
    fn a_pause_ends_where_the_patience_does() {
        let at = |seconds: u64| Timestamp::from_ms(seconds * 1_000);
        for (label, until, give_up_at, right) in [
            ("long before", 160, 400, 160),
            ("it would end later", 160, 120, 120),
            ("the patience has ended", 160, 90, 101),
            ("just now", 101, 100, 101),
        ] {
            assert_eq!(
                not_past(at(until), at(give_up_at), at(100)),
                at(right),
                "{label}"
            );
        }
    }

    #[test]
    fn sends_thin_out_the_longer_a_reply_waits() {
        let since = Timestamp::from_ms(1_000_000);
        let wait = |age| {
            let now = since.plus(Duration::from_secs(age));
            next_send_at(since, None, 0.0, now).since(now).as_secs()
        };
        assert_eq!((wait(0), wait(20), wait(1_000)), (1, 10, 60));
    }
}
