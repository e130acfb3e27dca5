//! What every run costs is in the ledger, once, whatever became of the run.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use recado::domain::prices::{Fee, Price, SERVICE};
use recado::domain::{Agent, ChargeKind, Counters, Line, PriceList, Step};
use recado::error::ModelErrorClass;
use recado::flow::forget;
use recado::ports::Ledger as _;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_tools::{BOOK, HOURS, ToolBehaviour};
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, BIA, answers};

const SECOND: Duration = Duration::from_secs(1);
/// What one answer costs below: 1,000 tokens in at a millionth each, 20 out at ten.
pub const ONE_ANSWER: u64 = 1_200;

fn price(model: &str) -> Price {
    Price {
        model: model.to_owned(),
        input: 1_000_000,
        cache_read: None,
        cache_write: None,
        output: 10_000_000,
    }
}

/// An agent whose two models have a price.
pub fn priced(change: impl FnOnce(&mut Agent)) -> Agent {
    agent(|agent| {
        "mini".clone_into(&mut agent.model.main);
        agent.model.compaction = Some("maxi".to_owned());
        agent.prices = PriceList::new(vec![price("mini"), price("spare")], Vec::new());
        change(agent);
    })
}

pub fn start(change: impl FnOnce(&mut Agent)) -> FakeWorld {
    let world = FakeWorld::start_with(priced(change));
    world.model.reports(1_000);
    world
}

/// The ledger of the agent's first day.
async fn lines(world: &FakeWorld) -> Vec<Line> {
    let of = world.conversation(ANA);
    let day = jiff::civil::date(2026, 1, 5);
    world.store.of_day(&of.agent, day).await.unwrap()
}

