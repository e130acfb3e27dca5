//! What the operator does, and what fate does to everyone.

use std::sync::Arc;
use std::time::Duration;

use recado::domain::{Alias, ConversationId, OptOut, State, Timestamp};
use recado::flow::forget;
use recado::ports::Swapped;

use super::invocation::Role;
use super::people::{bsuid, phone};
use super::plan::Fault;
use super::world::SimWorld;
use crate::fake_ticks::{COMPACTIONS, TICKS};

/// How often the operator tries a change of a state that others change too.
const TRIES: usize = 5;

/// A forget and what it waits for.
const FORGET: Duration = Duration::from_mins(10);

/// The conversation that a person's ids name now; the phone's first.
pub fn conversation(sim: &SimWorld, person: usize) -> Option<ConversationId> {
    let agent = sim.agent_id();
    sim.table.touch(|table| {
        let ids = [Alias::Phone(phone(person)), Alias::Bsuid(bsuid(person))];
        let mut named = ids.into_iter().filter_map(|alias| {
            let contact = table.aliases.get(&(agent.clone(), alias))?;
            Some(ConversationId {
                agent: agent.clone(),
                contact: contact.clone(),
            })
        });
        named.next()
    })
}

/// Forgets a person; tries again where that fails, unless it died.
pub async fn forget(sim: Arc<SimWorld>, person: usize) {
    let Some(of) = conversation(&sim, person) else {
        return;
    };
    for _ in 0..TRIES {
        sim.core
            .tell(Some(&of), || "the operator forgets this person".to_owned());
        let work = forget::forget(&sim.world, &of);
        match sim.core.invoke(Role::Operator, FORGET, work).await {
            Some(Err(_)) => tokio::time::sleep(Duration::from_secs(2)).await,
            Some(Ok(_)) | None => return,
        }
    }
}

/// Opts a person out.
pub async fn opt_out(sim: Arc<SimWorld>, person: usize) {
    let change = |state: &mut State, now: Timestamp| {
        state.opt_out = Some(OptOut { sent_at: now });
    };
    alter(&sim, person, Fault::OperatorOptOut, change).await;
}

/// Takes over from the agent.
pub async fn pause(sim: Arc<SimWorld>, person: usize, ms: u64) {
    let change = |state: &mut State, now: Timestamp| {
        state.paused_until = Some(now.plus(Duration::from_millis(ms)));
    };
    alter(&sim, person, Fault::Pause, change).await;
}

/// Gives a conversation back.
pub async fn resume(sim: Arc<SimWorld>, person: usize) {
    let change = |state: &mut State, _: Timestamp| state.paused_until = None;
    alter(&sim, person, Fault::Pause, change).await;
}

async fn alter(sim: &SimWorld, person: usize, what: Fault, change: impl Fn(&mut State, Timestamp)) {
    let Some(of) = conversation(sim, person) else {
        return;
    };
    let work = async {
        for _ in 0..TRIES {
            let mut state = sim.world.store.peek(&of, 1).await.ok()?.state?;
            let expected = state.version;
            change(&mut state, sim.world.now());
            state.version += 1;
            let swapped = sim
                .world
                .store
                .swap_state(&of, expected, &state)
                .await
                .ok()?;
            if swapped == Swapped::Done {
                return Some(());
            }
        }
        None
    };
    let done = sim.core.invoke(Role::Operator, FORGET, work).await;
    if done.flatten().is_some() {
        sim.core.count(what);
    }
}

/// A person's number no longer leads to them: the next who writes from it is someone else.
pub fn recycle(sim: &SimWorld, person: usize) -> bool {
    let (agent, alias) = (sim.agent_id(), Alias::Phone(phone(person)));
    let recycled = sim.table.touch(|table| {
        let contact = table
            .aliases
            .get(&(agent.clone(), alias.clone()))
            .cloned()?;
        let of = ConversationId {
            agent: agent.clone(),
            contact,
        };
        let state = table.people.get_mut(&of)?.state.as_mut()?;
        // Only where the BSUID still leads to them, and no one else works on them just now.
        if state.aliases.len() < 2 || state.lease.is_some() {
            return None;
        }
        state.aliases.retain(|one| *one != alias);
        state.version += 1;
        table.aliases.remove(&(agent.clone(), alias.clone()))
    });
    if recycled.is_some() {
        sim.core.count(Fault::NumberRecycled);
    }
    recycled.is_some()
}

/// Every message of the queues vanishes.
pub fn purge(sim: &SimWorld) {
    sim.core.count(Fault::QueuePurged);
    sim.core.trouble(None, super::queue::LOST_TICK_MS);
    if sim.queues.count(TICKS) + sim.queues.count(COMPACTIONS) > 0 {
        sim.queues.lose_all();
    }
}
