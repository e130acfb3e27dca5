//! A clock that runs faster than real time, so that minutes of an outage pass in seconds while requests stay real.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use recado::domain::Timestamp;
use recado::ports::Clock;
use recado_tests::fake_clock::FIRST_DAY;

/// So many times faster.
pub const FASTER: u32 = 12;

/// Real time, times [`FASTER`].
pub struct FastClock(Instant);

impl FastClock {
    /// Shows the first day now.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        FIRST_DAY.plus(self.0.elapsed() * FASTER)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration / FASTER).await;
    }
}
