//! Faults of every kind at once, then none: nothing is lost, nothing comes twice, nothing waits.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use recado::error::Verdict;
use recado_tests::fake_messenger::SendBehaviour;
use tokio::task::JoinSet;

use crate::bench::{Bench, ID_START, PHONE_START, TEXT_START};
use crate::log;
use crate::proxy::{Service, Weather};

/// Without `RECADO_FAULTS_S`.
const STORM_S: u64 = 8;
const PEOPLE: usize = 30;
/// How bad it is, in turns of a second.
const SHARES: [f64; 4] = [0.1, 0.2, 0.4, 0.1];
/// Requests to the table for each message, at most: without faults it is a tenth of it.
const TABLE_REQUESTS_MAX: u64 = 150;
const QUEUE_REQUESTS_MAX: u64 = 60;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[tokio::test]
async fn through_faults_of_every_kind_each_message_is_answered_once() {
    let seed = setting("RECADO_FAULTS_SEED", u64::from(std::process::id()));
    let storm = Duration::from_secs(setting("RECADO_FAULTS_S", STORM_S));
    println!("seed {seed}: RECADO_FAULTS_SEED={seed} does much the same again");
    let bench = Bench::start(seed).await;
    let began = Instant::now();
    let mut people = JoinSet::new();
    for person in 0..PEOPLE {
        people.spawn(write_until(Arc::clone(&bench), person, began + storm));
    }
    let mut shares = SHARES.into_iter().cycle();
    while began.elapsed() < storm {
        let share = shares.next().unwrap();
        bench.proxy.set(Service::DynamoDb, Weather::Stormy(share));
        bench.proxy.set(Service::Sqs, Weather::Stormy(share));
        for behaviour in [
            SendBehaviour::AcceptSilently,
            SendBehaviour::LoseSilently,
            SendBehaviour::Unreachable,
            SendBehaviour::Refuse("131000", Verdict::Retry),
        ] {
            bench.messenger.then(behaviour);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    bench.proxy.set(Service::DynamoDb, Weather::Fair);
    bench.proxy.set(Service::Sqs, Weather::Fair);
    people.join_all().await;
    let rest = bench.rest().await;
    bench.check().await;
    let counts = bench.proxy.take_counts();
    let messages = bench.taken().len() as u64;
    println!(
        "{messages} messages, {} replies, {} webhooks refused, at rest {rest:.0?} after the last one; {} table and {} \
         queue requests; {:?}",
        bench.messenger.delivered().len(),
        bench.refused.load(Ordering::SeqCst),
        counts.of(Service::DynamoDb),
        counts.of(Service::Sqs),
        counts.faults,
    );
    assert!(counts.of(Service::DynamoDb) < messages * TABLE_REQUESTS_MAX);
    assert!(counts.of(Service::Sqs) < messages * QUEUE_REQUESTS_MAX);
    log::check(&[PHONE_START, ID_START, TEXT_START]);
}

/// Thoughts of one to four texts, one after the other.
async fn write_until(bench: Arc<Bench>, person: usize, end: Instant) {
    let mut thought = person;
    while Instant::now() < end {
        let gap = Duration::from_millis(500 + 700 * (thought as u64 % 5));
        bench.write(person, 1 + thought % 4, gap).await;
        let pause = Duration::from_secs(10 + 7 * (thought as u64 % 6));
        bench.world.clock.sleep(pause).await;
        thought += 3;
    }
}
