//! What a message costs: every request that the real adapters make is counted, and README.md must say the same.
//!
//! `cargo test -p recado-tests --test cost -- --nocapture` prints it all.

mod bench;
mod clock;
mod front;
mod money;

use std::time::Duration;

use bench::{Bench, MODEL_TAKES, Queue};
use front::Service;
use money::Measured;

const TICKS: &[Queue] = &[Queue::Ticks];
/// Enough for window, model and whatever comes after.
const A_WHILE: Duration = Duration::from_secs(25);

/// Exchanges that lie behind when a turn is measured.
const BEHIND: u32 = 10;

fn measured(bench: &Bench) -> Measured {
    let (counts, invocations, log) = bench.counted();
    println!("{counts:#?}\n{invocations:#?}\n{log}");
    Measured {
        webhooks: invocations.ingest,
        invocations: invocations.ingest + invocations.processor + invocations.sweeper,
        table_requests: counts.of(Service::DynamoDb),
        write_units: counts.write_units,
        read_units: counts.read_units,
        fifo: counts.of(Service::SqsFifo),
        standard: counts.of(Service::SqsStandard),
        sends: counts.of(Service::Graph),
        waited_ms: u64::try_from(invocations.processor_waited.as_millis()).unwrap(),
        log_bytes: log.len(),
    }
}

/// A conversation with a person who is known, which is then counted.
async fn count(story: impl AsyncFn(&Bench)) -> Measured {
    let bench = Bench::start().await;
    bench.tell(bench.acquaint(BEHIND)).await;
    bench.tell(story(&bench)).await;
    measured(&bench)
}

#[tokio::test]
async fn one_message_one_answer() {
    let counted = count(async |bench: &Bench| {
        bench.write("queria marcar um corte para sexta").await;
        bench.work(TICKS, A_WHILE).await;
    });
    assert_eq!(Box::pin(counted).await, money::ONE);
}

#[tokio::test]
async fn four_fragments_one_answer() {
    let counted = count(async |bench: &Bench| {
        let writing = async {
            for text in ["oi", "queria marcar", "pra sexta", "de manhã se tiver"] {
                bench.write(text).await;
                bench.pass(Duration::from_millis(700)).await;
            }
        };
        tokio::join!(writing, bench.work(TICKS, A_WHILE));
    });
    assert_eq!(Box::pin(counted).await, money::FOUR);
}

#[tokio::test]
async fn a_superseded_run() {
    let counted = count(async |bench: &Bench| {
        let writing = async {
            bench.write("queria marcar um corte para sexta").await;
            bench.pass(Duration::from_millis(7_600)).await;
            bench.write("não, sábado").await;
        };
        tokio::join!(writing, bench.work(TICKS, A_WHILE));
    });
    assert_eq!(Box::pin(counted).await, money::SUPERSEDED);
}

#[tokio::test]
async fn a_compaction() {
    let bench = Bench::start().await;
    bench.tell(bench.acquaint(19)).await;
    let to_the_twentieth = async {
        bench.write("queria marcar um corte para sexta").await;
        bench.work(TICKS, A_WHILE).await;
    };
    bench.tell(to_the_twentieth).await;
    let asked = bench.counted().0.of(Service::SqsStandard);
    assert_eq!(asked, 1, "the twentieth turn asks for a compaction");
    bench.forget_counts();
    bench
        .front
        .behind
        .count(Service::SqsStandard, "SendMessage".to_owned(), asked);
    bench.tell(bench.work(&[Queue::Compactions], A_WHILE)).await;
    assert_eq!(measured(&bench), money::COMPACTION);
}

#[tokio::test]
async fn an_idle_sweep() {
    let counted = count(async |bench: &Bench| bench.sweep().await);
    assert_eq!(Box::pin(counted).await, money::SWEEP);
}

#[tokio::test]
async fn a_status_of_a_reply() {
    let counted = count(async |bench: &Bench| bench.status("delivered").await);
    assert_eq!(Box::pin(counted).await, money::STATUS);
}

#[tokio::test]
async fn a_message_of_somebody_new() {
    let bench = Bench::start().await;
    bench.forget_counts();
    bench
        .tell(bench.write("queria marcar um corte para sexta"))
        .await;
    let new = measured(&bench);
    bench.forget_counts();
    bench.tell(bench.write("pode ser de manhã")).await;
    let known = measured(&bench);
    let more = new.write_units - known.write_units;
    assert!((more - money::NEW_PERSON_WRITE_UNITS).abs() < 0.1, "{more}");
}

#[test]
fn the_model_takes_what_the_readme_says() {
    assert_eq!(MODEL_TAKES.as_millis(), 5_500);
}
