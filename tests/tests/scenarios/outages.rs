//! A table that refuses for a while, and crowds: nothing is lost, nobody waits longer than the trouble lasts, and no
//! storm follows.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{HoldReason, ReplyStatus};
use recado::error::Verdict;
use recado::flow::process::{Outcome, Visit, process};
use recado::flow::sweep::{Broom, sweep};
use recado::ports::{Store as _, Swapped};
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_ticks::TICKS;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, BIA, answers, sent_after_ms};

/// A table that can be out of order, and counts what it is asked.
#[derive(Default)]
struct Outage {
    is_down: AtomicBool,
    requests: AtomicUsize,
}

#[async_trait]
impl Faults for Outage {
    async fn before(&self, _operation: &'static str) -> Fault {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if self.is_down.load(Ordering::Relaxed) {
            Fault::FailBefore
        } else {
            Fault::None
        }
    }
}

impl Outage {
    fn start() -> (FakeWorld, Arc<Self>) {
        let outage = Arc::new(Self::default());
        let world = FakeWorld::start_with_faults(agent(|_| {}), outage.clone());
        (world, outage)
    }

    fn set(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    fn requests(&self) -> usize {
        self.requests.swap(0, Ordering::Relaxed)
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_out_for_seconds_in_a_run_delays_the_answer_by_seconds() {
    for down_s in [1, 5, 20] {
        let (world, outage) = Outage::start();
        world.say(ANA, "oi").await;
        // In the middle of the model's second, with the lease in the table.
        world.pass(Duration::from_millis(5_500)).await;
        outage.set(true);
        world.pass_s(down_s).await;
        outage.set(false);
        world.pass_s(180).await;
        assert_eq!(answers(&world), ["ouvi: oi"], "{down_s} s");
        // A pause of at most a minute, not the two minutes of a lease that no one gave back.
        let waited = sent_after_ms(&world, 0);
        assert!(
            waited < 5_500 + u128::from(down_s) * 1_000 + 45_000,
            "{waited} ms"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_out_for_minutes_is_asked_with_patience_and_then_everybody_is_answered() {
    let (world, outage) = Outage::start();
    for n in 0..20 {
        world.say(&format!("55119000001{n:02}"), "oi").await;
    }
    outage.set(true);
    outage.requests();
    world.pass_s(300).await;
    let asked = outage.requests();
    assert!(
        asked < 20 * 75,
        "{asked} requests of 20 people in 5 minutes"
    );
    outage.set(false);
    world.pass_s(120).await;
    assert_eq!(answers(&world).len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_send_that_might_be_cut_off_is_left_to_the_next_invocation() {
    let world = FakeWorld::start();
    world.model.then(Behaviour::Answer(Duration::from_secs(14)));
    world.say(ANA, "oi").await;
    // No poller takes the tick: the test is the invocation, with half a minute left.
    world.ticks.lose_all();
    world.pass_s(6).await;
    let visit = Visit {
        conversation: world.conversation(ANA),
        receipt: None,
        deadline: world.world.now().plus(Duration::from_secs(30)),
    };
    let outcome = process(&world.world, &visit).await.unwrap();
    assert!(
        matches!(outcome, Outcome::HoldUntil(_, HoldReason::SendLater)),
        "{outcome:?}"
    );
    let peek = world.store.peek(&visit.conversation, 1).await.unwrap();
    assert_eq!(peek.outbox[0].status, ReplyStatus::Ready);
    assert_eq!(answers(&world).len(), 0);
    let visit = Visit {
        deadline: world.world.now().plus(Duration::from_mins(2)),
        ..visit
    };
    assert_eq!(process(&world.world, &visit).await.unwrap(), Outcome::Done);
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn people_who_rightly_wait_do_not_keep_the_sweeper_from_others() {
    let world = FakeWorld::start();
    let far = world.world.now().plus(Duration::from_mins(1));
    for n in 0..25 {
        let phone = format!("55119000001{n:02}");
        world.say(&phone, "oi").await;
        let conversation = world.conversation(&phone);
        let peek = world.store.peek(&conversation, 1).await.unwrap();
        let mut state = peek.state.unwrap();
        let version = state.version;
        state.hold_until = Some(far);
        state.version += 1;
        let swapped = world.store.swap_state(&conversation, version, &state).await;
        assert_eq!(swapped.unwrap(), Swapped::Done);
    }
    world.pass(Duration::from_millis(10)).await;
    world.say(BIA, "oi da bia").await;
    world.ticks.lose_all();
    world.pass(Duration::from_millis(10)).await;
    let broom = Broom {
        grace: Duration::ZERO,
        limit: 10,
    };
    let swept = sweep(&world.world, broom).await.unwrap();
    assert_eq!((swept.ticks, swept.waiting, swept.failed), (1, 25, 0));
    world.pass_s(10).await;
    assert_eq!(answers(&world), ["ouvi: oi da bia"]);
}

/// Everybody's answer is written and nobody's can be sent, for the token has ended: each is tried once a minute, whatever
/// the sweeper does meanwhile, and nothing piles up.
#[tokio::test(start_paused = true)]
async fn a_thousand_people_who_are_held_for_an_hour_cause_no_storm_and_then_all_are_answered() {
    const PEOPLE: usize = 1_000;
    // An hour takes a minute and a half without optimisation; .ci/run gives it that.
    const MINUTES: u64 = if cfg!(debug_assertions) { 5 } else { 60 };
    let (world, outage) = Outage::start();
    let ended = SendBehaviour::Refuse("190", Verdict::Mend);
    world.messenger.usually(ended);
    for n in 0..PEOPLE {
        world.say(&format!("5511900{n:06}"), "oi").await;
    }
    // Five at a time, who each take a second.
    world.pass_s(600).await;
    assert_eq!(world.model.prompts().len(), PEOPLE, "all are answered");
    outage.requests();
    world.messenger.take_tries();
    for minute in 0..MINUTES {
        world.pass_s(60).await;
        let (requests, tries) = (outage.requests(), world.messenger.take_tries());
        // Looks, claim, mark, settle and release; a sweep looks at each once.
        assert!(
            requests <= PEOPLE * 12,
            "minute {minute}: {requests} requests"
        );
        assert!(tries <= PEOPLE * 5 / 4, "minute {minute}: {tries} sends");
        let ticks = world.ticks.count(TICKS);
        assert!(ticks <= PEOPLE * 2, "minute {minute}: {ticks} ticks wait");
    }
    assert_eq!(answers(&world).len(), 0);
    assert_eq!(
        world.model.prompts().len(),
        PEOPLE,
        "no answer is made twice"
    );
    world.messenger.usually(SendBehaviour::Accept);
    world.pass_s(180).await;
    let sent = world.messenger.delivered().into_iter().map(|one| one.to);
    assert_eq!(sent.collect::<BTreeSet<_>>().len(), PEOPLE);
    assert_eq!(answers(&world).len(), PEOPLE, "each once");
}
