//! Which model a turn begins with, and what is noted about it.

use std::time::Duration;

use recado::domain::routing::{Cue, Route};
use recado::domain::{Agent, Purpose, Step};
use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_tools::BOOK;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, answers};

const SECOND: Duration = Duration::from_secs(1);

fn with_a_light_model(change: impl FnOnce(&mut Agent)) -> FakeWorld {
    FakeWorld::start_with(agent(|agent| {
        "main".clone_into(&mut agent.model.main);
        agent.model.light = Some("light".to_owned());
        change(agent);
    }))
}

/// What was noted: the model, the route, and the cues.
fn noted(world: &FakeWorld) -> Vec<(String, Route, Vec<Cue>)> {
    let steps = world.trace.steps().into_iter();
    let routed = steps.filter_map(|(_, _, step)| match step {
        Step::Routed { model, routed } => {
            let cues = routed.reasons.iter().map(|reason| reason.cue);
            Some((model, routed.route, cues.collect()))
        }
        _ => None,
    });
    routed.collect()
}

#[tokio::test(start_paused = true)]
async fn a_light_turn_goes_to_the_light_model_and_every_turn_says_why() {
    let world = with_a_light_model(|_| {});
    for text in [
        "obg!",
        "cancela a aula e avisa o professor",
        "que horas abre?",
    ] {
        world.say(ANA, text).await;
        world.pass_s(60).await;
    }
    assert_eq!(world.model.models(), ["light", "main", "light"]);
    let [thanks, acts, fact] = &noted(&world)[..] else {
        panic!("three turns");
    };
    assert_eq!(*thanks, ("light".to_owned(), Route::Light, vec![]));
    assert_eq!(*acts, ("main".to_owned(), Route::Main, vec![Cue::Acts]));
    assert_eq!(fact.1, Route::Light);
}

#[tokio::test(start_paused = true)]
async fn who_has_no_light_model_pays_nothing_for_it() {
    let world = FakeWorld::start_with(agent(|agent| "main".clone_into(&mut agent.model.main)));
    world.say(ANA, "obg!").await;
    world.pass_s(60).await;
    assert_eq!(world.model.models(), ["main"]);
    assert_eq!(noted(&world), []);
}

#[tokio::test(start_paused = true)]
async fn fragments_are_routed_as_the_one_thought_they_are() {
    let world = with_a_light_model(|_| {});
    for text in [
        "oi",
        "marca um corte pra sexta",
        "e desmarca a barba de hoje",
    ] {
        world.say(ANA, text).await;
        world.pass_s(1).await;
    }
    world.pass_s(60).await;
    assert_eq!(world.model.models(), ["main"]);
}

#[tokio::test(start_paused = true)]
async fn the_turn_before_counts_for_some_hours_and_no_longer() {
    for (label, pause_s, right) in [("soon", 60, "main"), ("the next day", 86_400, "light")] {
        let world = with_a_light_model(|_| {});
        let which = "Só a aula de amanhã ou o plano inteiro?".to_owned();
        world.model.then(Behaviour::Say(SECOND, which));
        world.say(ANA, "quero cancelar").await;
        world.pass_s(pause_s).await;
        world.say(ANA, "sim").await;
        world.pass_s(60).await;
        assert_eq!(world.model.models().last().unwrap(), right, "{label}");
    }
}

/// A run that wrote with a tool is done again by the same model, for it answers the same batch.
#[tokio::test(start_paused = true)]
async fn a_rerun_of_a_sealed_batch_goes_to_the_same_model() {
    for (text, model) in [
        ("marca pão", "light"),
        ("marca pão e cancela o bolo", "main"),
    ] {
        let world = with_a_light_model(|_| {});
        world.tools.declare();
        let call = vec![(BOOK, r#"{"what":"pão"}"#)];
        world.model.then(Behaviour::Call(SECOND, call));
        world
            .model
            .then(Behaviour::Fail(SECOND, ModelErrorClass::Transient));
        world.say(ANA, text).await;
        world.pass_s(7).await;
        // Too late for the sealed batch: it gets an answer of its own.
        world.say(ANA, "e agora compara os dois planos?").await;
        world.pass_s(120).await;
        let asked = world.model.models();
        assert_eq!(asked[..3], [model; 3], "{text}");
        assert_eq!(asked.last().unwrap(), "main", "{text}");
        assert_eq!(answers(&world).len(), 2, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn compactions_are_asked_of_their_own_model_whatever_the_turn() {
    let world = with_a_light_model(|agent| {
        agent.compaction.trigger = 4;
        agent.compaction.keep = 2;
    });
    for text in ["oi", "bom dia", "obg!"] {
        world.say(ANA, text).await;
        world.pass_s(60).await;
    }
    let steps = world.trace.steps();
    let steps = steps.iter().map(|(_, _, step)| step);
    let compacted_by: Vec<&str> = steps
        .filter_map(|step| match step {
            Step::ModelCalled {
                model,
                purpose: Purpose::Compaction,
                ..
            } => Some(model.as_str()),
            _ => None,
        })
        .collect();
    assert!(!compacted_by.is_empty());
    assert!(compacted_by.iter().all(|model| *model == "main"));
}
