//! A machine's clock that steps by hours: nobody waits until it is there again.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::Timestamp;
use recado::error::Verdict;
use recado::ports::Clock;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::FakeWorld;

use crate::{ANA, answers, sent_after_ms};

const HOUR_MS: i64 = 3_600_000;

/// What the handlers read; queue, provider and tests have the true time.
struct Stepped {
    right: Arc<dyn Clock>,
    error_ms: AtomicI64,
}

impl Stepped {
    fn step(&self, by_ms: i64) {
        self.error_ms.store(by_ms, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for Stepped {
    fn now(&self) -> Timestamp {
        let error_ms = self.error_ms.load(Ordering::Relaxed);
        Timestamp::from_ms(self.right.now().ms().saturating_add_signed(error_ms))
    }

    async fn sleep(&self, duration: Duration) {
        self.right.sleep(duration).await;
    }
}

/// A process that has just started, with a clock that can step.
async fn stepped() -> (FakeWorld, Arc<Stepped>) {
    let mut world = FakeWorld::start();
    world.kill().await;
    let clock = Arc::new(Stepped {
        right: Arc::clone(&world.world.clock),
        error_ms: AtomicI64::new(0),
    });
    world.world.clock = clock.clone();
    world.restart().await;
    (world, clock)
}

/// Its own runs are not those of a dead process, though they are dated before its start.
#[tokio::test(start_paused = true)]
async fn a_process_whose_clock_steps_back_to_before_its_start_answers_as_ever() {
    let (world, clock) = stepped().await;
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(4)));
    clock.step(-HOUR_MS);
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.model.prompts().len(), 1, "one run");
}

#[tokio::test(start_paused = true)]
async fn a_lease_and_a_tick_that_a_clock_ahead_has_dated_hold_nobody_up() {
    let (world, clock) = stepped().await;
    world.model.then(Behaviour::Answer(Duration::from_secs(50)));
    clock.step(6 * HOUR_MS);
    world.say(ANA, "oi").await;
    world.pass_s(10).await;
    // The run dies with its lease, hours ahead; the queue gives its tick again after it.
    world.kill().await;
    clock.step(0);
    world.start_workers();
    world.pass_s(400).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_was_put_off_by_a_clock_ahead_goes_out_in_minutes() {
    let (world, clock) = stepped().await;
    let refusal = SendBehaviour::Refuse("130429", Verdict::RetryAfter(Duration::from_secs(40)));
    world.messenger.then(refusal);
    clock.step(6 * HOUR_MS);
    world.say(ANA, "oi").await;
    world.pass_s(10).await;
    assert_eq!(answers(&world).len(), 0, "put off");
    clock.step(0);
    world.pass_s(200).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

/// Only the sweeper can find it, and it is dated hours ahead.
#[tokio::test(start_paused = true)]
async fn a_message_of_a_clock_ahead_whose_tick_is_lost_is_found_in_minutes() {
    let (world, clock) = stepped().await;
    clock.step(6 * HOUR_MS);
    world.say(ANA, "oi").await;
    world.ticks.lose_all();
    clock.step(0);
    world.pass_s(600).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert!(sent_after_ms(&world, 0) < 400_000);
}

#[tokio::test(start_paused = true)]
async fn what_a_clock_ahead_has_dated_is_taken_up_at_the_next_start() {
    let (world, clock) = stepped().await;
    clock.step(6 * HOUR_MS);
    world.say(ANA, "oi").await;
    world.kill().await;
    clock.step(0);
    world.restart().await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}
