//! A clock that moves only when everyone waits: tokio's paused time, from a fixed first day.

use std::time::Duration;

use async_trait::async_trait;
use recado::domain::Timestamp;
use recado::ports::Clock;
use tokio::time::Instant;

/// The first moment of every fake world: a Monday morning, far from 1970.
pub const FIRST_DAY: Timestamp = Timestamp::from_ms(1_767_607_200_000);

/// Use it under `#[tokio::test(start_paused = true)]`.
pub struct MovedClock {
    started: Instant,
}

impl MovedClock {
    /// A clock that shows [`FIRST_DAY`] now.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

#[async_trait]
impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        FIRST_DAY.plus(self.started.elapsed())
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
