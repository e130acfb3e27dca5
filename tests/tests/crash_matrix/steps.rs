//! Steps: the requests that watched invocations make of the ports, in order, and the one of them that is struck.

use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use recado_tests::fake_store::{Fault, Faults};
use tokio::sync::Notify;

/// What runs in one go and can die as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The intake of one webhook.
    Webhook,
    /// A tick's visit to a conversation.
    Tick,
    /// A compaction job.
    Compaction,
    /// One sweep.
    Sweep,
    /// An operator's `forget`.
    Forget,
}

/// What becomes of the struck step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The invocation dies before the request is applied.
    CrashBefore,
    /// The invocation dies after the request is applied and before it hears so.
    CrashAfter,
    /// The request is applied and answered with an error.
    FailAfter,
    /// The request is not applied, and answered with an error.
    FailBefore,
    /// The request arrives twice.
    Twice,
    /// Everything is done, and the invocation dies before its message is deleted.
    CrashAtTheEnd,
}

impl Mode {
    /// What a step can go through.
    pub const OF_A_STEP: [Self; 5] = [
        Self::CrashBefore,
        Self::CrashAfter,
        Self::FailAfter,
        Self::FailBefore,
        Self::Twice,
    ];

    /// Whether a step of this name can go through it.
    pub fn fits(self, step: &str) -> bool {
        match step {
            // It has no way to fail: it is what this process was built with.
            "declared" => !matches!(self, Self::FailAfter | Self::FailBefore),
            // No client repeats these by itself; `graph_send` holds ours to it.
            "send" | "run:book" => self != Self::Twice,
            _ => true,
        }
    }
}

/// The step that is struck, counted from 0, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strike {
    /// Which step.
    pub at: usize,
    /// How.
    pub mode: Mode,
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at step {}", self.mode, self.at)
    }
}

tokio::task_local! {
    static INVOCATION: Arc<Invocation>;
}

struct Invocation {
    kind: Kind,
    /// The request after which it dies.
    dies_after: Mutex<Option<&'static str>>,
    died: Notify,
}

impl Invocation {
    async fn die(&self) {
        self.died.notify_one();
        pending::<()>().await;
    }
}

/// Counts, and strikes: the first strike, then the next.
pub struct Steps {
    strikes: Vec<Strike>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    watched: Option<Kind>,
    names: Vec<&'static str>,
    struck: usize,
}

impl Steps {
    /// Nothing is counted until something is watched.
    pub fn new(strikes: Vec<Strike>) -> Arc<Self> {
        Arc::new(Self {
            strikes,
            inner: Mutex::default(),
        })
    }

    /// From now on the requests of these invocations are counted; of none, from now on, without one.
    pub fn watch(&self, kind: Option<Kind>) {
        self.inner.lock().unwrap().watched = kind;
    }

    /// The steps so far.
    pub fn names(&self) -> Vec<&'static str> {
        self.inner.lock().unwrap().names.clone()
    }

    /// How many strikes have happened.
    pub fn struck(&self) -> usize {
        self.inner.lock().unwrap().struck
    }

    /// Runs one invocation; `None` where it died.
    pub async fn invocation<T>(&self, kind: Kind, work: impl Future<Output = T>) -> Option<T> {
        let invocation = Arc::new(Invocation {
            kind,
            dies_after: Mutex::default(),
            died: Notify::new(),
        });
        let scoped = INVOCATION.scope(Arc::clone(&invocation), work);
        let given = tokio::select! {
            biased;
            () = invocation.died.notified() => None,
            given = scoped => Some(given),
        };
        given.filter(|_| !self.dies_at_the_end(kind))
    }

    fn dies_at_the_end(&self, kind: Kind) -> bool {
        let mut inner = self.inner.lock().unwrap();
        let here = Strike {
            at: inner.names.len(),
            mode: Mode::CrashAtTheEnd,
        };
        let next = self.strikes.get(inner.struck);
        let dies = inner.watched == Some(kind) && next == Some(&here);
        inner.struck += usize::from(dies);
        dies
    }

    /// Counts a request of the invocation that makes it. Yields what happens to it.
    fn next(&self, kind: Kind, name: &'static str) -> Option<Mode> {
        let mut inner = self.inner.lock().unwrap();
        if inner.watched != Some(kind) {
            return None;
        }
        let at = inner.names.len();
        inner.names.push(name);
        let strike = self.strikes.get(inner.struck)?;
        if strike.at != at {
            return None;
        }
        inner.struck += 1;
        Some(strike.mode)
    }
}

#[async_trait]
impl Faults for Steps {
    async fn before(&self, operation: &'static str) -> Fault {
        let Ok(invocation) = INVOCATION.try_with(Arc::clone) else {
            return Fault::None;
        };
        match self.next(invocation.kind, operation) {
            Some(Mode::CrashBefore) => {
                invocation.die().await;
                Fault::None
            }
            Some(Mode::CrashAfter) => {
                *invocation.dies_after.lock().unwrap() = Some(operation);
                Fault::None
            }
            Some(Mode::FailAfter) => Fault::FailAfter,
            Some(Mode::FailBefore) => Fault::FailBefore,
            Some(Mode::Twice) => Fault::Twice,
            Some(Mode::CrashAtTheEnd) | None => Fault::None,
        }
    }

    async fn after(&self, operation: &'static str) {
        let Ok(invocation) = INVOCATION.try_with(Arc::clone) else {
            return;
        };
        let dies = *invocation.dies_after.lock().unwrap() == Some(operation);
        if dies {
            invocation.die().await;
        }
    }
}