fn row(lines: &[Line], model: &str, kind: ChargeKind) -> Counters {
    let found = lines
        .iter()
        .find(|line| (line.model.as_str(), line.kind) == (model, kind));
    found.map_or_else(Counters::default, |line| line.counters)
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_booked_for_its_day_its_person_and_its_reply() {
    let world = start(|_| {});
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    let day = lines(&world).await;
    assert_eq!(day.len(), 1);
    let answered = row(&day, "mini", ChargeKind::Answer);
    assert_eq!((answered.calls, answered.micro_usd), (1, ONE_ANSWER));
    assert_eq!((answered.input_uncached, answered.output), (1_000, 20));
    assert_eq!((answered.turns, answered.sessions), (1, 1));
    assert_eq!(answered.calls_of_unknown_cost, 0);
    let ana = world.conversation(ANA);
    assert_eq!(world.store.of_conversation(&ana).await.unwrap(), day);
    let person = world.store.look().people[&ana].clone();
    let reply = person.replies.values().next().unwrap().reply.clone();
    assert_eq!(reply.cost.unwrap().micro_usd, ONE_ANSWER);
    let state = person.state.unwrap();
    assert_eq!(state.spent.unwrap().micro_usd, ONE_ANSWER);
    assert_eq!(state.session.unwrap().exchanges, 1);
    world.say(ANA, "tudo bem?").await;
    world.pass_s(30).await;
    let state = world.store.look().people[&ana].state.clone().unwrap();
    assert_eq!(state.spent.unwrap().micro_usd, 2 * ONE_ANSWER);
    assert_eq!(state.session.unwrap().exchanges, 2);
    let answered = row(&lines(&world).await, "mini", ChargeKind::Answer);
    assert_eq!((answered.turns, answered.sessions), (2, 1));
}

/// The person has their answer before anybody counts.
#[tokio::test(start_paused = true)]
async fn a_booking_comes_after_the_send_and_the_release() {
    let world = start(|_| {});
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    let steps = world.trace.steps();
    let place = |is: fn(&Step) -> bool| steps.iter().position(|(_, _, step)| is(step)).unwrap();
    let sent = place(|step| matches!(step, Step::Sent { .. }));
    assert!(sent < place(|step| matches!(step, Step::Booked { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_newer_message_drops_is_booked_as_an_estimate() {
    let world = start(|_| {});
    world.model.usually(Behaviour::Answer(3 * SECOND));
    world.say(ANA, "oi").await;
    world.pass(Duration::from_millis(6_500)).await;
    world.say(ANA, "quero marcar").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi / quero marcar"]);
    let day = lines(&world).await;
    let dropped = row(&day, "mini", ChargeKind::Discarded);
    assert_eq!((dropped.calls, dropped.estimated_calls), (1, 1));
    assert!(
        dropped.input_uncached > 100,
        "the whole prompt: {dropped:?}"
    );
    // Two seconds of sixty, of 1,024 tokens.
    assert!((17..52).contains(&dropped.output), "{dropped:?}");
    assert_eq!(dropped.estimated_micro_usd, dropped.micro_usd);
    let answered = row(&day, "mini", ChargeKind::Answer);
    assert_eq!((answered.calls, answered.estimated_calls), (1, 0));
    let state = world.store.look().people[&world.conversation(ANA)]
        .state
        .clone();
    let both = answered.micro_usd + dropped.micro_usd;
    assert_eq!(state.unwrap().spent.unwrap().micro_usd, both);
}

/// A look that came too late for the watch: the whole answer was paid, and is thrown away.
#[tokio::test(start_paused = true)]
async fn an_answer_that_a_newer_message_makes_useless_is_discarded_as_reported() {
    let world = start(|_| {});
    world.tools.declare();
    let hours = vec![(HOURS, r#"{"what":"domingo"}"#)];
    world.model.then(Behaviour::Call(SECOND, hours));
    world.model.then(Behaviour::Answer(10 * SECOND));
    world.say(ANA, "abre domingo?").await;
    world.pass_s(8).await;
    world.say(ANA, "e sábado?").await;
    world.pass_s(40).await;
    let day = lines(&world).await;
    let dropped = row(&day, "mini", ChargeKind::Discarded);
    assert_eq!((dropped.calls, dropped.estimated_calls), (2, 1));
    assert_eq!(dropped.micro_usd - dropped.estimated_micro_usd, ONE_ANSWER);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_falls_back_books_both_models() {
    let world = start(|agent| agent.model.fallback = Some("spare".to_owned()));
    for _ in 0..2 {
        let failed = Behaviour::FailMetered(SECOND, ModelErrorClass::Transient);
        world.model.then(failed);
    }
    world.say(ANA, "oi").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.model.models(), ["mini", "mini", "spare"]);
    let day = lines(&world).await;
    assert_eq!(
        row(&day, "mini", ChargeKind::Failed).micro_usd,
        2 * ONE_ANSWER
    );
    assert_eq!(row(&day, "spare", ChargeKind::Answer).micro_usd, ONE_ANSWER);
    let ana = world.conversation(ANA);
    let person = world.store.look().people[&ana].clone();
    let reply = person.replies.values().next().unwrap().reply.clone();
    assert_eq!(reply.cost.unwrap().micro_usd, 3 * ONE_ANSWER);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_all_its_time_is_booked_as_a_failure_and_an_estimate() {
    let world = start(|agent| agent.timing.model_timeout = 20 * SECOND);
    world.model.then(Behaviour::Answer(Duration::from_hours(1)));
    world.say(ANA, "oi").await;
    world.pass_s(120).await;
    let failed = row(&lines(&world).await, "mini", ChargeKind::Failed);
    assert_eq!(
        (failed.calls, failed.estimated_calls, failed.output),
        (1, 1, 1_024)
    );
}

#[tokio::test(start_paused = true)]
async fn a_compaction_is_booked_and_a_model_without_a_price_is_unknown() {
    let world = start(|_| {});
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    let ana = world.conversation(ANA);
    for _ in 0..40 {
        world.say(ANA, "oi").await;
        world.pass_s(30).await;
    }
    world.world.ticks.compact(&ana).await.unwrap();
    world.pass_s(30).await;
    let day = lines(&world).await;
    let compacted = row(&day, "maxi", ChargeKind::Compaction);
    assert!(compacted.calls > 0);
    assert_eq!(compacted.calls_of_unknown_cost, compacted.calls);
    assert_eq!(compacted.micro_usd, 0);
    let calls = u64::try_from(world.model.compactions().len()).unwrap();
    assert_eq!(compacted.calls, calls);
}

#[tokio::test(start_paused = true)]
async fn what_no_model_wrote_costs_nothing_and_a_known_fee_is_booked() {
    let world = start(|agent| {
        let fee = Fee {
            calling_code: "55".to_owned(),
            category: SERVICE.to_owned(),
            micro_usd: 500,
        };
        agent.prices = PriceList::new(Vec::new(), vec![fee]);
    });
    world.say(ANA, "parar").await;
    world.pass_s(30).await;
    let day = lines(&world).await;
    assert_eq!(day.len(), 1, "{day:?}");
    let fee = row(&day, "whatsapp", ChargeKind::Send);
    assert_eq!((fee.calls, fee.micro_usd), (1, 500));
    let none = start(|_| {});
    none.say(ANA, "parar").await;
    none.pass_s(30).await;
    assert!(lines(&none).await.is_empty());
}

/// Fails every booking.
struct NoLedger;

#[async_trait]
impl Faults for NoLedger {
    async fn before(&self, operation: &'static str) -> Fault {
        if operation == "book" {
            Fault::FailBefore
        } else {
            Fault::None
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_cannot_be_reached_keeps_nobody_from_an_answer() {
    let world = FakeWorld::start_with_faults(priced(|_| {}), Arc::new(NoLedger));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    world.say(ANA, "tudo bem?").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi", "ouvi: tudo bem?"]);
    assert!(lines(&world).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_person_leaves_no_costs_of_their_own() {
    let world = start(|_| {});
    for phone in [ANA, BIA] {
        world.say(phone, "oi").await;
        world.pass_s(30).await;
    }
    let (ana, bia) = (world.conversation(ANA), world.conversation(BIA));
    forget::forget(&world.world, &ana).await.unwrap();
    world.pass_s(600).await;
    assert!(world.store.of_conversation(&ana).await.unwrap().is_empty());
    assert_eq!(world.store.of_conversation(&bia).await.unwrap().len(), 1);
    let answered = row(&lines(&world).await, "mini", ChargeKind::Answer);
    assert_eq!(answered.calls, 2, "the agent's day names nobody");
}

#[tokio::test(start_paused = true)]
async fn a_read_of_a_dropped_run_is_not_made_again_by_the_run_after_it() {
    let world = start(|_| {});
    world.tools.declare();
    let hours = || vec![(HOURS, r#"{"what":"domingo"}"#)];
    world.model.then(Behaviour::Call(SECOND, hours()));
    world.model.then(Behaviour::Answer(10 * SECOND));
    world.model.then(Behaviour::Call(SECOND, hours()));
    world.say(ANA, "abre domingo?").await;
    world.pass_s(8).await;
    world.say(ANA, "de manhã").await;
    world.pass_s(40).await;
    assert_eq!(answers(&world), ["ouvi: abre domingo? / de manhã"]);
    assert_eq!(world.tools.tries().len(), 1);
    let kept = |step: &Step| {
        matches!(
            step,
            Step::ToolCalled {
                outcome: "kept",
                ..
            }
        )
    };
    assert_eq!(world.trace.count(kept), 1);
    let told = world.model.prompts().pop().unwrap();
    let result = &told.rounds[0].calls[0].result;
    assert_eq!(result.text(), Some("opening_hours ok"));
}

#[tokio::test(start_paused = true)]
async fn after_a_write_or_a_minute_a_read_is_made_again() {
    for (label, calls, late_s) in [
        (
            "after a write",
            vec![(BOOK, r#"{"what":"9h"}"#), (HOURS, r#"{"what":"domingo"}"#)],
            0,
        ),
        ("after a minute", vec![(HOURS, r#"{"what":"domingo"}"#)], 61),
    ] {
        let world = start(|agent| agent.timing.model_timeout = Duration::from_secs(75));
        world.tools.declare();
        let hours = vec![(HOURS, r#"{"what":"domingo"}"#)];
        world.model.then(Behaviour::Call(SECOND, hours));
        world.model.then(Behaviour::Answer(10 * SECOND));
        world
            .model
            .then(Behaviour::Call(SECOND + Duration::from_secs(late_s), calls));
        world.say(ANA, "abre domingo?").await;
        world.pass_s(8).await;
        world.say(ANA, "de manhã").await;
        world.pass_s(150).await;
        let tries = world.tools.tries();
        let reads = tries.iter().filter(|one| one.tool == HOURS).count();
        assert_eq!(reads, 2, "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_paid_before_a_panic_is_booked() {
    let world = start(|_| {});
    world.tools.declare();
    let book = vec![(BOOK, r#"{"what":"9h"}"#)];
    world.model.then(Behaviour::Call(SECOND, book));
    world.tools.then(ToolBehaviour::ActAndPanic);
    world.say(ANA, "marca 9h").await;
    world.pass_s(8).await;
    let paid = row(&lines(&world).await, "mini", ChargeKind::Answer);
    assert_eq!((paid.calls, paid.turns), (1, 0));
    let state = world.store.look().people[&world.conversation(ANA)]
        .state
        .clone();
    let state = state.unwrap();
    assert_eq!(
        (state.crashes, state.spent.unwrap().micro_usd),
        (1, ONE_ANSWER)
    );
}

/// Whatever happens short of a death: what the models report is what is booked.
#[tokio::test(start_paused = true)]
async fn what_is_booked_is_what_the_models_reported() {
    use ModelErrorClass::{Cut, Invalid, Overflow, Quota, Throttled, Transient};
    for seed in 0..40 {
        let dice = &mut StdRng::seed_from_u64(seed);
        let world = start(|agent| agent.model.fallback = Some("spare".to_owned()));
        world.tools.declare();
        for n in 0..12 {
            let takes = Duration::from_millis(dice.random_range(200..9_000));
            for _ in 0..dice.random_range(0..4) {
                let class = [Transient, Throttled, Quota, Overflow, Invalid, Cut];
                let class = class[dice.random_range(0..class.len())];
                world.model.then(match dice.random_range(0..5) {
                    0 => Behaviour::FailMetered(takes, class),
                    1 => Behaviour::Fail(takes, class),
                    2 => Behaviour::Call(takes, vec![(HOURS, r#"{"what":"1"}"#)]),
                    3 => Behaviour::Call(takes, vec![(BOOK, r#"{"what":"2"}"#)]),
                    _ => Behaviour::Answer(takes),
                });
            }
            let phone = [ANA, BIA][n % 2];
            world.say(phone, &format!("mensagem {n}")).await;
            let pause = dice.random_range(500..20_000);
            world.pass(Duration::from_millis(pause)).await;
        }
        world.pass_s(900).await;
        let told = lines(&world).await;
        let is_told = |line: &&Line| line.counters.estimated_calls == 0;
        let mixed: Vec<_> = told.iter().filter(|line| !is_told(line)).collect();
        let sum = |pick: fn(&Counters) -> u64| told.iter().map(|line| pick(&line.counters)).sum();
        let (calls, estimated): (u64, u64) = (sum(|c| c.calls), sum(|c| c.estimated_calls));
        let metered = world.model.metered();
        // Each report is of 1,000 tokens and 20.
        assert_eq!(
            metered.input_uncached,
            1_000 * (metered.output / 20),
            "seed {seed}"
        );
        assert_eq!(
            calls - estimated,
            metered.output / 20,
            "seed {seed}: {mixed:?}"
        );
        let cost: u64 = sum(|c| c.micro_usd - c.estimated_micro_usd);
        assert_eq!(cost, ONE_ANSWER * (calls - estimated), "seed {seed}");
    }
}
