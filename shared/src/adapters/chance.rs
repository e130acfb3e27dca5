//! The one place that asks for randomness.

use crate::ports::Chance;

/// The operating system's randomness, by way of the thread's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    fn bits(&self) -> u128 {
        rand::random()
    }

    fn fraction(&self) -> f64 {
        rand::random()
    }
}
