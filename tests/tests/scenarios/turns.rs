//! One answer to a whole thought: the window, the ceiling, order, repeats and newer messages.

use std::time::Duration;

use recado::domain::Step;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::FakeWorld;

use crate::{ANA, BIA, answers, sent_after_ms};

#[tokio::test(start_paused = true)]
async fn four_fragments_get_one_answer_a_window_after_the_last() {
    let world = FakeWorld::start();
    for text in ["oi", "queria marcar", "pra sexta", "de manhã se tiver"] {
        world.say(ANA, text).await;
        world.pass(Duration::from_millis(700)).await;
    }
    world.pass_s(30).await;
    assert_eq!(
        answers(&world),
        ["ouvi: oi / queria marcar / pra sexta / de manhã se tiver"]
    );
    // Last fragment at 2.1 s, window 5 s, model 1 s, send 0.1 s.
    assert_eq!(sent_after_ms(&world, 0), 8_200);
    assert_eq!(world.model.prompts().len(), 1);
    assert!(world.trace.count(|step| matches!(step, Step::Held { .. })) > 0);
}

/// T1: a stream without a pause is answered within the ceiling and a run.
#[tokio::test(start_paused = true)]
async fn a_steady_stream_is_answered_at_the_ceiling() {
    let world = FakeWorld::start();
    for n in 0..12 {
        world.say(ANA, &format!("m{n}")).await;
        world.pass_s(2).await;
    }
    world.pass_s(30).await;
    let answers = answers(&world);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(
        (20_000..22_000).contains(&sent_after_ms(&world, 0)),
        "{}",
        sent_after_ms(&world, 0)
    );
    for n in 0..12 {
        let holding = |answer: &&String| answer.split([' ', '/']).any(|w| w == format!("m{n}"));
        assert_eq!(
            answers.iter().filter(holding).count(),
            1,
            "m{n} is in exactly one answer"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn two_people_at_once_do_not_wait_for_each_other() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(30)));
    world.say(ANA, "oi da ana").await;
    world.say(BIA, "oi da bia").await;
    world.pass_s(40).await;
    assert_eq!(answers(&world).len(), 2);
    assert_eq!(sent_after_ms(&world, 0), sent_after_ms(&world, 1));
}

/// W2.
#[tokio::test(start_paused = true)]
async fn twenty_deliveries_of_one_message_get_one_answer() {
    let world = FakeWorld::start();
    let message = world.message(ANA, "wamid.1", "oi");
    for _ in 0..20 {
        world.deliver(message.clone()).await;
    }
    world.pass_s(30).await;
    for _ in 0..3 {
        world.deliver(message.clone()).await;
        world.pass_s(400).await;
    }
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.model.prompts().len(), 1);
}

/// T9: what counts is the id, not the words.
#[tokio::test(start_paused = true)]
async fn two_honest_oks_are_two_messages() {
    let world = FakeWorld::start();
    world.say(ANA, "ok").await;
    world.pass_s(1).await;
    world.say(ANA, "ok").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: ok / ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_in_the_order_it_was_sent_not_the_order_it_came() {
    let world = FakeWorld::start();
    let first = world.message(ANA, "wamid.1", "pra sexta");
    world.pass_s(2).await;
    let second = world.message(ANA, "wamid.2", "não, sábado");
    world.deliver(second).await;
    world.pass_s(1).await;
    let mut late = first;
    late.arrived_at = world.world.now();
    world.deliver(late).await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: pra sexta / não, sábado"]);
}

/// T6.
#[tokio::test(start_paused = true)]
async fn a_message_during_the_run_belongs_to_the_same_thought() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(6)));
    world.say(ANA, "quero marcar").await;
    world.pass_s(7).await;
    world.say(ANA, "na verdade desmarcar").await;
    world.pass_s(60).await;
    assert_eq!(
        answers(&world),
        ["ouvi: quero marcar / na verdade desmarcar"]
    );
    assert_eq!(
        world
            .trace
            .count(|step| matches!(step, Step::Superseded { .. })),
        1
    );
    // The call is dropped within a second and the window starts at the new message.
    assert!(sent_after_ms(&world, 0) < 7_000 + 5_000 + 6_000 + 1_200);
}

#[tokio::test(start_paused = true)]
async fn past_the_ceiling_the_answer_goes_out_and_the_newer_message_gets_its_own() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(12)));
    for n in 0..8 {
        world.say(ANA, &format!("m{n}")).await;
        world.pass_s(4).await;
    }
    world.pass_s(90).await;
    let answers = answers(&world);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[0].starts_with("ouvi: m0 / m1"));
}

#[tokio::test(start_paused = true)]
async fn a_message_of_the_last_second_before_the_ceiling_is_still_part_of_the_answer() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(6)));
    // The run begins at 18.2 s; a second after its first look the ceiling has passed.
    for gap_ms in [4_000, 4_500, 4_700, 6_300] {
        world.say(ANA, "mais").await;
        world.pass(Duration::from_millis(gap_ms)).await;
    }
    world.say(ANA, "e isto").await;
    world.pass_s(60).await;
    assert_eq!(
        answers(&world),
        ["ouvi: mais / mais / mais / mais / e isto"]
    );
    // At the ceiling all the same: 20 s, the model's 6 s, and the send.
    assert_eq!(sent_after_ms(&world, 0), 26_100);
}

/// T18.
#[tokio::test(start_paused = true)]
async fn a_flood_is_answered_in_batches_of_eighty() {
    let world = FakeWorld::start();
    for n in 0..170 {
        world.say(ANA, &format!("m{n}")).await;
    }
    world.pass_s(120).await;
    let answers = answers(&world);
    let said: usize = answers
        .iter()
        .map(|answer| answer.split(" / ").count())
        .sum();
    assert_eq!((answers.len(), said), (3, 170));
}
