//! Guards of the flow itself that can be left out here, by ports that undo what they do.

use std::sync::atomic::{AtomicBool, Ordering};

use recado::domain::{Call, Effect, Event, MessageId};
use recado::ports::Peek;

/// What the flow's own guards are called.
pub const NAMES: &[&str] = &[
    "outbox_first",
    "peek_again",
    "sweeper",
    "new_dedup",
    "hold",
    "sealed_batch",
    "sealed_less_what_is_closed",
    "stored_calls",
    "idempotency_key",
    "unknown_not_repeated",
    "writes_of_earlier_runs",
];

/// Which of them are left out.
#[derive(Debug, Clone, Default)]
pub struct Switches {
    without: Option<&'static str>,
}

tokio::task_local! {
    /// Set once an invocation has done something: from then on, without `peek_again`, it sees nothing.
    pub static BLIND: AtomicBool;
}

impl Switches {
    /// All of them but the one of this name.
    pub fn without(name: &'static str) -> Self {
        assert!(
            NAMES.contains(&name),
            "no guard of the flow is called {name}"
        );
        Self {
            without: Some(name),
        }
    }

    /// Whether this one holds.
    pub fn holds(&self, name: &str) -> bool {
        self.without != Some(name)
    }

    /// What a look shows.
    pub fn peek(&self, peek: &mut Peek) {
        if !self.holds("outbox_first") && !peek.pending.is_empty() {
            peek.outbox.clear();
        }
        let blind = BLIND
            .try_with(|blind| blind.load(Ordering::Relaxed))
            .unwrap_or(false);
        if !self.holds("peek_again") && blind {
            peek.outbox.clear();
            peek.pending.clear();
        }
    }

    /// What a look shows of a sealed batch: nothing of the seal, or all of its messages as if none were closed.
    pub fn seal(&self, peek: &mut Peek, stored: impl Fn(&MessageId) -> Option<Event>) {
        let Some(state) = &mut peek.state else { return };
        if !self.holds("sealed_batch") {
            state.sealed = None;
        }
        if let Some(sealed) = &state.sealed
            && !self.holds("sealed_less_what_is_closed")
        {
            let is_there = |id: &MessageId| peek.pending.iter().any(|event| event.id == *id);
            let closed = sealed.events.iter().filter(|id| !is_there(id));
            let closed: Vec<Event> = closed.filter_map(stored).collect();
            peek.pending.extend(closed);
        }
    }

    /// What a run sees of the calls of earlier ones.
    pub fn calls(&self, mut calls: Vec<Call>) -> Vec<Call> {
        if !self.holds("stored_calls") {
            calls.clear();
        }
        if !self.holds("writes_of_earlier_runs") {
            let done = calls.iter_mut().filter(|call| call.result.is_some());
            done.for_each(|call| call.effect = Effect::Read);
        }
        calls
    }

    /// An invocation has done something.
    pub fn looked_after(&self) {
        let _ = BLIND.try_with(|blind| blind.store(true, Ordering::Relaxed));
    }
}
