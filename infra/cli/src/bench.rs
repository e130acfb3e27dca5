//! `recado bench`: parts of the system measured without a clock of their own, so that a figure is the same on every machine.

pub mod prompts;
pub mod routing;
pub mod turns;
