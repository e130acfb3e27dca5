//! The way of a request: latency, errors before and after, and writes that arrive when their sender is dead.

use std::sync::atomic::Ordering;
use std::time::Duration;

use recado::domain::ConversationId;

use super::core::Core;
use super::invocation::{HERE, Role, role};
use super::plan::Fault;

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes well.
    Well,
    /// It fails and is not applied.
    FailBefore,
    /// It is applied and its answer is lost.
    FailAfter,
}

impl Core {
    /// The way of a request to the table, until it is applied. `writes` tells whether it changes anything.
    pub async fn before(
        &self,
        operation: &'static str,
        conversation: Option<&ConversationId>,
        writes: bool,
    ) -> Fate {
        if let Some(of) = conversation {
            let _ = HERE.try_with(|here| {
                here.of.borrow_mut().get_or_insert_with(|| of.clone());
            });
        }
        self.step().await;
        let slow = self.sluggish && matches!(role(), Some(Role::Ingest | Role::Operator));
        let hesitates = self.hesitant && writes && role() == Some(Role::Processor);
        let most_ms = match () {
            () if slow => 600,
            () if hesitates && self.pick(0..4) == 0 => 3_000,
            () => 8,
        };
        tokio::time::sleep(Duration::from_millis(self.pick(1..most_ms))).await;
        if self.is_calm() {
            return Fate::Well;
        }
        let now = self.true_ms();
        if self.strikes(Fault::StoreSlow, 60) {
            let ms = self.pick(200..3_000);
            self.trouble(conversation, 2 * ms);
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        // What a dead sender still says about its send, or about its calls, is where most can be spoilt.
        let of = match operation {
            "settle" | "mark_sending" | "fold" | "store_calls" | "store_result" => 8,
            _ => 40,
        };
        if writes && self.strikes(Fault::StoreLate, of) {
            self.arrive_late(conversation).await;
        }
        if self.strikes(Fault::StoreThrottled, 2_000) {
            let until = now + self.pick(1_000..20_000);
            self.store_throttled_until.store(until, Ordering::Relaxed);
        }
        let refused = self.store_throttled_until.load(Ordering::Relaxed) > now;
        if refused || self.strikes(Fault::StoreBefore, 60) {
            self.breaks(conversation, 330_000);
            return Fate::FailBefore;
        }
        if writes && self.strikes(Fault::StoreAfter, 60) {
            self.breaks(conversation, 330_000);
            return Fate::FailAfter;
        }
        Fate::Well
    }

    /// A request that is under way while its sender dies: it is applied at the worst moment, just after others have
    /// written to the same conversation.
    async fn arrive_late(&self, conversation: Option<&ConversationId>) {
        let long = self.pick(0..3) > 0;
        let most_ms = if long { 220_000 } else { 9_000 };
        self.breaks(None, 330_000 + 2 * most_ms);
        if long {
            // The sender is dead for everyone else; only this request of it still lives.
            let _ = HERE.try_with(|here| here.doomed.store(true, Ordering::Relaxed));
        }
        if self.pick(0..5) == 0 {
            // After all that follows, and not just after the next of it.
            tokio::time::sleep(Duration::from_millis(self.pick(0..2 * most_ms))).await;
        } else {
            self.some_moments(conversation, most_ms).await;
        }
        self.breaks(None, 0);
    }

    /// Waits for a few writes of others to this conversation (or to any), `most_ms` at most.
    pub async fn some_moments(&self, of: Option<&ConversationId>, most_ms: u64) {
        let end = tokio::time::sleep(Duration::from_millis(most_ms));
        let mut end = std::pin::pin!(end);
        let mut left = self.pick(1..10);
        while left > 0 {
            tokio::select! {
                biased;
                () = &mut end => break,
                () = self.moment.notified() => {
                    let last = self.last_moment.lock().unwrap();
                    left -= u64::from(of.is_none() || last.as_ref() == of);
                }
            }
        }
        let after_ms = [3, 40][usize::try_from(self.pick(0..2)).unwrap_or(0)];
        tokio::time::sleep(Duration::from_millis(self.pick(0..after_ms))).await;
    }

    /// Something was written to this conversation.
    pub fn happened(&self, of: &ConversationId) {
        if self.swarm.on(Fault::StoreLate) || self.sluggish {
            *self.last_moment.lock().unwrap() = Some(of.clone());
            self.moment.notify_waiters();
        }
    }

    /// The way back of a request's answer.
    pub async fn after(&self) {
        let doomed = HERE.try_with(|here| {
            let doomed = here.doomed.load(Ordering::Relaxed);
            doomed.then(|| here.died.clone())
        });
        if let Ok(Some(died)) = doomed {
            died.notify_one();
            std::future::pending::<()>().await;
        }
        if self.swarm.on(Fault::StoreSlow) && !self.is_calm() && self.pick(0..100) == 0 {
            let ms = self.pick(100..2_000);
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        self.step().await;
    }

    /// An await that is no request to the table.
    pub async fn elsewhere(&self, ms: u64) {
        self.step().await;
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
