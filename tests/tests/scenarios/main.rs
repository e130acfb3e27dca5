//! What a person sees, told as stories on fakes with a moved clock: nothing here waits.

use recado_tests::fake_clock::FIRST_DAY;
use recado_tests::fake_world::FakeWorld;

mod agenda;
mod failures;
mod ledger;
mod limits;
mod memory;
mod models;
mod outages;
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
