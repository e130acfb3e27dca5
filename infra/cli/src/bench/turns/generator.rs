//! People who write in pieces, from a seed: when each fragment of a thought is sent, when it is stored, and what the
//! model does in each run.
//!
//! The distributions are an assumption, the same for every algorithm, and stated in the command's help.

use std::f64::consts::TAU;
use std::ops::Range;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use recado::domain::Timestamp;

/// How many of a hundred thoughts have one fragment, two, and so on.
pub const FRAGMENTS_PERCENT: [u32; 6] = [35, 25, 20, 10, 6, 4];
/// Between two fragments of a thought, in seconds.
pub const GAP_S: Range<f64> = 0.5..6.0;
/// From the person to the table, in seconds.
pub const DELIVERY_S: Range<f64> = 0.05..0.3;
/// How many of a hundred fragments are late.
pub const LATE_PERCENT: u32 = 3;
/// By how much more, in seconds.
pub const LATE_S: Range<f64> = 1.0..30.0;
/// How many of a hundred fragments are delivered twice.
pub const DOUBLED_PERCENT: u32 = 5;
/// The second delivery after the first, in seconds.
pub const DOUBLED_S: Range<f64> = 0.0..5.0;
/// Median of the time from a thought's last fragment to the next thought, in seconds.
pub const NEXT_MEDIAN_S: f64 = 10.0;
/// Standard deviation of its logarithm.
pub const NEXT_SIGMA: f64 = 1.0;
/// Thoughts of a chain.
pub const CHAIN: usize = 20;
/// A run's model calls together, in seconds.
pub const MODEL_S: Range<f64> = 2.0..12.0;
/// How many of a hundred runs write with a tool.
pub const WRITING_PERCENT: u32 = 20;
/// At what part of the run.
pub const WRITE_AT: Range<f64> = 0.2..0.8;

/// How thoughts follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Never: each is a conversation of its own.
    Single,
    /// [`CHAIN`] of them in a row, each some time after the last fragment of the one before, answered or not.
    Chained,
}

/// One message of a thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Which thought of the conversation, from zero.
    pub thought: usize,
    /// When the person sent it: the provider's time.
    pub sent_at: Timestamp,
    /// When it was stored.
    pub stored_at: Timestamp,
    /// When it was delivered once more.
    pub doubled_at: Option<Timestamp>,
}

/// What the model does in one run that nobody drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// How long it works.
    pub takes: Duration,
    /// When a tool writes, from the run's beginning.
    pub writes_after: Option<Duration>,
}

/// One conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its messages in the order they are stored.
    pub fragments: Vec<Fragment>,
    calls_seed: u64,
}

impl Conversation {
    /// What the model does in the first run, the second, and so on without end: the same at each call of this.
    pub fn calls(&self) -> Calls {
        Calls(StdRng::seed_from_u64(self.calls_seed))
    }
}

/// The model's calls in one conversation, run by run.
#[derive(Debug)]
pub struct Calls(StdRng);

impl Iterator for Calls {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        let takes_s = self.0.random_range(MODEL_S);
        let is_writing = is_one_of(&mut self.0, WRITING_PERCENT);
        let part = self.0.random_range(WRITE_AT);
        Some(Call {
            takes: duration(takes_s),
            writes_after: is_writing.then(|| duration(takes_s * part)),
        })
    }
}

/// Yields conversations until there were enough thoughts.
#[derive(Debug)]
pub struct Generator {
    dice: StdRng,
    pace: Pace,
    thoughts_left: usize,
}

impl Generator {
    /// Conversations that have so many thoughts together.
    pub fn new(seed: u64, pace: Pace, thoughts: usize) -> Self {
        Self {
            dice: StdRng::seed_from_u64(seed),
            pace,
            thoughts_left: thoughts,
        }
    }

    /// Adds one thought that begins at `begins_at`. Yields when its last fragment was sent.
    fn think(
        &mut self,
        thought: usize,
        begins_at: Timestamp,
        into: &mut Vec<Fragment>,
    ) -> Timestamp {
        let dice = &mut self.dice;
        let mut sent_at = begins_at;
        for number in 0..fragments(dice) {
            if number > 0 {
                sent_at = sent_at.plus(duration(dice.random_range(GAP_S)));
            }
            let mut delivery_s = dice.random_range(DELIVERY_S);
            if is_one_of(dice, LATE_PERCENT) {
                delivery_s += dice.random_range(LATE_S);
            }
            let stored_at = sent_at.plus(duration(delivery_s));
            let doubled_at = is_one_of(dice, DOUBLED_PERCENT)
                .then(|| stored_at.plus(duration(dice.random_range(DOUBLED_S))));
            into.push(Fragment {
                thought,
                sent_at,
                stored_at,
                doubled_at,
            });
        }
        sent_at
    }
}

impl Iterator for Generator {
    type Item = Conversation;

    fn next(&mut self) -> Option<Conversation> {
        let thoughts = match self.pace {
            Pace::Single => self.thoughts_left.min(1),
            Pace::Chained => self.thoughts_left.min(CHAIN),
        };
        if thoughts == 0 {
            return None;
        }
        self.thoughts_left -= thoughts;
        let mut fragments = Vec::new();
        let mut begins_at = Timestamp::default();
        for thought in 0..thoughts {
            let ended_at = self.think(thought, begins_at, &mut fragments);
            begins_at = ended_at.plus(duration(until_next_s(&mut self.dice)));
        }
        fragments.sort_by_key(|fragment| fragment.stored_at);
        Some(Conversation {
            fragments,
            calls_seed: self.dice.random(),
        })
    }
}

/// How many fragments a thought has.
fn fragments(dice: &mut StdRng) -> usize {
    let mut left = dice.random_range(0..100);
    for (number, percent) in (1..).zip(FRAGMENTS_PERCENT) {
        if left < percent {
            return number;
        }
        left -= percent;
    }
    FRAGMENTS_PERCENT.len()
}

/// From a thought's last fragment to the next thought: lognormal, its normal by the method of Box and Muller.
fn until_next_s(dice: &mut StdRng) -> f64 {
    // From above zero to one, where a logarithm exists.
    let radius = (-2.0 * (1.0 - dice.random_range(0.0_f64..1.0)).ln()).sqrt();
    let normal = radius * dice.random_range(0.0..TAU).cos();
    NEXT_MEDIAN_S * (NEXT_SIGMA * normal).exp()
}

fn is_one_of(dice: &mut StdRng, percent: u32) -> bool {
    dice.random_range(0..100) < percent
}

/// Seconds in whole milliseconds, the unit of every moment here.
pub(super) fn duration(seconds: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and far below what u64 holds"
    )]
    Duration::from_millis((seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests;
