//! The way in, after the parser: whose event it is, stored once, and a tick. The model is never awaited here.
//!
//! Each event goes its way alone. What failed is counted, and the caller answers 5xx: the provider sends the whole
//! body again, and only what is missing is done then.

mod contact;

use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt, stream};

use super::World;
use crate::domain::{
    Agent, Alias, BusinessNumber, ClosedReason, Content, ConversationId, DeliveryStatus, Event,
    Inbound, ProviderEvent, StatusUpdate, Step,
};
use crate::error::{StoreError, TicksError};
use crate::policy::identity;
use crate::ports::{Appended, Noted};

/// People of one body that are looked after side by side.
const PEOPLE_AT_ONCE: usize = 8;
/// A message still pending is ticked again at most once in this time, in milliseconds.
const TICK_AGAIN_MS: u64 = 60_000;

/// What became of the events of one body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Messages stored now.
    pub stored: usize,
    /// Messages that were there already.
    pub duplicates: usize,
    /// Messages of an erased life, dropped.
    pub late: usize,
    /// Statuses noted on a reply.
    pub noted: usize,
    /// Statuses that concern no reply here.
    pub ignored: usize,
    /// Events that have to be sent again: anything above zero is a 5xx.
    pub failed: usize,
}

/// Stores the events, each once, and ticks their conversations. One person's events keep their order.
pub async fn ingest(world: &World, events: Vec<ProviderEvent>) -> Ingested {
    let mut people: Vec<(Option<Alias>, Vec<ProviderEvent>)> = Vec::new();
    for event in events {
        let who = first_alias(&event).cloned();
        match people.iter_mut().find(|(known, _)| *known == who) {
            Some((_, events)) => events.push(event),
            None => people.push((who, vec![event])),
        }
    }
    stream::iter(people)
        .map(|(_, events)| ingest_in_order(world, events))
        .buffered(PEOPLE_AT_ONCE)
        .fold(
            Ingested::default(),
            |sum, part| async move { sum.plus(part) },
        )
        .await
}

async fn ingest_in_order(world: &World, events: Vec<ProviderEvent>) -> Ingested {
    let mut ingested = Ingested::default();
    for event in events {
        let taking = async {
            match &event {
                ProviderEvent::Message(inbound) => message(world, inbound).await,
                ProviderEvent::Status(update) => status(world, update).await,
            }
        };
        // One that breaks the program never sinks those beside it.
        let taken = AssertUnwindSafe(taking).catch_unwind().await;
        let outcome = taken.unwrap_or(Err(Failure::Panic));
        let count = match outcome {
            Ok(Outcome::Stored) => &mut ingested.stored,
            Ok(Outcome::Duplicate) => &mut ingested.duplicates,
            Ok(Outcome::Late) => &mut ingested.late,
            Ok(Outcome::Noted) => &mut ingested.noted,
            Ok(Outcome::Ignored) => &mut ingested.ignored,
            Err(failure) => {
                log_failure(world, &event, &failure);
                &mut ingested.failed
            }
        };
        *count += 1;
    }
    ingested
}

enum Outcome {
    Stored,
    Duplicate,
    Late,
    Noted,
    Ignored,
}

/// Why an event has to be sent again.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("no agent answers on business number {0}: add it to an agent's numbers")]
    UnknownNumber(BusinessNumber),
    #[error("a message names nobody")]
    NoAlias,
    #[error("others changed the same contact again and again")]
    Contended,
    #[error("a panic was caught")]
    Panic,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ticks(#[from] TicksError),
}

async fn message(world: &World, inbound: &Inbound) -> Result<Outcome, Failure> {
    let agent = agent_of(world, &inbound.number).await?;
    let Some(contact) = contact::find_or_create(world, &agent.id, inbound).await? else {
        tracing::info!(
            event.hash = event_hash(world, inbound),
            "a message of an erased life is dropped"
        );
        return Ok(Outcome::Late);
    };
    let conversation = ConversationId {
        agent: agent.id.clone(),
        contact,
    };
    let event = event_of(inbound);
    let appended = world.store.append(&conversation, &event).await?;
    let received = Step::Received {
        event: event.id.clone(),
        fresh: appended == Appended::New,
    };
    world.journal.note(&conversation, &received);
    if event.closed.is_none() && appended != Appended::AtRest {
        let dedup = dedup(world, &conversation, &event, appended);
        world.ticks.tick(&conversation, &dedup).await?;
    }
    Ok(match appended {
        Appended::New => Outcome::Stored,
        Appended::Pending | Appended::AtRest => Outcome::Duplicate,
    })
}

