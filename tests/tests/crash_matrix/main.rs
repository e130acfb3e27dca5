//! The crash matrix: every story dies before and after each of its steps, hears an error that was applied and one that was
//! not, and makes each request twice. A step is one request to a port. Then the tick, the webhook or the job comes again,
//! time passes, and the same truths hold. Each story's steps stand in its table by name, so that a new one is struck the
//! day it is written.

mod bench;
mod ports;
mod steps;
mod stories;
mod truths;

use std::fmt;

use futures_util::future::BoxFuture;

use bench::Bench;
use steps::{Mode, Strike};

/// What a crash costs a person at most: the queue's visibility, after which its tick comes back.
const LATE_AFTER_A_CRASH_MS: u64 = 150_000;

/// What an error costs a person at most: the longest hold after it, or the provider's next try.
const LATE_AFTER_AN_ERROR_MS: u64 = 12_000;

/// What happens, what it takes, and what is true afterwards.
pub struct Story {
    pub name: &'static str,
    /// The steps of a run without faults.
    pub steps: &'static str,
    /// From an empty table to rest.
    pub tell: for<'a> fn(&'a Bench) -> BoxFuture<'a, ()>,
    /// What holds of this story besides what holds of all.
    pub truth: fn(&Bench, &Cell),
}

/// One cell of the matrix.
pub struct Cell {
    pub story: &'static str,
    pub strike: Option<Strike>,
    /// The step that is struck.
    pub step: &'static str,
    /// Whether the provider can be asked about a send.
    pub can_be_asked: bool,
}

impl Cell {
    fn struck(&self, step: &str, modes: &[Mode]) -> bool {
        let mode = self.strike.map(|strike| strike.mode);
        self.step == step && mode.is_some_and(|mode| modes.contains(&mode))
    }

    /// Whether the provider never got the reply and only it could tell: it is not sent again.
    pub fn loses_a_send(&self) -> bool {
        let unsent = self.struck("mark_sending", &[Mode::CrashAfter, Mode::FailAfter])
            || self.struck("send", &[Mode::CrashBefore, Mode::FailBefore]);
        unsent && !self.can_be_asked
    }

    /// Whether only the provider can tell what became of a send, and this one cannot be asked.
    pub fn leaves_a_send_unknown(&self) -> bool {
        let untold = self.struck("send", &[Mode::CrashAfter, Mode::FailAfter])
            || self.struck("settle", &[Mode::CrashBefore, Mode::FailBefore]);
        self.loses_a_send() || (untold && !self.can_be_asked)
    }

    /// Whether a write that must not be repeated was stored and not made.
    pub fn loses_an_effect(&self) -> bool {
        self.struck("store_calls", &[Mode::CrashAfter])
            || self.struck("run:book", &[Mode::CrashBefore, Mode::FailBefore])
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            story,
            step,
            can_be_asked,
            ..
        } = self;
        match self.strike {
            None => write!(f, "{story}, no fault")?,
            Some(strike) => write!(f, "{story}, {strike} ({step})")?,
        }
        write!(f, ", can be asked: {can_be_asked}")
    }
}

/// Tells the story once. Yields its steps and when the last text reached the person, in ms.
async fn tell(story: &Story, cell: &Cell) -> (Vec<&'static str>, u64) {
    let bench = Bench::start(cell.strike, cell.can_be_asked).await;
    let began = bench.now();
    (story.tell)(&bench).await;
    bench.come_to_rest().await;
    assert_eq!(bench.steps.struck(), cell.strike.is_some(), "{cell}");
    truths::hold(&bench, cell);
    (story.truth)(&bench, cell);
    let last = bench.fakes.messenger.delivered().last().map(|one| one.at);
    let last_ms = last.map_or(0, |at| at.ms() - began.ms());
    let steps = bench.steps.names();
    bench.stop().await;
    (steps, last_ms)
}

/// The whole matrix of one story.
async fn matrix(story: &Story) {
    let mut cells = 0;
    let (mut after_a_crash, mut after_an_error) = (0, 0);
    for can_be_asked in [true, false] {
        let mut cell = Cell {
            story: story.name,
            strike: None,
            step: "",
            can_be_asked,
        };
        let (steps, calm_ms) = tell(story, &cell).await;
        assert_eq!(steps.join(" "), story.steps, "{}", story.name);
        for (strike, step) in strikes(&steps) {
            cell.strike = Some(strike);
            cell.step = step;
            let late_ms = tell(story, &cell).await.1.saturating_sub(calm_ms);
            let worst_ms = match strike.mode {
                Mode::FailAfter | Mode::FailBefore | Mode::Twice => &mut after_an_error,
                _ => &mut after_a_crash,
            };
            *worst_ms = late_ms.max(*worst_ms);
            cells += 1;
        }
    }
    println!(
        "{}: {} steps, {cells} cells; at most {after_a_crash} ms late after a crash, {after_an_error} after an error",
        story.name,
        story.steps.split(' ').count(),
    );
    assert!(after_a_crash <= LATE_AFTER_A_CRASH_MS, "{}", story.name);
    assert!(after_an_error <= LATE_AFTER_AN_ERROR_MS, "{}", story.name);
}

/// Every way in which each step can be struck, and the end.
fn strikes(steps: &[&'static str]) -> Vec<(Strike, &'static str)> {
    let mut strikes = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let modes = Mode::OF_A_STEP.into_iter().filter(|mode| mode.fits(step));
        strikes.extend(modes.map(|mode| (Strike { at, mode }, *step)));
    }
    let end = Strike {
        at: steps.len(),
        mode: Mode::CrashAtTheEnd,
    };
    strikes.push((end, "the end"));
    strikes
}
