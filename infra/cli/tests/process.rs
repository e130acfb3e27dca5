//! The program as a person starts it: the real binary, on free ports and in folders of its own, over real time.
//!
//! They wait most of the time, so the longest come first in the order of names, and others run beside them.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test stops at the first surprise, tells its figures, and reads the clock and the environment"
)]

#[path = "process/bursts.rs"]
mod bursts;
#[path = "process/commands.rs"]
mod commands;
#[path = "process/figures.rs"]
mod figures;
#[path = "process/flood.rs"]
mod flood;
#[path = "process/folder.rs"]
mod folder;
#[path = "process/harness.rs"]
mod harness;
#[path = "process/kills.rs"]
mod kills;
#[path = "process/ledger.rs"]
mod ledger;
#[path = "process/load.rs"]
mod load;
#[path = "process/memory.rs"]
mod memory;
#[path = "process/meta.rs"]
mod meta;
#[path = "process/refusals.rs"]
mod refusals;
#[path = "process/stops.rs"]
mod stops;
#[path = "process/tools.rs"]
mod tools;
