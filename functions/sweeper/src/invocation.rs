//! One invocation of the sweeper's Lambda.

use std::fmt;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use recado::installation::Installation;

use crate::{grace, handle as sweep};

/// A sweep that did not happen: the next one comes in a minute.
///
/// The runtime logs it by its `Debug`, so that is the sentence, and the only line of the failure.
pub struct Failed(String);

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

/// Sweeps once.
pub async fn handle(installation: &Installation) -> Result<(), Failed> {
    let not_ready = |error: recado::installation::NotReady| {
        Failed(format!("not ready: {}", error.lines.join("; ")))
    };
    let world = installation.world().await.map_err(not_ready)?;
    let grace = grace(installation.agents().map_err(not_ready)?.ceiling_max());
    match AssertUnwindSafe(sweep(world, grace)).catch_unwind().await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(Failed(told(&error))),
        Err(_panic) => Err(Failed("a panic was caught in a sweep".to_owned())),
    }
}

/// The error and its causes in one line.
fn told(error: &dyn std::error::Error) -> String {
    let mut line = format!("a sweep failed: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        line = format!("{line}: {cause}");
        source = cause.source();
    }
    line
}
