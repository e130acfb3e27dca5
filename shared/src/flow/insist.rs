//! What must not stay undone for one request that failed: asked again a few times, while the invocation lasts.

use std::time::Duration;

use super::World;
use super::process::Visit;
use crate::error::StoreError;

/// What failed is asked again after each of these. Together longer than a table's hiccup, and short beside what is left of
/// an invocation for it.
const PAUSES: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// Asks until it is answered, or yields the last failure. Only for what may be applied twice.
pub async fn insist<T, A>(
    world: &World,
    visit: &Visit,
    ask: impl Fn() -> A,
) -> Result<T, StoreError>
where
    A: Future<Output = Result<T, StoreError>>,
{
    let mut answer = ask().await;
    for pause in PAUSES {
        if answer.is_ok() || visit.time_left(world.now()) <= pause {
            break;
        }
        world.clock.sleep(pause).await;
        answer = ask().await;
    }
    answer
}
