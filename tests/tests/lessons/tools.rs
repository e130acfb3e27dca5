//! What a tool writes is written once, whatever dies, and for exactly the batch it was written for.

use std::sync::Arc;
use std::time::Duration;

use recado::domain::{ReplyKind, Step, ToolResult, Turn};
use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_tools::{ADD, BOOK, ToolBehaviour};
use recado_tests::fake_world::FakeWorld;
use recado_tests::gate::Gate;

use crate::{ANA, answers, assert_nothing_left, forgets, opt_out, pause};

const SECOND: Duration = Duration::from_secs(1);
const BREAD: &str = r#"{"what":"pão"}"#;

fn asks_for(world: &FakeWorld, tool: &'static str) {
    world.tools.declare();
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(tool, BREAD)]));
}

fn effects(world: &FakeWorld) -> Vec<String> {
    world.tools.effects()
}

/// How often a tool was tried, and under how many keys.
fn tries(world: &FakeWorld) -> (usize, usize) {
    let tries = world.tools.tries();
    let mut keys: Vec<_> = tries.iter().map(|one| &one.key).collect();
    keys.dedup();
    (tries.len(), keys.len())
}

/// What the model was told of the last call.
fn told(world: &FakeWorld) -> Option<ToolResult> {
    let prompts = world.model.prompts();
    let pairs = prompts.iter().flat_map(|prompt| &prompt.rounds);
    pairs
        .flat_map(|round| &round.calls)
        .last()
        .map(|pair| pair.result.clone())
}

/// V12, T6: "nothing was written" means by no run, not by this one.
#[tokio::test(start_paused = true)]
async fn a_run_that_finds_a_write_of_an_earlier_one_is_not_dropped_for_a_newer_message() {
    let world = FakeWorld::start();
    asks_for(&world, BOOK);
    world.model.then(Behaviour::Fail(
        Duration::from_millis(100),
        ModelErrorClass::Transient,
    ));
    world.model.then(Behaviour::Answer(Duration::from_secs(6)));
    world.say(ANA, "marca pão").await;
    world.pass_s(9).await;
    assert_eq!((effects(&world).len(), answers(&world).len()), (1, 0));
    world.say(ANA, "e leite").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: marca pão", "ouvi: e leite"]);
    assert_eq!(effects(&world), [format!("{BOOK} {BREAD}")]);
    let dropped = |step: &Step| matches!(step, Step::Superseded { .. });
    assert_eq!(world.trace.count(dropped), 0);
}

/// T17, and the row "sealed batch": the effect, a death, and more words before the next run.
#[tokio::test(start_paused = true)]
async fn a_batch_that_would_have_grown_between_two_tries_keeps_its_key() {
    let world = FakeWorld::start();
    asks_for(&world, ADD);
    world.tools.then(ToolBehaviour::ActSilently(10 * SECOND));
    world.say(ANA, "põe pão").await;
    world.pass_s(8).await;
    assert_eq!(effects(&world).len(), 1);
    world.kill().await;
    world.say(ANA, "e leite").await;
    world.restart().await;
    world.pass_s(60).await;
    assert_eq!(effects(&world).len(), 1, "it happened once");
    assert_eq!(tries(&world), (2, 1), "sent again under the same key");
    assert_eq!(answers(&world), ["ouvi: põe pão", "ouvi: e leite"]);
}

/// T8, and the row "stored calls": nobody knows whether it happened, and it must not happen twice.
#[tokio::test(start_paused = true)]
async fn a_write_that_a_death_left_running_is_not_tried_again_but_told_as_unknown() {
    let world = FakeWorld::start();
    asks_for(&world, BOOK);
    world.tools.then(ToolBehaviour::ActSilently(10 * SECOND));
    world.say(ANA, "marca pão").await;
    world.pass_s(8).await;
    world.kill().await;
    world.restart().await;
    world.pass_s(60).await;
    assert_eq!(tries(&world), (1, 1));
    assert_eq!(told(&world), Some(ToolResult::Unknown));
    assert_eq!(answers(&world), ["ouvi: marca pão"]);
}

/// A result that was stored is used by the next run, and its tool is left alone.
#[tokio::test(start_paused = true)]
async fn a_result_that_is_there_is_not_asked_for_again() {
    let world = FakeWorld::start();
    asks_for(&world, BOOK);
    world.model.then(Behaviour::Answer(20 * SECOND));
    world.say(ANA, "marca pão").await;
    world.pass_s(9).await;
    world.kill().await;
    world.restart().await;
    world.pass_s(60).await;
    assert_eq!(tries(&world), (1, 1));
    assert_eq!(told(&world), Some(ToolResult::Ok("book ok".to_owned())));
    assert_eq!(answers(&world), ["ouvi: marca pão"]);
}

/// The row "epoch, everywhere": a stale run seals nothing and writes nothing.
#[tokio::test(start_paused = true)]
async fn a_run_that_lost_its_lease_before_the_seal_writes_nothing() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    asks_for(&world, BOOK);
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(BOOK, BREAD)]));
    world.say(ANA, "marca pão").await;
    gate.close("store_calls");
    gate.reached().await;
    world.pass_s(200).await;
    assert_eq!(answers(&world), ["ouvi: marca pão"], "another run did it");
    gate.open();
    world.pass_s(60).await;
    assert_eq!(tries(&world), (1, 1));
    assert_eq!(answers(&world).len(), 1);
}

