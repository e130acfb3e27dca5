//! What a model does wrong, and what the person gets and history keeps of it.

use std::time::Duration;

use recado::error::ModelErrorClass;
use recado::ports::Store as _;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, answers, sent_after_ms};

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_holds_the_honest_line_back_by_seconds_only() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_hours(1)));
    world.say(ANA, "oi").await;
    world.pass_s(900).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.apology]);
    let told_after = sent_after_ms(&world, 0);
    assert!(
        (300_000..5_000 + 300_000 + 13_000).contains(&told_after),
        "{told_after}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_too_long_for_the_model_is_halved_once() {
    let world = FakeWorld::start();
    for turn in 0..4 {
        world
            .say(ANA, &format!("{turn} {}", "palavra ".repeat(300)))
            .await;
        world.pass_s(30).await;
    }
    world.model.then(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Overflow,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world).last().unwrap(), "ouvi: oi");
    let prompts = world.model.prompts();
    let [.., long, halved] = &prompts[..] else {
        panic!("two prompts at least");
    };
    assert!(halved.history.len() < long.history.len());
}

#[tokio::test(start_paused = true)]
async fn what_no_later_try_can_mend_is_told_at_once_and_asked_no_more() {
    for (label, class, with_history, asked) in [
        (
            "overflow, nothing to leave out",
            ModelErrorClass::Overflow,
            false,
            1,
        ),
        ("overflow, twice", ModelErrorClass::Overflow, true, 2),
        ("quota", ModelErrorClass::Quota, true, 1),
    ] {
        let world = FakeWorld::start();
        for turn in 0..if with_history { 4 } else { 0 } {
            world
                .say(ANA, &format!("{turn} {}", "palavra ".repeat(300)))
                .await;
            world.pass_s(30).await;
        }
        let before = world.model.prompts().len();
        world
            .model
            .usually(Behaviour::Fail(Duration::from_secs(1), class));
        world.say(ANA, "oi").await;
        world.pass_s(900).await;
        assert_eq!(world.model.prompts().len() - before, asked, "{label}");
        let apology = agent(|_| {}).texts.apology;
        assert_eq!(answers(&world).last(), Some(&apology), "{label}");
        let told = answers(&world)
            .iter()
            .filter(|text| **text == apology)
            .count();
        assert_eq!(told, 1, "{label}");
        // The next message is asked about anew.
        world
            .model
            .usually(Behaviour::Answer(Duration::from_secs(1)));
        world.say(ANA, "e agora?").await;
        world.pass_s(30).await;
        assert_eq!(answers(&world).last().unwrap(), "ouvi: e agora?", "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_as_it_was_sent() {
    let long = "Uma frase inteira. ".repeat(400);
    for (label, behaviour, starts, ends, least) in [
        (
            "cut at the cap",
            Behaviour::Break(
                Duration::from_secs(1),
                "Abrimos às 9h. O corte com barba sai por R$ 1.2".to_owned(),
            ),
            "Abrimos às 9h.",
            "sai por R$…",
            20,
        ),
        (
            "with a NUL",
            Behaviour::Say(Duration::from_secs(1), "Abrimos\0 às 9h".to_owned()),
            "Abrimos às",
            "9h",
            13,
        ),
        (
            "longer than WhatsApp takes",
            Behaviour::Say(Duration::from_secs(1), long.clone()),
            "Uma frase inteira.",
            "inteira.…",
            4_000,
        ),
    ] {
        let world = FakeWorld::start();
        world.model.then(behaviour);
        world.say(ANA, "oi").await;
        world.pass_s(30).await;
        let sent = answers(&world).pop().unwrap();
        assert!(
            sent.starts_with(starts) && sent.ends_with(ends),
            "{label}: {sent}"
        );
        assert!((least..=4_096).contains(&sent.chars().count()), "{label}");
        let memory = world.store.load(&world.conversation(ANA)).await.unwrap();
        assert_eq!(memory.exchanges[0].answer.as_ref(), Some(&sent), "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_far_beyond_any_message_is_cut_and_asked_for_once() {
    let world = FakeWorld::start();
    let endless = "a".repeat(600_000);
    world
        .model
        .then(Behaviour::Say(Duration::from_secs(1), endless));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world)[0].chars().count(), 4_096);
    assert_eq!(world.model.prompts().len(), 1);
}
