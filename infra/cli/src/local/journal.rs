//! The journal of a local run: the whole story for the page or the operator, and the log beside it.

use std::sync::Arc;

use recado::adapters::log_journal::LogJournal;
use recado::domain::{ConversationId, Hasher, Step};
use recado::ports::Journal;

use crate::phone::Story;

/// Tells both.
pub struct LocalJournal {
    story: Arc<Story>,
    log: LogJournal,
}

impl LocalJournal {
    /// The story, and its warnings in lines that name conversations by `hasher`.
    pub fn of_warnings(story: Arc<Story>, hasher: Arc<Hasher>) -> Self {
        Self {
            story,
            log: LogJournal::of_warnings(hasher),
        }
    }

    /// The same with a line for every step, where no page shows the story.
    pub fn of_all(story: Arc<Story>, hasher: Arc<Hasher>) -> Self {
        Self {
            story,
            log: LogJournal::new(hasher),
        }
    }
}

impl Journal for LocalJournal {
    fn note(&self, conversation: &ConversationId, step: &Step) {
        self.story.note(conversation, step);
        self.log.note(conversation, step);
    }
}
