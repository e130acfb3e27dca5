//! Table, queue or model refuse everything for minutes: nothing is lost, nobody storms, and it mends by itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use tokio::task::JoinSet;

use crate::bench::{Bench, ID_START, PHONE_START, TEXT_START};
use crate::log;
use crate::proxy::{Counts, Service, Weather};

const PEOPLE: usize = 20;
/// By the fast clock, and less than the time after which the agent gives up.
const OUTAGE: Duration = Duration::from_mins(3);
/// From the end of the outage: the longest pause of anyone (a model's backoff, a webhook's, a tick out of sight) and
/// a little more.
const MENDED_WITHIN: Duration = Duration::from_secs(300);

/// Requests to either service for a webhook that is refused: the SDK's three tries, and what went well before.
const TRIES_A_WEBHOOK: u64 = 6;
/// Requests in a minute for each person who waits: a tick every five seconds or so.
const TRIES_A_MINUTE: u64 = 45;
/// Calls of the model for each person.
const CALLS_MAX: usize = 12;

/// What was asked for while nothing was to be had.
struct Outage {
    counts: Counts,
    webhooks_refused: u64,
}

/// Everybody has written once before, writes while nothing is to be had, and waits for an answer.
async fn outage(
    bench: &Arc<Bench>,
    begin: impl FnOnce(&Bench),
    end: impl FnOnce(&Bench),
) -> Outage {
    let mut people = JoinSet::new();
    for person in 0..PEOPLE {
        let bench = Arc::clone(bench);
        people.spawn(async move { bench.write(person, 2, Duration::from_secs(2)).await });
    }
    people.join_all().await;
    bench.proxy.take_counts();
    begin(bench);
    let mut people = JoinSet::new();
    for person in 0..PEOPLE {
        let bench = Arc::clone(bench);
        people.spawn(async move { bench.write(person, 2, Duration::from_secs(9)).await });
    }
    bench.world.clock.sleep(OUTAGE).await;
    let outage = Outage {
        counts: bench.proxy.take_counts(),
        webhooks_refused: bench.refused.load(Ordering::SeqCst),
    };
    end(bench);
    people.join_all().await;
    outage
}

async fn mends(bench: &Bench, label: &str, outage: &Outage) {
    let rest = bench.rest().await;
    bench.check().await;
    let calls = bench.model.prompts().len();
    println!(
        "{label}: {} messages, {} replies; in {OUTAGE:.0?} {} table and {} queue requests, {} webhooks refused, {calls} \
         calls of the model; at rest {rest:.0?} after the last message was taken",
        bench.taken().len(),
        bench.messenger.delivered().len(),
        outage.counts.of(Service::DynamoDb),
        outage.counts.of(Service::Sqs),
        outage.webhooks_refused,
    );
    let waiting = u64::try_from(PEOPLE).unwrap() * OUTAGE.as_secs() / 60;
    let tries = outage.webhooks_refused * TRIES_A_WEBHOOK + waiting * TRIES_A_MINUTE;
    for service in [Service::DynamoDb, Service::Sqs] {
        let asked = outage.counts.of(service);
        assert!(
            asked < tries,
            "{label}: {asked} requests of {service:?}, expected {tries}"
        );
    }
    assert!(calls < PEOPLE * CALLS_MAX, "{label}: {calls} calls");
    assert!(rest < MENDED_WITHIN, "{label}: at rest after {rest:?}");
    log::check(&[PHONE_START, ID_START, TEXT_START]);
}

#[tokio::test]
async fn a_throttled_table_loses_nothing_and_is_not_stormed() {
    let bench = Bench::start(11).await;
    let outage = outage(
        &bench,
        |bench| bench.proxy.set(Service::DynamoDb, Weather::Throttling),
        |bench| bench.proxy.set(Service::DynamoDb, Weather::Fair),
    )
    .await;
    mends(&bench, "table", &outage).await;
}

#[tokio::test]
async fn a_throttled_queue_loses_nothing_and_is_not_stormed() {
    let bench = Bench::start(12).await;
    let outage = outage(
        &bench,
        |bench| bench.proxy.set(Service::Sqs, Weather::Throttling),
        |bench| bench.proxy.set(Service::Sqs, Weather::Fair),
    )
    .await;
    mends(&bench, "queue", &outage).await;
}

#[tokio::test]
async fn a_throttled_model_loses_nothing_and_is_not_stormed() {
    let bench = Bench::start(13).await;
    let instant = Duration::from_millis(200);
    let outage = outage(
        &bench,
        |bench| {
            bench
                .model
                .usually(Behaviour::Fail(instant, ModelErrorClass::Throttled))
        },
        |bench| {
            bench
                .model
                .usually(Behaviour::Answer(Duration::from_secs(1)))
        },
    )
    .await;
    mends(&bench, "model", &outage).await;
}
