//! The kinds of faults, and which of them a schedule may have.

use rand::RngExt as _;
use rand::rngs::StdRng;

use super::Aim;

/// Declares the kinds of faults with their names.
macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $label:literal,)*) => {
        /// A kind of thing that goes wrong, or that someone does at a bad moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $($(#[$doc])* $name,)* }

        impl Fault {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What a report calls it.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }
        }
    };
}

faults! {
    /// A webhook comes twice.
    WebhookDoubled = "webhook doubled",
    /// Webhooks overtake one another.
    WebhookReordered = "webhook reordered",
    /// A message comes long after it was sent.
    WebhookLate = "webhook late by minutes or days",
    /// The queue takes a tick and loses it.
    TickLost = "tick lost",
    /// A tick comes twice.
    TickDoubled = "tick doubled",
    /// A held tick comes back before its time.
    TickEarly = "tick early",
    /// All ticks vanish, but the queue still knows their dedup ids.
    QueuePurged = "queue purged (next ticks swallowed by dedup)",
    /// The queue takes nothing.
    QueueRefuses = "queue refuses",
    /// A change of visibility fails.
    HoldFails = "visibility change fails",
    /// A run begins with 1 s of visibility left.
    OneSecondLeft = "run begins with 1 s of visibility",
    /// An invocation begins with little time left.
    ShortInvocation = "invocation short of time",
    /// No invocation begins for a while.
    Throttled = "invocations throttled",
    /// A request to the table fails and is not applied.
    StoreBefore = "store error before the write",
    /// A request to the table is applied and its answer is lost.
    StoreAfter = "store error after the write",
    /// The table refuses everything for a while.
    StoreThrottled = "store throttled for a while",
    /// A request to the table takes seconds.
    StoreSlow = "store slow",
    /// A request is applied minutes later, when its sender is dead.
    StoreLate = "write applied minutes late",
    /// The model asks to wait.
    ModelThrottled = "model 429",
    /// The model fails, by status or inside a 200.
    ModelFails = "model error",
    /// The model does not answer in time.
    ModelTimeout = "model timeout",
    /// The model is slow.
    ModelSlow = "model slow",
    /// A run panics.
    ModelPanics = "panic in a run",
    /// The prompt is too long, the answer cut, or declined.
    ModelDeclines = "model overflow, cut or refusal",
    /// The provider refuses a send for now.
    SendRefused = "send refused for now",
    /// The provider refuses a send for good.
    SendFailed = "send refused for good",
    /// The provider cannot be reached.
    SendUnreachable = "send not connected",
    /// The provider accepts a send and the answer is lost.
    SendTimedOut = "send timed out after acceptance",
    /// A send is lost without an answer.
    SendLost = "send lost silently",
    /// The provider cannot be asked what it has.
    LookUpBlind = "provider cannot be asked",
    /// Statuses come early, late, twice or not at all.
    StatusOdd = "status early, late, doubled or missing",
    /// The provider accepted and later says that it failed.
    StatusFailed = "status: failed",
    /// The clock steps back a little and forward again.
    ClockSteps = "clock stepped",
    /// An invocation of the processor dies at some await.
    ProcessorCrash = "processor crash",
    /// An invocation of ingest dies at some await.
    IngestCrash = "ingest crash",
    /// The whole process dies, queue and all, and starts again.
    ProcessKilled = "whole process killed",
    /// The sweeper is not there.
    SweeperDown = "no sweeper",
    /// Someone is forgotten.
    Forget = "forget",
    /// A forget dies in the middle.
    ForgetCrash = "forget crash",
    /// The operator opts someone out.
    OperatorOptOut = "operator opt-out",
    /// A human takes over, and gives back.
    Pause = "operator pause",
    /// A person writes STOP.
    Stop = "STOP",
    /// Events name a person now by phone, now by BSUID, now by both.
    PartialIds = "partial ids",
    /// A number goes to someone else.
    NumberRecycled = "number recycled",
    /// Someone writes 300 messages.
    Flood = "flood of 300",
    /// A compaction job comes twice.
    CompactionDoubled = "compaction job doubled",
    /// A kind of message that is kept and not answered.
    Unsupported = "unsupported kind",
    /// A model asks for a tool that is not there, with arguments that are none, or for the same again.
    BadCall = "bad tool call",
    /// A tool does what it is asked, and its answer is lost.
    ToolTimedOut = "tool timed out after the effect",
    /// A tool does not do what it is asked, and no answer comes.
    ToolLost = "tool timed out before the effect",
    /// A tool refuses.
    ToolRefuses = "tool refuses",
    /// The main model cannot be had for a while; its fallback can.
    MainDown = "main model down for a while",
    /// What is asked of the breakers fails.
    BreakerFails = "breaker cannot be read or moved",
    /// A tool does what it is asked, long after it was given up.
    ToolLate = "tool acts after it timed out",
    /// The agent's file changes: its times, and whether it has tools.
    AgentChanged = "agent file changed",
    /// The clock is wrong by hours for a while.
    ClockWrong = "clock wrong by hours",
    /// A client of the table panics, before or after the request.
    PortPanics = "panic at a request",
    /// What is asked of the ledger fails, before or after it is done.
    LedgerFails = "ledger cannot be reached",
}

