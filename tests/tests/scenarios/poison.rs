//! What can never be handled: set aside, held or given up, each once, and everybody else goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::adapters::sqs::{self, Job};
use recado::domain::{ClosedReason, HoldReason, ReplyKind, ReplyStatus, Step, Timestamp};
use recado::flow::World;
use recado::flow::process::{Outcome, Visit, process};
use recado::flow::sweep::{Broom, Swept, sweep};
use recado::ports::{Clock, Store as _};
use recado_processor::{SqsAttributes, SqsEvent, SqsRecord};
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_store::{Fault, Faults, Health};
use recado_tests::fake_ticks::TICKS;
use recado_tests::fake_world::{FakeWorld, agent};
use tokio::time::timeout;

use crate::{ANA, BIA, answers};

const INVOCATION: Duration = Duration::from_mins(2);

fn visit(world: &FakeWorld, now: Timestamp) -> Visit {
    Visit {
        conversation: world.conversation(ANA),
        receipt: None,
        deadline: now.plus(INVOCATION),
    }
}

/// Makes what is decided after a look panic, until something is committed. The look after a panic is let through: with
/// it the panic is counted.
#[derive(Default)]
struct Decisions {
    cured: AtomicBool,
    armed: AtomicBool,
    spared: AtomicBool,
    panics: AtomicUsize,
}

#[async_trait]
impl Faults for Decisions {
    async fn before(&self, operation: &'static str) -> Fault {
        if operation == "commit" {
            self.cured.store(true, Ordering::Relaxed);
        }
        Fault::None
    }

    async fn after(&self, operation: &'static str) {
        let is_spared = operation == "peek" && self.spared.swap(false, Ordering::Relaxed);
        if operation == "peek" && !is_spared && !self.cured.load(Ordering::Relaxed) {
            self.armed.store(true, Ordering::Relaxed);
        }
    }
}

/// The clock that every decision asks.
struct Asked(Arc<dyn Clock>, Arc<Decisions>);

#[async_trait]
impl Clock for Asked {
    fn now(&self) -> Timestamp {
        if self.1.armed.swap(false, Ordering::Relaxed) {
            self.1.spared.store(true, Ordering::Relaxed);
            self.1.panics.fetch_add(1, Ordering::Relaxed);
            panic!("told to");
        }
        self.0.now()
    }

