//! A clock that goes on when everybody waits for it: requests take no time, and the same story takes the same steps
//! on any machine.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::Timestamp;
use recado::ports::Clock;
use recado_tests::fake_clock::FIRST_DAY;
use tokio::sync::oneshot;

/// Looks in a row without a request under way, before the clock goes on.
const QUIET_LOOKS: u32 = 6;

/// Stands still until it is driven.
pub struct SteppedClock {
    now_ms: AtomicU64,
    order: AtomicU64,
    sleepers: Mutex<BTreeMap<(u64, u64), oneshot::Sender<()>>>,
}

impl SteppedClock {
    /// Shows the first day.
    pub fn new() -> Self {
        Self {
            now_ms: AtomicU64::new(FIRST_DAY.ms()),
            order: AtomicU64::default(),
            sleepers: Mutex::default(),
        }
    }

    /// Wakes the next sleeper whenever nothing is under way, for ever.
    pub async fn drive(&self, is_busy: impl Fn() -> bool) {
        let mut quiet = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            quiet = if is_busy() { 0 } else { quiet + 1 };
            if quiet >= QUIET_LOOKS && self.wake_next() {
                quiet = 0;
            }
        }
    }

    fn wake_next(&self) -> bool {
        let mut sleepers = self.sleepers.lock().unwrap();
        while let Some(((at, _), sleeper)) = sleepers.pop_first() {
            if sleeper.is_closed() {
                continue;
            }
            self.now_ms.fetch_max(at, Ordering::SeqCst);
            return sleeper.send(()).is_ok();
        }
        false
    }
}

#[async_trait]
impl Clock for SteppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        let at = self.now().plus(duration).ms();
        let order = self.order.fetch_add(1, Ordering::SeqCst);
        let (sender, woken) = oneshot::channel();
        self.sleepers.lock().unwrap().insert((at, order), sender);
        let _ = woken.await;
    }
}
