//! Chance that repeats: the same seed gives the same run.

use std::sync::Mutex;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use recado::ports::Chance;

/// A seeded generator.
pub struct SeededChance(Mutex<StdRng>);

impl SeededChance {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Chance for SeededChance {
    fn bits(&self) -> u128 {
        self.0.lock().unwrap().random()
    }

    fn fraction(&self) -> f64 {
        self.0.lock().unwrap().random()
    }
}
