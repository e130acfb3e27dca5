//! The heart of a schedule: its dice, the faults it may inject and has injected, the laws that were broken, and the log
//! that a failure is told from.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use recado::domain::ConversationId;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::invocation::here;
use super::plan::{Aim, Fault, Plan, Swarm};
use super::witness::Witness;

/// A law that was broken.
#[derive(Debug, Clone)]
pub struct Violation {
    /// Which law.
    pub law: &'static str,
    /// How.
    pub detail: String,
    /// Whose conversation, where it is one's.
    pub conversation: Option<ConversationId>,
    /// When, in milliseconds from the beginning.
    pub at_ms: u64,
}

/// One line of the story of a schedule.
#[derive(Debug, Clone)]
pub struct Line {
    /// Milliseconds from the beginning.
    pub at_ms: u64,
    /// The invocation it happened in.
    pub invocation: u64,
    /// Whose conversation.
    pub conversation: Option<ConversationId>,
    /// What happened.
    pub text: String,
}

/// Everything that the ports of one schedule share.
pub struct Core {
    /// Which faults may happen.
    pub swarm: Swarm,
    aim: Aim,
    pub(super) sluggish: bool,
    pub(super) hesitant: bool,
    pub(super) moment: Notify,
    pub(super) last_moment: Mutex<Option<ConversationId>>,
    dice: Mutex<StdRng>,
    calm: AtomicBool,
    counts: Mutex<Vec<u64>>,
    witness: Mutex<Witness>,
    violation: Mutex<Option<Violation>>,
    hash: AtomicU64,
    steps: AtomicU64,
    pub(super) invocations: AtomicU64,
    log: Option<Mutex<Vec<Line>>>,
    started: Instant,
    pub(super) clock_error_ms: AtomicI64,
    pub(super) store_throttled_until: AtomicU64,
    pub(super) main_down_until: AtomicU64,
    /// Every invocation of the process dies with this.
    pub killed: Notify,
}

impl Core {
    /// For this seed; `record` keeps the log.
    pub fn new(seed: u64, plan: &Plan, witness: Witness, record: bool) -> Self {
        Self {
            swarm: plan.swarm,
            aim: plan.aim,
            sluggish: plan.sluggish,
            hesitant: plan.hesitant,
            moment: Notify::new(),
            last_moment: Mutex::default(),
            dice: Mutex::new(StdRng::seed_from_u64(seed)),
            calm: AtomicBool::new(false),
            counts: Mutex::new(vec![0; Fault::ALL.len()]),
            witness: Mutex::new(witness),
            violation: Mutex::new(None),
            hash: AtomicU64::new(0xcbf2_9ce4_8422_2325),
            steps: AtomicU64::new(0),
            invocations: AtomicU64::new(0),
            log: record.then(Mutex::default),
            started: Instant::now(),
            clock_error_ms: AtomicI64::new(0),
            store_throttled_until: AtomicU64::new(0),
            main_down_until: AtomicU64::new(0),
            killed: Notify::new(),
        }
    }

    /// Milliseconds of true time since the beginning.
    pub fn true_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// From here on nothing goes wrong any more.
    pub fn calm_down(&self) {
        self.calm.store(true, Ordering::Relaxed);
        self.clock_error_ms.store(0, Ordering::Relaxed);
    }

    /// Whether faults are over.
    pub fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// Moves the clock's error.
    pub fn set_clock_error(&self, ms: i64) {
        self.clock_error_ms.store(ms, Ordering::Relaxed);
    }

    /// A number in `range`.
    pub fn pick(&self, range: std::ops::Range<u64>) -> u64 {
        self.dice.lock().unwrap().random_range(range)
    }

    /// Whether this kind of fault happens now, once in `of` times; counted and told where it does.
    pub fn strikes(&self, fault: Fault, of: u32) -> bool {
        if !self.swarm.on(fault) || self.is_calm() {
            return false;
        }
        let of = self.aim.rate(fault, of);
        let strikes = self.dice.lock().unwrap().random_ratio(1, of);
        if strikes {
            self.count(fault);
        }
        strikes
    }

    /// Counts a fault that happens.
    pub fn count(&self, fault: Fault) {
        self.counts.lock().unwrap()[fault as usize] += 1;
        self.tell(None, || format!("! {}", fault.label()));
    }

    /// Faults by kind, in the order of [`Fault::ALL`].
    pub fn counts(&self) -> Vec<u64> {
        self.counts.lock().unwrap().clone()
    }

    /// Looks at or changes what was seen so far.
    pub fn witness<T>(&self, look: impl FnOnce(&mut Witness) -> T) -> T {
        let (given, findings) = {
            let mut witness = self.witness.lock().unwrap();
            let given = look(&mut witness);
            (given, std::mem::take(&mut witness.findings))
        };
        for (law, conversation, detail) in findings {
            self.broken(law, Some(&conversation), detail);
        }
        given
    }

    /// A law is broken; the first one counts.
    pub fn broken(
        &self,
        law: &'static str,
        conversation: Option<&ConversationId>,
        detail: impl Into<String>,
    ) {
        let mut violation = self.violation.lock().unwrap();
        if violation.is_none() {
            let detail = detail.into();
            self.tell(conversation, || format!("BROKEN {law}: {detail}"));
            *violation = Some(Violation {
                law,
                detail,
                conversation: conversation.cloned(),
                at_ms: self.true_ms(),
            });
        }
    }

    /// The first broken law.
    pub fn violation(&self) -> Option<Violation> {
        self.violation.lock().unwrap().clone()
    }

    /// Adds to the log, where one is kept, and always to the trace's hash.
    pub fn tell(&self, conversation: Option<&ConversationId>, text: impl FnOnce() -> String) {
        if let Some(log) = &self.log {
            log.lock().unwrap().push(Line {
                at_ms: self.true_ms(),
                invocation: here(),
                conversation: conversation.cloned(),
                text: text(),
            });
        }
    }

    /// Mixes one step into the trace's hash.
    pub fn trace(&self, operation: &'static str, outcome: u64) {
        let mut hash = self.hash.load(Ordering::Relaxed);
        let mut mix = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        };
        mix(self.true_ms());
        mix(here());
        mix(outcome);
        operation.bytes().for_each(|byte| mix(u64::from(byte)));
        self.hash.store(hash, Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The trace's hash and the number of its steps.
    pub fn trace_hash(&self) -> (u64, u64) {
        let (hash, steps) = (&self.hash, &self.steps);
        (hash.load(Ordering::Relaxed), steps.load(Ordering::Relaxed))
    }

    /// The log.
    pub fn log(&self) -> Vec<Line> {
        self.log
            .as_ref()
            .map_or_else(Vec::new, |log| log.lock().unwrap().clone())
    }

    /// Something broke now: people may wait this much longer, and a send under way may be of unknown outcome.
    pub fn breaks(&self, conversation: Option<&ConversationId>, ms: u64) {
        self.trouble(conversation, ms);
        self.witness(|witness| witness.broke(conversation, self.true_ms()));
    }

    /// Whatever happened now may make people wait this much longer.
    pub fn trouble(&self, conversation: Option<&ConversationId>, ms: u64) {
        self.witness(|witness| witness.trouble(conversation, self.true_ms(), ms));
    }
}