async fn agent_of(world: &World, number: &BusinessNumber) -> Result<Arc<Agent>, Failure> {
    let agent = world.agents.by_number(number).await;
    agent.ok_or_else(|| Failure::UnknownNumber(number.clone()))
}

fn event_of(inbound: &Inbound) -> Event {
    let closed = match &inbound.content {
        Content::Text(_) => None,
        Content::Unsupported(_) => Some(ClosedReason::KindNotAnswered),
    };
    Event {
        id: inbound.id.clone(),
        reply_to: inbound.reply_to.clone(),
        number: inbound.number.clone(),
        sent_at: inbound.sent_at,
        arrived_at: inbound.arrived_at,
        content: inbound.content.clone(),
        closed,
    }
}

/// The queue swallows a key it has seen within five minutes. That is right for twenty deliveries of one second, and
/// wrong for a message that still waits: so a repeat carries the minute.
fn dedup(
    world: &World,
    conversation: &ConversationId,
    event: &Event,
    appended: Appended,
) -> String {
    let mut text = format!("{}\0{}", conversation.key(), event.id);
    if appended != Appended::New {
        let minute = world.clock.now().ms() / TICK_AGAIN_MS;
        text = format!("{text}\0{minute}");
    }
    world.hasher.hash("tick", &text)
}

/// A status may name a person by another id than their message did, so every contact it could mean is tried.
async fn status(world: &World, update: &StatusUpdate) -> Result<Outcome, Failure> {
    let agent = agent_of(world, &update.number).await?;
    let known = world.store.resolve(&agent.id, &update.aliases).await?;
    for contact in identity::living(&agent.id, &known, &world.hasher) {
        let conversation = ConversationId {
            agent: agent.id.clone(),
            contact,
        };
        let noted = world
            .store
            .note_status(
                &conversation,
                update.reply,
                &update.status,
                world.clock.now(),
            )
            .await?;
        // A provider repeats itself: told once is enough.
        if noted == Noted::Now {
            note_failure(world, &conversation, update);
        }
        if noted != Noted::Nothing {
            return Ok(Outcome::Noted);
        }
    }
    Ok(Outcome::Ignored)
}

/// Some refusals are told only after the provider had taken the message.
fn note_failure(world: &World, conversation: &ConversationId, update: &StatusUpdate) {
    if let DeliveryStatus::Failed(code) = &update.status {
        let step = Step::SendRefused {
            reply: update.reply,
            code: code.clone(),
            again: false,
        };
        world.note(conversation, &step);
    }
}

fn first_alias(event: &ProviderEvent) -> Option<&Alias> {
    match event {
        ProviderEvent::Message(inbound) => inbound.aliases.first(),
        ProviderEvent::Status(update) => update.aliases.first(),
    }
}

fn event_hash(world: &World, inbound: &Inbound) -> String {
    world.hasher.hash("event", inbound.id.as_str())
}

fn log_failure(world: &World, event: &ProviderEvent, failure: &Failure) {
    let hash = match event {
        ProviderEvent::Message(inbound) => event_hash(world, inbound),
        ProviderEvent::Status(update) => world.hasher.hash("event", update.message.as_str()),
    };
    let cause = failure.source().map(ToString::to_string);
    tracing::error!(
        event.hash = hash,
        error = %failure,
        cause,
        "an event is not stored; the provider has to send it again"
    );
}

impl Ingested {
    fn plus(self, other: Self) -> Self {
        Self {
            stored: self.stored + other.stored,
            duplicates: self.duplicates + other.duplicates,
            late: self.late + other.late,
            noted: self.noted + other.noted,
            ignored: self.ignored + other.ignored,
            failed: self.failed + other.failed,
        }
    }
}
