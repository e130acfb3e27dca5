//! Each class at each place of the ladder, and the laws that hold however models fail.

use proptest::prelude::*;

use super::*;
use crate::error::ModelErrorClass::{
    Auth, Cut, Invalid, Missing, Overflow, Quota, Refusal, Throttled, Transient,
};

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn time(left_s: u64) -> Time {
    Time {
        left: s(left_s),
        budget: s(75),
        timeout: s(60),
    }
}

fn failed(class: ModelErrorClass, retry_after_s: Option<u64>) -> ModelError {
    ModelError {
        retry_after: retry_after_s.map(s),
        ..ModelError::new(class, "told to")
    }
}

fn course(gate: Gate) -> Course {
    Course::begin(Ladder::of("main", Some("spare")), gate)
}

/// In a word: `again` with its pause in ms, the model moved on to, or how it ends.
fn told(next: &Next, course: &Course) -> String {
    match next {
        Next::Again(pause) => format!("again after {}", pause.as_millis()),
        Next::MoveOn => format!("{}, {}", course.model(), course.why().as_str()),
        Next::End(error) => format!("end: {}", error.class.as_str()),
    }
}

/// What follows from each of these failures in turn, with so many seconds left at each.
fn story(gate: Gate, failures: &[(ModelErrorClass, Option<u64>, u64)]) -> Vec<String> {
    let mut course = course(gate);
    let mut lines = Vec::new();
    for (class, retry_after_s, left_s) in failures {
        let next = course.next(failed(*class, *retry_after_s), time(*left_s), 0.0);
        lines.push(told(&next, &course));
    }
    lines
}

#[test]
fn each_class_has_its_way() {
    let open = Gate::Open(Transient);
    for (label, gate, failures, right) in [
        (
            "transient: twice, the fallback once, then the queue",
            Gate::Closed,
            &[
                (Transient, None, 74),
                (Transient, None, 73),
                (Transient, None, 72),
            ][..],
            &["again after 500", "spare, fallback", "end: transient"][..],
        ),
        (
            "a try that took its time is the only one",
            Gate::Closed,
            &[(Transient, None, 25)],
            &["spare, fallback"],
        ),
        (
            "throttled for a moment: waited for, once",
            Gate::Closed,
            &[(Throttled, Some(5), 74), (Throttled, Some(5), 68)],
            &["again after 5000", "spare, fallback"],
        ),
        (
            "throttled without a time",
            Gate::Closed,
            &[(Throttled, None, 74)],
            &["again after 1000"],
        ),
        (
            "throttled for longer than anybody waits",
            Gate::Closed,
            &[(Throttled, Some(11), 74)],
            &["spare, fallback"],
        ),
        (
            "throttled for longer than is left",
            Gate::Closed,
            &[(Throttled, Some(9), 46)],
            &["spare, fallback"],
        ),
        (
            "throttled everywhere: held",
            Gate::Closed,
            &[(Throttled, Some(60), 74), (Throttled, Some(40), 73)],
            &["spare, fallback", "end: throttled"],
        ),
        (
            "no money",
            Gate::Closed,
            &[(Quota, None, 74), (Transient, None, 73)],
            &["spare, fallback", "end: transient"],
        ),
        (
            "no money anywhere",
            Gate::Closed,
            &[(Quota, None, 74), (Quota, None, 73)],
            &["spare, fallback", "end: quota"],
        ),
        (
            "no money behind a model that may come back",
            Gate::Closed,
            &[
                (Transient, None, 74),
                (Transient, None, 73),
                (Quota, None, 72),
            ],
            &["again after 500", "spare, fallback", "end: transient"],
        ),
        (
            "no right",
            Gate::Closed,
            &[(Auth, None, 74), (Auth, None, 73)],
            &["spare, fallback", "end: auth"],
        ),
        (
            "no such model",
            Gate::Closed,
            &[(Missing, None, 74), (Transient, None, 73)],
            &["spare, fallback", "end: transient"],
        ),
        (
            "too long",
            Gate::Closed,
            &[(Overflow, None, 74)],
            &["end: overflow"],
        ),
        (
            "wrong",
            Gate::Closed,
            &[(Invalid, None, 74)],
            &["end: invalid"],
        ),
        (
            "declined",
            Gate::Closed,
            &[(Refusal, None, 74)],
            &["end: refusal"],
        ),
        ("cut", Gate::Closed, &[(Cut, None, 74)], &["end: cut"]),
        (
            "left out: the fallback twice",
            open,
            &[(Transient, None, 74), (Transient, None, 73)],
            &["again after 500", "end: transient"],
        ),
        (
            "left out, and the fallback without money",
            open,
            &[(Quota, None, 74)],
            &["end: transient"],
        ),
        (
            "both without money",
            Gate::Open(Quota),
            &[(Quota, None, 74)],
            &["end: quota"],
        ),
        (
            "left out, and too little time for another try",
            open,
            &[(Transient, None, 10)],
            &["end: transient"],
        ),
        (
            "a probe is one try",
            Gate::Probe,
            &[(Transient, None, 74), (Transient, None, 73)],
            &["spare, fallback", "end: transient"],
        ),
    ] {
        assert_eq!(story(gate, failures), right, "{label}");
    }
}

