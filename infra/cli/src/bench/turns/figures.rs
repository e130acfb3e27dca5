//! What a report says of an algorithm, and how each figure is defined.
//!
//! - A *reply* is a run that sent one. It answers the messages of its batch.
//! - A thought is *split* where its fragments are answered by more than one reply. One reply to several thoughts
//!   splits none of them.
//! - A reply *ignores* a message where one of that conversation was stored before the reply was sent and is neither in
//!   its batch nor in that of an earlier reply.
//! - A call is *discarded* where it was dropped or its answer thrown away; its model seconds run from its beginning to
//!   that moment. What a provider bills may be more: it does not always stop when we do.
//! - *Last fragment to start*: from the moment the person sent a thought's last fragment (by the phone's clock, not by
//!   when it was delivered) to the beginning of the run whose reply answers that fragment. *To sent*: to that reply.
//! - *First pending to start*: from the moment the oldest message of a run's batch was stored to the run's beginning,
//!   over all runs, also those that were dropped.
//! - Percentiles are the nearest rank: a time that occurred, at or under which that share of the thoughts lies.

use std::time::Duration;

use recado::domain::Timestamp;
use serde::Serialize;

use super::algorithm::{End, Run};
use super::generator::Fragment;

/// How a time is spread, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Half of the thoughts are not slower.
    pub p50: f64,
    /// 95 of a hundred are not slower.
    pub p95: f64,
    /// 99 of a hundred are not slower.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

/// The figures of one algorithm at one pace. The file's head defines them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Whose.
    pub algorithm: String,
    /// Thoughts.
    pub thoughts: usize,
    /// Messages that no reply answers: always zero, or an algorithm loses some.
    pub unanswered_messages: usize,
    /// Replies for each thought; under one where a reply answers several.
    pub replies_per_thought: f64,
    /// Of a hundred thoughts, how many are answered by more than one reply.
    pub split_percent_of_thoughts: f64,
    /// Of a hundred replies, how many ignore a message that was stored before they were sent.
    pub ignoring_percent_of_replies: f64,
    /// Model calls for each thought whose answer nobody gets.
    pub discarded_calls_per_thought: f64,
    /// How long those worked, in seconds for each thought.
    pub discarded_model_s_per_thought: f64,
    /// From the sending of a thought's last fragment to the run that answers it.
    pub last_fragment_to_start_s: Spread,
    /// From the sending of a thought's last fragment to its reply.
    pub last_fragment_to_sent_s: Spread,
    /// The longest that a run's oldest message waited for the run, in seconds.
    pub first_pending_to_start_max_s: f64,
    /// `last_fragment_to_sent_s` at each percent from 0 to 100, for the plot.
    #[serde(skip)]
    pub sent_by_percent_s: Vec<f64>,
}

/// Counts, conversation by conversation.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    thoughts: usize,
    unanswered: usize,
    split: usize,
    replies: usize,
    ignoring: usize,
    discarded: usize,
    discarded_time: Duration,
    to_start: Vec<Duration>,
    to_sent: Vec<Duration>,
    pending_max: Duration,
}

/// The reply to a message.
#[derive(Clone, Copy, PartialEq)]
struct AnsweredBy {
    run: usize,
    began_at: Timestamp,
    sent_at: Timestamp,
}

impl Tally {
    /// Adds what an algorithm did about one conversation.
    pub fn add(&mut self, fragments: &[Fragment], runs: &[Run]) {
        let mut answers: Vec<Option<AnsweredBy>> = vec![None; fragments.len()];
        for (number, run) in runs.iter().enumerate() {
            let stored = run.batch.iter().map(|place| fragments[*place].stored_at);
            if let Some(oldest) = stored.min() {
                self.pending_max = self.pending_max.max(run.began_at.since(oldest));
            }
            match run.end {
                End::Dropped(at) => {
                    self.discarded += 1;
                    self.discarded_time += at.since(run.began_at);
                }
                End::Sent(sent_at) => {
                    for place in &run.batch {
                        answers[*place].get_or_insert(AnsweredBy {
                            run: number,
                            began_at: run.began_at,
                            sent_at,
                        });
                    }
                    self.replies += 1;
                    self.ignoring += usize::from(ignores(fragments, &answers, sent_at));
                }
            }
        }
        self.unanswered += answers.iter().filter(|answer| answer.is_none()).count();
        self.add_thoughts(fragments, &answers);
    }

    fn add_thoughts(&mut self, fragments: &[Fragment], answers: &[Option<AnsweredBy>]) {
        let thoughts = fragments.iter().map(|fragment| fragment.thought + 1).max();
        for thought in 0..thoughts.unwrap_or_default() {
            self.thoughts += 1;
            let of_it = |place: &usize| fragments[*place].thought == thought;
            let places: Vec<usize> = (0..fragments.len()).filter(of_it).collect();
            let mut replies: Vec<usize> = places
                .iter()
                .filter_map(|place| answers[*place].map(|answer| answer.run))
                .collect();
            replies.sort_unstable();
            replies.dedup();
            self.split += usize::from(replies.len() > 1);
            let last = places
                .into_iter()
                .max_by_key(|place| fragments[*place].sent_at);
            if let Some(last) = last
                && let Some(answer) = answers[last]
            {
                let sent_at = fragments[last].sent_at;
                self.to_start.push(answer.began_at.since(sent_at));
                self.to_sent.push(answer.sent_at.since(sent_at));
            }
        }
    }

    /// The figures of what was added.
    pub fn figures(mut self, algorithm: String) -> Figures {
        self.to_start.sort_unstable();
        self.to_sent.sort_unstable();
        let per_thought = |count: f64| ratio(count, count_of(self.thoughts));
        Figures {
            algorithm,
            thoughts: self.thoughts,
            unanswered_messages: self.unanswered,
            replies_per_thought: per_thought(count_of(self.replies)),
            split_percent_of_thoughts: 100.0 * per_thought(count_of(self.split)),
            ignoring_percent_of_replies: 100.0
                * ratio(count_of(self.ignoring), count_of(self.replies)),
            discarded_calls_per_thought: per_thought(count_of(self.discarded)),
            discarded_model_s_per_thought: per_thought(self.discarded_time.as_secs_f64()),
            last_fragment_to_start_s: spread(&self.to_start),
            last_fragment_to_sent_s: spread(&self.to_sent),
            first_pending_to_start_max_s: self.pending_max.as_secs_f64(),
            sent_by_percent_s: (0..=100)
                .map(|percent| percentile_s(&self.to_sent, percent))
                .collect(),
        }
    }
}

/// Whether something was stored before `sent_at` that neither this reply (already among `answers`) nor an earlier one
/// answers.
fn ignores(fragments: &[Fragment], answers: &[Option<AnsweredBy>], sent_at: Timestamp) -> bool {
    fragments
        .iter()
        .zip(answers)
        .any(|(fragment, answer)| fragment.stored_at < sent_at && answer.is_none())
}

fn spread(sorted: &[Duration]) -> Spread {
    Spread {
        p50: percentile_s(sorted, 50),
        p95: percentile_s(sorted, 95),
        p99: percentile_s(sorted, 99),
        max: percentile_s(sorted, 100),
    }
}

/// The nearest rank, in seconds; zero where there is nothing.
fn percentile_s(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0.0, Duration::as_secs_f64)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
fn count_of(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