/// The same after the effect: the other run goes on under the same reply, so the key is the same.
#[tokio::test(start_paused = true)]
async fn a_run_that_lost_its_lease_after_the_effect_leaves_the_turn_to_the_next() {
    for (tool, tried) in [(BOOK, 1), (ADD, 2)] {
        let gate = Gate::new();
        let world = FakeWorld::start_gated(Arc::clone(&gate));
        asks_for(&world, tool);
        world.say(ANA, "pão").await;
        gate.close("store_result");
        gate.reached().await;
        world.pass_s(200).await;
        gate.open();
        world.pass_s(60).await;
        assert_eq!(effects(&world), [format!("{tool} {BREAD}")]);
        assert_eq!(tries(&world), (tried, 1), "{tool}");
        assert_eq!(answers(&world), ["ouvi: pão"]);
    }
}

/// The row "`attribute_exists` on updates" (S6): effect, forget, and then its result.
#[tokio::test(start_paused = true)]
async fn a_result_never_brings_back_a_call_that_was_forgotten() {
    let gate = Gate::new();
    let world = Arc::new(FakeWorld::start_gated(Arc::clone(&gate)));
    world.tools.declare();
    let secret = r#"{"what":"segredo"}"#;
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(BOOK, secret)]));
    world.say(ANA, "segredo").await;
    gate.close("store_result");
    gate.reached().await;
    forgets(&world).await.unwrap();
    gate.open();
    world.pass_s(600).await;
    assert_eq!(effects(&world).len(), 1, "it was under way");
    assert_nothing_left(&world);
}

/// V7 with a write: the seal of what was closed is opened, the next turn is another one, and it is told what was done.
#[tokio::test(start_paused = true)]
async fn what_was_done_for_a_batch_that_a_human_took_over_is_told_to_the_next_turn() {
    let world = FakeWorld::start();
    asks_for(&world, BOOK);
    world.model.then(Behaviour::Answer(20 * SECOND));
    world.say(ANA, "marca pão").await;
    world.pass_s(9).await;
    pause(&world, true).await;
    world.pass_s(30).await;
    assert_eq!(answers(&world).len(), 0);
    pause(&world, false).await;
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(BOOK, BREAD)]));
    world.say(ANA, "e aí, marcou?").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: e aí, marcou?"]);
    assert_eq!(tries(&world), (2, 2), "another turn, another key");
    let prompts = world.model.prompts();
    let past = &prompts.last().unwrap().history;
    assert!(matches!(&past[0], Turn::User(said) if *said == ["marca pão"]));
    let Turn::Calls(calls) = &past[1] else {
        panic!("the call is told");
    };
    assert_eq!(calls[0].call.tool.as_str(), BOOK);
    assert_eq!(calls[0].result, ToolResult::Ok("book ok".to_owned()));
}

/// A human who gives back before anything was closed: the turn goes on as it was sealed.
#[tokio::test(start_paused = true)]
async fn a_pause_that_closes_nothing_leaves_the_seal() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    asks_for(&world, BOOK);
    world.model.then(Behaviour::Answer(20 * SECOND));
    world.say(ANA, "marca pão").await;
    world.pass_s(9).await;
    gate.close("close");
    pause(&world, true).await;
    gate.reached().await;
    pause(&world, false).await;
    gate.open();
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: marca pão"]);
    assert_eq!(tries(&world), (1, 1));
}

/// V8 before the act: an opt-out after the last look stops the write too.
#[tokio::test(start_paused = true)]
async fn an_opt_out_after_the_last_look_still_stops_the_write() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    asks_for(&world, BOOK);
    world.say(ANA, "marca pão").await;
    gate.close("store_calls");
    gate.reached().await;
    opt_out(&world).await;
    gate.open();
    world.pass_s(600).await;
    assert_eq!((tries(&world).0, answers(&world).len()), (0, 0));
}

/// T3 with a write: the honest line answers the sealed batch, and what was done stays known.
#[tokio::test(start_paused = true)]
async fn giving_up_after_a_write_answers_the_sealed_batch_and_keeps_what_was_done() {
    let world = FakeWorld::start();
    asks_for(&world, BOOK);
    world.model.usually(Behaviour::Fail(
        Duration::from_millis(100),
        ModelErrorClass::Transient,
    ));
    world.say(ANA, "marca pão").await;
    world.pass_s(60).await;
    world.say(ANA, "e aí?").await;
    world.pass_s(400).await;
    let apology = |step: &Step| matches!(step, Step::Committed { kind: ReplyKind::Apology, answered, .. } if answered.len() == 1);
    assert!(world.trace.count(apology) >= 1, "the sealed batch alone");
    assert_eq!(tries(&world), (1, 1));
    let table = world.store.look();
    let person = &table.people[&world.conversation(ANA)];
    assert!(person.state.as_ref().unwrap().sealed.is_none());
    assert!(person.calls.values().all(|stored| stored.in_history));
    assert_eq!(person.calls.len(), 1);
}

/// A run that panics in a tool counts as a crash, and the next one goes on from the stored call.
#[tokio::test(start_paused = true)]
async fn a_panic_in_a_tool_makes_no_second_effect() {
    let world = FakeWorld::start();
    asks_for(&world, BOOK);
    world.tools.then(ToolBehaviour::ActAndPanic);
    world.say(ANA, "marca pão").await;
    world.pass_s(60).await;
    assert_eq!((tries(&world), effects(&world).len()), ((1, 1), 1));
    assert_eq!(told(&world), Some(ToolResult::Unknown));
    assert_eq!(answers(&world), ["ouvi: marca pão"]);
}
