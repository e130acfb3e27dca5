//! Ours: the decisions of `flow`, made by the very functions that it calls, over a table and a queue that are a few
//! lists here.
//!
//! What the shell around the decisions does is told again in this file, in the order of `flow::process`, `flow::run`
//! and `flow::think`: ticks of one group come one at a time, each after the queue's delay; a hold sleeps whole seconds
//! and the rest is waited in the handler; after the claim the conversation is looked at again; while the model works
//! the watch looks when the policy says and once more at its end; after a reply, or a dropped call, it is looked at anew.

use std::collections::VecDeque;
use std::time::Duration;

use recado::domain::{
    Address, Batch, BusinessNumber, Content, Event, Lease, MessageId, Phone, RunId, State,
    Timestamp,
};
use recado::flow::process::PENDING_MAX;
use recado::policy::debounce::{self, Decision};
use recado::policy::supersede::{self, Watch};
use recado::ports::Peek;

use super::algorithm::{Answered, End, Rig, Run};
use super::generator::{Call, Fragment};

/// A lease longer than any run here: none of them crashes.
const LEASE: Duration = Duration::from_mins(2);

/// Its runs on these messages.
pub(super) fn answer(
    rig: &Rig,
    fragments: &[Fragment],
    calls: &mut dyn Iterator<Item = Call>,
) -> Vec<Run> {
    let mut desk = Desk::new(rig, fragments);
    let mut ticks = ticks(fragments, rig.agent.timing.window);
    let mut now = Timestamp::default();
    while let Some(tick) = ticks.pop_front() {
        if tick.is_repeat && !desk.answered.is_pending(tick.place, tick.made_at) {
            continue; // found at rest by ingest: no tick was made
        }
        now = tick.visible_at.max(now).plus(rig.delays.wake);
        let Some(at_rest) = desk.visit(now, calls) else {
            break;
        };
        now = at_rest;
    }
    desk.runs
}

/// A message of the queue. Ticks of a conversation are one group: the next comes when this one is gone.
struct Tick {
    visible_at: Timestamp,
    made_at: Timestamp,
    place: usize,
    is_repeat: bool,
}

/// One tick for each message as it is stored, and one for each second delivery that finds it pending. The queue's delay
/// is in whole seconds, and never more than the window.
fn ticks(fragments: &[Fragment], window: Duration) -> VecDeque<Tick> {
    let delay = Duration::from_secs(window.as_secs());
    let tick = |made_at: Timestamp, place, is_repeat| Tick {
        visible_at: made_at.plus(delay),
        made_at,
        place,
        is_repeat,
    };
    let mut ticks = Vec::new();
    for (place, fragment) in fragments.iter().enumerate() {
        ticks.push(tick(fragment.stored_at, place, false));
        ticks.extend(fragment.doubled_at.map(|again| tick(again, place, true)));
    }
    ticks.sort_by_key(|tick| tick.made_at);
    ticks.into()
}

/// One conversation in the table, and who works on it.
struct Desk<'a> {
    rig: &'a Rig,
    events: Vec<Event>,
    answered: Answered<'a>,
    state: State,
    runs: Vec<Run>,
}

impl<'a> Desk<'a> {
    fn new(rig: &'a Rig, fragments: &'a [Fragment]) -> Self {
        Self {
            rig,
            events: events(fragments),
            answered: Answered::none(fragments),
            state: State::new(Vec::new(), Timestamp::default()),
            runs: Vec::new(),
        }
    }

    /// What `Store::peek` gives at `now`: the state, and the first of what is pending in the order it was sent.
    fn peek(&self, now: Timestamp) -> Peek {
        let mut pending: Vec<Event> = self
            .answered
            .pending(now)
            .into_iter()
            .map(|place| self.events[place].clone())
            .collect();
        pending.sort_by(|a, b| a.order().cmp(&b.order()));
        pending.truncate(PENDING_MAX);
        Peek {
            state: Some(self.state.clone()),
            outbox: Vec::new(), // a run sends what it commits before anyone looks
            pending,
        }
    }

