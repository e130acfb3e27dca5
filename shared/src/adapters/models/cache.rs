//! Where marks for a provider's cache pay. A write costs a quarter more than plain input and a read a tenth of it, so a
//! mark pays where more than about one request in five finds it.
//!
//! Rules and persona are the same for all people and the memory is frozen between compactions: both are marked in every
//! conversation. The words so far are marked only while the person is likely to write again in time, and never after the
//! notes, which no later request repeats; the very end only inside a loop of calls, whose next request repeats all of it.

use std::time::Duration;

use crate::domain::{Output, Prompt};

/// Which marks a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    /// After rules and persona, and after the memory.
    pub fixed: bool,
    /// After the person's last words, before the notes.
    pub words: bool,
    /// At the very end.
    pub end: bool,
}

impl Marks {
    /// None at all: what is asked once would only pay for the writing.
    pub const NONE: Self = Self {
        fixed: false,
        words: false,
        end: false,
    };

    /// The marks of a prompt, for a cache that lasts this long.
    pub fn of(prompt: &Prompt, lasts: Duration) -> Self {
        match prompt.output {
            Output::Json { .. } => Self::NONE,
            Output::Text => Self {
                fixed: true,
                words: prompt.pause.is_some_and(|pause| pause <= lasts),
                end: !prompt.rounds.is_empty(),
            },
        }
    }
}
