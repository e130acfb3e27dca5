//! Invocations: whose code is running, where it dies, and when it is cut off.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use recado::domain::ConversationId;
use tokio::sync::Notify;

use super::core::Core;
use super::plan::Fault;

/// Whose code is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A processor with a tick.
    Processor,
    /// A processor with a compaction job.
    Compactor,
    /// Ingest.
    Ingest,
    /// The sweeper, or a process that starts again.
    Sweeper,
    /// The operator.
    Operator,
}

impl Role {
    fn crash(self) -> Option<Fault> {
        match self {
            Self::Processor | Self::Compactor => Some(Fault::ProcessorCrash),
            Self::Ingest => Some(Fault::IngestCrash),
            Self::Operator => Some(Fault::ForgetCrash),
            Self::Sweeper => None,
        }
    }
}

/// One invocation.
pub struct Invocation {
    /// Its number.
    pub number: u64,
    /// Whose code it runs.
    pub role: Role,
    pub(super) of: RefCell<Option<ConversationId>>,
    steps: Cell<u32>,
    crash_at: Cell<u32>,
    /// Set where a late write was its last: then it dies as soon as that is applied, and not before.
    pub(super) doomed: Arc<AtomicBool>,
    pub(super) died: Arc<Notify>,
}

tokio::task_local! {
    pub(super) static HERE: Invocation;
}

/// Which invocation this is; zero outside of any.
pub fn here() -> u64 {
    HERE.try_with(|here| here.number).unwrap_or(0)
}

/// Whose code is running.
pub fn role() -> Option<Role> {
    HERE.try_with(|here| here.role).ok()
}

/// Whose conversation this invocation works on, as far as it has asked for one.
pub fn whose() -> Option<ConversationId> {
    HERE.try_with(|here| here.of.borrow().clone())
        .ok()
        .flatten()
}

impl Core {
    /// Runs `work` as one invocation, which may die at any await, and is cut off at the latest after `time`.
    /// `None` where it died.
    pub async fn invoke<F: Future>(
        &self,
        role: Role,
        time: Duration,
        work: F,
    ) -> Option<F::Output> {
        let number = self.invocations.fetch_add(1, Ordering::Relaxed) + 1;
        let died = Arc::new(Notify::new());
        let doomed = Arc::new(AtomicBool::new(false));
        let is_to_die = role
            .crash()
            .is_some_and(|crash| self.swarm.on(crash) && !self.is_calm() && self.pick(0..6) == 0);
        let invocation = Invocation {
            number,
            role,
            of: RefCell::new(None),
            steps: Cell::new(0),
            crash_at: Cell::new(if is_to_die {
                self.crash_step()
            } else {
                u32::MAX
            }),
            doomed: Arc::clone(&doomed),
            died: Arc::clone(&died),
        };
        let work = pin!(HERE.scope(invocation, work));
        let end = pin!(async {
            tokio::select! {
                biased;
                () = died.notified() => {}
                () = self.killed.notified() => {}
                () = tokio::time::sleep(time) => {
                    if doomed.load(Ordering::Relaxed) {
                        died.notified().await;
                    }
                }
            }
        });
        match select(work, end).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Early steps more often: that is where the short ways are.
    fn crash_step(&self) -> u32 {
        let most = [4, 12, 40][usize::try_from(self.pick(0..3)).unwrap_or(0)];
        u32::try_from(self.pick(0..most)).unwrap_or(0)
    }

    /// An await of an invocation: here it may die.
    pub(super) async fn step(&self) {
        let dies = HERE.try_with(|here| {
            let step = here.steps.get();
            here.steps.set(step + 1);
            (step >= here.crash_at.get() && !self.is_calm()).then(|| (here.role, here.died.clone()))
        });
        if let Ok(Some((role, died))) = dies {
            if let Some(fault) = role.crash() {
                self.count(fault);
            }
            self.breaks(None, 330_000);
            died.notify_one();
            std::future::pending::<()>().await;
        }
    }
}
