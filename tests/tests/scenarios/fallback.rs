//! A model that cannot be had, and the one behind it: the person notices nothing, and the operator is told once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{Chosen, ReplyKind, Step, Timestamp};
use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, BIA, answers, sent_after_ms};

const MAIN: &str = "main";
const SPARE: &str = "spare";
const SECOND: Duration = Duration::from_secs(1);

fn with_fallback() -> FakeWorld {
    with_faults(recado_tests::fake_store::calm())
}

fn with_faults(faults: Arc<dyn Faults>) -> FakeWorld {
    let agent = agent(|agent| {
        MAIN.clone_into(&mut agent.model.main);
        agent.model.fallback = Some(SPARE.to_owned());
    });
    FakeWorld::start_with_faults(agent, faults)
}

fn fails(class: ModelErrorClass) -> Behaviour {
    Behaviour::Fail(Duration::from_millis(300), class)
}

/// Which models were asked, in order.
fn asked(world: &FakeWorld) -> Vec<String> {
    world
        .model
        .asked()
        .into_iter()
        .map(|(_, model)| model)
        .collect()
}

/// Why each answer came from the model it came from.
fn why(world: &FakeWorld) -> Vec<Chosen> {
    let steps = world.trace.steps().into_iter();
    let why = steps.filter_map(|(_, _, step)| match step {
        Step::ModelCalled { why, .. } => Some(why),
        _ => None,
    });
    why.collect()
}

fn incidents(world: &FakeWorld) -> usize {
    world
        .trace
        .count(|step| matches!(step, Step::ModelIncident { .. }))
}

fn recoveries(world: &FakeWorld) -> usize {
    world
        .trace
        .count(|step| matches!(step, Step::ModelRecovered { .. }))
}

/// Every way in which the main model can be away, and who is asked for one turn.
#[tokio::test(start_paused = true)]
async fn each_turn_is_answered_by_one_of_the_two() {
    use ModelErrorClass::{Auth, Missing, Quota, Transient};
    for (label, main, right, at_most_ms) in [
        ("well", None, &[MAIN][..], 6_100),
        ("down", Some(fails(Transient)), &[MAIN, MAIN, SPARE], 8_000),
        (
            "hangs",
            Some(Behaviour::Answer(Duration::from_hours(1))),
            &[MAIN, SPARE],
            56_100,
        ),
        (
            "asks for a moment",
            Some(Behaviour::Throttle(3 * SECOND)),
            &[MAIN, MAIN, SPARE],
            10_000,
        ),
        (
            "asks for minutes",
            Some(Behaviour::Throttle(120 * SECOND)),
            &[MAIN, SPARE],
            6_500,
        ),
        ("no money", Some(fails(Quota)), &[MAIN, SPARE], 6_500),
        ("no right", Some(fails(Auth)), &[MAIN, SPARE], 6_500),
        ("not there", Some(fails(Missing)), &[MAIN, SPARE], 6_500),
    ] {
        let world = with_fallback();
        let is_well = main.is_none();
        world.model.does(MAIN, main);
        world.say(ANA, "oi").await;
        world.pass_s(90).await;
        assert_eq!(answers(&world), ["ouvi: oi"], "{label}");
        assert_eq!(asked(&world), right, "{label}");
        let waited = sent_after_ms(&world, 0);
        assert!(waited <= at_most_ms, "{label}: {waited} ms");
        let open = world.breakers.now(MAIN);
        assert_eq!(
            (open.is_none(), incidents(&world)),
            (is_well, usize::from(!is_well)),
            "{label}"
        );
        assert_eq!(world.breakers.now(SPARE), None, "{label}");
    }
}

