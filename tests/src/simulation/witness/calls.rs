//! Laws of tool calls: what is written is written once, by who may, and for the batch that was sealed.

use recado::domain::{ConversationId, Effect, MessageId, ReplyId, State, ToolResult};
use recado::ports::{Commit, NewCalls};

use super::{End, Witness};

/// A batch that a write was begun for.
#[derive(Debug, Clone)]
pub struct Sealing {
    batch: Vec<MessageId>,
    at_ms: u64,
}

impl Witness {
    /// New calls were stored, on this state.
    pub fn calls(
        &mut self,
        of: &ConversationId,
        new: &NewCalls,
        before: Option<&State>,
        now_ms: u64,
    ) {
        let reply = new.reply;
        let life = self.lives.entry(of.clone()).or_default();
        let (claimer, erased) = (life.claimer, life.erased_ms.is_some());
        if erased || before.is_none() {
            let detail = format!("a call of {reply} was stored");
            self.find("nothing of a forgotten person comes back", of, detail);
        }
        if claimer != Some(new.run) {
            let detail = format!("{reply} is of an older one");
            self.find("only the newest claim calls", of, detail);
        }
        let out = before.is_some_and(|state| state.opt_out.is_some());
        let human = before.is_some_and(|state| state.is_paused(new.now));
        if out || human {
            let detail = format!("opted out {out}, a human {human}: {reply}");
            self.find("nothing is done for who is not to be answered", of, detail);
        }
        let writes = new.calls.iter().any(|call| call.effect == Effect::Write);
        if let Some(seal) = &new.seal {
            let sealing = Sealing {
                batch: seal.events.clone(),
                at_ms: now_ms,
            };
            self.seals.entry(reply).or_insert(sealing);
        }
        if writes && !self.seals.contains_key(&reply) {
            let detail = format!("{reply} is not");
            self.find("a batch is sealed before a write", of, detail);
        }
    }

    /// A result was stored.
    pub fn result(&mut self, of: &ConversationId, place: (ReplyId, u16), result: &ToolResult) {
        let told = self.results.entry(place).or_insert_with(|| result.clone());
        if told != result {
            let (reply, n) = place;
            let detail = format!("{reply}#{n} was {told:?} and is {result:?}");
            self.find("what a model was told of a call stays", of, detail);
        }
    }

    /// A tool did something.
    pub fn effect(&mut self, of: &ConversationId, effect: &str) {
        let times = self
            .effects
            .entry((of.clone(), effect.to_owned()))
            .or_default();
        *times += 1;
        if *times > 1 {
            let detail = format!("{effect} happened {times} times");
            self.find("one effect for one turn, tool and arguments", of, detail);
        }
    }

    /// A run was dropped for a newer message, a human or an opt-out.
    pub fn dropped(&mut self, of: &ConversationId, reply: ReplyId) {
        let Some(sealing) = self.seals.get(&reply) else {
            return;
        };
        let held = self.lives.get(of).and_then(|life| life.held_ms);
        if held.is_none_or(|held| held < sealing.at_ms) {
            let detail = format!("{reply} wrote and was dropped");
            self.find("a run that wrote is not dropped for a message", of, detail);
        }
    }

    /// A sealed batch is answered as it was sealed, less what was closed since.
    pub(super) fn keeps_the_seal(&mut self, of: &ConversationId, commit: &Commit) {
        let reply = commit.reply.id;
        let Some(sealing) = self.seals.get(&reply) else {
            return;
        };
        let events = self.events.get(of);
        let waits = |id: &&MessageId| {
            let seen = events.and_then(|events| events.get(*id));
            seen.is_some_and(|seen| seen.end == End::Waits)
        };
        let mut right: Vec<_> = sealing.batch.iter().filter(waits).collect();
        let mut answered: Vec<_> = commit.answered.iter().collect();
        right.sort();
        answered.sort();
        if right != answered {
            let (right, answered) = (right.len(), answered.len());
            let detail = format!("{reply} answers {answered} messages, not those {right}");
            self.find("a sealed batch is answered as it is", of, detail);
        }
    }
}
