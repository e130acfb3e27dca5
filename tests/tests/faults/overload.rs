//! Table, queue or model refuse everything for minutes: nothing is lost, nobody storms, and it mends by itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use recado::domain::reply::Settlement;
use recado::domain::{ConversationId, ReplyId, RunId};
use recado::error::ModelErrorClass;
use recado_tests::fake_messenger::Delivered;
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
const MENDED_WITHIN: Duration = Duration::from_mins(5);

/// What the SDK makes of one request that is refused.
const SDK_TRIES: u64 = 3;
/// Requests to either service for a webhook that is refused: the SDK's tries of one, or what went well before it.
const TRIES_A_WEBHOOK: u64 = SDK_TRIES;
/// Calls of the model for each person.
const CALLS_MAX: usize = 12;

/// Messages of one person in a minute by the fast clock.
const FLOOD: usize = 500;
const FLOOD_GAP: Duration = Duration::from_millis(120);

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

/// Nothing was lost, and in each minute no more was asked for each person who waits than `a_minute` of table and queue:
/// a look every five seconds or so, or a run that does not end well with growing pauses.
async fn mends(bench: &Bench, label: &str, outage: &Outage, a_minute: (u64, u64)) {
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
    let minutes = u64::try_from(PEOPLE).unwrap() * OUTAGE.as_secs() / 60;
    for (service, a_minute) in [(Service::DynamoDb, a_minute.0), (Service::Sqs, a_minute.1)] {
        let asked = outage.counts.of(service);
        let most = outage.webhooks_refused * TRIES_A_WEBHOOK + minutes * a_minute;
        assert!(
            asked <= most,
            "{label}: {asked} requests of {service:?}, more than {most}"
        );
    }
    assert!(calls < PEOPLE * CALLS_MAX, "{label}: {calls} calls");
    assert!(rest < MENDED_WITHIN, "{label}: at rest after {rest:?}");
    log::check(&[PHONE_START, ID_START, TEXT_START]);
}

#[tokio::test]
async fn a_throttled_table_loses_nothing_and_is_asked_little() {
    let bench = Bench::start(11).await;
    let outage = outage(
        &bench,
        |bench| bench.proxy.set(Service::DynamoDb, Weather::Throttling),
        |bench| bench.proxy.set(Service::DynamoDb, Weather::Fair),
    )
    .await;
    mends(&bench, "table", &outage, (15, 40)).await;
}

#[tokio::test]
async fn a_throttled_queue_loses_nothing_and_is_asked_little() {
    let bench = Bench::start(12).await;
    let outage = outage(
        &bench,
        |bench| bench.proxy.set(Service::Sqs, Weather::Throttling),
        |bench| bench.proxy.set(Service::Sqs, Weather::Fair),
    )
    .await;
    mends(&bench, "queue", &outage, (15, 40)).await;
}

#[tokio::test]
async fn a_throttled_model_loses_nothing_and_is_asked_little() {
    let bench = Bench::start(13).await;
    let refuses = Behaviour::Fail(Duration::from_millis(200), ModelErrorClass::Throttled);
    let answers = Behaviour::Answer(Duration::from_secs(1));
    let outage = outage(
        &bench,
        |bench| bench.model.usually(refuses),
        |bench| bench.model.usually(answers),
    )
    .await;
    mends(&bench, "model", &outage, (30, 40)).await;
}

/// Most turns of somebody who floods: one for each full batch, one for each ceiling, and the first and the last.
fn turns_max(messages: usize, took: Duration) -> usize {
    let ceilings = usize::try_from(took.as_secs() / 20).unwrap();
    messages.div_ceil(80) + ceilings + 2
}

#[tokio::test]
async fn a_flood_of_one_person_costs_few_turns_and_blocks_nobody() {
    let bench = Bench::start(14).await;
    let begun = bench.world.now();
    let mut people = JoinSet::new();
    for person in 0..PEOPLE {
        let bench = Arc::clone(&bench);
        let texts = if person == 0 { FLOOD } else { 2 };
        people.spawn(async move { bench.write(person, texts, FLOOD_GAP).await });
    }
    people.join_all().await;
    let rest = bench.rest().await;
    bench.check().await;
    let took = bench.world.now().since(begun);
    let mut delivered = bench.messenger.delivered();
    delivered.sort_by_key(|one| one.at);
    let is_flood = |one: &Delivered| one.to == format!("{PHONE_START}0000");
    let turns = delivered.iter().filter(|one| is_flood(one)).count();
    println!(
        "flood: {FLOOD} messages, {turns} turns in {took:.0?}, at rest {rest:.0?} after the last one was taken"
    );
    assert!(turns <= turns_max(FLOOD, took), "{turns} turns in {took:?}");
    // Nobody waits until the flood is dealt with.
    assert!(delivered.last().is_some_and(is_flood));
}

#[tokio::test]
async fn what_is_throttled_is_tried_as_often_as_the_sdk_does_and_longer_only_after_a_send() {
    let bench = Bench::start(15).await;
    bench.proxy.set(Service::DynamoDb, Weather::Throttling);
    bench.proxy.take_counts();
    let store = &bench.world.store;
    let conversation = ConversationId::parse("recepcao#5511900060000").unwrap();
    store.peek(&conversation, 1).await.unwrap_err();
    assert_eq!(bench.proxy.take_counts().of(Service::DynamoDb), SDK_TRIES);
    let now = bench.world.now();
    let (reply, run) = (
        ReplyId::from_parts(now.ms(), 1),
        RunId::from_parts(now.ms(), 2),
    );
    let sent = Settlement::Sent { provider_id: None };
    let settled = store.settle(&conversation, reply, Some(run), &sent, now);
    settled.await.unwrap_err();
    assert_eq!(
        bench.proxy.take_counts().of(Service::DynamoDb),
        6 * SDK_TRIES
    );
}
