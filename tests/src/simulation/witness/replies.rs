//! Laws of commits and sends.

use recado::domain::{ConversationId, Event, MessageId, ReplyId, ReplyKind, State};
use recado::ports::Commit;

use super::{End, Read, SeenReply, Witness};
use crate::fake_clock::FIRST_DAY;

/// A look this long before the commit should have seen what was stored by then.
const FULL_BATCH: usize = recado::domain::Batch::MAX;

impl Witness {
    /// A commit was applied, on this state.
    pub fn committed(
        &mut self,
        of: &ConversationId,
        commit: &Commit,
        before: Option<&State>,
        now_ms: u64,
        here: u64,
    ) {
        let reply = commit.reply.id;
        if self.replies.contains_key(&reply) {
            return;
        }
        let life = self.lives.entry(of.clone()).or_default();
        let (claimer, last) = (life.claimer, life.last_reply);
        let erased = life.erased_ms.is_some();
        life.last_reply = Some(reply);
        if erased || before.is_none() {
            self.find(
                "nobody is answered after they are forgotten",
                of,
                format!("{reply} was committed"),
            );
        }
        if claimer != Some(commit.run) {
            self.find(
                "only the newest claim commits",
                of,
                format!("{reply} is of an older one"),
            );
        }
        if last.is_some_and(|last| last >= reply) {
            self.find(
                "turns are in the order of their commits",
                of,
                format!("{reply} is not the newest"),
            );
        }
        if before.is_some_and(|state| state.opt_out.is_some()) {
            self.find(
                "who opted out is not answered",
                of,
                format!("{reply} was committed"),
            );
        }
        if before.is_some_and(|state| state.is_paused(commit.now)) {
            self.find(
                "nobody is answered while a human has taken over",
                of,
                format!("{reply} was committed"),
            );
        }
        if commit.reply.kind != ReplyKind::OptOut {
            self.keeps_the_seal(of, commit);
        }
        let oldest = self.answers(of, commit, now_ms);
        match commit.reply.kind {
            ReplyKind::Answer => self.was_due(of, commit, here),
            ReplyKind::Apology => self.had_tried(of, reply, oldest, now_ms),
            ReplyKind::OptOut | ReplyKind::OverLimit => {}
        }
        let seen = SeenReply {
            conversation: of.clone(),
            kind: commit.reply.kind,
            marked_ms: None,
            accepted: 0,
            silent: false,
        };
        self.replies.insert(reply, seen);
    }

    /// Each of its messages is answered by it and by nothing else. Yields when the oldest was stored.
    fn answers(&mut self, of: &ConversationId, commit: &Commit, now_ms: u64) -> u64 {
        let reply = commit.reply.id;
        let mut oldest = now_ms;
        for id in &commit.answered {
            let Some(seen) = self
                .events
                .get_mut(of)
                .and_then(|events| events.get_mut(id))
            else {
                self.find(
                    "nothing of a forgotten person comes back",
                    of,
                    "a message that is gone was answered",
                );
                continue;
            };
            let stored_ms = seen.stored_ms;
            let before = std::mem::replace(&mut seen.end, End::Answered(reply));
            // A put that was on its way for long is no newer than what it says.
            let arrived_ms = seen.event.arrived_at.since(FIRST_DAY).as_millis();
            let arrived_ms = u64::try_from(arrived_ms).unwrap_or(u64::MAX);
            oldest = oldest.min(stored_ms).min(arrived_ms);
            if before != End::Waits {
                let detail = format!("{id} was {before:?} and is answered by {reply}");
                self.find("a message is answered or closed, once", of, detail);
            }
            self.waited(of, id, stored_ms, now_ms);
        }
        oldest
    }

