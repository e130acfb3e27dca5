//! Guards of the flow itself that can be left out here, by ports that undo what they do.

use std::sync::atomic::{AtomicBool, Ordering};

use recado::ports::Peek;

/// What the flow's own guards are called.
pub const NAMES: &[&str] = &["outbox_first", "peek_again", "sweeper", "new_dedup", "hold"];

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

    /// An invocation has done something.
    pub fn looked_after(&self) {
        let _ = BLIND.try_with(|blind| blind.store(true, Ordering::Relaxed));
    }
}
