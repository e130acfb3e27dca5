//! The end of a run: the lease goes back, with what the next run has to know of this one.

use std::time::Duration;

use super::process::Visit;
use super::run::Claimed;
use super::{FlowError, World};
use crate::domain::Timestamp;
use crate::ports::Release;

/// A lease that the table does not take back is offered again after each of these: what is not given back silences the
/// person until it ends, unless their next tick comes to this very process.
const RELEASE_PAUSES: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// Gives the lease back. A run that lost it meanwhile has nothing to give back, which is fine.
pub async fn release(
    world: &World,
    visit: &Visit,
    claimed: &Claimed,
    how: Release,
) -> Result<(), FlowError> {
    debug_assert_eq!(how.run, claimed.run);
    let mut released = world.store.release(&visit.conversation, &how).await;
    for pause in RELEASE_PAUSES {
        if released.is_ok() || visit.time_left(world.now()) <= pause {
            break;
        }
        world.clock.sleep(pause).await;
        released = world.store.release(&visit.conversation, &how).await;
    }
    if released.is_err() {
        world.dead_runs.bury(claimed.run);
    }
    released?;
    Ok(())
}

/// The next run starts counting anew.
pub fn fresh(claimed: &Claimed, hold_until: Option<Timestamp>) -> Release {
    Release {
        attempts: 0,
        first_attempt_at: None,
        crashes: 0,
        ..keep_attempts(claimed, hold_until)
    }
}

/// This run does not count.
pub fn as_before(claimed: &Claimed) -> Release {
    Release {
        attempts: claimed.before.attempts,
        first_attempt_at: claimed.before.first_attempt_at,
        crashes: claimed.before.crashes,
        ..keep_attempts(claimed, claimed.before.hold_until)
    }
}

/// The next run counts on.
pub fn keep_attempts(claimed: &Claimed, hold_until: Option<Timestamp>) -> Release {
    Release {
        run: claimed.run,
        epoch: claimed.state.epoch,
        attempts: claimed.state.attempts,
        first_attempt_at: claimed.state.first_attempt_at,
        hold_until,
        crashes: claimed.state.crashes,
    }
}
