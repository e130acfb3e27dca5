//! Failures seen elsewhere and traces that a model check of this protocol once found, each as a named story. A test's
//! page names its row: V1 to V13 and A to G are traces, T1 to T19 and M1 to M10 lessons. Those that scenarios tell already carry
//! their row there.

use std::sync::Arc;
use std::time::Duration;

use recado::domain::{Alias, Bsuid, Inbound, OptOut, State};
use recado::flow::forget;
use recado::ports::{Store as _, Swapped};
use recado_tests::fake_world::FakeWorld;
use tokio::task::JoinHandle;

mod erasures;
mod learning;
mod models;
mod outbox;
mod providers;
mod tools;
mod turns;

const ANA: &str = "5511900000001";
const ANA_ID: &str = "BR.1502576394655801";

/// What the provider accepted since the world began, in order.
fn answers(world: &FakeWorld) -> Vec<String> {
    world.messenger.texts()
}

/// A message that gives both ids.
fn by_both(world: &FakeWorld, id: &str, text: &str) -> Inbound {
    let mut message = world.message(ANA, id, text);
    let bsuid = Bsuid::parse(ANA_ID).unwrap();
    message.aliases.push(Alias::Bsuid(bsuid));
    message
}

/// Changes Ana's state as an operator does.
async fn operate(world: &FakeWorld, change: impl FnOnce(&mut State)) {
    let ana = world.conversation(ANA);
    let mut state = world.store.peek(&ana, 1).await.unwrap().state.unwrap();
    let expected = state.version;
    change(&mut state);
    state.version += 1;
    let swapped = world
        .store
        .swap_state(&ana, expected, &state)
        .await
        .unwrap();
    assert_eq!(swapped, Swapped::Done);
}

/// The operator opts Ana out.
async fn opt_out(world: &FakeWorld) {
    let now = world.world.now();
    operate(world, |state| {
        state.opt_out = Some(OptOut { sent_at: now });
    })
    .await;
}

/// A human takes over for an hour, or gives back.
async fn pause(world: &FakeWorld, on: bool) {
    let until = world.world.now().plus(Duration::from_hours(1));
    operate(world, |state| state.paused_until = on.then_some(until)).await;
}

/// A webhook on its way.
fn bring(world: &Arc<FakeWorld>, message: Inbound) -> JoinHandle<recado::flow::ingest::Ingested> {
    let world = Arc::clone(world);
    tokio::spawn(async move { world.deliver(message).await })
}

/// A forget on its way.
fn forgets(world: &Arc<FakeWorld>) -> JoinHandle<()> {
    let world = Arc::clone(world);
    tokio::spawn(async move {
        let ana = world.conversation(ANA);
        forget::forget(&world.world, &ana).await.unwrap();
    })
}

/// Forgets Ana.
async fn forget_ana(world: &FakeWorld) {
    forget::forget(&world.world, &world.conversation(ANA))
        .await
        .unwrap();
}

/// Nothing of Ana is left, whatever way it is looked at.
fn assert_nothing_left(world: &FakeWorld) {
    let table = world.store.look();
    let dump = table.dump();
    assert!(
        !dump.contains(ANA) && !dump.contains(ANA_ID) && !dump.contains("segredo"),
        "{dump}"
    );
    assert!(table.aliases.is_empty() && table.jobs.is_empty());
}
