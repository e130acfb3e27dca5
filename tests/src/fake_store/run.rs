//! Messages in, the front of a conversation, claims, closing and the commit in the fake table.

use recado::domain::batch::{Closure, EndedTurn};
use recado::domain::{
    Address, BusinessNumber, Content, ConversationId, Event, MessageId, Phone, State, Timestamp,
};
use recado::error::StoreError;
use recado::ports::{Appended, Commit, Peek, Release, Swapped, Written};

use super::Table;
use super::table::{Health, StoredEvent, StoredReply};

impl Table {
    pub(super) fn append(&mut self, conversation: &ConversationId, event: &Event) -> Appended {
        let conditional = self.guards.conditional_put;
        let lives = self.state(conversation).is_some();
        if event.closed.is_some() && self.guards.state_on_creations && !lives {
            return Appended::AtRest;
        }
        let events = &mut self.person(conversation).events;
        if let Some(stored) = events.get(&event.id).filter(|_| conditional) {
            return if stored.answered_by.is_none() {
                Appended::Pending
            } else {
                Appended::AtRest
            };
        }
        let closed = event
            .closed
            .map(|reason| format!("closed:{}", reason.as_str()));
        let stored = StoredEvent {
            event: Some(event.clone()),
            answered_by: closed,
            turn: None,
            health: Health::Fine,
        };
        events.insert(event.id.clone(), stored);
        Appended::New
    }

    pub(super) fn peek(
        &self,
        conversation: &ConversationId,
        pending_max: usize,
    ) -> Result<Peek, StoreError> {
        let Some(person) = self.people.get(conversation) else {
            return Ok(Peek::default());
        };
        let replies = person.replies.values().map(|stored| &stored.reply);
        let waits = |stored: &&StoredEvent| stored.answered_by.is_none();
        let mut pending = readable(person.events.values().filter(waits))?;
        pending.sort_by(|one, two| one.order().cmp(&two.order()));
        pending.truncate(pending_max);
        Ok(Peek {
            state: person.state.clone(),
            outbox: replies
                .filter(|reply| !reply.status.is_at_rest())
                .cloned()
                .collect(),
            pending,
        })
    }

    pub(super) fn swap_state(
        &mut self,
        conversation: &ConversationId,
        expected: u64,
        state: &State,
    ) -> Swapped {
        let guards = self.guards;
        match self.state(conversation) {
            None if guards.exists_on_updates || guards.claim_by_version => Swapped::Lost(None),
            Some(found) if guards.claim_by_version && found.version != expected => {
                Swapped::Lost(Some(Box::new(found.clone())))
            }
            _ => {
                self.person(conversation).state = Some(state.clone());
                Swapped::Done
            }
        }
    }

    pub(super) fn release(&mut self, conversation: &ConversationId, release: &Release) -> Written {
        let guards = self.guards;
        let Some(state) = self.person(conversation).state.as_mut() else {
            return Written::Lost;
        };
        let ours = state.lease.is_some_and(|lease| lease.run == release.run);
        if (guards.epoch && state.epoch != release.epoch) || (guards.lease_run && !ours) {
            return if release.is_left_in(state) {
                Written::Done
            } else {
                Written::Lost
            };
        }
        state.lease = None;
        state.attempts = release.attempts;
        state.first_attempt_at = release.first_attempt_at;
        state.hold_until = release.hold_until;
        state.crashes = release.crashes;
        state.spent = release.spent.or(state.spent);
        state.version += 1;
        Written::Done
    }

    pub(super) fn close(
        &mut self,
        conversation: &ConversationId,
        expected: u64,
        closure: &Closure,
    ) -> Written {
        let version = self.state(conversation).map(|state| state.version);
        let fenced = self.guards.fenced_close && version != Some(expected);
        if fenced || !self.all_wait(conversation, &closure.events) {
            return Written::Lost;
        }
        let (ends, guards) = (closure.ends.as_ref(), self.guards);
        if ends.is_some_and(|turn| !self.has_calls(conversation, turn)) {
            return Written::Lost;
        }
        if let Some(state) = self.person(conversation).state.as_mut() {
            state.version += 1;
            state.epoch += 1;
            state.lease = None;
            state.attempts = 0;
            state.crashes = 0;
            state.first_attempt_at = None;
            if let Some(turn) = ends.filter(|_| guards.closing_opens_the_seal) {
                state.last_reply = Some(turn.reply);
                state.sealed = None;
            }
        }
        for id in &closure.events {
            let stored = self.event_or_stub(conversation, id);
            stored.answered_by = Some(format!("closed:{}", closure.reason.as_str()));
            let place = |turn: &EndedTurn| {
                let n = turn.messages.iter().position(|one| one == id)?;
                Some((turn.reply, n))
            };
            stored.turn = ends.and_then(place);
        }
        if let Some(turn) = ends.filter(|_| self.guards.calls_outlive_their_turn) {
            self.leave_calls(conversation, turn);
        }
        Written::Done
    }

