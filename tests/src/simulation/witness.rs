//! What was really written and sent, seen from outside the flow at the moment it was applied, and the laws that must hold at
//! every step.
//!
//! The witness believes nothing that the flow says: it is told each request as the table applied it, and each text as
//! the provider accepted it.

mod calls;
mod erasures;
mod ledger;
mod memory;
mod models;
mod replies;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use recado::domain::batch::Closure;
use recado::domain::{
    Agent, Alias, ClosedReason, ConversationId, Event, MessageId, OptOut, ReplyId, ReplyKind,
    RunId, State, Timestamp, ToolResult,
};
use recado::policy::opt_out;

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No reply answered it and nothing closed it.
    Waits,
    /// It is in this reply's answered set.
    Answered(ReplyId),
    /// It was closed.
    Closed,
    /// It was closed with the turn that something was done for.
    Left(ReplyId),
}

/// A stored message.
#[derive(Debug, Clone)]
pub struct Seen {
    /// When it was stored, in true milliseconds.
    pub stored_ms: u64,
    /// As stored.
    pub event: Event,
    /// Where it stands.
    pub end: End,
    /// Whether a compaction took it.
    pub folded: bool,
}

/// A committed reply.
#[derive(Debug, Clone)]
pub struct SeenReply {
    /// Whose.
    pub conversation: ConversationId,
    /// Why it was written.
    pub kind: ReplyKind,
    /// When somebody took the right to send it last, in true milliseconds.
    pub marked_ms: Option<u64>,
    /// How often the provider accepted it.
    pub accepted: u32,
    /// Whether an unknown outcome was made of one of its sends.
    pub silent: bool,
}

/// One life of a contact.
#[derive(Debug, Default)]
pub struct Life {
    created_at: Option<Timestamp>,
    version: u64,
    claimer: Option<RunId>,
    last_reply: Option<ReplyId>,
    last_accepted: Option<ReplyId>,
    opted_out: Option<(OptOut, u64)>,
    summary: u64,
    held_ms: Option<u64>,
    /// When its state was deleted, in true milliseconds.
    pub erased_ms: Option<u64>,
    /// The moment that its erasure is dated.
    pub forgotten_at: Option<Timestamp>,
}

/// A batch as a run read it.
#[derive(Debug, Clone)]
struct Read {
    at_ms: u64,
    clock: Timestamp,
    batch: Vec<MessageId>,
}

