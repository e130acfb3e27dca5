//! What the table knows of the ids an event gives for a person, before it is decided whose event it is.

use super::ids::{Alias, ContactId};
use super::time::Timestamp;

/// What is known of one alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The alias asked for.
    pub alias: Alias,
    /// The contact it names.
    pub contact: Option<ContactId>,
    /// The erasure it went through last.
    pub ended: Option<Ended>,
}

/// An alias's ended lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// When the newest of them was erased.
    pub at: Timestamp,
    /// Keyed hashes of the conversations that ended (see `domain::keyed_hash::Hasher::life`).
    pub lives: Vec<String>,
}
