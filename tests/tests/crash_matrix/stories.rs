//! The stories, each with its steps by name.

mod erasures;
mod intake;
mod memory;
mod models;
mod turns;

use std::time::Duration;

/// One second.
const SECOND: Duration = Duration::from_secs(1);
