//! What others saw go wrong between several models, several tries and one person. A test's page names its row.

use std::time::Duration;

use recado::adapters::models::{Asked, decode};
use recado::domain::{Provider, Step, ToolResult};
use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_tools::{ADD, BOOK, HOURS};
use recado_tests::fake_world::{FakeWorld, agent};
use reqwest::header::HeaderMap;

use crate::{ANA, answers};

const MAIN: &str = "main";
const SPARE: &str = "spare";
const SECOND: Duration = Duration::from_secs(1);
const BREAD: &str = r#"{"what":"pão"}"#;

fn with_fallback() -> FakeWorld {
    FakeWorld::start_with(agent(|agent| {
        MAIN.clone_into(&mut agent.model.main);
        agent.model.fallback = Some(SPARE.to_owned());
    }))
}

fn fails(class: ModelErrorClass) -> Behaviour {
    Behaviour::Fail(Duration::from_millis(100), class)
}

fn asked(world: &FakeWorld) -> Vec<String> {
    let asked = world.model.asked().into_iter();
    asked.map(|(_, model)| model).collect()
}

fn incidents(world: &FakeWorld) -> Vec<(String, ModelErrorClass)> {
    let steps = world.trace.steps().into_iter();
    let incidents = steps.filter_map(|(_, _, step)| match step {
        Step::ModelIncident { model, class, .. } => Some((model, class)),
        _ => None,
    });
    incidents.collect()
}

/// A history that is worth halving.
async fn with_history() -> FakeWorld {
    let world = with_fallback();
    for turn in 0..4 {
        let long = format!("{turn} {}", "palavra ".repeat(300));
        world.say(ANA, &long).await;
        world.pass_s(30).await;
    }
    world
}

/// M4: shrunk once, on the same model; never sent again as it was, and not to another model either.
#[tokio::test(start_paused = true)]
async fn a_prompt_too_long_is_halved_once_and_goes_to_no_other_model() {
    let world = with_history().await;
    let before = world.model.prompts().len();
    world.model.does(MAIN, fails(ModelErrorClass::Overflow));
    world.say(ANA, "oi").await;
    world.pass_s(400).await;
    let prompts = world.model.prompts().split_off(before);
    let [long, halved] = &prompts[..] else {
        panic!("{} requests", prompts.len());
    };
    assert!(halved.history.len() < long.history.len());
    assert!(asked(&world).iter().all(|model| model == MAIN));
    assert_eq!(answers(&world).last(), Some(&agent(|_| {}).texts.apology));
}

/// M4, the other way round: "too many tokens, please wait" is no reason to forget anything.
#[tokio::test(start_paused = true)]
async fn throttling_takes_nothing_out_of_the_history_whatever_its_words() {
    let words = br#"{"error":{"message":"Too many tokens, please wait before trying again."}}"#;
    let asked = Asked {
        provider: Provider::OpenAi,
        model: "m",
    };
    let error = decode(&asked, 429, &HeaderMap::new(), words).unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Throttled);
    let world = with_history().await;
    let before = world.model.prompts().len();
    world.model.does(MAIN, Behaviour::Throttle(2 * SECOND));
    world.say(ANA, "oi").await;
    world.pass_s(60).await;
    let prompts = world.model.prompts().split_off(before);
    let [first, second, of_fallback] = &prompts[..] else {
        panic!("{} requests", prompts.len());
    };
    assert!(first == second, "the same once more");
    // Its tokens are counted by what is known of it, so its window may begin elsewhere.
    assert_eq!(of_fallback.last, first.last);
    assert_eq!(answers(&world).last().unwrap(), "ouvi: oi");
}

/// M6: the run's tries are all there is: not times the app's, nor times the queue's within a run.
#[tokio::test(start_paused = true)]
async fn ladders_do_not_multiply() {
    let world = with_fallback();
    for model in [MAIN, SPARE] {
        world.model.does(model, fails(ModelErrorClass::Transient));
    }
    world.say(ANA, "oi").await;
    world.pass_s(900).await;
    let runs = world
        .trace
        .count(|step| matches!(step, Step::Claimed { .. }));
    // The first run asks three times; while the main one is left out a run asks the fallback twice, or tries both once.
    let calls = asked(&world).len();
    assert!(calls <= 3 + 2 * (runs - 1), "{calls} calls of {runs} runs");
    assert!((10..=16).contains(&runs), "{runs} runs in five minutes");
    let right = [(MAIN.to_owned(), ModelErrorClass::Transient)];
    assert_eq!(incidents(&world), right, "one alert");
    assert_eq!(answers(&world).len(), 1, "and one honest line");
}

/// M6: a flake is not worth another model, whose cache is cold, nor an alert.
#[tokio::test(start_paused = true)]
async fn a_flake_stays_with_its_model() {
    let world = with_fallback();
    for n in 0..10 {
        world.model.then(fails(ModelErrorClass::Transient));
        world.say(ANA, &format!("oi {n}")).await;
        world.pass_s(30).await;
    }
    assert_eq!(answers(&world).len(), 10);
    assert_eq!(asked(&world), [MAIN; 20]);
    assert_eq!(incidents(&world), []);
}

