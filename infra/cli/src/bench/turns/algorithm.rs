//! What is compared: each algorithm is given the messages of a conversation and tells its runs.

use std::time::Duration;

use recado::domain::agent::Timing;
use recado::domain::{Agent, Timestamp};

use super::generator::{Call, Fragment};
use super::{delayed_jobs, fixed_window, recado as ours};

/// What the machinery takes, the same for every algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// From the moment a queue makes a message visible to the first look.
    pub wake: Duration,
    /// From the decision to answer to the run: the lease is taken and what is pending is read once more.
    pub claim: Duration,
    /// From the model's last word to the commit.
    pub commit: Duration,
    /// From the commit to the provider's having taken the reply.
    pub send: Duration,
}

impl Delays {
    /// Round figures of the size that a table, a queue and WhatsApp have in one region.
    pub const TYPICAL: Self = Self {
        wake: Duration::from_millis(20),
        claim: Duration::from_millis(30),
        commit: Duration::from_millis(50),
        send: Duration::from_millis(50),
    };

    /// A world where only the person, the model and the policy take time.
    pub const NONE: Self = Self {
        wake: Duration::ZERO,
        claim: Duration::ZERO,
        commit: Duration::ZERO,
        send: Duration::ZERO,
    };
}

/// What every algorithm is given besides the messages.
#[derive(Debug, Clone)]
pub struct Rig {
    /// The agent: its window and ceiling above all.
    pub agent: Agent,
    /// What the machinery takes.
    pub delays: Delays,
}

/// One run: from its beginning to the reply, or to where it was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Which messages it is about, by their place in the conversation.
    pub batch: Vec<usize>,
    /// When the model's call began.
    pub began_at: Timestamp,
    /// What became of it.
    pub end: End,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its reply was sent at this moment.
    Sent(Timestamp),
    /// The call was dropped, or its answer thrown away, at this moment.
    Dropped(Timestamp),
}

/// A way to decide when to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// The policies of this project, as `flow` calls them.
    Recado,
    /// A window of this length from the first message, whatever comes after it.
    FixedWindow(Duration),
    /// A delayed job for each message, of which only the newest acts.
    DelayedJobs,
}

impl Algorithm {
    /// Ours, and what it is compared with: windows as long as ours, twice that, and our ceiling; and delayed jobs.
    pub fn compared(timing: &Timing) -> Vec<Self> {
        let mut windows = vec![timing.window, timing.window * 2, timing.ceiling];
        windows.sort();
        windows.dedup();
        let mut all = vec![Self::Recado, Self::DelayedJobs];
        all.extend(windows.into_iter().map(Self::FixedWindow));
        all
    }

    /// Its name in the report.
    pub fn name(self) -> String {
        match self {
            Self::Recado => "recado".to_owned(),
            Self::FixedWindow(window) => format!("fixed {} s", window.as_secs_f64()),
            Self::DelayedJobs => "delayed jobs".to_owned(),
        }
    }

    /// Its runs on these messages (in the order they are stored), oldest first. `calls` says what the model does in
    /// each; where it ends, the rest stays unanswered.
    pub fn answer(
        self,
        rig: &Rig,
        fragments: &[Fragment],
        calls: &mut dyn Iterator<Item = Call>,
    ) -> Vec<Run> {
        match self {
            Self::Recado => ours::answer(rig, fragments, calls),
            Self::FixedWindow(window) => fixed_window::answer(rig, window, fragments, calls),
            Self::DelayedJobs => delayed_jobs::answer(rig, fragments, calls),
        }
    }
}

/// Which messages are answered since when; what is stored and unanswered is pending.
pub(super) struct Answered<'a> {
    fragments: &'a [Fragment],
    since: Vec<Option<Timestamp>>,
}

impl<'a> Answered<'a> {
    pub(super) fn none(fragments: &'a [Fragment]) -> Self {
        Self {
            fragments,
            since: vec![None; fragments.len()],
        }
    }

    /// The places of what is pending at `now`, in the order it was stored.
    pub(super) fn pending(&self, now: Timestamp) -> Vec<usize> {
        self.fragments
            .iter()
            .enumerate()
            .take_while(|(_, fragment)| fragment.stored_at <= now)
            .filter(|(place, _)| self.since[*place].is_none_or(|since| since > now))
            .map(|(place, _)| place)
            .collect()
    }

    /// A commit answers these.
    pub(super) fn answer(&mut self, batch: &[usize], at: Timestamp) {
        for place in batch {
            self.since[*place] = Some(at);
        }
    }

    /// Whether the message at `place` is pending at `now`.
    pub(super) fn is_pending(&self, place: usize, now: Timestamp) -> bool {
        self.fragments[place].stored_at <= now && self.since[place].is_none_or(|since| since > now)
    }
}
