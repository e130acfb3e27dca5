//! The contract of breakers, on the fake ones, on the embedded DynamoDB, behind a process's cache, and on an independent
//! emulator; and the proof that it notices every condition that is left out.

use std::sync::Arc;

use recado::adapters::cached_breakers::CachedBreakers;
use recado::domain::{Breaker, RunId, Timestamp};
use recado::error::ModelErrorClass;
use recado::ports::{Breakers as _, Clock, Written};
use recado_tests::breaker_contract::{self, NAMES};
use recado_tests::fake_breakers::FakeBreakers;
use recado_tests::fake_clock::MovedClock;
use recado_tests::for_each_breaker_contract;
use recado_tests::store_benches::DynamoBench;
use recado_tests::store_mutants::{Mutant, Mutator};

fn clock() -> Arc<dyn Clock> {
    Arc::new(MovedClock::start())
}

macro_rules! on_each {
    ($($name:ident,)*) => {
        mod fake {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                breaker_contract::$name(&FakeBreakers::default()).await;
            })*
        }

        mod embedded {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                let bench = DynamoBench::embedded().await;
                breaker_contract::$name(bench.breakers()).await;
            })*
        }

        mod cached {
            use super::*;
            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                let table = Arc::new(FakeBreakers::default());
                breaker_contract::$name(&CachedBreakers::new(table, clock())).await;
            })*
        }
    };
}

for_each_breaker_contract!(on_each);

/// On the endpoint of `RECADO_TEST_DYNAMODB_URL`, each contract in a table of its own.
#[tokio::test]
#[ignore = "needs an endpoint of DynamoDB's protocol in RECADO_TEST_DYNAMODB_URL"]
async fn an_independent_emulator_keeps_the_contract() {
    let url = std::env::var("RECADO_TEST_DYNAMODB_URL").expect("RECADO_TEST_DYNAMODB_URL");
    for (name, n) in NAMES.iter().zip(0..) {
        let table = format!("recado-breakers-{}-{n}", std::process::id());
        let bench = DynamoBench::at(&url, &table, Mutator::default()).await;
        breaker_contract::run(name, bench.breakers()).await;
    }
}

/// Whether a contract holds for an adapter whose requests pass through this mutator.
async fn holds(name: &'static str, mutator: Mutator) -> bool {
    let bench = DynamoBench::mutated(mutator).await;
    let contract = async move { breaker_contract::run(name, bench.breakers()).await };
    tokio::spawn(contract).await.is_ok()
}

#[tokio::test]
async fn the_contract_notices_every_condition_that_is_left_out() {
    let recorder = Mutator::default();
    for name in NAMES {
        assert!(holds(name, recorder.clone()).await, "{name}");
    }
    let mutants = recorder.mutants();
    assert_eq!(mutants.len(), 3, "open, move on, close: {mutants:#?}");
    for mutant in mutants {
        assert!(noticed(&mutant).await, "nobody notices {mutant}");
    }
}

async fn noticed(mutant: &Mutant) -> bool {
    for name in NAMES {
        if !holds(name, Mutator::without(mutant.clone())).await {
            return true;
        }
    }
    false
}

fn open() -> Breaker {
    let at = |seconds: u64| Timestamp::from_ms(1_900_000_000_000 + seconds * 1_000);
    Breaker {
        class: ModelErrorClass::Quota,
        since: at(0),
        open_until: at(30),
        mark: RunId::from_parts(at(0).ms(), 1),
    }
}

#[tokio::test]
async fn its_item_names_a_model_and_a_class_and_goes_by_itself_a_day_later() {
    let bench = DynamoBench::embedded().await;
    let opened = open();
    let opened = bench.breakers().swap_breaker("big", None, Some(&opened));
    assert_eq!(opened.await.unwrap(), Written::Done);
    let items = bench.items().await;
    let attributes: Vec<_> = items[0].keys().map(String::as_str).collect();
    let right = [
        "class",
        "conversation",
        "expires_at",
        "item",
        "mark",
        "open_until",
        "since",
        "v",
    ];
    assert_eq!((items.len(), attributes), (1, right.to_vec()));
    assert_eq!(items[0]["conversation"].as_s().unwrap(), "breaker#big");
    assert_eq!(items[0]["item"].as_s().unwrap(), "state");
    let day_later = 1_900_000_000 + 30 + 86_400;
    assert_eq!(
        items[0]["expires_at"].as_n().unwrap(),
        &day_later.to_string()
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_asks_the_table_once_in_five_seconds() {
    let table = Arc::new(FakeBreakers::default());
    let cached = CachedBreakers::new(table.clone(), clock());
    for _ in 0..50 {
        assert_eq!(cached.breaker("big").await.unwrap(), None);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(table.reads(), 1);
    // Others see for so long at most what is no longer so.
    let opened = table.swap_breaker("big", None, Some(&open())).await;
    assert_eq!(opened.unwrap(), Written::Done);
    assert_eq!(cached.breaker("big").await.unwrap(), Some(open()));
    assert_eq!(table.reads(), 2);
}

/// What was lost to another is read anew, and what was done is known without reading.
#[tokio::test(start_paused = true)]
async fn a_process_knows_what_it_did_and_doubts_what_it_lost() {
    let table = Arc::new(FakeBreakers::default());
    let [one, other] = [(), ()].map(|()| CachedBreakers::new(table.clone(), clock()));
    assert_eq!(one.breaker("big").await.unwrap(), None);
    let mine = open();
    let opened = other.swap_breaker("big", None, Some(&mine)).await;
    assert_eq!(opened.unwrap(), Written::Done);
    assert_eq!(other.breaker("big").await.unwrap(), Some(mine));
    assert_eq!(table.reads(), 1, "known without reading");
    let late = Breaker {
        mark: RunId::from_parts(1, 2),
        ..mine
    };
    let lost = one.swap_breaker("big", None, Some(&late)).await;
    assert_eq!(lost.unwrap(), Written::Lost);
    assert_eq!(one.breaker("big").await.unwrap(), Some(mine));
}
