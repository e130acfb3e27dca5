//! The contract of the table, on the fake one, on the embedded DynamoDB and on an independent emulator; and the proof
//! that the contract notices every condition that is left out.

use recado_tests::fake_store::Guards;
use recado_tests::for_each_store_contract;
use recado_tests::store_benches::{DynamoBench, FakeBench};
use recado_tests::store_contract;

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
    for (name, n) in store_contract::NAMES.iter().zip(0..) {
        println!("{name}");
        let table = format!("recado-contract-{}-{n}", std::process::id());
        let bench = DynamoBench::at(&url, &table).await;
        store_contract::run(name, &bench).await;
    }
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
