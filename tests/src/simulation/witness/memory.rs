//! Laws of memory and of what may be in a prompt.

use recado::domain::ConversationId;
use recado::domain::memory::Fold;

use super::{End, Witness};
use crate::simulation::words::Canary;

impl Witness {
    /// A compaction was written.
    pub fn folded(&mut self, of: &ConversationId, fold: &Fold) {
        let life = self.lives.entry(of.clone()).or_default();
        let before = std::mem::replace(&mut life.summary, fold.summary.version);
        let erased = life.erased_ms.is_some();
        if fold.summary.version != before + 1 {
            let detail = format!("summary {} follows {before}", fold.summary.version);
            self.find("each compaction builds on the one before", of, detail);
        }
        if erased {
            self.find(
                "a forgotten life never comes back",
                of,
                "a summary of it was written",
            );
        }
        for id in &fold.messages {
            let seen = self
                .events
                .get_mut(of)
                .and_then(|events| events.get_mut(id));
            let rightly = seen.as_ref().is_some_and(|seen| {
                !seen.folded && matches!(seen.end, End::Answered(_) | End::Left(_))
            });
            if let Some(seen) = seen {
                seen.folded = true;
            }
            if !rightly {
                let detail = format!("{id} was folded twice, or before it was answered");
                self.find("a message is in history or in one fold", of, detail);
            }
        }
    }
}

impl Witness {
    /// Whether the message of this canary was stored in this conversation.
    pub fn holds(&self, of: &ConversationId, canary: Canary) -> bool {
        let events = self.events.get(of);
        events.is_some_and(|events| events.contains_key(&canary.message_id()))
    }

    /// A message was dropped as one of an erased life: there must be one that ended after it was sent.
    pub fn was_late(&mut self, person: usize, sent_ms: u64) {
        let slack = 1_000 + self.clock_error_ms;
        let ended = self.lives.values().filter_map(|life| life.erased_ms);
        if !ended.clone().any(|ended| ended + slack >= sent_ms)
            && let Some(of) = self.lives.keys().next().cloned()
        {
            let detail = format!("a message of person {person} was dropped");
            self.find(
                "only a forgotten person's messages are dropped",
                &of,
                detail,
            );
        }
    }
}
