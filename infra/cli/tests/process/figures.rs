//! What a test of kills has to tell.

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Counted so far.
pub struct Figures {
    begun: Instant,
    pub kills: usize,
    pub messages: usize,
    /// How long people wrote at the full rate, and how long they paused because too much waited.
    pub loaded: Duration,
    pub paused: Duration,
    /// Bodies that came twice although they were taken.
    pub doubled: usize,
    /// Tries that got no 2xx.
    pub repeated: usize,
    pub replies: usize,
    /// Sends that were seen cut off by a kill, and how many of them the phone had.
    pub cut_off: usize,
    pub phone_had: usize,
    /// From the start after the last kill under load to the last answer, for each person that one was owed.
    pub rests: Vec<Duration>,
    /// The same after a kill while few wrote.
    pub rests_of_few: Vec<Duration>,
}

impl Figures {
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            kills: 0,
            messages: 0,
            loaded: Duration::ZERO,
            paused: Duration::ZERO,
            doubled: 0,
            repeated: 0,
            replies: 0,
            cut_off: 0,
            phone_had: 0,
            rests: Vec::new(),
            rests_of_few: Vec::new(),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} kills in {:.0?}; {} messages, most of them in {:.0?} of load (paused for {:.0?}; {} bodies came twice, {} tries got no 2xx); {} replies; {} sends seen cut \
             off, of which the phone had {}; answered after the last start: under load {}; among few {}",
            self.kills,
            self.begun.elapsed(),
            self.messages,
            self.loaded,
            self.paused,
            self.doubled,
            self.repeated,
            self.replies,
            self.cut_off,
            self.phone_had,
            Spread(&self.rests),
            Spread(&self.rests_of_few),
        )
    }
}

/// Median, 95th percentile and longest.
struct Spread<'a>(&'a [Duration]);

impl fmt::Display for Spread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.0.to_vec();
        sorted.sort();
        let at = |percent: usize| {
            let place = sorted.len().saturating_sub(1) * percent / 100;
            sorted.get(place).copied().unwrap_or_default()
        };
        let (half, most, all) = (at(50), at(95), at(100));
        write!(f, "p50 {half:.1?}, p95 {most:.1?}, max {all:.1?}")
    }
}

pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
