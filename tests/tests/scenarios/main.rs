//! What a person sees, told as stories on fakes with a moved clock: nothing here waits.

use recado::ports::{Erasure, Store as _};
use recado_tests::fake_clock::FIRST_DAY;
use recado_tests::fake_world::FakeWorld;

mod agenda;
mod clocks;
mod confirm;
mod failures;
mod fallback;
mod ledger;
mod limits;
mod memory;
mod models;
mod outages;
mod panics;
mod people;
mod poison;
mod routing;
mod sends;
mod tools;
mod turns;

const ANA: &str = "5511900000001";
const BIA: &str = "5511900000002";

/// What the provider accepted since the world began, in order.
fn answers(world: &FakeWorld) -> Vec<String> {
    world.messenger.texts()
}

/// Milliseconds from the world's first moment to the n-th send.
fn sent_after_ms(world: &FakeWorld, n: usize) -> u128 {
    world.messenger.delivered()[n]
        .at
        .since(FIRST_DAY)
        .as_millis()
}

/// A forget that dies after its first transaction.
async fn forgets_and_dies(world: &FakeWorld, phone: &str) {
    let conversation = world.conversation(phone);
    let peek = world.store.peek(&conversation, 1).await.unwrap();
    let state = peek.state.unwrap();
    let erasure = Erasure {
        conversation,
        aliases: state.aliases.clone(),
        forgotten_at: world.world.now(),
    };
    let begun = world.store.begin_erasure(&erasure, state.version).await;
    begun.unwrap();
}
