//! Spending limits and long sessions, as a person meets them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::adapters::cached_ledger::CachedLedger;
use recado::domain::{Booking, Charge, ChargeKind, ClosedReason, RunId, SpendLimit, Step, Usage};
use recado::ports::Ledger as _;
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_world::FakeWorld;

use super::ledger::{ONE_ANSWER, priced, start};
use crate::{ANA, BIA, answers, sent_after_ms};

async fn over_limit(world: &FakeWorld) -> String {
    let agent = &world.conversation(ANA).agent;
    let agent = world.world.agents.by_id(agent).await;
    agent.unwrap().texts.over_limit.clone()
}

fn told(world: &FakeWorld, whose: SpendLimit) -> usize {
    world
        .trace
        .count(|step| matches!(step, Step::LimitReached { limit, .. } if *limit == whose))
}

fn closed(world: &FakeWorld) -> usize {
    world.trace.count(
        |step| matches!(step, Step::Closed { reason, .. } if *reason == ClosedReason::SpendLimit),
    )
}

/// Two answers reach it; then one line an hour, and no model, until midnight.
#[tokio::test(start_paused = true)]
async fn at_a_conversations_limit_the_person_is_told_once_and_answered_again_tomorrow() {
    let world = start(|agent| {
        agent.limits.conversation_day_micro_usd = Some(ONE_ANSWER + 1);
    });
    for text in ["um", "dois", "três"] {
        world.say(ANA, text).await;
        world.pass_s(30).await;
    }
    let line = over_limit(&world).await;
    assert_eq!(answers(&world), ["ouvi: um", "ouvi: dois", &line]);
    assert_eq!(world.model.prompts().len(), 2);
    for text in ["alô?", "oi?"] {
        world.say(ANA, text).await;
        world.pass_s(30).await;
    }
    assert_eq!(answers(&world).len(), 3, "told once");
    assert_eq!(
        (told(&world, SpendLimit::Conversation), closed(&world)),
        (1, 2)
    );
    world.say(BIA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world)[3], "ouvi: oi", "others are not meant");
    world.pass(Duration::from_hours(1)).await;
    world.say(ANA, "e agora?").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world)[4], line, "an hour later, once more");
    world.pass(Duration::from_hours(24)).await;
    world.say(ANA, "bom dia").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world)[5], "ouvi: bom dia");
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_confirmed_at_the_limit_too() {
    let world = start(|agent| agent.limits.conversation_day_micro_usd = Some(1));
    for text in ["um", "dois", "parar"] {
        world.say(ANA, text).await;
        world.pass_s(30).await;
    }
    let agent = world
        .world
        .agents
        .by_id(&world.conversation(ANA).agent)
        .await;
    let texts = agent.unwrap().texts.clone();
    assert_eq!(
        answers(&world),
        ["ouvi: um", &texts.over_limit, &texts.opted_out]
    );
}

#[tokio::test(start_paused = true)]
async fn at_the_agents_limit_nobody_is_answered_until_tomorrow() {
    let world = start(|agent| agent.limits.agent_day_micro_usd = Some(2 * ONE_ANSWER));
    world.say(ANA, "um").await;
    world.pass_s(30).await;
    world.say(BIA, "dois").await;
    world.pass_s(90).await;
    world.say(ANA, "três").await;
    world.pass_s(30).await;
    world.say(BIA, "quatro").await;
    world.pass_s(30).await;
    let line = over_limit(&world).await;
    assert_eq!(answers(&world), ["ouvi: um", "ouvi: dois", &line, &line]);
    assert_eq!(told(&world, SpendLimit::Agent), 2);
    world.pass(Duration::from_hours(24)).await;
    world.say(ANA, "bom dia").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world)[4], "ouvi: bom dia");
}

#[tokio::test(start_paused = true)]
async fn a_long_session_is_advised_to_end_and_a_silence_begins_another() {
    let world = start(|agent| agent.session.advice_after = 2);
    let advised = |world: &FakeWorld| {
        let prompt = world.model.prompts().pop().unwrap();
        prompt
            .notes
            .iter()
            .any(|note| note.contains("muitas trocas"))
    };
    for (text, is_advised) in [("um", false), ("dois", false), ("três", true)] {
        world.say(ANA, text).await;
        world.pass_s(30).await;
        assert_eq!(advised(&world), is_advised, "{text}");
    }
    world.pass(Duration::from_hours(6)).await;
    world.say(ANA, "voltei").await;
    world.pass_s(30).await;
    assert!(!advised(&world));
    let state = world.store.look().people[&world.conversation(ANA)]
        .state
        .clone();
    assert_eq!(state.unwrap().session.unwrap().exchanges, 1);
}

/// Counts how often the agent's day is read.
#[derive(Default)]
struct Reads(AtomicUsize);

#[async_trait]
impl Faults for Reads {
    async fn before(&self, operation: &'static str) -> Fault {
        let is_read = operation == "of_day";
        self.0.fetch_add(usize::from(is_read), Ordering::Relaxed);
        Fault::None
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_reads_the_agents_day_once_a_minute_and_adds_its_own() {
    let reads = Arc::new(Reads::default());
    let world = FakeWorld::start_with_faults(priced(|_| {}), reads.clone());
    let (store, clock) = (world.store.clone(), Arc::clone(&world.world.clock));
    let ledger = CachedLedger::new(store, clock);
    let (of, today) = (world.conversation(ANA), jiff::civil::date(2026, 1, 5));
    let booking = |run| Booking {
        run: RunId::from_parts(run, 1),
        conversation: of.clone(),
        day: today,
        began_at: world.world.now(),
        charges: vec![Charge {
            model: "mini".to_owned(),
            kind: ChargeKind::Answer,
            usage: Usage::default(),
            micro_usd: Some(5),
            is_estimate: false,
        }],
        turns: 1,
        sessions: 0,
    };
    let spent = async || ledger.spent_on(&of.agent, today).await.unwrap();
    assert_eq!(spent().await, 0);
    // Its own is known at once, another process's after a minute.
    ledger.book(&booking(1)).await.unwrap();
    world.store.book(&booking(2)).await.unwrap();
    world.pass_s(59).await;
    assert_eq!(spent().await, 5);
    assert_eq!(reads.0.load(Ordering::Relaxed), 1);
    world.pass_s(1).await;
    assert_eq!(spent().await, 10);
    assert_eq!(reads.0.load(Ordering::Relaxed), 2);
    let tomorrow = today.tomorrow().unwrap();
    assert_eq!(ledger.spent_on(&of.agent, tomorrow).await.unwrap(), 0);
}

/// A ledger that hangs costs a person two seconds, and no answer.
struct Hangs;

#[async_trait]
impl Faults for Hangs {
    async fn before(&self, operation: &'static str) -> Fault {
        if operation == "of_day" {
            std::future::pending::<()>().await;
        }
        Fault::None
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_cannot_be_read_in_time_limits_nobody() {
    let agent = priced(|agent| agent.limits.agent_day_micro_usd = Some(1));
    let world = FakeWorld::start_with_faults(agent, Arc::new(Hangs));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    // The window, the patience, the model.
    assert!((8_000..8_500).contains(&sent_after_ms(&world, 0)));
}