    pub(super) fn delete_late(
        &mut self,
        conversation: &ConversationId,
        events: &[MessageId],
    ) -> Written {
        if self.guards.late_only_without_state && self.state(conversation).is_some() {
            return Written::Lost;
        }
        for id in events {
            self.person(conversation).events.remove(id);
        }
        Written::Done
    }

    pub(super) fn commit(&mut self, conversation: &ConversationId, commit: &Commit) -> Written {
        if !self.may_commit(conversation, commit) {
            let person = self.people.get(conversation);
            let found = person.and_then(|person| person.replies.get(&commit.reply.id));
            return match found {
                Some(stored) if stored.epoch == commit.epoch => Written::Done,
                _ => Written::Lost,
            };
        }
        for (n, id) in commit.answered.iter().enumerate() {
            let stored = self.event_or_stub(conversation, id);
            stored.answered_by = Some(commit.reply.id.to_string());
            stored.turn = Some((commit.reply.id, n));
        }
        self.keep_calls(conversation, commit);
        let person = self.person(conversation);
        let stored = StoredReply {
            reply: commit.reply.clone(),
            epoch: commit.epoch,
            given_back_by: None,
            since: commit.reply.committed_at,
            provider_id: None,
            failure: None,
        };
        person.replies.insert(commit.reply.id, stored);
        let state = person
            .state
            .get_or_insert_with(|| State::new(Vec::new(), commit.now));
        move_on(state, commit);
        Written::Done
    }

    fn may_commit(&self, conversation: &ConversationId, commit: &Commit) -> bool {
        let guards = self.guards;
        let state = self.state(conversation);
        let owned = match state {
            None => !guards.exists_on_updates,
            Some(state) => {
                let ours = state.lease.is_some_and(|lease| lease.run == commit.run);
                (!guards.epoch || state.epoch == commit.epoch)
                    && (!guards.lease_run || ours)
                    && (!guards.opt_out_at_commit || state.opt_out.is_none())
                    && (!guards.pause_at_commit || !state.is_paused(commit.now))
            }
        };
        let person = self.people.get(conversation);
        let new = person.is_none_or(|person| !person.replies.contains_key(&commit.reply.id));
        owned && new && self.all_wait(conversation, &commit.answered)
    }

    /// Whether every one of these messages is there and answered by nobody.
    fn all_wait(&self, conversation: &ConversationId, events: &[MessageId]) -> bool {
        let events_there = self.people.get(conversation).map(|person| &person.events);
        events
            .iter()
            .all(|id| match events_there.and_then(|there| there.get(id)) {
                None => !self.guards.exists_on_updates,
                Some(stored) => !self.guards.answered_set || stored.answered_by.is_none(),
            })
    }

    /// The message; without `exists_on_updates` an update brings back a shell of one that is gone.
    fn event_or_stub(&mut self, conversation: &ConversationId, id: &MessageId) -> &mut StoredEvent {
        let events = &mut self.person(conversation).events;
        events.entry(id.clone()).or_insert_with(|| StoredEvent {
            event: Some(shell(id)),
            answered_by: None,
            turn: None,
            health: Health::Fine,
        })
    }
}

fn shell(id: &MessageId) -> Event {
    let zero = Timestamp::from_ms(0);
    Event {
        id: id.clone(),
        reply_to: Address::Phone(Phone::parse("00000").expect("a phone")),
        number: BusinessNumber::parse("none").expect("a number"),
        sent_at: zero,
        arrived_at: zero,
        content: Content::Text(String::new()),
        closed: None,
    }
}

fn move_on(state: &mut State, commit: &Commit) {
    state.version += 1;
    state.sealed = None;
    state.attempts = 0;
    state.first_attempt_at = None;
    state.hold_until = None;
    state.crashes = 0;
    state.last_reply = Some(commit.reply.id);
    state.last_inbound_at = Some(commit.last_inbound_at);
    state.cut_point = commit.cut_point;
    if let Some((model, factor)) = &commit.token_factor {
        state.token_factors.insert(model.clone(), *factor);
    }
    if let Some(opt_out) = &commit.opt_out {
        state.opt_out = Some(opt_out.clone());
    }
    state.paused_until = commit.paused_until.or(state.paused_until);
    state.limited_until = commit.limited_until.or(state.limited_until);
    state.spent = commit.spent.or(state.spent);
    state.session = commit.session.or(state.session);
}

/// Broken items are set aside; one of a newer program stops the reading.
pub(super) fn readable<'a>(
    events: impl Iterator<Item = &'a StoredEvent>,
) -> Result<Vec<Event>, StoreError> {
    let mut read = Vec::new();
    for stored in events {
        match stored.health {
            Health::Broken => {}
            Health::Future => {
                return Err(StoreError::FutureVersion {
                    item: "event",
                    found: 2,
                    known: 1,
                });
            }
            Health::Fine => read.extend(stored.event.clone()),
        }
    }
    Ok(read)
}