    /// An answer is not begun within the window, unless at the ceiling or with a full batch; and it holds all that its run
    /// saw before the commit, unless past the ceiling or after a write.
    fn was_due(&mut self, of: &ConversationId, commit: &Commit, here: u64) {
        let reply = commit.reply.id;
        let Some(read) = self.reads.remove(&reply) else {
            self.find(
                "an answer begins with a batch",
                of,
                format!("{reply} did not"),
            );
            return;
        };
        if read.batch.len() >= FULL_BATCH {
            return;
        }
        let timing = self.agent.timing;
        let events = self.events.get(of);
        let batch: Vec<&Event> = read
            .batch
            .iter()
            .filter_map(|id| Some(&events?.get(id)?.event))
            .collect();
        // What came by a clock that was far ahead is not waited for.
        let believable = read.clock.plus(timing.window);
        let arrivals = batch.iter().map(|event| event.arrived_at);
        let arrivals = arrivals.filter(|arrived_at| *arrived_at <= believable);
        let (Some(first), Some(last)) = (arrivals.clone().min(), arrivals.max()) else {
            return;
        };
        let ceiling = first.plus(timing.ceiling);
        let due = last.plus(timing.window).min(ceiling);
        let ignored = self.ignored(of, &read, here);
        let past = self
            .looks
            .get(&here)
            .is_some_and(|(_, clock)| *clock >= ceiling);
        if read.clock < due {
            let detail = format!(
                "{reply} began {} ms early",
                due.since(read.clock).as_millis()
            );
            self.find("nobody is answered within their window", of, detail);
        }
        // What a tool wrote is answered for, whatever is said meanwhile.
        let wrote = self.seals.contains_key(&reply);
        if let Some(id) = ignored.filter(|_| !past && !wrote) {
            let detail = format!("{reply} ignores {id}, which its run saw");
            self.find(
                "a newer message is waited for until the ceiling",
                of,
                detail,
            );
        }
    }

    /// A message that the run's last look must have seen, and that is not in its batch.
    fn ignored(&self, of: &ConversationId, read: &Read, here: u64) -> Option<MessageId> {
        let (looked_ms, _) = *self.looks.get(&here)?;
        if looked_ms < read.at_ms {
            return None;
        }
        let events = self.events.get(of)?;
        let seen = |id: &&MessageId| {
            let seen = &events[*id];
            seen.end == End::Waits && seen.stored_ms < looked_ms && !read.batch.contains(id)
        };
        events.keys().find(seen).cloned()
    }

    /// The honest line comes after the give-up time, after three panics, or where the model said that it is in vain.
    fn had_tried(&mut self, of: &ConversationId, reply: ReplyId, oldest_ms: u64, now_ms: u64) {
        let give_up =
            u64::try_from(self.agent.timing.give_up_after.as_millis()).unwrap_or(u64::MAX);
        let waited = now_ms.saturating_sub(oldest_ms) + self.clock_error_ms;
        let panics = self.panics.iter().filter(|at| **at >= oldest_ms).count();
        let is_in_vain = self
            .in_vain
            .iter()
            .any(|(whose, at_ms)| whose == of && *at_ms >= oldest_ms);
        if waited < give_up && panics < 3 && !is_in_vain {
            let detail = format!("{reply} gives up after {waited} ms and {panics} panics");
            self.find("nobody gives up before their time", of, detail);
        }
    }

    /// Somebody took the right to send.
    pub fn marked(&mut self, reply: ReplyId, now_ms: u64) {
        if let Some(seen) = self.replies.get_mut(&reply) {
            seen.marked_ms = Some(now_ms);
        }
    }

    /// Nobody can know what became of a send of this reply.
    pub fn silent(&mut self, reply: ReplyId) {
        if let Some(seen) = self.replies.get_mut(&reply) {
            seen.silent = true;
        }
    }

    /// The provider accepted a reply.
    pub fn accepted(&mut self, reply: ReplyId) {
        let Some(seen) = self.replies.get_mut(&reply) else {
            let nobody = self.lives.keys().next().cloned();
            if let Some(of) = nobody {
                self.find(
                    "nothing is sent that was not committed",
                    &of,
                    format!("{reply} was sent"),
                );
            }
            return;
        };
        seen.accepted += 1;
        let (times, of, kind) = (seen.accepted, seen.conversation.clone(), seen.kind);
        let marked = seen.marked_ms.unwrap_or(0);
        let life = self.lives.entry(of.clone()).or_default();
        let last = life.last_accepted.filter(|last| *last > reply);
        life.last_accepted = life.last_accepted.max(Some(reply));
        let erased = life.erased_ms.is_some_and(|erased| erased < marked);
        let out = life
            .opted_out
            .as_ref()
            .is_some_and(|(_, since)| *since < marked);
        if times > 1 {
            self.find(
                "a reply is accepted once",
                &of,
                format!("{reply} was accepted {times} times"),
            );
        }
        if let Some(last) = last {
            self.find(
                "replies are sent in their order",
                &of,
                format!("{reply} came after {last}"),
            );
        }
        if erased {
            self.find(
                "nothing is sent to who was forgotten",
                &of,
                format!("{reply} was sent"),
            );
        }
        if out && kind != ReplyKind::OptOut {
            self.find(
                "nothing is sent to who opted out",
                &of,
                format!("{reply} was sent"),
            );
        }
    }
}
