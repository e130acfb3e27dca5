//! Leases without a run: what a process knows and the table does not.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Lease, RunId, Timestamp};

/// Runs that are over though the table still holds their leases, so that these silence nobody until they end. Clones
/// share what they know.
#[derive(Debug, Clone, Default)]
pub struct DeadRuns(Arc<Mutex<Known>>);

/// Leases that could not be given back and are remembered. An older one than these ends by its time.
const REMEMBERED_MAX: usize = 1_024;

#[derive(Debug, Default)]
struct Known {
    /// Every run that began before this moment.
    before: Timestamp,
    /// Runs of this process whose lease the table would not take back.
    stuck: VecDeque<RunId>,
}

impl DeadRuns {
    /// From `now` on this process is the only one that works on its table, so every earlier run is dead: true of a
    /// local run, which holds its data folder alone, and never of a Lambda.
    pub fn all_before(&self, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).before = now;
    }

    /// The moment since which runs are this process's own.
    pub(super) fn end(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).before
    }

    /// This process's own `run` has ended, and the table did not take its lease back.
    pub(super) fn bury(&self, run: RunId) {
        let stuck = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).stuck;
        if stuck.len() >= REMEMBERED_MAX {
            stuck.pop_front();
        }
        stuck.push_back(run);
    }

    /// Whether the lease is one of theirs.
    pub(super) fn hold(&self, lease: &Lease) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lease.run.made_at_ms() < known.before.ms() || known.stuck.contains(&lease.run)
    }
}
