//! The contract of the table, on the fake one, on the embedded DynamoDB and on an independent emulator; and the proof
//! that the contract notices every condition that is left out.

use futures_util::{StreamExt, stream};
use recado_cli::dynamo::{Data, Dynamo};
use recado_tests::fake_store::Guards;
use recado_tests::for_each_store_contract;
use recado_tests::store_benches::{DynamoBench, FakeBench};
use recado_tests::store_contract;
use recado_tests::store_mutants::Mutator;

macro_rules! on_each_table {
    ($($module:ident::$name:ident,)*) => {
        mod fake {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                let bench = FakeBench::with_guards(Guards::default());
                store_contract::$module::$name(&bench).await;
            })*
        }

        mod embedded {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                let bench = DynamoBench::embedded().await;
                store_contract::$module::$name(&bench).await;
            })*
        }
    };
}

for_each_store_contract!(on_each_table);

/// On the endpoint of `RECADO_TEST_DYNAMODB_URL`, each contract in a table of its own.
#[tokio::test]
#[ignore = "needs an endpoint of DynamoDB's protocol in RECADO_TEST_DYNAMODB_URL"]
async fn an_independent_emulator_keeps_the_contract() {
    let url = std::env::var("RECADO_TEST_DYNAMODB_URL").expect("RECADO_TEST_DYNAMODB_URL");
    let tables = format!("recado-contract-{}", std::process::id());
    let broken = broken_by(&url, &tables, &Mutator::default(), usize::MAX).await;
    assert_eq!(broken, [""; 0], "contracts that do not hold there");
}

/// Reading in one snapshot shows only while someone writes between two reads: the simulation watches that one.
const SHOWS_ONLY_IN_A_RACE: &[&str] = &["snapshot_resolve"];

#[tokio::test]
async fn the_contract_notices_every_guard_that_is_left_out() {
    for guard in Guards::NAMES {
        if SHOWS_ONLY_IN_A_RACE.contains(guard) {
            continue;
        }
        let mut noticed = Vec::new();
        for name in store_contract::NAMES {
            let bench = FakeBench::with_guards(Guards::without(guard));
            let contract = tokio::spawn(async move { store_contract::run(name, &bench).await });
            if contract.await.is_err() {
                noticed.push(*name);
            }
        }
        assert!(
            !noticed.is_empty(),
            "nobody notices that `{guard}` is left out"
        );
        println!("{guard}: {noticed:?}");
    }
}

/// The same for the adapter itself: each term of each condition it sends is left out on the way to the table.
#[tokio::test]
#[ignore = "runs the contract once for each of the adapter's terms"]
async fn the_contract_notices_every_term_of_a_condition_that_is_left_out() {
    let loopback = ([127, 0, 0, 1], 0).into();
    let dynamo = Dynamo::start(&Data::Memory, loopback).expect("the embedded DynamoDB");
    let recorder = Mutator::default();
    let broken = broken_by(dynamo.url(), "whole", &recorder, usize::MAX).await;
    assert_eq!(
        broken, [""; 0],
        "contracts that do not hold without a mutant"
    );
    let mutants = recorder.mutants();
    assert!(mutants.len() > 30, "only {} mutants", mutants.len());
    let unnoticed: Vec<_> = stream::iter(mutants.into_iter().zip(0..))
        .map(|(mutant, n)| {
            let url = dynamo.url().to_owned();
            async move {
                let mutator = Mutator::without(mutant.clone());
                let broken = broken_by(&url, &format!("mutant-{n}"), &mutator, 1).await;
                broken.is_empty().then(|| mutant.to_string())
            }
        })
        .buffer_unordered(8)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(
        unnoticed.is_empty(),
        "nobody notices:\n{}",
        unnoticed.join("\n")
    );
}

/// No contract takes nearly as long.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// The first contracts that do not hold, each in a table of its own; stops at `max` of them.
async fn broken_by(url: &str, tables: &str, mutator: &Mutator, max: usize) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for (name, n) in store_contract::NAMES.iter().zip(0..) {
        let bench = DynamoBench::at(url, &format!("{tables}-{n}"), mutator.clone()).await;
        let contract = tokio::spawn(async move { store_contract::run(name, &bench).await });
        // A table without a condition may also never come to an end.
        let ended = tokio::time::timeout(PATIENCE, contract).await;
        if !matches!(ended, Ok(Ok(()))) {
            broken.push(*name);
        }
        if broken.len() >= max {
            break;
        }
    }
    broken
}