/// What says nothing of the model goes to no other one, and opens nothing.
#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_the_request_is_not_sent_to_another_model() {
    use ModelErrorClass::{Cut, Invalid, Overflow, Refusal};
    for class in [Cut, Invalid, Overflow, Refusal] {
        let world = with_fallback();
        world.model.does(MAIN, fails(class));
        world.say(ANA, "oi").await;
        world.pass_s(60).await;
        assert!(asked(&world).iter().all(|model| model == MAIN), "{class:?}");
        assert_eq!(incidents(&world), 0, "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_left_out_is_tried_by_one_run_and_taken_back() {
    let world = with_fallback();
    world.model.does(MAIN, fails(ModelErrorClass::Transient));
    world.say(ANA, "um").await;
    world.pass_s(10).await;
    world.say(ANA, "dois").await;
    world.pass_s(10).await;
    assert_eq!(asked(&world), [MAIN, MAIN, SPARE, SPARE]);
    // It is down when it is tried for the first time.
    world.pass_s(30).await;
    world.say(ANA, "três").await;
    world.pass_s(10).await;
    assert_eq!(asked(&world)[4..], [MAIN, SPARE]);
    world.model.does(MAIN, Behaviour::Answer(3 * SECOND));
    world.pass_s(30).await;
    // Two at once, and one of them tries it.
    world.say(ANA, "quatro").await;
    world.say(BIA, "quatro").await;
    world.pass_s(10).await;
    let mut both = asked(&world)[6..].to_vec();
    both.sort();
    assert_eq!(both, [MAIN, SPARE]);
    world.say(ANA, "cinco").await;
    world.pass_s(20).await;
    assert_eq!(asked(&world)[8..], [MAIN]);
    assert_eq!(answers(&world).len(), 6);
    assert_eq!((incidents(&world), recoveries(&world)), (1, 1));
    let down = ModelErrorClass::Transient;
    let mut told = why(&world);
    // Of the two at once either may be told first.
    told[3..5].sort_by_key(|why| why.as_str());
    let right = [
        Chosen::Fallback(down),
        Chosen::BreakerOpen(down),
        Chosen::Fallback(down),
        Chosen::BreakerOpen(down),
        Chosen::Probe,
        Chosen::First,
    ];
    assert_eq!(told, right);
}

/// A run that was to try the model and was dropped for a newer message leaves the try to the next.
#[tokio::test(start_paused = true)]
async fn a_try_that_was_dropped_is_made_by_the_next_run() {
    let world = with_fallback();
    world.model.does(MAIN, fails(ModelErrorClass::Quota));
    world.say(ANA, "um").await;
    world.pass_s(310).await;
    world.model.does(MAIN, Behaviour::Answer(4 * SECOND));
    world.say(ANA, "dois").await;
    world.pass_s(6).await;
    world.say(ANA, "e três").await;
    world.pass_s(20).await;
    assert_eq!(asked(&world), [MAIN, SPARE, MAIN, MAIN]);
    assert_eq!(answers(&world).last().unwrap(), "ouvi: dois / e três");
    assert_eq!((recoveries(&world), world.breakers.now(MAIN)), (1, None));
}

#[tokio::test(start_paused = true)]
async fn with_all_models_down_people_are_told_as_before_and_each_run_asks_three_times_at_most() {
    let world = with_fallback();
    for model in [MAIN, SPARE] {
        world.model.does(model, fails(ModelErrorClass::Transient));
    }
    world.say(ANA, "oi").await;
    world.pass_s(900).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.apology]);
    let waited = sent_after_ms(&world, 0);
    assert!((300_000..330_000).contains(&waited), "{waited} ms");
    let runs = world
        .trace
        .count(|step| matches!(step, Step::Claimed { .. }))
        - 1;
    let calls = asked(&world).len();
    assert!(calls <= 3 * runs, "{calls} calls of {runs} runs");
    assert_eq!(incidents(&world), 1);
}

/// Fails or hangs whatever is asked of the breakers.
struct Broken {
    hangs: bool,
    struck: AtomicUsize,
}

#[async_trait]
impl Faults for Broken {
    async fn before(&self, operation: &'static str) -> Fault {
        if !operation.ends_with("breaker") {
            return Fault::None;
        }
        self.struck.fetch_add(1, Ordering::Relaxed);
        if self.hangs {
            tokio::time::sleep(Duration::from_hours(1)).await;
        }
        Fault::FailBefore
    }
}

#[tokio::test(start_paused = true)]
async fn breakers_that_cannot_be_reached_cost_seconds_and_no_answer() {
    for (hangs, at_most_ms) in [(false, 8_000), (true, 15_000)] {
        let broken = Arc::new(Broken {
            hangs,
            struck: AtomicUsize::new(0),
        });
        let world = with_faults(broken.clone());
        world.model.does(MAIN, fails(ModelErrorClass::Transient));
        world.say(ANA, "oi").await;
        world.pass_s(60).await;
        assert_eq!(answers(&world), ["ouvi: oi"]);
        assert_eq!(asked(&world), [MAIN, MAIN, SPARE]);
        assert_eq!(broken.struck.load(Ordering::Relaxed), 3);
        let waited = sent_after_ms(&world, 0);
        assert!(waited <= at_most_ms, "hangs {hangs}: {waited} ms");
        assert_eq!(incidents(&world), 0, "nobody knows whether it is the first");
    }
}

