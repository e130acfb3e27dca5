//! Hand-made schedules for the tests: times in seconds, no delays but those of the schedule.

use recado::config::agent_file::{self, Overrides};
use recado::domain::Timestamp;

use super::algorithm::{Delays, End, Rig, Run};
use super::generator::{Call, Fragment, duration};

/// The built-in agent (5 s and 20 s) with machinery that takes no time.
pub fn rig() -> Rig {
    Rig {
        agent: agent_file::default_agent(&Overrides::none()).unwrap(),
        delays: Delays::NONE,
    }
}

/// The moment so many seconds after the beginning.
pub fn at(seconds: f64) -> Timestamp {
    Timestamp::default().plus(duration(seconds))
}

/// One thought whose fragments are stored as they are sent.
pub fn said(stored_s: &[f64]) -> Vec<Fragment> {
    stored_s
        .iter()
        .map(|stored| fragment(0, *stored, *stored))
        .collect()
}

/// A message that is delivered once.
pub fn fragment(thought: usize, sent_s: f64, stored_s: f64) -> Fragment {
    Fragment {
        thought,
        sent_at: at(sent_s),
        stored_at: at(stored_s),
        doubled_at: None,
    }
}

/// A call, and when it writes.
pub fn call(takes_s: f64, writes_after_s: Option<f64>) -> Call {
    Call {
        takes: duration(takes_s),
        writes_after: writes_after_s.map(duration),
    }
}

/// A run that ended in a reply.
pub fn sent(batch: &[usize], began_s: f64, sent_s: f64) -> Run {
    Run {
        batch: batch.to_vec(),
        began_at: at(began_s),
        end: End::Sent(at(sent_s)),
    }
}

/// A run that was dropped.
pub fn dropped(batch: &[usize], began_s: f64, dropped_s: f64) -> Run {
    Run {
        batch: batch.to_vec(),
        began_at: at(began_s),
        end: End::Dropped(at(dropped_s)),
    }
}
