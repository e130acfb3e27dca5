//! What a run has spent so far, and its one booking once the person has their answer.
//!
//! A bill lies outside of the work, so that a panic leaves it readable. A process that dies takes it along: what it had
//! paid is then in nobody's ledger.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use jiff::civil::Date;

use super::World;
use super::insist::insist;
use super::lease::Claimed;
use super::process::Visit;
use crate::domain::{
    Agent, Booking, Charge, ChargeKind, Counters, Prompt, Reply, ReplyId, RunId, SpendLimit, Step,
    Timestamp, Usage,
};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::{spend, tokens};

/// A limit must not cost the person more time than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the fees of messages are booked under.
const CHANNEL: &str = "whatsapp";

/// See the module.
#[derive(Debug, Default)]
pub struct Bill(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    charges: Vec<Charge>,
    turns: u64,
    sessions: u64,
}

impl Bill {
    /// One more charge.
    pub fn add(&self, charge: Charge) {
        self.entries().charges.push(charge);
    }

    /// The run's answers are of no use to anybody.
    pub fn discard(&self) {
        for charge in &mut self.entries().charges {
            if charge.kind == ChargeKind::Answer {
                charge.kind = ChargeKind::Discarded;
            }
        }
    }

    /// The run has answered a turn.
    pub fn answered(&self, begins_a_session: bool) {
        let mut entries = self.entries();
        entries.turns += 1;
        entries.sessions += u64::from(begins_a_session);
    }

    /// Everything together; `None` where nothing was paid.
    pub fn total(&self) -> Option<Counters> {
        let entries = self.entries();
        (!entries.charges.is_empty()).then(|| Counters::sum(&entries.charges))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call cost that failed: by its provider's report; by an estimate where it took all its time and told nothing.
pub fn failed(
    agent: &Agent,
    bill: &Bill,
    (error, asked): (&ModelError, (&str, &Prompt)),
    factor: f64,
    (elapsed, timeout): (Duration, Duration),
) {
    if let Some(metered) = &error.metered {
        let usage = Usage::from(metered.as_ref());
        let (prices, kind) = (&agent.prices, ChargeKind::Failed);
        bill.add(spend::metered(prices, kind, &metered.model, usage));
    } else if error.class == ModelErrorClass::Transient && elapsed >= timeout {
        let dropped = spend::dropped(&agent.prices, asked, factor, (elapsed, timeout));
        bill.add(Charge {
            kind: ChargeKind::Failed,
            ..dropped
        });
    }
}

/// What a call cost that the watch dropped.
pub fn dropped(
    agent: &Agent,
    claimed: &Claimed,
    asked: (&str, &Prompt),
    times: (Duration, Duration),
) {
    let factor = tokens::factor(&claimed.state, asked.0);
    let charge = spend::dropped(&agent.prices, asked, factor, times);
    claimed.bill.add(charge);
}

/// The channel's fee for a reply that was sent, where one is known.
pub fn sent(agent: &Agent, bill: &Bill, reply: &Reply) {
    let Some(micro_usd) = agent.prices.fee(&reply.to) else {
        return;
    };
    bill.add(Charge {
        model: CHANNEL.to_owned(),
        kind: ChargeKind::Send,
        usage: Usage::default(),
        micro_usd: Some(micro_usd),
        is_estimate: false,
    });
}

/// Does a run's work and books it, whatever way it ends: a panic goes on once it is booked. What cannot be booked is told,
/// and lost.
pub async fn booked<T>(
    world: &World,
    visit: &Visit,
    claimed: &Claimed,
    work: impl Future<Output = T>,
) -> T {
    let worked = AssertUnwindSafe(work).catch_unwind().await;
    let when = (claimed.today, claimed.began_at);
    let what = (claimed.run, Some(claimed.reply));
    book_as(world, visit, what, when, &claimed.bill).await;
    worked.unwrap_or_else(|panic| resume_unwind(panic))
}

/// The same for what has no lease.
pub async fn book_as(
    world: &World,
    visit: &Visit,
    (run, reply): (RunId, Option<ReplyId>),
    (day, began_at): (Date, Timestamp),
    bill: &Bill,
) {
    let Entries {
        charges,
        turns,
        sessions,
    } = std::mem::take(&mut *bill.entries());
    if charges.is_empty() {
        return;
    }
    let total = Counters::sum(&charges);
    let booking = Booking {
        run,
        conversation: visit.conversation.clone(),
        day,
        began_at,
        charges,
        turns,
        sessions,
    };
    match insist(world, visit, || world.ledger.book(&booking)).await {
        Ok(()) => world.note(&visit.conversation, &Step::Booked { reply, total }),
        Err(error) => tracing::warn!(
            conversation.hash = world.hasher.conversation(&visit.conversation),
            micro_usd = total.micro_usd,
            calls = total.calls,
            %error,
            "what a run has cost is not in the ledger"
        ),
    }
}

/// Which spending limit keeps this conversation from an answer today. What cannot be read in time limits nobody.
pub async fn limit(world: &World, agent: &Agent, claimed: &Claimed) -> Option<SpendLimit> {
    let (limits, today) = (&agent.limits, claimed.today);
    let reached = spend::of_conversation(limits, claimed.state.spent, today);
    if reached.is_some() || limits.agent_day_micro_usd.is_none() {
        return reached;
    }
    let asking = pin!(world.ledger.spent_on(&agent.id, today));
    let spent = match select(asking, pin!(world.clock.sleep(PATIENCE))).await {
        Either::Left((Ok(spent), _)) => spent,
        Either::Left((Err(error), _)) => {
            tracing::warn!(%error, "what the agent has cost today cannot be read; the turn goes on without its limit");
            return None;
        }
        Either::Right(((), _)) => {
            tracing::warn!(
                "what the agent has cost today is not read in time; the turn goes on without its limit"
            );
            return None;
        }
    };
    spend::of_agent(limits, spent)
}
