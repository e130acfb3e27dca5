//! What breaks on the way, and that nothing is lost or doubled by it.

use std::time::Duration;

use recado::domain::{Lease, ReplyKind, RunId, Step};
use recado::error::{ModelErrorClass, Verdict};
use recado::ports::Store as _;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_store::Health;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, BIA, answers, sent_after_ms};

/// T16.
#[tokio::test(start_paused = true)]
async fn a_crash_after_the_commit_still_sends_and_sends_once() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    // Dies while the provider is being called: 5 s window, 1 s model, then 100 ms of sending.
    world.pass(Duration::from_millis(6_050)).await;
    world.kill().await;
    assert_eq!(answers(&world).len(), 0);
    world.restart().await;
    world.pass_s(10).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(
        world.model.prompts().len(),
        1,
        "the answer was committed: no second call"
    );
}

/// T2.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_moment_loses_nothing_and_doubles_nothing() {
    for crash_at_ms in (0..9_000).step_by(150) {
        let world = FakeWorld::start();
        world.say(ANA, "oi").await;
        world.pass_s(1).await;
        world.say(ANA, "tudo bem?").await;
        world.pass(Duration::from_millis(crash_at_ms)).await;
        world.kill().await;
        world.restart().await;
        world.pass_s(20).await;
        assert_eq!(
            answers(&world),
            ["ouvi: oi / tudo bem?"],
            "killed at {crash_at_ms} ms"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_in_a_backoff_when_the_process_ends_wakes_when_the_backoff_is_over() {
    let world = FakeWorld::start();
    let down = Behaviour::Fail(Duration::from_millis(100), ModelErrorClass::Transient);
    for _ in 0..4 {
        world.model.then(down.clone());
    }
    world.say(ANA, "oi").await;
    // Four failures in a row: by now the next try is several seconds away.
    while world.model.prompts().len() < 4 {
        world.pass_s(1).await;
    }
    let peek = world.store.peek(&world.conversation(ANA), 1).await.unwrap();
    let until = peek.state.unwrap().hold_until.unwrap();
    let waits = until.since(world.world.now());
    assert!(waits > Duration::from_secs(1), "{waits:?}");
    world.kill().await;
    world.restart().await;
    // The tick of the start takes the queue's delay; then the run as usual.
    world.pass(waits.max(Duration::from_secs(5))).await;
    world.pass_s(2).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

/// T15: no life hangs on one tick.
#[tokio::test(start_paused = true)]
async fn a_lost_tick_is_made_good_by_the_sweeper() {
    let world = FakeWorld::start();
    world.ticks.refuse(true);
    let stored = world.deliver(world.message(ANA, "wamid.1", "oi")).await;
    assert_eq!(stored.failed, 1, "the webhook answers 5xx");
    world.ticks.refuse(false);
    world.pass_s(6 * 60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

/// T15.
#[tokio::test(start_paused = true)]
async fn a_tick_swallowed_by_dedup_is_made_good_too() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    // The queue forgets the tick but not its dedup id, so the provider's retry is swallowed.
    world.ticks.lose_all();
    world.pass_s(6 * 60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_down_for_a_while_is_waited_for_without_a_storm() {
    let world = FakeWorld::start();
    world.model.usually(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Transient,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(120).await;
    assert_eq!(answers(&world).len(), 0);
    assert!(
        world.model.prompts().len() < 10,
        "{} calls",
        world.model.prompts().len()
    );
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(1)));
    world.pass_s(62).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

/// T3.
#[tokio::test(start_paused = true)]
async fn a_model_that_stays_down_gets_one_honest_line_for_all_that_waits() {
    let world = FakeWorld::start();
    world.model.usually(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Transient,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(100).await;
    world.say(ANA, "alguém aí?").await;
    world.pass_s(900).await;
    let apology = agent(|_| {}).texts.apology;
    assert_eq!(answers(&world), [apology]);
    let apologies = world.trace.count(
        |step| matches!(step, Step::Committed { kind: ReplyKind::Apology, answered, .. } if answered.len() == 2),
    );
    assert_eq!(apologies, 1);
    // No backoff goes beyond the give-up time.
    assert!(sent_after_ms(&world, 0) < 5_000 + 300_000 + 3_000);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_model_is_answered_with_the_agents_own_words() {
    let world = FakeWorld::start();
    world.model.then(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Refusal,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.refusal]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_crashes_every_run_gets_the_honest_line_and_others_go_on() {
    let world = FakeWorld::start();
    for _ in 0..3 {
        world.model.then(Behaviour::Panic);
    }
    world.say(ANA, "veneno").await;
    world.pass_s(120).await;
    world.say(ANA, "oi de novo").await;
    world.pass_s(30).await;
    assert_eq!(
        answers(&world),
        [agent(|_| {}).texts.apology, "ouvi: oi de novo".to_owned()]
    );
}

#[tokio::test(start_paused = true)]
async fn a_send_refused_for_now_is_tried_again_and_keeps_the_order() {
    let world = FakeWorld::start();
    world
        .messenger
        .then(SendBehaviour::Refuse("130429", Verdict::Retry));
    world.messenger.then(SendBehaviour::Unreachable);
    world.say(ANA, "um").await;
    world.pass(Duration::from_millis(6_500)).await;
    world.say(ANA, "dois").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: um", "ouvi: dois"]);
}

#[tokio::test(start_paused = true)]
async fn a_send_refused_for_good_is_not_tried_again() {
    let world = FakeWorld::start();
    world
        .messenger
        .then(SendBehaviour::Refuse("131047", Verdict::GiveUp));
    world.say(ANA, "um").await;
    world.pass_s(600).await;
    assert_eq!(answers(&world).len(), 0);
    world.say(ANA, "dois").await;
    world.pass_s(60).await;
    // What never arrived is answered with what follows.
    assert_eq!(answers(&world), ["ouvi: um / dois"]);
}

/// T12.
#[tokio::test(start_paused = true)]
async fn a_send_of_unknown_outcome_is_looked_up_and_never_doubled() {
    for (label, behaviour, can_be_asked, right) in [
        ("accepted, asked", SendBehaviour::AcceptSilently, true, 1),
        ("lost, asked", SendBehaviour::LoseSilently, true, 1),
        (
            "accepted, cannot be asked",
            SendBehaviour::AcceptSilently,
            false,
            1,
        ),
        (
            "lost, cannot be asked: the operator sees it",
            SendBehaviour::LoseSilently,
            false,
            0,
        ),
    ] {
        let world = FakeWorld::start();
        world.messenger.then(behaviour);
        world.messenger.can_be_asked(can_be_asked);
        world.say(ANA, "oi").await;
        world.pass_s(600).await;
        assert_eq!(answers(&world).len(), right, "{label}");
        let unknown = world
            .trace
            .count(|step| matches!(step, Step::SendUnknown { .. }));
        assert_eq!(unknown, usize::from(!can_be_asked), "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_waits_for_a_token_however_long_it_takes_to_mend() {
    let world = FakeWorld::start();
    // Longer than a reply is tried for any other reason.
    for _ in 0..10 {
        let refusal = SendBehaviour::Refuse("190", Verdict::Mend);
        world.messenger.then(refusal);
    }
    world.say(ANA, "oi").await;
    world.pass_s(6 * 60).await;
    assert_eq!(answers(&world).len(), 0);
    world.pass_s(6 * 60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.model.prompts().len(), 1, "one call for one reply");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_died_between_send_and_release_silences_nobody_in_the_next() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    // The reply is at rest, and the run that sent it died before it gave its lease back.
    let conversation = world.conversation(ANA);
    let state = world
        .store
        .peek(&conversation, 1)
        .await
        .unwrap()
        .state
        .unwrap();
    let mut leased = state.clone();
    leased.version += 1;
    let now = world.world.now();
    leased.lease = Some(Lease {
        run: RunId::from_parts(now.ms(), 1),
        until: now.plus(Duration::from_mins(2)),
    });
    world
        .store
        .swap_state(&conversation, state.version, &leased)
        .await
        .unwrap();
    world.kill().await;
    world.pass_s(1).await;
    world.restart().await;
    world.say(ANA, "ainda aí?").await;
    world.pass_s(10).await;
    assert_eq!(answers(&world), ["ouvi: oi", "ouvi: ainda aí?"]);
}

#[tokio::test(start_paused = true)]
async fn one_person_whose_items_cannot_be_read_keeps_nobody_else_from_being_served_at_a_start() {
    let world = FakeWorld::start();
    world.say(ANA, "oi da ana").await;
    world.say(BIA, "oi da bia").await;
    world.kill().await;
    let ana = world.conversation(ANA);
    world.store.touch(|table| {
        let person = table.people.get_mut(&ana).unwrap();
        person
            .events
            .values_mut()
            .for_each(|event| event.health = Health::Future);
    });
    world.restart().await;
    world.pass_s(20).await;
    assert_eq!(answers(&world), ["ouvi: oi da bia"]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_be_reached_for_long_gets_the_answer_when_it_is_back() {
    let world = FakeWorld::start();
    // More tries than there are in the give-up time of five minutes.
    for _ in 0..30 {
        world.messenger.then(SendBehaviour::Unreachable);
    }
    world.say(ANA, "oi").await;
    world.pass_s(3_600).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert!(
        sent_after_ms(&world, 0) > 600_000,
        "{}",
        sent_after_ms(&world, 0)
    );
}
