//! The two clocks of a schedule: the one that the flow reads, which can be wrong, and the true one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::Timestamp;
use recado::ports::Clock;

use super::core::Core;
use crate::fake_clock::FIRST_DAY;

/// The clock that the flow reads: true time with an error.
pub struct SimClock(pub Arc<Core>);

#[async_trait]
impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let ms = FIRST_DAY.ms() + self.0.true_ms();
        Timestamp::from_ms(ms.saturating_add_signed(self.0.clock_error_ms.load(Ordering::Relaxed)))
    }

    async fn sleep(&self, duration: Duration) {
        self.0.step().await;
        tokio::time::sleep(duration).await;
    }
}

/// The clock of the queues and of the provider: true time.
pub struct TrueClock(pub Arc<Core>);

#[async_trait]
impl Clock for TrueClock {
    fn now(&self) -> Timestamp {
        FIRST_DAY.plus(Duration::from_millis(self.0.true_ms()))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