    async fn sleep(&self, duration: Duration) {
        self.0.sleep(duration).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_breaks_every_decision_is_counted_and_gets_the_honest_line_once() {
    let decisions = Arc::new(Decisions::default());
    let world = FakeWorld::start_with_faults(agent(|_| {}), decisions.clone());
    world.kill().await;
    world.say(ANA, "veneno").await;
    world.pass_s(6).await;
    let clock = Asked(Arc::clone(&world.world.clock), Arc::clone(&decisions));
    let broken = World {
        clock: Arc::new(clock),
        ..world.world.clone()
    };
    let began = world.world.now();
    let mut visits = 0;
    loop {
        visits += 1;
        assert!(visits < 10, "for ever");
        let now = world.world.now();
        match process(&broken, &visit(&world, now)).await.unwrap() {
            Outcome::Done => break,
            Outcome::HoldUntil(until, _) => world.pass(until.since(now)).await,
        }
    }
    assert_eq!(answers(&world), [agent(|_| {}).texts.apology]);
    // Three that were counted, the one that ended it, and the decision of the apology's own run.
    assert_eq!((decisions.panics.load(Ordering::Relaxed), visits), (5, 5));
    assert!(world.world.now().since(began) < Duration::from_secs(30));
    let given_up =
        |step: &Step| matches!(step, Step::Committed { kind, .. } if *kind == ReplyKind::Apology);
    assert_eq!(world.trace.count(given_up), 1, "one alert");
    let peek = world.store.peek(&world.conversation(ANA), 1).await.unwrap();
    assert_eq!(peek.state.unwrap().crashes, 0);
}

/// A table in which the first look of a sweep panics.
#[derive(Default)]
struct FirstLook(AtomicBool);

#[async_trait]
impl Faults for FirstLook {
    async fn before(&self, operation: &'static str) -> Fault {
        let is_first = operation == "peek" && self.0.swap(false, Ordering::Relaxed);
        assert!(!is_first, "told to");
        Fault::None
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_breaks_a_sweep_keeps_nobody_else_from_it() {
    let looks = Arc::new(FirstLook::default());
    let world = FakeWorld::start_with_faults(agent(|_| {}), looks.clone());
    world.kill().await;
    world.say(ANA, "veneno").await;
    world.say(BIA, "oi").await;
    world.pass_s(60).await;
    looks.0.store(true, Ordering::Relaxed);
    let swept = swept(&world).await;
    assert_eq!((swept.ticks, swept.failed), (1, 1));
}

async fn swept(world: &FakeWorld) -> Swept {
    let broom = Broom {
        grace: Duration::from_secs(50),
        limit: 10,
    };
    sweep(&world.world, broom).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_no_run_could_begin_on_for_a_day_is_closed_and_not_revived_for_ever() {
    let world = FakeWorld::start();
    world.kill().await;
    world.say(ANA, "veneno").await;
    world.pass_s(24 * 3_600 - 60).await;
    world.ticks.lose_all();
    assert_eq!(swept(&world).await.ticks, 1, "less than a day");
    world.ticks.lose_all();
    world.pass_s(60).await;
    assert_eq!(swept(&world).await.ticks, 0, "a day");
    assert_eq!(world.ticks.count(TICKS), 0);
    let expired = |step: &Step| matches!(step, Step::Closed { events: 1, reason } if *reason == ClosedReason::Expired);
    assert_eq!(world.trace.count(expired), 1);
    assert_eq!(swept(&world).await, Swept::default(), "at rest");
    // Who writes again is answered.
    world.start_workers();
    world.say(ANA, "oi").await;
    world.pass_s(10).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_read_is_set_aside_and_not_swept_for_ever() {
    let world = FakeWorld::start();
    world.kill().await;
    world.say(ANA, "veneno").await;
    let ana = world.conversation(ANA);
    world.store.touch(|table| {
        let events = &mut table.people.get_mut(&ana).unwrap().events;
        for one in events.values_mut() {
            one.health = Health::Broken;
        }
    });
    world.pass_s(60).await;
    world.say(ANA, "oi").await;
    world.start_workers();
    world.pass_s(10).await;
    assert_eq!(answers(&world), ["ouvi: oi"], "the rest goes on");
    world.pass_s(600).await;
    assert_eq!(swept(&world).await.ticks, 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_process_dies_each_time_ends_in_the_honest_line() {
    let world = FakeWorld::start();
    world.kill().await;
    world.say(ANA, "veneno").await;
    world.pass_s(6).await;
    for n in 0..20 {
        let visit = visit(&world, world.world.now());
        let died = timeout(Duration::from_millis(500), process(&world.world, &visit)).await;
        assert!(died.is_err(), "run {n}: in the model's second");
        // The lease of the dead, then a backoff at most.
        world.pass(INVOCATION + Duration::from_secs(2)).await;
    }
    let visit = visit(&world, world.world.now());
    let outcome = process(&world.world, &visit).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(answers(&world), [agent(|_| {}).texts.apology]);
}

#[tokio::test(start_paused = true)]
async fn a_send_that_panics_is_tried_again_and_in_the_end_set_aside() {
    for (panics, right) in [(1, ReplyStatus::Sent), (30, ReplyStatus::Unknown)] {
        let world = FakeWorld::start();
        for _ in 0..panics {
            world.messenger.then(SendBehaviour::Panic);
        }
        world.say(ANA, "veneno").await;
        world.pass_s(480).await;
        let person = world.store.look().people[&world.conversation(ANA)].clone();
        let statuses: Vec<_> = person
            .replies
            .values()
            .map(|one| one.reply.status)
            .collect();
        assert_eq!(statuses, [right], "{panics} panics");
        let sent = usize::from(right == ReplyStatus::Sent);
        assert_eq!(answers(&world).len(), sent, "{panics} panics");
    }
}

fn record(id: &str, body: String) -> SqsRecord {
    SqsRecord {
        message_id: id.to_owned(),
        receipt_handle: format!("receipt of {id}"),
        body,
        attributes: SqsAttributes {
            group: Some(id.to_owned()),
        },
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_batch_what_cannot_be_read_is_set_aside_what_is_newer_waits_and_the_rest_goes_on() {
    let world = FakeWorld::start();
    world.kill().await;
    world.say(ANA, "oi").await;
    world.pass_s(6).await;
    let records = vec![
        record("broken", "{".to_owned()),
        record("newer", r#"{"v":2,"what":"ever"}"#.to_owned()),
        record("good", sqs::encode(Job::Tick, &world.conversation(ANA))),
    ];
    let deadline = world.world.now().plus(INVOCATION);
    let answer = recado_processor::handle(&world.world, SqsEvent { records }, deadline).await;
    let stays = answer.batch_item_failures.iter();
    let stays: Vec<_> = stays.map(|one| one.item_identifier.as_str()).collect();
    assert_eq!(stays, ["newer"]);
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_of_a_newer_version_waits_without_an_attempt() {
    let world = FakeWorld::start();
    world.kill().await;
    world.say(ANA, "oi").await;
    let ana = world.conversation(ANA);
    let set = |health| {
        world.store.touch(|table| {
            let events = &mut table.people.get_mut(&ana).unwrap().events;
            for one in events.values_mut() {
                one.health = health;
            }
        });
    };
    set(Health::Future);
    world.pass_s(6).await;
    for _ in 0..30 {
        let now = world.world.now();
        let outcome = process(&world.world, &visit(&world, now)).await.unwrap();
        let wait = Duration::from_secs(30);
        let held = Outcome::HoldUntil(now.plus(wait), HoldReason::FutureVersion);
        assert_eq!(outcome, held);
        world.pass(wait).await;
    }
    set(Health::Fine);
    let state = world.store.peek(&ana, 1).await.unwrap().state.unwrap();
    assert_eq!((state.attempts, state.crashes), (0, 0));
    let visit = visit(&world, world.world.now());
    assert_eq!(process(&world.world, &visit).await.unwrap(), Outcome::Done);
    assert_eq!(answers(&world), ["ouvi: oi"]);
}
