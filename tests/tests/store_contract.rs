//! The contract of the table, on the fake one, on the embedded DynamoDB and on an independent emulator; and the proof
//! that the contract notices every condition that is left out.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use recado_tests::fake_store::Guards;
use recado_tests::for_each_store_contract;
use recado_tests::store_benches::{DynamoBench, FakeBench};
use recado_tests::store_contract;
use recado_tests::store_mutants::{Mutant, Mutator};

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
    let broken = broken_at(&url, &tables).await;
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

/// Terms that no contract notices, each for what stands before it.
const BELTS: &[(&str, &str, &str)] = &[(
    "update in a transaction of reply: SET #status",
    "#status IN (:from0)",
    "the reply was seen `unknown` by the request before: it shows only in a race",
)];

fn is_belt(mutant: &Mutant) -> bool {
    let is_it = |(place, term, _): &(&str, &str, &str)| {
        mutant.place.starts_with(place) && mutant.left_out() == *term
    };
    BELTS.iter().any(is_it)
}

/// The same for the adapter itself: each term of each condition it sends is left out on the way to the table, and the
/// contracts that send this condition are run until one notices.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "slow without the optimised profile; the suite \"mutants\" of `.ci/run` has it"]
async fn the_contract_notices_every_term_of_a_condition_that_is_left_out() {
    let mut senders: BTreeMap<Mutant, Vec<&'static str>> = BTreeMap::new();
    let mut sends = BTreeMap::new();
    for name in store_contract::NAMES {
        let recorder = Mutator::default();
        assert!(holds(name, &recorder).await, "{name}, without a mutant");
        let mutants = recorder.mutants();
        sends.insert(*name, mutants.len());
        for mutant in mutants {
            senders.entry(mutant).or_default().push(name);
        }
    }
    assert!(senders.len() > 30, "only {} mutants", senders.len());
    let all = senders.len();
    let unnoticed: Vec<_> = stream::iter(senders)
        .map(|(mutant, mut contracts)| {
            // Those that send few conditions are about this one.
            contracts.sort_by_key(|name| sends[name]);
            tokio::spawn(async move {
                let mutator = Mutator::without(mutant.clone());
                for name in contracts {
                    if !holds(name, &mutator).await {
                        return None;
                    }
                }
                Some(mutant)
            })
        })
        .buffer_unordered(4)
        .filter_map(|noticed| std::future::ready(noticed.expect("a search that ends")))
        .collect()
        .await;
    let (belts, unnoticed): (Vec<_>, Vec<_>) = unnoticed.into_iter().partition(is_belt);
    println!("{all} mutants, {} of them belts", belts.len());
    for (place, term, why) in BELTS {
        println!("{place}, {term}: {why}");
    }
    let told: Vec<_> = unnoticed.iter().map(Mutant::to_string).collect();
    assert!(told.is_empty(), "nobody notices:\n{}", told.join("\n"));
}

/// Whether a contract holds for an adapter whose requests pass through this mutator.
async fn holds(name: &'static str, mutator: &Mutator) -> bool {
    let bench = DynamoBench::mutated(mutator.clone()).await;
    ends_well(name, bench).await
}

/// No contract takes nearly as long.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Whether a contract comes to an end and holds. A table without a condition may also never come to an end.
async fn ends_well(name: &'static str, bench: DynamoBench) -> bool {
    let mut contract = tokio::spawn(async move { store_contract::run(name, &bench).await });
    let ended = tokio::time::timeout(PATIENCE, &mut contract).await;
    contract.abort();
    matches!(ended, Ok(Ok(())))
}

/// The contracts that do not hold behind `url`, each in a table of its own.
async fn broken_at(url: &str, tables: &str) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for (name, n) in store_contract::NAMES.iter().zip(0..) {
        let bench = DynamoBench::at(url, &format!("{tables}-{n}"), Mutator::default()).await;
        if !ends_well(name, bench).await {
            broken.push(*name);
        }
    }
    broken
}