/// Without a fallback no breaker is asked for, let alone moved.
#[tokio::test(start_paused = true)]
async fn an_agent_without_a_fallback_pays_nothing_for_it() {
    let world = FakeWorld::start();
    world.model.then(fails(ModelErrorClass::Transient));
    world.say(ANA, "oi").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!((world.breakers.reads(), world.breakers.openings()), (0, 0));
}

const PEOPLE: u64 = 300;
const TURNS_PER_S: u64 = 5;
const DOWN_FROM_S: u64 = 60;
const DOWN_FOR_S: u64 = 600;
const ALL_S: u64 = 840;

/// Ten minutes without the main model at five turns a second, on processes that share only the table.
#[tokio::test(start_paused = true)]
async fn ten_minutes_without_the_main_model_are_noticed_by_the_operator_alone() {
    for (label, down) in [
        ("fails", Behaviour::Fail(SECOND, ModelErrorClass::Transient)),
        ("hangs", Behaviour::Answer(Duration::from_hours(1))),
        ("asks for a minute", Behaviour::Throttle(60 * SECOND)),
    ] {
        let world = with_fallback();
        for _ in 0..5 {
            world.start_workers();
        }
        let began = world.world.now();
        let mut said = 0;
        for second in 0..ALL_S {
            if second == DOWN_FROM_S {
                world.model.does(MAIN, down.clone());
            }
            if second == DOWN_FROM_S + DOWN_FOR_S {
                world.model.does(MAIN, None);
            }
            for _ in 0..TURNS_PER_S {
                let phone = format!("5511900{:06}", said % PEOPLE);
                world.say(&phone, &format!("oi {said}")).await;
                said += 1;
                world
                    .pass(SECOND / u32::try_from(TURNS_PER_S).unwrap())
                    .await;
            }
        }
        world.pass_s(300).await;
        let figures = Figures::of(&world, began);
        println!("{label}: {figures:?}");
        assert_eq!(figures.answered, usize::try_from(said).unwrap(), "{label}");
        assert_eq!((figures.incidents, figures.recoveries), (1, 1), "{label}");
        assert!(figures.calls_per_turn_open <= 1.05, "{label}: {figures:?}");
        assert!(figures.back_after_s <= 60.0, "{label}: {figures:?}");
    }
}

/// What became of it.
#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Figures {
    answered: usize,
    incidents: usize,
    recoveries: usize,
    opened_after_s: f64,
    turns_open: usize,
    calls_open: usize,
    calls_per_turn_open: f64,
    back_after_s: f64,
    reads_per_turn: f64,
    slowest_turn_s: f64,
}

#[expect(clippy::cast_precision_loss, reason = "figures to read")]
impl Figures {
    fn of(world: &FakeWorld, began: Timestamp) -> Self {
        let down_at = began.plus(Duration::from_secs(DOWN_FROM_S));
        let up_at = down_at.plus(Duration::from_secs(DOWN_FOR_S));
        let steps = world.trace.steps();
        let when = |is: fn(&Step) -> bool| {
            let mut found = steps.iter().filter(|(_, _, step)| is(step));
            found.next().unwrap().0
        };
        let opened_at = when(|step| matches!(step, Step::ModelIncident { .. }));
        let back_at = when(|step| matches!(step, Step::ModelRecovered { .. }));
        let open = opened_at..up_at;
        let (mut answered, mut turns, mut turns_open, mut slowest) = (0, 0, 0, 0.0_f64);
        let mut arrived = std::collections::BTreeMap::new();
        for (at, _, step) in &steps {
            match step {
                Step::Received { event, .. } => {
                    arrived.insert(event.clone(), *at);
                }
                Step::Committed {
                    kind: ReplyKind::Answer,
                    answered: events,
                    ..
                } => {
                    answered += events.len();
                    turns += 1;
                    turns_open += usize::from(open.contains(at));
                    let waits = events.iter().map(|event| at.since(arrived[event]));
                    slowest = waits.map(|wait| wait.as_secs_f64()).fold(slowest, f64::max);
                }
                _ => {}
            }
        }
        let calls = world.model.asked();
        let calls_open = calls.iter().filter(|(at, _)| open.contains(at)).count();
        Self {
            answered,
            incidents: incidents(world),
            recoveries: recoveries(world),
            opened_after_s: opened_at.since(down_at).as_secs_f64(),
            turns_open,
            calls_open,
            calls_per_turn_open: calls_open as f64 / turns_open as f64,
            back_after_s: back_at.since(up_at).as_secs_f64(),
            reads_per_turn: world.breakers.reads() as f64 / f64::from(turns),
            slowest_turn_s: slowest,
        }
    }
}
