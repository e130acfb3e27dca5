//! The distributions, each within what a sample of this size leaves to chance (five standard errors or more).

#![expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]

use super::*;

const THOUGHTS: usize = 20_000;

fn fragments_of(pace: Pace) -> Vec<Vec<Fragment>> {
    Generator::new(1, pace, THOUGHTS)
        .map(|conversation| {
            let mut fragments = conversation.fragments;
            assert!(fragments.is_sorted_by_key(|fragment| fragment.stored_at));
            fragments.sort_by_key(|fragment| (fragment.thought, fragment.sent_at));
            fragments
        })
        .collect()
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.since(from).as_secs_f64()
}

#[track_caller]
fn near(value: f64, right: f64, tolerance: f64) {
    assert!(
        (value - right).abs() <= tolerance,
        "{value} is not {right} ± {tolerance}"
    );
}

/// A uniform sample: nothing outside (but for rounding to ms), the right mean, and both quarters at the ends filled.
#[track_caller]
fn uniform(sample: &[f64], range: &Range<f64>) {
    let count = sample.len() as f64;
    let width = range.end - range.start;
    let outside = sample
        .iter()
        .find(|value| **value < range.start - 0.001 || **value > range.end + 0.001);
    assert_eq!(outside, None);
    let mean = sample.iter().sum::<f64>() / count;
    near(
        mean,
        f64::midpoint(range.start, range.end),
        1.5 * width / count.sqrt(),
    );
    for quarter in [0.25, 0.75] {
        let under = sample
            .iter()
            .filter(|value| **value < range.start + quarter * width)
            .count();
        near(under as f64 / count, quarter, 2.5 / count.sqrt());
    }
}

#[test]
fn thoughts_have_one_to_six_fragments_by_their_weights_half_a_second_to_six_apart() {
    let thoughts = fragments_of(Pace::Single);
    assert_eq!(thoughts.len(), THOUGHTS);
    assert!(
        thoughts
            .iter()
            .flatten()
            .all(|fragment| fragment.thought == 0)
    );
    for (fragments, percent) in (1..).zip(FRAGMENTS_PERCENT) {
        let such = thoughts.iter().filter(|of| of.len() == fragments).count();
        near(
            100.0 * such as f64 / THOUGHTS as f64,
            f64::from(percent),
            1.7,
        );
    }
    assert!(thoughts.iter().all(|of| (1..=6).contains(&of.len())));
    let gaps: Vec<f64> = thoughts
        .iter()
        .flat_map(|of| of.windows(2))
        .map(|pair| seconds(pair[0].sent_at, pair[1].sent_at))
        .collect();
    uniform(&gaps, &GAP_S);
}

#[test]
fn a_few_fragments_are_late_and_a_few_are_doubled() {
    let all: Vec<Fragment> = fragments_of(Pace::Single).concat();
    let count = all.len() as f64;
    let delivery = |of: &Fragment| seconds(of.sent_at, of.stored_at);
    let (late, prompt): (Vec<f64>, Vec<f64>) = all
        .iter()
        .map(delivery)
        .partition(|takes| *takes > DELIVERY_S.end + 0.001);
    uniform(&prompt, &DELIVERY_S);
    near(
        100.0 * late.len() as f64 / count,
        f64::from(LATE_PERCENT),
        0.4,
    );
    // What is late has the ordinary delivery on top, 0.05 to 0.3 s.
    let later: Vec<f64> = late.iter().map(|takes| takes - 0.175).collect();
    let mean = later.iter().sum::<f64>() / later.len() as f64;
    near(mean, f64::midpoint(LATE_S.start, LATE_S.end), 1.2);
    assert!(later.iter().all(|takes| (0.8..30.2).contains(takes)));
    let doubled: Vec<f64> = all
        .iter()
        .filter_map(|of| Some(seconds(of.stored_at, of.doubled_at?)))
        .collect();
    near(
        100.0 * doubled.len() as f64 / count,
        f64::from(DOUBLED_PERCENT),
        0.5,
    );
    uniform(&doubled, &DOUBLED_S);
}

#[test]
fn chained_thoughts_follow_each_other_in_twenties_by_a_lognormal_time() {
    let chains = fragments_of(Pace::Chained);
    assert_eq!(chains.len(), THOUGHTS / CHAIN);
    let mut logarithms = Vec::new();
    for chain in &chains {
        assert_eq!(chain.last().map(|of| of.thought), Some(CHAIN - 1));
        for pair in chain
            .windows(2)
            .filter(|pair| pair[0].thought < pair[1].thought)
        {
            assert_eq!(pair[0].thought + 1, pair[1].thought);
            logarithms.push(seconds(pair[0].sent_at, pair[1].sent_at).ln());
        }
    }
    let count = logarithms.len() as f64;
    assert_eq!(logarithms.len(), THOUGHTS - chains.len());
    let mean = logarithms.iter().sum::<f64>() / count;
    let variance = logarithms
        .iter()
        .map(|one| (one - mean).powi(2))
        .sum::<f64>()
        / count;
    near(mean, NEXT_MEDIAN_S.ln(), 0.04);
    near(variance.sqrt(), NEXT_SIGMA, 0.03);
    let under_median = logarithms
        .iter()
        .filter(|one| **one < NEXT_MEDIAN_S.ln())
        .count();
    near(under_median as f64 / count, 0.5, 0.02);
}

#[test]
fn a_chain_that_is_not_full_holds_what_is_left() {
    let thoughts = |pace, total| -> Vec<usize> {
        Generator::new(1, pace, total)
            .map(|of| {
                of.fragments
                    .iter()
                    .map(|one| one.thought + 1)
                    .max()
                    .unwrap()
            })
            .collect()
    };
    assert_eq!(thoughts(Pace::Chained, 45), [20, 20, 5]);
    assert_eq!(thoughts(Pace::Single, 3), [1, 1, 1]);
    assert_eq!(thoughts(Pace::Chained, 0), [0; 0]);
}

#[test]
fn runs_take_two_to_twelve_seconds_and_every_fifth_writes_in_its_middle() {
    let conversation = Generator::new(1, Pace::Single, 1).next().unwrap();
    let calls: Vec<Call> = conversation.calls().take(THOUGHTS).collect();
    let takes: Vec<f64> = calls.iter().map(|call| call.takes.as_secs_f64()).collect();
    uniform(&takes, &MODEL_S);
    let parts: Vec<f64> = calls
        .iter()
        .filter_map(|call| Some(call.writes_after?.as_secs_f64() / call.takes.as_secs_f64()))
        .collect();
    near(
        100.0 * parts.len() as f64 / THOUGHTS as f64,
        f64::from(WRITING_PERCENT),
        1.5,
    );
    uniform(&parts, &WRITE_AT);
    let again: Vec<Call> = conversation.calls().take(THOUGHTS).collect();
    assert!(
        calls == again,
        "the calls of a conversation are the same for every algorithm"
    );
}