impl Fault {
    /// Whether it is drawn apart from the others, so that these stay what they would be without it.
    fn is_apart(self) -> bool {
        use Fault::{AgentChanged, ClockWrong, PortPanics, ToolLate};
        matches!(self, AgentChanged | ClockWrong | PortPanics | ToolLate)
    }

    /// Whether only a schedule with tools can have it.
    fn is_of_tools(self) -> bool {
        use Fault::{BadCall, ToolLost, ToolRefuses, ToolTimedOut};
        matches!(self, BadCall | ToolTimedOut | ToolLost | ToolRefuses)
    }

    /// Whether only a schedule with a fallback can have it.
    fn is_of_fallback(self) -> bool {
        matches!(self, Self::MainDown | Self::BreakerFails)
    }
}

/// Which faults a schedule may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swarm(u64);

impl Swarm {
    /// Whether this kind may happen.
    pub fn on(self, fault: Fault) -> bool {
        self.0 & (1 << fault as u64) != 0
    }

    pub(super) fn with(self, fault: Fault) -> Self {
        Self(self.0 | 1 << fault as u64)
    }

    fn without(self, fault: Fault) -> Self {
        Self(self.0 & !(1 << fault as u64))
    }

    /// Whether anything may go wrong at all.
    pub(super) fn is_fair(self) -> bool {
        self == Self(0)
    }

    /// Whether a tick or a job may be gone for good, so that only the sweeper can find what it was about.
    pub fn loses(self) -> bool {
        use Fault::{ForgetCrash, ProcessKilled, QueuePurged, TickLost};
        let losses = [TickLost, QueuePurged, ProcessKilled, ForgetCrash];
        losses.into_iter().any(|loss| self.on(loss))
    }

    /// With faults of tools as well.
    pub(super) fn draw_tools(mut self, dice: &mut StdRng) -> Self {
        for fault in Fault::ALL.iter().filter(|fault| fault.is_of_tools()) {
            if dice.random_bool(0.4) {
                self = self.with(*fault);
            }
        }
        // People who are forgotten while the results of their calls are still on their way.
        if dice.random_bool(0.2) {
            self = self.with(Fault::Forget).with(Fault::StoreLate);
        }
        self
    }

    /// With a ledger that fails.
    pub(super) fn draw_ledger(self, dice: &mut StdRng) -> Self {
        if dice.random_bool(0.3) {
            self.with(Fault::LedgerFails)
        } else {
            self
        }
    }

    /// With faults of models that have a fallback as well.
    pub(super) fn draw_fallback(mut self, dice: &mut StdRng) -> Self {
        for fault in Fault::ALL.iter().filter(|fault| fault.is_of_fallback()) {
            if dice.random_bool(0.5) {
                self = self.with(*fault);
            }
        }
        self
    }

    pub(super) fn draw(dice: &mut StdRng, aim: Aim) -> Self {
        if dice.random_ratio(1, 20) {
            return aim.swarm(Self(0));
        }
        let share = [0.08, 0.2, 0.4][dice.random_range(0..3)];
        let mut swarm = Self(0);
        // What came later has dice of its own.
        let later = |fault: &Fault| {
            fault.is_of_tools()
                || fault.is_of_fallback()
                || fault.is_apart()
                || *fault == Fault::LedgerFails
        };
        let usual = |fault: &&Fault| !later(fault);
        for fault in Fault::ALL.iter().filter(usual) {
            if dice.random_bool(share) {
                swarm = swarm.with(*fault);
            }
        }
        // Senders that die while they learn that nothing was sent.
        if dice.random_ratio(1, 10) {
            for fault in [Fault::StoreLate, Fault::SendUnreachable, Fault::SendRefused] {
                swarm = swarm.with(fault);
            }
            if dice.random_bool(0.6) {
                swarm = swarm.with(Fault::LookUpBlind);
            }
        }
        swarm = if dice.random_ratio(1, 60) {
            swarm.with(Fault::Flood)
        } else {
            swarm.without(Fault::Flood)
        };
        swarm = aim.swarm(swarm);
        // Without a sweeper nothing may be lost for good, or there would be nothing to promise.
        if swarm.on(Fault::SweeperDown) {
            for loss in [Fault::TickLost, Fault::QueuePurged, Fault::ForgetCrash] {
                swarm = swarm.without(loss);
            }
        }
        swarm
    }
}
