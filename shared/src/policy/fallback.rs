//! Which model a run asks next, how long that may take, and when it ends without an answer.
//!
//! Invariant: however its models fail, a run ends with its fourth failed call at the latest, whichever models they went
//! to. No model is asked for the same more than twice in a row, none is gone back to, and one that has another behind it
//! leaves that one a third of the time at least.

use std::time::Duration;

use super::breaker::{self, Gate};
use super::retry;
use crate::domain::Chosen;
use crate::error::{ModelError, ModelErrorClass};

/// Failed calls of one run, over all its models.
pub const ATTEMPTS_MAX: u32 = 4;

/// Tries of the model that a run begins with.
const TRIES_MAX: u32 = 2;

/// A longer wait would be noticed by the person: another model answers sooner.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Where a throttled model does not say how long.
const WAIT: Duration = Duration::from_secs(1);

/// No call is begun with less.
const CALL_MIN: Duration = Duration::from_secs(10);

/// The models of a run, in the order they are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder(Vec<String>);

impl Ladder {
    /// From the first to the fallback; where they are the same there is one.
    pub fn of(first: &str, fallback: Option<&str>) -> Self {
        let next = fallback.filter(|next| *next != first);
        let models = [Some(first), next].into_iter().flatten();
        Self(models.map(str::to_owned).collect())
    }

    /// The model that is asked where nothing is in the way.
    pub fn first(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Whether there is another one behind it.
    pub fn has_fallback(&self) -> bool {
        self.0.len() > 1
    }
}

/// What a run has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Until its budget or its invocation ends, whichever comes first.
    pub left: Duration,
    /// All model calls of a run.
    pub budget: Duration,
    /// One call.
    pub timeout: Duration,
}

/// What follows from a failed call.
#[derive(Debug)]
pub enum Next {
    /// The same model again, after a pause.
    Again(Duration),
    /// The next model. The one before is left out for a while.
    MoveOn,
    /// The run ends.
    End(ModelError),
}

/// Where a run stands on its ladder.
#[derive(Debug)]
pub struct Course {
    ladder: Ladder,
    at: usize,
    why: Chosen,
    /// Failed calls of the model at hand, in a row.
    tries: u32,
    /// Failed calls of the run.
    failed: u32,
    /// Why a model was left that another run may find well.
    hope: Option<ModelError>,
}

impl Course {
    /// At the beginning. `gate` is what is known of the first model.
    pub fn begin(ladder: Ladder, gate: Gate) -> Self {
        let has_fallback = ladder.has_fallback();
        let (at, why) = match gate {
            Gate::Open(class) if has_fallback => (1, Chosen::BreakerOpen(class)),
            Gate::Probe if has_fallback => (0, Chosen::Probe),
            _ => (0, Chosen::First),
        };
        let hope = match why {
            Chosen::BreakerOpen(class) if !retry::is_in_vain(class) => {
                Some(ModelError::new(class, "left out for a while"))
            }
            _ => None,
        };
        Self {
            ladder,
            at,
            why,
            tries: 0,
            failed: 0,
            hope,
        }
    }

    /// The model to ask.
    pub fn model(&self) -> &str {
        self.ladder.0.get(self.at).map_or("", String::as_str)
    }

    /// Why that one.
    pub const fn why(&self) -> Chosen {
        self.why
    }

    /// How long the next call may take: what is left, less a third for the model behind this one.
    pub fn timeout(&self, time: Time) -> Duration {
        let reserve = if self.is_last() {
            Duration::ZERO
        } else {
            time.left / 3
        };
        time.timeout.min(time.left.saturating_sub(reserve))
    }

    /// The model answered.
    pub fn succeeded(&mut self) {
        self.tries = 0;
        if self.why == Chosen::Probe {
            self.why = Chosen::First;
        }
    }

    /// Counts a call whose request can be mended: too long, or cut. Yields whether one more may be made.
    pub fn may_mend(&mut self) -> bool {
        self.failed += 1;
        self.failed < ATTEMPTS_MAX
    }

    /// What follows from a failed call. `fraction` (0.0 to 1.0) is chance, for the pause.
    pub fn next(&mut self, error: ModelError, time: Time, fraction: f64) -> Next {
        self.failed += 1;
        self.tries += 1;
        // Alone it is tried again by a later run, which holds nobody's place in the queue meanwhile.
        if !self.ladder.has_fallback() || !breaker::is_of_model(error.class) {
            return Next::End(error);
        }
        if self.failed < ATTEMPTS_MAX
            && let Some(pause) = self.pause(&error, time, fraction)
        {
            return Next::Again(pause);
        }
        if self.is_last() || self.failed >= ATTEMPTS_MAX {
            return Next::End(self.most_hopeful(error));
        }
        self.at += 1;
        self.why = Chosen::Fallback(error.class);
        self.tries = 0;
        if !retry::is_in_vain(error.class) {
            self.hope = Some(error);
        }
        Next::MoveOn
    }

    /// The pause before another try of the same model, where it gets one.
    fn pause(&self, error: &ModelError, time: Time, fraction: f64) -> Option<Duration> {
        let tries_max = match self.why {
            Chosen::First | Chosen::BreakerOpen(_) => TRIES_MAX,
            Chosen::Fallback(_) | Chosen::Probe => 1,
        };
        let pause = match error.class {
            ModelErrorClass::Transient => Duration::from_millis(500),
            ModelErrorClass::Throttled => error.retry_after.unwrap_or(WAIT),
            _ => return None,
        };
        let jittered = pause + Duration::from_millis(500).mul_f64(fraction.clamp(0.0, 1.0));
        // Where another model waits, the second half of the time is for it.
        let needed = if self.is_last() {
            CALL_MIN
        } else {
            time.budget / 2
        };
        let fits = pause <= WAIT_MAX && time.left >= jittered + needed;
        (self.tries < tries_max && fits).then_some(jittered)
    }

    fn is_last(&self) -> bool {
        self.at + 1 >= self.ladder.0.len()
    }

    /// A run ends in vain only if each of its models did.
    fn most_hopeful(&mut self, error: ModelError) -> ModelError {
        let hope = self.hope.take();
        match hope {
            Some(hope) if retry::is_in_vain(error.class) => hope,
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests;
