//! The one place that reads the time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use crate::domain::Timestamp;
use crate::domain::time::whole_ms;
use crate::ports::Clock;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one file that reads the time"
    )]
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_ms(whole_ms(since_1970))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock that is right when it begins and never steps, in milliseconds since 1970: for what counts time and does not tell
/// it. A queue that kept the machine's clock would hold everything back for as long as that one stepped.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one file that reads the time"
)]
pub fn steady() -> impl Fn() -> u64 + Send + Sync {
    let (began_at, began) = (SystemClock.now(), Instant::now());
    move || began_at.plus(began.elapsed()).ms()
}
