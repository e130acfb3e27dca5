//! Placeholder.

pub mod samples;
