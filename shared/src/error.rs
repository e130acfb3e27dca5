//! Errors that carry their verdict: what the caller should do with a failure, decided where it is best known.

use std::time::Duration;

/// Any error's source, kept for the chain that is printed once, at the edge.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Try again later; the same request may succeed.
    Retry,
    /// Try again, but not before this much time has passed.
    RetryAfter(Duration),
    /// An operator has to mend something first (a token, a right): keep it, and try now and then for as long as it
    /// takes.
    Mend,
    /// Never try the same request again.
    GiveUp,
}

/// A failure of the table.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The request failed or its outcome is unknown: a write may or may not have been applied.
    #[error("table: {operation} failed")]
    Unavailable {
        /// What was asked of the table.
        operation: &'static str,
        /// The SDK's own error.
        #[source]
        source: Source,
    },
    /// An item was written by a newer version of the program: hold, do not count an attempt.
    #[error("table: {item} has format version {found}, newer than this program's {known}")]
    FutureVersion {
        /// The kind of item (never its key, which holds a phone).
        item: &'static str,
        /// Version found in the item.
        found: u32,
        /// Newest version this program reads.
        known: u32,
    },
    /// An item of a known version that does not decode.
    #[error("table: {item} cannot be decoded: {reason}")]
    Undecodable {
        /// The kind of item.
        item: &'static str,
        /// Which field, and what was expected; never the content.
        reason: String,
    },
}

/// A failure of the queue.
#[derive(Debug, thiserror::Error)]
#[error("queue: {operation} failed")]
pub struct TicksError {
    /// What was asked of the queue.
    pub operation: &'static str,
    /// The SDK's own error.
    #[source]
    pub source: Source,
}

/// A failure of a send, in the terms that decide what happens to the reply.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The provider answered no. `code` is its own error code, `verdict` what to do.
    #[error("provider refused the send with code {code}")]
    Refused {
        /// The provider's error code as text.
        code: String,
        /// Whether a later try may succeed.
        verdict: Verdict,
    },
    /// No connection was made: nothing can have been accepted, so the same send is safe to repeat.
    #[error("provider could not be reached")]
    NotConnected(#[source] Source),
    /// The request left and no answer came: it may or may not have been accepted.
    #[error("provider did not answer; the outcome of the send is unknown")]
    OutcomeUnknown(#[source] Source),
}

/// Why a model call failed; see `policy::retry` for what follows from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelErrorClass {
    /// 5xx, timeouts, connection errors, and a 200 that carries such an error.
    Transient,
    /// Rate limit: worth waiting for.
    Throttled,
    /// Out of money or quota: waiting does not help, an operator does. No run tries again.
    Quota,
    /// The prompt is longer than the model's window. With less history it may fit; else no run tries again.
    Overflow,
    /// The request itself is wrong.
    Invalid,
    /// The model or its filter declines to answer.
    Refusal,
    /// The answer was cut before it held any text.
    Cut,
    /// The key is missing, wrong or without the right.
    Auth,
    /// The provider does not have this model, or nothing is at this address. Another model may answer.
    Missing,
}

impl ModelErrorClass {
    /// Every class.
    pub const ALL: [Self; 9] = [
        Self::Transient,
        Self::Throttled,
        Self::Quota,
        Self::Overflow,
        Self::Invalid,
        Self::Refusal,
        Self::Cut,
        Self::Auth,
        Self::Missing,
    ];

    /// The word stored in the table and told to the operator.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Throttled => "throttled",
            Self::Quota => "quota",
            Self::Overflow => "overflow",
            Self::Invalid => "invalid",
            Self::Refusal => "refusal",
            Self::Cut => "cut",
            Self::Auth => "auth",
            Self::Missing => "missing",
        }
    }

    /// The class of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// A failure of a model call. Holds no message text.
#[derive(Debug, thiserror::Error)]
#[error("model call failed ({class:?}): {reason}")]
pub struct ModelError {
    /// What kind of failure it is.
    pub class: ModelErrorClass,
    /// How long the provider asked us to wait, where it said so.
    pub retry_after: Option<Duration>,
    /// Status and provider code, for the log; never the body.
    pub reason: String,
    /// What it cost all the same, where the provider metered it.
    pub metered: Option<Box<Metered>>,
}

/// What a call that failed has cost, as its provider reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// The model, as the provider names it.
    pub model: String,
    /// Input tokens paid in full.
    pub input_uncached: u64,
    /// Input tokens read from the provider's cache.
    pub input_cache_read: u64,
    /// Input tokens written to it.
    pub input_cache_write: u64,
    /// Output tokens.
    pub output: u64,
    /// The provider's own figure, in millionths of a US dollar.
    pub cost_micro_usd: Option<u64>,
}

impl ModelError {
    /// An error of `class` with a short reason that is safe to log.
    pub fn new(class: ModelErrorClass, reason: impl Into<String>) -> Self {
        Self {
            class,
            retry_after: None,
            reason: reason.into(),
            metered: None,
        }
    }
}
