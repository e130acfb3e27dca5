//! What a FIFO queue remembers of the ids it has seen: five minutes each, also after the message is deleted.

use std::collections::{BTreeMap, VecDeque};

use super::settings::Scope;

/// How long an id is remembered from its first send.
pub const REMEMBERED_MS: u64 = 5 * 60 * 1000;

/// What a send answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The message id.
    pub id: String,
    /// The sequence number (FIFO only).
    pub sequence: Option<u64>,
}

/// A deduplication id within its scope: of a group, or of the whole queue.
pub(super) type Key = (Option<String>, String);

/// The ids seen in the last five minutes, with what was answered then.
#[derive(Debug, Default)]
pub(super) struct Memory {
    answers: BTreeMap<Key, (u64, Sent)>,
    by_age: VecDeque<(u64, Key)>,
}

impl Memory {
    pub fn key(scope: Scope, group: &str, id: &str) -> Key {
        let group = (scope == Scope::MessageGroup).then(|| group.to_owned());
        (group, id.to_owned())
    }

    pub fn recall(&mut self, key: &Key, now: u64) -> Option<&Sent> {
        while let Some((_, oldest)) = self.by_age.pop_front_if(|(until, _)| *until <= now) {
            self.answers.remove(&oldest);
        }
        // A clock set back can leave an older entry behind a younger one.
        self.answers
            .get(key)
            .filter(|(until, _)| *until > now)
            .map(|(_, sent)| sent)
    }

    pub fn remember(&mut self, key: Key, sent: Sent, now: u64) {
        let until = now + REMEMBERED_MS;
        self.by_age.push_back((until, key.clone()));
        self.answers.insert(key, (until, sent));
    }
}
