//! Tool calls in the fake table.

use recado::domain::batch::EndedTurn;
use recado::domain::{
    Arguments, Call, CallId, ConversationId, Effect, ReplyId, ToolCall, ToolName, ToolResult,
};
use recado::ports::{Commit, NewCalls, Written};

use super::Table;
use super::table::StoredCall;

impl Table {
    pub(super) fn calls(&self, conversation: &ConversationId, reply: ReplyId) -> Vec<Call> {
        let calls = self.people.get(conversation).map(|person| &person.calls);
        let of_it = calls
            .into_iter()
            .flat_map(|calls| calls.range((reply, 0)..=(reply, u16::MAX)));
        of_it.map(|(_, stored)| stored.call.clone()).collect()
    }

    pub(super) fn store_calls(&mut self, conversation: &ConversationId, new: &NewCalls) -> Written {
        if !self.may_call(conversation, new) {
            return self.were_stored(conversation, new);
        }
        let person = self.person(conversation);
        for call in &new.calls {
            let stored = StoredCall {
                call: call.clone(),
                epoch: new.epoch,
                in_history: false,
            };
            person.calls.insert((new.reply, call.n), stored);
        }
        if let Some(state) = &mut person.state {
            state.sealed = new.seal.clone().or_else(|| state.sealed.take());
            state.version += 1;
        }
        Written::Done
    }

    fn may_call(&self, conversation: &ConversationId, new: &NewCalls) -> bool {
        let guards = self.guards;
        let fenced = match self.state(conversation) {
            None => guards.state_on_creations,
            Some(state) => {
                let ours = state.lease.is_some_and(|lease| lease.run == new.run);
                (guards.epoch_at_calls && (state.epoch != new.epoch || !ours))
                    || (guards.opt_out_at_calls && state.opt_out.is_some())
                    || (guards.pause_at_calls && state.is_paused(new.now))
            }
        };
        let person = self.people.get(conversation);
        let there = |call: &Call| {
            person.is_some_and(|person| person.calls.contains_key(&(new.reply, call.n)))
        };
        let taken = guards.new_calls_only && new.calls.iter().any(there);
        !fenced && !taken
    }

    /// Whether an earlier try of the same request was applied.
    fn were_stored(&self, conversation: &ConversationId, new: &NewCalls) -> Written {
        let person = self.people.get(conversation);
        let is_there = |call: &Call| {
            let stored = person.and_then(|person| person.calls.get(&(new.reply, call.n)));
            stored.is_some_and(|stored| stored.epoch == new.epoch && stored.call == *call)
        };
        if new.calls.iter().all(is_there) {
            Written::Done
        } else {
            Written::Lost
        }
    }

    pub(super) fn store_result(
        &mut self,
        conversation: &ConversationId,
        place: (ReplyId, u16),
        result: &ToolResult,
    ) -> Written {
        let guards = self.guards;
        let is_there = self
            .people
            .get(conversation)
            .is_some_and(|person| person.calls.contains_key(&place));
        if guards.exists_on_results && !is_there {
            return Written::Lost;
        }
        let calls = &mut self.person(conversation).calls;
        let stored = calls.entry(place).or_insert_with(|| shell(place.1));
        match &stored.call.result {
            Some(found) if found == result => return Written::Done,
            Some(_) if guards.first_result_stays => return Written::Lost,
            _ => {}
        }
        stored.call.result = Some(result.clone());
        Written::Done
    }

    /// Whether the calls are there that a closing names.
    pub(super) fn has_calls(&self, conversation: &ConversationId, turn: &EndedTurn) -> bool {
        let person = self.people.get(conversation);
        let is_there =
            |n: &u16| person.is_some_and(|person| person.calls.contains_key(&(turn.reply, *n)));
        turn.calls.iter().all(is_there)
    }

    /// The calls of a turn that nobody will answer become history with its closing.
    pub(super) fn leave_calls(&mut self, conversation: &ConversationId, turn: &EndedTurn) {
        let calls = &mut self.person(conversation).calls;
        for n in &turn.calls {
            if let Some(stored) = calls.get_mut(&(turn.reply, *n)) {
                stored.in_history = true;
                stored.call = stored.call.at_rest();
            }
        }
    }

    /// The calls of a turn become history with its commit.
    pub(super) fn keep_calls(&mut self, conversation: &ConversationId, commit: &Commit) {
        let calls = &mut self.person(conversation).calls;
        for call in &commit.calls {
            let stored = StoredCall {
                call: call.clone(),
                epoch: commit.epoch,
                in_history: true,
            };
            calls.insert((commit.reply.id, call.n), stored);
        }
    }
}

/// What an update leaves of a call that is gone, where it does not test that.
fn shell(n: u16) -> StoredCall {
    StoredCall {
        call: Call {
            n,
            effect: Effect::Write,
            call: ToolCall {
                id: CallId::parse("gone").expect("an id"),
                tool: ToolName::parse("gone").expect("a name"),
                arguments: Arguments::none(),
            },
            result: None,
        },
        epoch: 0,
        in_history: false,
    }
}
