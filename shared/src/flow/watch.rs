//! The watch beside a run: every second, and just before the ceiling, a look whether its answer is still wanted.

use std::pin::pin;

use futures_util::future::{Either, select};

use super::look;
use super::process::PENDING_MAX;
use super::think::{Task, Watched};
use crate::policy::supersede::{self, Watch};

/// Work with the watch beside it: what it gave, or why it was dropped. Never around a write.
pub async fn beside<T>(
    task: Task<'_>,
    wrote: bool,
    work: impl Future<Output = T>,
) -> Result<T, Watched> {
    let (work, watching) = (pin!(work), pin!(watch(task, wrote)));
    match select(work, watching).await {
        Either::Left((given, _)) => Ok(given),
        Either::Right((end, _)) => Err(end),
    }
}

/// Looks when the policy says; ends only where the run is no longer wanted.
async fn watch(task: Task<'_>, wrote: bool) -> Watched {
    loop {
        let now = task.world.now();
        let next = supersede::next_look(task.batch, task.agent, now);
        task.world.clock.sleep(next.since(now)).await;
        if let Some(end) = once(task, wrote).await {
            return end;
        }
    }
}

/// One look; `None` where the run may go on. `wrote` tells whether a write call is stored under its reply, by any run.
pub async fn once(task: Task<'_>, wrote: bool) -> Option<Watched> {
    let Task {
        world,
        visit,
        agent,
        claimed,
        batch,
    } = task;
    let peek = look::of_a_run(world, &visit.conversation, PENDING_MAX)
        .await
        .ok()?;
    match supersede::decide(&peek, claimed.run, batch, wrote, agent, world.now()) {
        Watch::GoOn => None,
        Watch::Superseded => Some(Watched::Superseded),
        Watch::Lost => Some(Watched::Lost),
    }
}
