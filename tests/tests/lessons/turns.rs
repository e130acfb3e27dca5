//! Claims, commits and what they answer.

use std::sync::Arc;
use std::time::Duration;

use recado::domain::{ReplyId, ReplyKind, Sealed, Step};
use recado::flow::process::{self, Outcome, Visit};
use recado::ports::Store as _;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_ticks::TICKS;
use recado_tests::fake_world::{FakeWorld, agent};
use recado_tests::gate::Gate;

use crate::{ANA, answers, opt_out, pause};

/// V7.
#[tokio::test(start_paused = true)]
async fn a_sealed_batch_whose_messages_were_closed_holds_nobody_up() {
    let world = FakeWorld::start();
    world.say(ANA, "antes").await;
    let ana = world.conversation(ANA);
    world.store.touch(|table| {
        let person = table.people.get_mut(&ana).unwrap();
        let events = person.events.keys().cloned().collect();
        let reply = ReplyId::from_parts(1, 1);
        person.state.as_mut().unwrap().sealed = Some(Sealed { reply, events });
    });
    pause(&world, true).await;
    world.pass_s(30).await;
    pause(&world, false).await;
    world.say(ANA, "depois").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: depois"]);
}

/// V8.
#[tokio::test(start_paused = true)]
async fn an_opt_out_after_the_last_look_still_stops_the_commit() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    gate.close("commit");
    gate.reached().await;
    opt_out(&world).await;
    gate.open();
    world.pass_s(600).await;
    assert_eq!(answers(&world).len(), 0);
    let closed = world
        .trace
        .count(|step| matches!(step, Step::Closed { .. }));
    assert_eq!(closed, 1);
}

/// V9.
#[tokio::test(start_paused = true)]
async fn a_slow_close_does_not_reach_over_the_end_of_a_pause() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    pause(&world, true).await;
    gate.close("close");
    gate.reached().await;
    pause(&world, false).await;
    gate.open();
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

/// V10.
#[tokio::test(start_paused = true)]
async fn a_message_that_was_closed_is_not_answered_as_well() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    gate.close("commit");
    gate.reached().await;
    world.store.touch(|table| {
        let person = table.people.get_mut(&world.conversation(ANA)).unwrap();
        let stored = person.events.values_mut().next().unwrap();
        stored.answered_by = Some("closed:paused".to_owned());
    });
    gate.open();
    world.pass_s(60).await;
    assert_eq!(answers(&world).len(), 0);
}

/// T4: the claim is where the batch is read, not the look before it.
#[tokio::test(start_paused = true)]
async fn what_comes_between_look_and_claim_is_in_the_batch_or_waited_for() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "um").await;
    gate.close("swap_state");
    gate.reached().await;
    world.say(ANA, "dois").await;
    gate.open();
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: um / dois"]);
}

/// T7: past the ceiling a run is not dropped, and what it did not see, though sent before, is not closed over.
#[tokio::test(start_paused = true)]
async fn an_answer_closes_what_it_answers_and_not_what_was_sent_before() {
    let world = FakeWorld::start();
    world.model.then(Behaviour::Answer(Duration::from_secs(30)));
    let early = world.message(ANA, "wamid.early", "antes");
    world.pass_s(2).await;
    world.say(ANA, "depois").await;
    world.pass_s(28).await;
    let mut late = early;
    late.arrived_at = world.world.now();
    world.deliver(late).await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: depois", "ouvi: antes"]);
}

/// T13.
#[tokio::test(start_paused = true)]
async fn a_tick_with_nothing_to_do_is_done_and_says_nothing() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    world
        .world
        .ticks
        .tick(&world.conversation(ANA), "another")
        .await
        .unwrap();
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.ticks.count(TICKS), 0);
}

/// T14.
#[tokio::test(start_paused = true)]
async fn the_lease_outlives_the_commit_and_a_stale_claim_commits_nothing() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    gate.close("mark_sending");
    gate.reached().await;
    let ana = world.conversation(ANA);
    let state = world.store.peek(&ana, 1).await.unwrap().state.unwrap();
    assert!(state.lease.is_some(), "committed, not sent: still leased");
    gate.open();
    world.pass_s(30).await;
    gate.close("commit");
    world.say(ANA, "de novo").await;
    gate.reached().await;
    // Slower than its lease: another run answers.
    world.pass_s(200).await;
    assert_eq!(answers(&world).len(), 2);
    gate.open();
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi", "ouvi: de novo"]);
}

/// A second STOP met the first one's opt-out at every commit, and the conversation span for ever.
#[tokio::test(start_paused = true)]
async fn a_second_stop_is_met_with_silence_and_comes_to_rest() {
    let world = FakeWorld::start();
    for _ in 0..2 {
        world.say(ANA, "parar").await;
        world.pass_s(30).await;
    }
    let confirmation = agent(|_| {}).texts.opted_out;
    assert_eq!(
        answers(&world),
        [confirmation],
        "one confirmation, then silence"
    );
    let peek = world.store.peek(&world.conversation(ANA), 1).await.unwrap();
    assert!(peek.pending.is_empty() && peek.state.unwrap().opt_out.is_some());
}

/// Runs are counted against the messages they were for: who was interrupted once is not given up on a day later.
#[tokio::test(start_paused = true)]
async fn an_interrupted_run_does_not_count_against_the_next_days_message() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    gate.close("commit");
    gate.reached().await;
    pause(&world, true).await;
    gate.open();
    world.pass_s(86_400).await;
    world.say(ANA, "bom dia").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: bom dia"]);
    let apologies = world.trace.count(|step| {
        matches!(
            step,
            Step::Committed {
                kind: ReplyKind::Apology,
                ..
            }
        )
    });
    assert_eq!(apologies, 0);
}

/// Where the tick of a run cannot be held the run goes on, for the lease keeps others out.
#[tokio::test(start_paused = true)]
async fn a_run_whose_tick_is_gone_answers_all_the_same() {
    let world = Arc::new(FakeWorld::start());
    world.say(ANA, "oi").await;
    world.kill().await;
    world.pass_s(10).await;
    let visit = Visit {
        conversation: world.conversation(ANA),
        receipt: Some(recado::ports::Receipt("gone".to_owned())),
        deadline: world.world.now().plus(Duration::from_mins(2)),
    };
    let outcome = process::process(&world.world, &visit).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(answers(&world), ["ouvi: oi"]);
}
