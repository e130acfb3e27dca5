//! A client that panics at one request: counted where it can be, and it costs seconds, not the two minutes of a lease.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{ConversationId, ProviderEvent};
use recado::error::TicksError;
use recado::flow::{ingest, sweep};
use recado::ports::{Receipt, Ticks};
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_ticks::FakeTicks;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, BIA, answers, forgets_and_dies, sent_after_ms};

/// The next request of this name panics: before it is applied, or after.
#[derive(Default)]
struct Panics {
    before: Mutex<Option<&'static str>>,
    after: Mutex<Option<&'static str>>,
}

fn told_to(next: &Mutex<Option<&'static str>>, operation: &str) {
    let is_told = next.lock().unwrap().take_if(|name| *name == operation);
    assert!(is_told.is_none(), "told to");
}

#[async_trait]
impl Faults for Panics {
    async fn before(&self, operation: &'static str) -> Fault {
        told_to(&self.before, operation);
        Fault::None
    }

    async fn after(&self, operation: &'static str) {
        told_to(&self.after, operation);
    }
}

fn world() -> (FakeWorld, Arc<Panics>) {
    let panics = Arc::new(Panics::default());
    let world = FakeWorld::start_with_faults(agent(|_| {}), panics.clone());
    (world, panics)
}

/// Window, a pause of four seconds at most, the model's second and the send.
const SOON_MS: u128 = 12_000;

#[tokio::test(start_paused = true)]
async fn a_claim_that_panics_when_it_is_written_gives_its_lease_back() {
    for applied in [false, true] {
        let (world, panics) = world();
        let next = if applied {
            &panics.after
        } else {
            &panics.before
        };
        *next.lock().unwrap() = Some("swap_state");
        world.say(ANA, "oi").await;
        world.pass_s(60).await;
        assert_eq!(answers(&world), ["ouvi: oi"]);
        assert!(sent_after_ms(&world, 0) < SOON_MS, "applied: {applied}");
    }
}

/// Queues whose first hold panics: it is the one of a claim.
struct FirstHold(Arc<FakeTicks>, Mutex<bool>);

#[async_trait]
impl Ticks for FirstHold {
    async fn tick(&self, of: &ConversationId, dedup: &str) -> Result<(), TicksError> {
        self.0.tick(of, dedup).await
    }

    async fn hold(&self, receipt: &Receipt, seconds: u32) -> Result<(), TicksError> {
        let is_first = std::mem::take(&mut *self.1.lock().unwrap());
        assert!(!is_first, "told to");
        self.0.hold(receipt, seconds).await
    }

    async fn compact(&self, of: &ConversationId) -> Result<(), TicksError> {
        self.0.compact(of).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_between_claim_and_run_gives_the_lease_back() {
    let mut world = FakeWorld::start();
    world.kill().await;
    world.world.ticks = Arc::new(FirstHold(Arc::clone(&world.ticks), Mutex::new(true)));
    world.start_workers();
    world.say(ANA, "oi").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert!(sent_after_ms(&world, 0) < SOON_MS);
}

/// The lease stays in the table, and this process knows that its run is over.
#[tokio::test(start_paused = true)]
async fn a_release_that_panics_silences_nobody_in_this_process() {
    let (world, panics) = world();
    *panics.before.lock().unwrap() = Some("release");
    world.say(ANA, "oi").await;
    world.pass_s(10).await;
    world.say(ANA, "e aí?").await;
    world.pass_s(20).await;
    assert_eq!(answers(&world), ["ouvi: oi", "ouvi: e aí?"]);
}

#[tokio::test(start_paused = true)]
async fn an_erasure_that_breaks_a_sweep_keeps_no_other_from_its_end() {
    let (world, panics) = world();
    for phone in [ANA, BIA] {
        world.say(phone, "segredo").await;
        world.pass_s(30).await;
        forgets_and_dies(&world, phone).await;
    }
    world.kill().await;
    world.pass_s(200).await;
    *panics.before.lock().unwrap() = Some("erasure");
    let broom = sweep::Broom {
        grace: Duration::from_secs(50),
        limit: 10,
    };
    let swept = sweep::sweep(&world.world, broom).await.unwrap();
    assert_eq!((swept.erasures, swept.failed), (1, 1));
    // At a start too.
    *panics.before.lock().unwrap() = Some("erasure");
    let recovered = sweep::recover(&world.world, 10).await.unwrap();
    assert_eq!(recovered.erasures, 0);
    let swept = sweep::sweep(&world.world, broom).await.unwrap();
    assert_eq!((swept.erasures, swept.failed), (1, 0));
    assert!(world.store.look().jobs.is_empty());
}

/// W3: what breaks the program never sinks what came in the same body.
#[tokio::test(start_paused = true)]
async fn a_message_that_breaks_the_intake_is_sent_again_and_those_beside_it_are_stored() {
    let (world, panics) = world();
    *panics.before.lock().unwrap() = Some("append");
    let body = || {
        let messages = [(ANA, "wamid.1", "oi"), (BIA, "wamid.2", "olá")];
        let events = messages.map(|(phone, id, text)| world.message(phone, id, text));
        events.map(ProviderEvent::Message).to_vec()
    };
    let ingested = ingest::ingest(&world.world, body()).await;
    assert_eq!((ingested.stored, ingested.failed), (1, 1));
    let ingested = ingest::ingest(&world.world, body()).await;
    assert_eq!((ingested.stored, ingested.failed), (1, 0));
    world.pass_s(30).await;
    assert_eq!(answers(&world).len(), 2);
}
