//! The sweeper: once a minute, whatever is not at rest for too long gets a fresh tick.

pub mod invocation;

use std::time::Duration;

use recado::flow::sweep::{self, Broom, Swept};
use recado::flow::{FlowError, World};

/// Beyond the longest ceiling in use, what waits is left to its own tick this long: a run's usual time.
const GRACE: Duration = Duration::from_secs(30);

/// Conversations looked at in one sweep; the next one, a minute later, goes on with what is left.
pub const LIMIT: usize = 1_000;

/// What is younger than this is left to its own tick, where no agent has a longer ceiling than `ceiling_max`.
pub fn grace(ceiling_max: Duration) -> Duration {
    ceiling_max + GRACE
}

/// One sweep. Logs what it did where it did anything.
pub async fn handle(world: &World, grace: Duration) -> Result<Swept, FlowError> {
    let swept = sweep::sweep(
        world,
        Broom {
            grace,
            limit: LIMIT,
        },
    )
    .await?;
    if swept != Swept::default() {
        tracing::info!(
            ticks = swept.ticks,
            waiting = swept.waiting,
            erasures = swept.erasures,
            failed = swept.failed,
            "swept"
        );
    }
    Ok(swept)
}