    /// Works until the conversation is at rest. Yields when; `None` where there are no more calls, or where a decision
    /// came that nothing here gives reason for: what is left then counts as unanswered.
    fn visit(
        &mut self,
        mut now: Timestamp,
        calls: &mut dyn Iterator<Item = Call>,
    ) -> Option<Timestamp> {
        loop {
            now = match debounce::decide(&self.peek(now), &self.rig.agent, now) {
                Decision::Ignore => return Some(now),
                Decision::HoldUntil(until, _) => self.hold(now, until),
                Decision::Answer(_) => self.run(now, calls)?,
                _ => return None,
            };
        }
    }

    /// When the next look is: the queue sleeps whole seconds, and less than one is waited in the handler.
    fn hold(&self, now: Timestamp, until: Timestamp) -> Timestamp {
        match until.since(now).as_secs() {
            0 => until,
            whole => now
                .plus(Duration::from_secs(whole))
                .plus(self.rig.delays.wake),
        }
    }

    /// Claim, batch, model under watch, commit, send. Yields when the conversation is looked at again.
    fn run(
        &mut self,
        decided_at: Timestamp,
        calls: &mut dyn Iterator<Item = Call>,
    ) -> Option<Timestamp> {
        let began_at = decided_at.plus(self.rig.delays.claim);
        let peek = self.peek(began_at);
        let Decision::Answer(batch) = debounce::decide(&peek, &self.rig.agent, began_at) else {
            return Some(began_at); // what came meanwhile is waited for
        };
        let call = calls.next()?;
        let run = RunId::from_parts(began_at.ms(), self.runs.len() as u128);
        self.state.lease = Some(Lease {
            run,
            until: began_at.plus(LEASE),
        });
        let dropped_at = self.watch(run, &batch, began_at, call);
        self.state.lease = None;
        let places = self.places(&batch);
        let (end, next_look) = if let Some(at) = dropped_at {
            (End::Dropped(at), at)
        } else {
            let committed_at = began_at.plus(call.takes).plus(self.rig.delays.commit);
            self.answered.answer(&places, committed_at);
            let sent_at = committed_at.plus(self.rig.delays.send);
            (End::Sent(sent_at), sent_at)
        };
        self.runs.push(Run {
            batch: places,
            began_at,
            end,
        });
        Some(next_look)
    }

    /// Looks while the model works, and once more at its end. Yields when the call was dropped.
    fn watch(
        &self,
        run: RunId,
        batch: &Batch,
        began_at: Timestamp,
        call: Call,
    ) -> Option<Timestamp> {
        let ends_at = began_at.plus(call.takes);
        let mut now = began_at;
        while now < ends_at {
            now = supersede::next_look(batch, &self.rig.agent, now).min(ends_at);
            let wrote = call
                .writes_after
                .is_some_and(|after| began_at.plus(after) <= now);
            let peek = self.peek(now);
            let watched = supersede::decide(&peek, run, batch, wrote, &self.rig.agent, now);
            if watched != Watch::GoOn {
                return Some(now);
            }
        }
        None
    }

    fn places(&self, batch: &Batch) -> Vec<usize> {
        let is_in = |place: &usize| batch.holds(&self.events[*place].id);
        (0..self.events.len()).filter(is_in).collect()
    }
}

/// The messages as the table holds them. What they say decides nothing here: no one says STOP.
fn events(fragments: &[Fragment]) -> Vec<Event> {
    let (Ok(phone), Ok(number)) = (
        Phone::parse("5511900000001"),
        BusinessNumber::parse("100000000000001"),
    ) else {
        return Vec::new();
    };
    let event = |(place, fragment): (usize, &Fragment)| {
        Some(Event {
            id: MessageId::parse(format!("message-{place:05}")).ok()?,
            reply_to: Address::Phone(phone.clone()),
            number: number.clone(),
            sent_at: fragment.sent_at,
            arrived_at: fragment.stored_at,
            content: Content::Text(String::new()),
            closed: None,
        })
    };
    fragments.iter().enumerate().filter_map(event).collect()
}

#[cfg(test)]
mod tests;