#[test]
fn held_for_as_long_as_the_last_model_asks() {
    let mut course = course(Gate::Closed);
    course.next(failed(Throttled, Some(60)), time(74), 0.0);
    let next = course.next(failed(Throttled, Some(40)), time(73), 0.0);
    let Next::End(error) = next else {
        panic!("{next:?}");
    };
    assert_eq!(error.retry_after, Some(s(40)));
}

/// Without a fallback nothing is as it was not before: one call, and the rest is the queue's.
#[test]
fn alone_a_model_is_asked_once_in_a_run_whatever_is_known_of_it() {
    for gate in [Gate::Closed, Gate::Open(Transient), Gate::Probe] {
        for class in ModelErrorClass::ALL {
            for fallback in [None, Some("main")] {
                let mut course = Course::begin(Ladder::of("main", fallback), gate);
                assert_eq!((course.model(), course.why()), ("main", Chosen::First));
                assert_eq!(course.timeout(time(75)), s(60));
                assert_eq!(course.timeout(time(20)), s(20));
                let next = course.next(failed(class, Some(1)), time(75), 0.0);
                assert!(matches!(next, Next::End(error) if error.class == class));
            }
        }
    }
}

#[test]
fn a_model_leaves_the_one_behind_it_a_third_of_the_time() {
    for (label, gate, left_s, right_s) in [
        ("all of it", Gate::Closed, 75, 50),
        ("a late round", Gate::Closed, 30, 20),
        ("nothing", Gate::Closed, 0, 0),
        ("much, one call has its own bound", Gate::Closed, 300, 60),
        ("a probe", Gate::Probe, 75, 50),
        ("the fallback", Gate::Open(Transient), 25, 25),
        ("the fallback with all of it", Gate::Open(Transient), 75, 60),
    ] {
        assert_eq!(course(gate).timeout(time(left_s)), s(right_s), "{label}");
    }
}

#[test]
fn a_run_that_calls_tools_stays_with_the_model_that_answers() {
    let mut course = course(Gate::Closed);
    course.next(failed(Quota, None), time(74), 0.0);
    course.succeeded();
    assert_eq!(
        (course.model(), course.why()),
        ("spare", Chosen::Fallback(Quota))
    );
    let mut probe = self::course(Gate::Probe);
    probe.succeeded();
    assert_eq!((probe.model(), probe.why()), ("main", Chosen::First));
}

#[test]
fn what_can_be_mended_counts_like_any_other_call() {
    let mut course = course(Gate::Closed);
    let may: Vec<_> = (0..4).map(|_| course.may_mend()).collect();
    assert_eq!(may, [true, true, true, false]);
}

fn class() -> impl Strategy<Value = ModelErrorClass> {
    (0..8_usize).prop_map(|n| ModelErrorClass::ALL[n])
}

proptest! {
    /// The laws, over any failures with successes between them.
    #[test]
    fn a_run_ends_with_its_fourth_failure_and_never_goes_back(
        gate in prop_oneof![
            Just(Gate::Closed), Just(Gate::Probe), class().prop_map(Gate::Open),
        ],
        failures in prop::collection::vec((class(), prop::option::of(0_u64..90), any::<bool>()), 1..12),
        left_s in 0_u64..100,
        fraction in 0.0_f64..1.0,
    ) {
        let mut course = course(gate);
        let (mut left, mut calls_failed) = (s(left_s), 0);
        let mut asked = vec![course.model().to_owned()];
        for (class, retry_after_s, succeeds_before) in failures {
            let time = Time { left, ..time(0) };
            prop_assert!(course.timeout(time) <= left);
            if succeeds_before {
                course.succeeded();
            }
            calls_failed += 1;
            match course.next(failed(class, retry_after_s), time, fraction) {
                Next::Again(pause) => {
                    prop_assert!(pause + CALL_MIN <= left);
                    left -= pause;
                }
                Next::MoveOn => asked.push(course.model().to_owned()),
                Next::End(_) => return Ok(()),
            }
            prop_assert!(calls_failed < ATTEMPTS_MAX);
            let mut once = asked.clone();
            once.dedup();
            prop_assert!(asked == once && asked.len() <= 2);
        }
    }
}
