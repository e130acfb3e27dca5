//! What became of a write.

use crate::domain::State;

/// What became of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is written (now, or by an earlier try of the same request).
    Done,
    /// Its condition does not hold; nothing was written.
    Lost,
}

/// What became of a provider's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// It is noted now.
    Now,
    /// The reply was there already: a repeat.
    Already,
    /// There is no such reply, or none that this may be told of.
    Nothing,
}

/// What became of a compare-and-set.
#[derive(Debug, Clone, PartialEq)]
pub enum Swapped {
    /// It is written.
    Done,
    /// The state is another one, or gone.
    Lost(Option<Box<State>>),
}

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// Stored now.
    New,
    /// There already and still waiting: it needs a tick again.
    Pending,
    /// There already and answered or closed: nothing to do.
    AtRest,
}
