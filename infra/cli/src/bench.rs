//! `recado bench`: parts of the system measured on a virtual clock, so that a figure is the same on every machine.

pub mod turns;
