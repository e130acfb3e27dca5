//! The laws of forgetting: who was erased is not made again of what was sent before.

use recado::domain::{Alias, ConversationId, Timestamp};
use recado::ports::Erasure;

use super::Witness;

impl Witness {
    /// A person's state was deleted.
    pub fn erased(&mut self, erasure: &Erasure, now_ms: u64) {
        let life = self.lives.entry(erasure.conversation.clone()).or_default();
        life.erased_ms = life.erased_ms.or(Some(now_ms));
        life.forgotten_at = Some(erasure.forgotten_at);
        for alias in &erasure.aliases {
            self.erasures.push((alias.clone(), erasure.forgotten_at));
        }
    }

    /// A contact was made or named by an event: none of its ids was erased since that was sent.
    pub fn named(&mut self, of: &ConversationId, aliases: &[Alias], sent_at: Timestamp) {
        let erased = |(alias, at): &(Alias, Timestamp)| aliases.contains(alias) && *at >= sent_at;
        if self.erasures.iter().any(erased) {
            self.find(
                "nobody is made of a message from before their erasure",
                of,
                "an alias names them",
            );
        }
    }
}
