//! One unit of time: whole milliseconds since 1970 in UTC.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970 UTC.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment `ms` milliseconds after 1970.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since 1970.
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// Whole seconds since 1970, the unit of a provider's timestamp and of the table's `expires_at`.
    pub const fn seconds(self) -> u64 {
        self.0 / 1000
    }

    /// Time from `earlier` to this moment; zero where `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This moment moved later by `duration`, stopping at the end of time.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(whole_ms(duration)))
    }

    /// This moment moved earlier by `duration`, stopping at 1970.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(whole_ms(duration)))
    }
}

/// A duration in whole milliseconds, the unit of times that are stored or logged; `u64::MAX` where there are more.
pub fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