/// A broken law, whose conversation, and how.
pub type Finding = (&'static str, ConversationId, String);

/// See the module.
pub struct Witness {
    agent: Agent,
    /// Without any fault a message waits no longer, in milliseconds.
    pub patience_ms: u64,
    longest_ceiling: Duration,
    /// By how much the clock was ever wrong, summed up.
    pub clock_error_ms: u64,
    /// Stored messages.
    pub events: BTreeMap<ConversationId, BTreeMap<MessageId, Seen>>,
    /// Committed replies.
    pub replies: BTreeMap<ReplyId, SeenReply>,
    /// Lives, ended ones too.
    pub lives: BTreeMap<ConversationId, Life>,
    /// Broken laws that nobody has taken yet.
    pub findings: Vec<Finding>,
    troubles: Vec<(Option<ConversationId>, u64, u64)>,
    breaks: Vec<(Option<ConversationId>, u64)>,
    erasures: Vec<(Alias, Timestamp)>,
    panics: Vec<u64>,
    in_vain: Vec<(ConversationId, u64)>,
    seals: BTreeMap<ReplyId, calls::Sealing>,
    results: BTreeMap<(ReplyId, u16), ToolResult>,
    runs: BTreeMap<u64, models::Asked>,
    books: BTreeMap<u64, ledger::Books>,
    incidents: BTreeSet<(String, Timestamp)>,
    effects: BTreeMap<(ConversationId, String), u32>,
    reads: BTreeMap<ReplyId, Read>,
    /// When each invocation looked at its conversation last, in true milliseconds and by its clock.
    looks: BTreeMap<u64, (u64, Timestamp)>,
}

impl Witness {
    /// Of an installation of this agent.
    pub fn new(agent: Agent, patience_ms: u64) -> Self {
        Self {
            longest_ceiling: agent.timing.ceiling,
            agent,
            patience_ms,
            clock_error_ms: 0,
            events: BTreeMap::new(),
            replies: BTreeMap::new(),
            lives: BTreeMap::new(),
            findings: Vec::new(),
            troubles: Vec::new(),
            breaks: Vec::new(),
            erasures: Vec::new(),
            panics: Vec::new(),
            in_vain: Vec::new(),
            seals: BTreeMap::new(),
            results: BTreeMap::new(),
            runs: BTreeMap::new(),
            incidents: BTreeSet::new(),
            effects: BTreeMap::new(),
            books: BTreeMap::new(),
            reads: BTreeMap::new(),
            looks: BTreeMap::new(),
        }
    }

    /// The agent's file may be this one from now on: what either version allows is allowed.
    pub fn also_of(&mut self, agent: &Agent) {
        let (mine, other) = (&mut self.agent.timing, &agent.timing);
        let longer = other.ceiling.saturating_sub(self.longest_ceiling);
        self.longest_ceiling += longer;
        self.patience_ms += u64::try_from(longer.as_millis()).unwrap_or(u64::MAX);
        mine.window = mine.window.min(other.window);
        mine.ceiling = mine.ceiling.min(other.ceiling);
        mine.give_up_after = mine.give_up_after.min(other.give_up_after);
    }

    fn find(&mut self, law: &'static str, of: &ConversationId, detail: impl Into<String>) {
        self.findings.push((law, of.clone(), detail.into()));
    }

    /// Something happened that may make people wait `ms` longer.
    pub fn trouble(&mut self, conversation: Option<&ConversationId>, at_ms: u64, ms: u64) {
        self.troubles.push((conversation.cloned(), at_ms, ms));
    }

    /// The model failed in a way that no later run can mend.
    pub fn asked_in_vain(&mut self, of: &ConversationId, at_ms: u64) {
        self.in_vain.push((of.clone(), at_ms));
    }

    /// A run was made to panic.
    pub fn panicked(&mut self, at_ms: u64) {
        self.panics.push(at_ms);
        self.trouble(None, at_ms, 130_000);
    }

    /// Something broke that can make the outcome of a send unknown.
    pub fn broke(&mut self, conversation: Option<&ConversationId>, at_ms: u64) {
        self.breaks.push((conversation.cloned(), at_ms));
    }

    /// Whether anything broke for this conversation between two moments.
    pub fn was_broken(&self, of: &ConversationId, from_ms: u64, to_ms: u64) -> bool {
        self.breaks.iter().any(|(whose, at)| {
            whose.as_ref().is_none_or(|whose| whose == of) && (from_ms..=to_ms).contains(at)
        })
    }

    /// A message was stored for the first time.
    pub fn stored(&mut self, of: &ConversationId, event: &Event, now_ms: u64) {
        let seen = Seen {
            stored_ms: now_ms,
            event: event.clone(),
            end: if event.closed.is_some() {
                End::Closed
            } else {
                End::Waits
            },
            folded: false,
        };
        let events = self.events.entry(of.clone()).or_default();
        events.entry(event.id.clone()).or_insert(seen);
    }

    /// The state as it is after a request.
    pub fn state(&mut self, of: &ConversationId, state: Option<&State>, now_ms: u64) {
        let life = self.lives.entry(of.clone()).or_default();
        let Some(state) = state else {
            if life.created_at.is_some() && life.erased_ms.is_none() {
                self.find("a state goes only with its person", of, "the state is gone");
            }
            return;
        };
        let (version, created_at) = (life.version, life.created_at);
        let (erased, was_out) = (life.erased_ms, life.opted_out.take());
        if state.opt_out.is_some() || state.paused_until.is_some() {
            life.held_ms = Some(now_ms);
        }
        life.version = state.version;
        life.created_at = Some(state.created_at);
        life.opted_out = state.opt_out.clone().map(|opt_out| {
            let since = was_out.as_ref().filter(|(was, _)| *was == opt_out);
            let since = since.map_or(now_ms, |(_, since)| *since);
            (opt_out, since)
        });
        if erased.is_some() {
            self.find(
                "a forgotten life never comes back",
                of,
                "its state is there again",
            );
        }
        if created_at.is_some_and(|created| created != state.created_at) {
            self.find(
                "a contact id is used for one life",
                of,
                "its state was replaced",
            );
        }
        if state.version < version {
            let detail = format!("version {version} became {}", state.version);
            self.find("no write of a state is overwritten", of, detail);
        }
        if let (Some((was, _)), None) = (was_out, &state.opt_out) {
            self.lifted(of, &was);
        }
    }

    /// An opt-out is lifted by the person's own later words and by nothing else.
    fn lifted(&mut self, of: &ConversationId, was: &OptOut) {
        let events = self.events.get(of).into_iter().flat_map(BTreeMap::values);
        let mut newer = events.filter(|seen| !opt_out::covers(was, &seen.event));
        if newer.next().is_none() {
            self.find(
                "an opt-out holds until they write",
                of,
                "it was lifted by nothing",
            );
        }
    }

    /// A run took the lease.
    pub fn claimed(&mut self, of: &ConversationId, state: &State) {
        let life = self.lives.entry(of.clone()).or_default();
        life.claimer = state.lease.map(|lease| lease.run).or(life.claimer);
    }

    /// An invocation looked at the conversation.
    pub fn looked(&mut self, invocation: u64, now_ms: u64, clock: Timestamp) {
        self.looks.insert(invocation, (now_ms, clock));
    }

    /// A run read its batch.
    pub fn read(&mut self, reply: ReplyId, batch: &[MessageId], now_ms: u64, clock: Timestamp) {
        let read = Read {
            at_ms: now_ms,
            clock,
            batch: batch.to_vec(),
        };
        self.reads.insert(reply, read);
    }

    /// Messages were closed, under this state.
    pub fn closed(
        &mut self,
        of: &ConversationId,
        closure: &Closure,
        before: Option<&State>,
        now_ms: u64,
    ) {
        let covered = |event: &Event| {
            let opt_out = before.and_then(|state| state.opt_out.as_ref());
            opt_out.is_some_and(|opt_out| opt_out::covers(opt_out, event))
        };
        // Who is opted out and says STOP again is met with silence, and so is what came before that STOP.
        let words = crate::fake_world::agent(|_| {}).opt_out_words;
        let said_again = before.is_some_and(|state| state.opt_out.is_some())
            && self.events.get(of).is_some_and(|events| {
                events.values().any(|seen| {
                    let text = seen.event.text().unwrap_or_default();
                    seen.end == End::Waits && opt_out::is_stop(text, &words)
                })
            });
        let human = before.is_some_and(|state| state.paused_until.is_some());
        for id in &closure.events {
            let Some(seen) = self
                .events
                .get_mut(of)
                .and_then(|events| events.get_mut(id))
            else {
                self.find(
                    "nothing of a forgotten person comes back",
                    of,
                    "a message that is gone was closed",
                );
                continue;
            };
            let rightly = match closure.reason {
                ClosedReason::OptedOut => said_again || covered(&seen.event),
                ClosedReason::Paused => human,
                ClosedReason::KindNotAnswered => true,
                ClosedReason::Expired | ClosedReason::SpendLimit => false,
            };
            let ends = closure.ends.as_ref();
            let turn = ends.filter(|turn| turn.messages.contains(id));
            let end = turn.map_or(End::Closed, |turn| End::Left(turn.reply));
            let before = std::mem::replace(&mut seen.end, end);
            let stored_ms = seen.stored_ms;
            if before != End::Waits {
                let detail = format!("{id} was {before:?} and is closed");
                self.find("a message is answered or closed, once", of, detail);
            }
            if !rightly {
                let detail = format!("{id} was closed as {}", closure.reason.as_str());
                self.find("a message is closed for a reason that holds", of, detail);
            }
            self.waited(of, id, stored_ms, now_ms);
        }
    }

    /// Waiting is bounded: by the promise without faults, and by what each fault may add.
    fn waited(&mut self, of: &ConversationId, id: &MessageId, stored_ms: u64, now_ms: u64) {
        let waited = now_ms.saturating_sub(stored_ms);
        if waited <= self.patience_ms {
            return;
        }
        let mine = |whose: &Option<ConversationId>| whose.as_ref().is_none_or(|whose| whose == of);
        let troubles = self.troubles.iter();
        let extra: u64 = troubles
            .filter(|(whose, at, ms)| mine(whose) && at + ms >= stored_ms)
            .map(|(_, _, ms)| ms)
            .sum();
        if waited > self.patience_ms + extra {
            let detail = format!("{id} waited {waited} ms, {extra} ms of which are excused");
            self.find("waiting is bounded", of, detail);
        }
    }

    /// What still waits now is held to the same bound.
    pub fn still_waits(&mut self, now_ms: u64) {
        let waiting: Vec<(ConversationId, MessageId, u64)> = self
            .events
            .iter()
            .filter(|(of, _)| {
                self.lives
                    .get(of)
                    .is_some_and(|life| life.erased_ms.is_none())
            })
            .flat_map(|(of, events)| {
                let waiting = events.iter().filter(|(_, seen)| seen.end == End::Waits);
                waiting.map(|(id, seen)| (of.clone(), id.clone(), seen.stored_ms))
            })
            .collect();
        for (of, id, stored_ms) in waiting {
            self.waited(&of, &id, stored_ms, now_ms);
        }
    }
}

impl Witness {
    /// Messages stored, and replies committed.
    pub fn totals(&self) -> (usize, usize) {
        (
            self.events.values().map(BTreeMap::len).sum(),
            self.replies.len(),
        )
    }
}
