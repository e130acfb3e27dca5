//! Nobody comes back, nothing is left, and nobody loses what they wrote afterwards.

use std::sync::Arc;

use recado::flow::forget;
use recado::ports::{Store as _, Written};
use recado_tests::fake_world::FakeWorld;
use recado_tests::gate::Gate;

use crate::{ANA, answers, assert_nothing_left, bring, by_both, forget_ana, forgets};

fn gated() -> (Arc<Gate>, Arc<FakeWorld>) {
    let gate = Gate::new();
    (Arc::clone(&gate), Arc::new(FakeWorld::start_gated(gate)))
}

async fn is_answered(world: &FakeWorld, text: &str) {
    world.say(ANA, text).await;
    world.pass_s(30).await;
}

/// An erasure begins and dies before anything has gone.
async fn dies_erasing(gate: &Gate, world: &Arc<FakeWorld>) {
    gate.close("erase");
    let dies = forgets(world);
    gate.reached().await;
    dies.abort();
}

async fn lives_again(world: &FakeWorld) {
    world.pass_s(2).await;
    world.say(ANA, "nova vida").await;
}

/// V1.
#[tokio::test(start_paused = true)]
async fn a_first_message_that_pauses_over_an_erasure_brings_nobody_back() {
    let (gate, world) = gated();
    gate.close("create_contact");
    let late = bring(&world, world.message(ANA, "wamid.1", "segredo um"));
    gate.reached().await;
    world.say(ANA, "segredo zero").await;
    forget_ana(&world).await;
    gate.open();
    assert_eq!(late.await.unwrap().late, 1);
    world.pass_s(600).await;
    assert_nothing_left(&world);
    assert!(answers(&world).is_empty());
}

/// V2.
#[tokio::test(start_paused = true)]
async fn a_message_put_after_an_erasure_never_meets_the_next_life() {
    let (gate, world) = gated();
    is_answered(&world, "segredo zero").await;
    gate.close("append");
    let late = bring(&world, world.message(ANA, "wamid.1", "segredo um"));
    gate.reached().await;
    forget_ana(&world).await;
    lives_again(&world).await;
    gate.open();
    assert_eq!(late.await.unwrap().stored, 1);
    world.pass_s(600).await;
    assert_eq!(answers(&world)[1..], ["ouvi: nova vida"]);
    assert!(!world.store.look().dump().contains("segredo"));
}

/// V3.
#[tokio::test(start_paused = true)]
async fn a_message_of_someone_who_lives_is_not_deleted_as_late() {
    let world = FakeWorld::start();
    let message = world.message(ANA, "wamid.1", "oi");
    let id = message.id.clone();
    world.deliver(message).await;
    let ana = world.conversation(ANA);
    let deleted = world.store.delete_late(&ana, &[id]).await.unwrap();
    assert_eq!(deleted, Written::Lost);
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

/// V4.
#[tokio::test(start_paused = true)]
async fn an_alias_is_not_added_to_who_is_forgotten_meanwhile() {
    let (gate, world) = gated();
    is_answered(&world, "segredo zero").await;
    gate.close("add_alias");
    let late = bring(&world, by_both(&world, "wamid.1", "segredo um"));
    gate.reached().await;
    forget_ana(&world).await;
    gate.open();
    assert_eq!(late.await.unwrap().late, 1);
    world.pass_s(600).await;
    assert_nothing_left(&world);
    // And no silence for ever after.
    world.deliver(by_both(&world, "wamid.2", "nova vida")).await;
    world.pass_s(30).await;
    assert_eq!(answers(&world)[1..], ["ouvi: nova vida"]);
}

/// V5.
#[tokio::test(start_paused = true)]
async fn an_erasure_that_died_knows_its_aliases_when_it_goes_on() {
    let (gate, world) = gated();
    world.deliver(by_both(&world, "wamid.1", "segredo")).await;
    world.pass_s(30).await;
    dies_erasing(&gate, &world).await;
    assert_eq!(world.store.look().aliases.len(), 2);
    world.pass_s(600).await;
    assert_nothing_left(&world);
}

/// V6.
#[tokio::test(start_paused = true)]
async fn the_repeat_of_a_message_that_was_erased_is_dropped() {
    let world = FakeWorld::start();
    is_answered(&world, "segredo zero").await;
    let message = world.message(ANA, "wamid.1", "segredo um");
    world.deliver(message.clone()).await;
    world.pass_s(30).await;
    forget_ana(&world).await;
    assert_eq!(world.deliver(message).await.late, 1);
    world.pass_s(600).await;
    assert_eq!(answers(&world).len(), 2);
    assert_nothing_left(&world);
}

/// A.
#[tokio::test(start_paused = true)]
async fn an_erasure_that_goes_on_leaves_the_next_lifes_aliases_alone() {
    let (gate, world) = gated();
    is_answered(&world, "segredo").await;
    dies_erasing(&gate, &world).await;
    lives_again(&world).await;
    forget::resume(&world.world, &world.conversation(ANA))
        .await
        .unwrap();
    world.pass_s(600).await;
    is_answered(&world, "ainda eu").await;
    assert_eq!(answers(&world)[1..], ["ouvi: nova vida", "ouvi: ainda eu"]);
    let last = world.model.prompts().pop().unwrap();
    assert_eq!(last.history.len(), 2, "one memory");
}

/// B.
#[tokio::test(start_paused = true)]
async fn an_alias_added_while_an_erasure_begins_goes_with_it() {
    let (gate, world) = gated();
    is_answered(&world, "segredo").await;
    gate.close("begin_erasure");
    let forgetting = forgets(&world);
    gate.reached().await;
    world
        .deliver(by_both(&world, "wamid.1", "segredo um"))
        .await;
    gate.open();
    forgetting.await.unwrap();
    world.pass_s(600).await;
    assert_nothing_left(&world);
}

/// C.
#[tokio::test(start_paused = true)]
async fn a_repeat_that_straddles_erasure_and_next_life_is_dropped() {
    let (gate, world) = gated();
    let message = world.message(ANA, "wamid.1", "segredo");
    world.deliver(message.clone()).await;
    world.pass_s(30).await;
    gate.close("resolve");
    let repeat = bring(&world, message);
    gate.reached().await;
    forget_ana(&world).await;
    lives_again(&world).await;
    gate.open();
    assert_eq!(repeat.await.unwrap().late, 1);
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: segredo", "ouvi: nova vida"]);
}

/// D.
#[tokio::test(start_paused = true)]
async fn what_is_written_while_an_erasure_lies_dead_is_kept() {
    let (gate, world) = gated();
    is_answered(&world, "segredo").await;
    dies_erasing(&gate, &world).await;
    lives_again(&world).await;
    world.pass_s(600).await;
    assert_eq!(answers(&world)[1..], ["ouvi: nova vida"]);
    let dump = world.store.look().dump();
    assert!(
        dump.contains("nova vida") && !dump.contains("segredo"),
        "{dump}"
    );
}

/// T19.
#[tokio::test(start_paused = true)]
async fn no_late_write_of_a_run_brings_anything_back() {
    for operation in ["commit", "mark_sending", "settle", "release", "swap_state"] {
        let (gate, world) = gated();
        world.say(ANA, "segredo").await;
        gate.close(operation);
        gate.reached().await;
        // The run is slower than its lease, so the erasure does not wait for it any longer.
        forget_ana(&world).await;
        gate.open();
        world.pass_s(900).await;
        assert_nothing_left(&world);
        assert!(answers(&world).len() <= 1, "{operation}");
    }
}
