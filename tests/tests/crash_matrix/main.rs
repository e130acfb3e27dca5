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
use recado::domain::Agent;

use bench::Bench;
use steps::{Mode, Strike};

/// What a crash costs a person at most: the queue's visibility, after which its tick comes back.
const LATE_AFTER_A_CRASH_MS: u64 = 150_000;

/// What an error costs a person at most: the longest hold after it, or the provider's next try.
const LATE_AFTER_AN_ERROR_MS: u64 = 12_000;

/// By how much the pauses between two tries of a model differ: chance.
const PAUSES_DIFFER_MS: u64 = 500;

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
    /// What the story's agent has that others have not.
    pub agent: fn(&mut Agent),
    /// What is struck, in order, each with its step's name.
    pub strikes: Vec<(Strike, &'static str)>,
    /// Whether the provider can be asked about a send.
    pub can_be_asked: bool,
}

impl Cell {
    fn struck(&self, step: &str, modes: &[Mode]) -> bool {
        let mut strikes = self.strikes.iter();
        strikes.any(|(strike, name)| *name == step && modes.contains(&strike.mode))
    }

    /// Whether the provider never got the reply and only it could tell: it is not sent again.
    pub fn loses_a_send(&self) -> bool {
        // A lost answer to the mark is no crash: the run takes the mark back.
        let unsent = self.struck("mark_sending", &[Mode::CrashAfter])
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
        write!(f, "{}", self.story)?;
        for (strike, step) in &self.strikes {
            write!(f, ", {strike} ({step})")?;
        }
        write!(f, ", can be asked: {}", self.can_be_asked)
    }
}

/// Tells the story once. Yields its steps and when the last text reached the person, in ms.
async fn tell(story: &Story, cell: &Cell) -> (Vec<&'static str>, u64) {
    let strikes = cell.strikes.iter().map(|(strike, _)| *strike).collect();
    let bench = Bench::start(strikes, cell).await;
    let began = bench.now();
    (story.tell)(&bench).await;
    bench.come_to_rest().await;
    assert_eq!(bench.steps.struck(), cell.strikes.len(), "{cell}");
    truths::hold(&bench, cell);
    (story.truth)(&bench, cell);
    let last = bench.fakes.messenger.delivered().last().map(|one| one.at);
    let last_ms = last.map_or(0, |at| at.ms() - began.ms());
    let steps = bench.steps.names();
    bench.stop().await;
    (steps, last_ms)
}

/// The whole matrix of one story: every strike; and, where the provider can be asked, a crash at every step of what
/// follows each of them.
async fn matrix(story: &Story) {
    matrix_of(story, |_| {}).await;
}

/// The same of a story whose agent is another one.
async fn matrix_of(story: &Story, agent: fn(&mut Agent)) {
    let (mut cells, mut pairs) = (0, 0);
    let (mut after_a_crash, mut after_an_error, mut after_both) = (0, 0, 0);
    for can_be_asked in [true, false] {
        let mut cell = Cell {
            story: story.name,
            agent,
            strikes: Vec::new(),
            can_be_asked,
        };
        let (steps, calm_ms) = tell(story, &cell).await;
        assert_eq!(steps.join(" "), story.steps, "{}", story.name);
        for struck in strikes(&steps) {
            cell.strikes = vec![struck];
            let (followed, last_ms) = tell(story, &cell).await;
            let late_ms = last_ms.saturating_sub(calm_ms);
            match struck.0.mode {
                Mode::FailAfter | Mode::FailBefore | Mode::Twice => {
                    after_an_error = late_ms.max(after_an_error);
                }
                _ => after_a_crash = late_ms.max(after_a_crash),
            }
            cells += 1;
            if !can_be_asked || struck.0.mode == Mode::Twice {
                continue;
            }
            for second in crashes_after(struck.0, &followed) {
                cell.strikes = vec![struck, second];
                let last_ms = tell(story, &cell).await.1;
                after_both = last_ms.saturating_sub(calm_ms).max(after_both);
                pairs += 1;
            }
        }
    }
    println!(
        "{}: {} steps, {cells} cells, {pairs} pairs; at most {after_a_crash} ms late after a crash, \
         {after_an_error} after an error, {after_both} after two",
        story.name,
        story.steps.split(' ').count(),
    );
    assert!(after_a_crash <= LATE_AFTER_A_CRASH_MS, "{}", story.name);
    assert!(after_an_error <= LATE_AFTER_AN_ERROR_MS, "{}", story.name);
    let twice = 2 * LATE_AFTER_A_CRASH_MS + PAUSES_DIFFER_MS;
    assert!(after_both <= twice, "{}", story.name);
}

/// A crash after each step that follows the first strike.
fn crashes_after(first: Strike, steps: &[&'static str]) -> Vec<(Strike, &'static str)> {
    let crash = |(at, step): (usize, &&'static str)| {
        let mode = Mode::CrashAfter;
        (Strike { at, mode }, *step)
    };
    let steps = steps.iter().enumerate();
    let later = steps.filter(|(at, _)| *at > first.at || first.mode == Mode::CrashAtTheEnd);
    let later = later.filter(|(at, _)| *at >= first.at);
    later.map(crash).collect()
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
