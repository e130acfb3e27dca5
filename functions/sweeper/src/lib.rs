//! The sweeper: once a minute, whatever is not at rest for too long gets a fresh tick.

use std::time::Duration;

use recado::flow::sweep::{self, Broom, Swept};
use recado::flow::{FlowError, World};

/// What is younger is left to its own tick: the longest ceiling an agent may have (2 minutes), and a little.
pub const GRACE: Duration = Duration::from_secs(150);

/// Conversations looked at in one sweep; the next one, a minute later, goes on with what is left.
pub const LIMIT: usize = 1_000;

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