/// M7: asked once, told once, and answered by the other one meanwhile.
#[tokio::test(start_paused = true)]
async fn a_model_without_money_is_asked_once_in_five_minutes_and_told_once() {
    let world = with_fallback();
    world.model.does(MAIN, fails(ModelErrorClass::Quota));
    for n in 0..28 {
        world.say(ANA, &format!("oi {n}")).await;
        world.pass_s(10).await;
    }
    assert_eq!(answers(&world).len(), 28);
    let main = |world: &FakeWorld| asked(world).iter().filter(|model| *model == MAIN).count();
    assert_eq!((main(&world), asked(&world).len()), (1, 29));
    world.pass_s(60).await;
    world.say(ANA, "e agora?").await;
    world.pass_s(10).await;
    assert_eq!(main(&world), 2, "tried again after five minutes");
    assert_eq!(
        incidents(&world),
        [(MAIN.to_owned(), ModelErrorClass::Quota)]
    );
    let told = answers(&world);
    assert!(
        told.iter().all(|text| text.starts_with("ouvi: ")),
        "{told:?}"
    );
}

/// M7: with no money anywhere nothing is tried again, and the person is told.
#[tokio::test(start_paused = true)]
async fn with_no_money_anywhere_each_model_is_asked_once_and_the_person_is_told_at_once() {
    let world = with_fallback();
    for model in [MAIN, SPARE] {
        world.model.does(model, fails(ModelErrorClass::Quota));
    }
    world.say(ANA, "oi").await;
    world.pass_s(900).await;
    assert_eq!(asked(&world), [MAIN, SPARE]);
    assert_eq!(answers(&world), [agent(|_| {}).texts.apology]);
}

/// What one model wrote is neither written again by the next nor unknown to it.
#[tokio::test(start_paused = true)]
async fn the_model_that_goes_on_is_told_what_was_done_and_does_not_do_it_again() {
    for tool in [BOOK, ADD] {
        let world = with_fallback();
        world.tools.declare();
        let both = vec![(HOURS, BREAD), (tool, BREAD)];
        world.model.then(Behaviour::Call(SECOND, both));
        world.model.does(MAIN, fails(ModelErrorClass::Transient));
        // It even asks for the same write once more.
        let again = vec![(tool, BREAD)];
        for _ in 0..2 {
            world.model.then(fails(ModelErrorClass::Transient));
        }
        world.model.then(Behaviour::Call(SECOND, again));
        world.say(ANA, "põe pão").await;
        world.pass_s(60).await;
        assert_eq!(asked(&world), [MAIN, MAIN, MAIN, SPARE, SPARE], "{tool}");
        assert_eq!(world.tools.effects(), [format!("{tool} {BREAD}")]);
        assert_eq!(world.tools.tries().len(), 2, "a look and a write");
        assert_eq!(answers(&world), ["ouvi: põe pão"]);
        let prompts = world.model.prompts();
        let told = |n: usize| -> Vec<ToolResult> {
            let rounds = prompts[n].rounds.iter();
            let pairs = rounds.flat_map(|round| &round.calls);
            pairs.map(|pair| pair.result.clone()).collect()
        };
        assert_eq!(told(1), told(3), "the same results for both models");
        assert_eq!(told(3).len(), 2);
        // A provider's own items go to that provider alone.
        let models = world.model.models();
        let carried = |n: usize| {
            let items = prompts[n].rounds[0].carried.of(&models[n]);
            items.map_or(0, <[_]>::len)
        };
        assert_eq!([1, 2, 3, 4].map(carried), [2, 2, 0, 0], "{tool}");
    }
}

/// The first model's write, its death, and a run that begins with the fallback.
#[tokio::test(start_paused = true)]
async fn a_later_run_on_another_model_goes_on_from_the_stored_calls() {
    let world = with_fallback();
    world.tools.declare();
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(BOOK, BREAD)]));
    world.model.does(MAIN, fails(ModelErrorClass::Quota));
    world.model.does(SPARE, fails(ModelErrorClass::Transient));
    world.say(ANA, "marca pão").await;
    world.pass_s(9).await;
    assert_eq!(asked(&world)[..3], [MAIN, MAIN, SPARE]);
    world.model.does(SPARE, None);
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: marca pão"]);
    assert_eq!(world.tools.effects(), [format!("{BOOK} {BREAD}")]);
    assert_eq!(world.tools.tries().len(), 1);
    let last = world.model.prompts().pop().unwrap();
    let result = &last.rounds[0].calls[0].result;
    assert_eq!(*result, ToolResult::Ok("book ok".to_owned()));
    assert_eq!(incidents(&world).len(), 1);
}
