//! What leaves one queue and enters another: dead letters, and their way back.

use super::super::stored::Stored;
use super::Queue;

impl Queue {
    /// Takes out what is not in flight and whose origin is accepted: what a redrive moves.
    pub(in super::super) fn take_idle(
        &mut self,
        accepted: impl Fn(Option<&str>) -> bool,
        now: u64,
    ) -> Vec<Stored> {
        self.forget_expired(now);
        let leaves = |stored: &Stored| {
            self.available_at(stored) <= now
                && !stored
                    .draft
                    .group()
                    .is_some_and(|group| self.is_in_flight(group, now))
                && accepted(stored.origin())
        };
        let sequences: Vec<u64> = self
            .messages
            .iter()
            .filter(|(_, stored)| leaves(stored))
            .map(|(sequence, _)| *sequence)
            .collect();
        sequences
            .iter()
            .filter_map(|sequence| self.messages.remove(sequence))
            .collect()
    }

    /// Takes in a dead letter of another queue, at the end of the order. On a FIFO queue its retention begins anew; on a
    /// standard one it keeps its age.
    pub(in super::super) fn bury(&mut self, stored: Stored, source: &str, now: u64) {
        let sent_at = if self.settings.fifo {
            now
        } else {
            stored.sent_at
        };
        self.last_sequence += 1;
        self.messages
            .insert(self.last_sequence, stored.into_dead_letter(source, sent_at));
    }

    /// Takes in a redriven message as a new one.
    pub(in super::super) fn revive(&mut self, stored: Stored, now: u64) {
        self.append(stored.draft, stored.deduplication, 0, now);
    }
}
