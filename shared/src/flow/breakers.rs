//! Breakers as a run uses them: what their table does not tell in time, or at all, is as if all were well.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::World;
use crate::domain::Breaker;
use crate::error::StoreError;
use crate::ports::Written;

/// A breaker saves time: it must not cost more than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known of a model's breaker; nothing where it cannot be read.
pub async fn look(world: &World, model: &str) -> Option<Breaker> {
    let reading = world.breakers.breaker(model);
    in_time(world, "read", reading).await.flatten()
}

/// One transition, tried once more where its outcome is unknown: it is told from others by its mark. Yields whether it
/// was made.
pub async fn swap(
    world: &World,
    model: &str,
    seen: Option<&Breaker>,
    next: Option<&Breaker>,
) -> bool {
    for _ in 0..2 {
        let swapping = world.breakers.swap_breaker(model, seen, next);
        if let Some(written) = in_time(world, "moved", swapping).await {
            return written == Written::Done;
        }
    }
    false
}

async fn in_time<T>(
    world: &World,
    what: &'static str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Option<T> {
    let (work, end) = (pin!(work), pin!(world.clock.sleep(PATIENCE)));
    match select(work, end).await {
        Either::Left((Ok(given), _)) => return Some(given),
        Either::Left((Err(error), _)) => {
            tracing::warn!(%error, "a model's breaker cannot be {what}; the turn goes on without it");
        }
        Either::Right(((), _)) => {
            tracing::warn!("a model's breaker is not {what} in time; the turn goes on without it");
        }
    }
    None
}
