//! Forgetting a person of two aliases.

use futures_util::FutureExt;
use recado::domain::Alias;
use recado::ports::{Erasure, Store as _, Written};
use recado_tests::fake_store::Person;

use crate::bench::Bench;
use crate::steps::Kind;
use crate::{Cell, Story, matrix};

const BSUID: &str = "BR.1234567890";

async fn ana_of_two_aliases(bench: &Bench) {
    let inbound = Bench::with_bsuid(bench.message("wamid.1", "oi"), BSUID);
    bench.webhook(inbound).await;
    bench.pass_ms(60_000).await;
}

/// Nothing of her is left but two tombstones, and what comes late does not bring her back.
fn nothing_is_left(bench: &Bench, cell: &Cell) {
    let table = bench.table();
    let items: usize = table.people.values().map(Person::items).sum();
    assert_eq!(items, 0, "{cell}");
    assert!(table.aliases.is_empty(), "{cell}");
    assert_eq!(table.tombstones.len(), 2, "{cell}");
    assert_eq!(bench.fakes.messenger.texts(), ["ouvi: oi"], "{cell}");
}

#[tokio::test(start_paused = true)]
async fn a_forget() {
    matrix(&Story {
        name: "forget",
        steps: "peek resolve begin_erasure erase erase",
        tell: |bench| {
            async {
                ana_of_two_aliases(bench).await;
                let late = bench.message("wamid.2", "atrasada");
                bench.pass_ms(2_000).await;
                bench.watch(Kind::Forget);
                bench.forget().await;
                bench.steps.watch(None);
                bench.webhook(late).await;
            }
            .boxed()
        },
        truth: nothing_is_left,
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_sweep_that_ends_an_erasure() {
    matrix(&Story {
        name: "sweep of an erasure",
        steps: "unrest erasure erase erase end_erasure",
        tell: |bench| {
            async {
                ana_of_two_aliases(bench).await;
                let store = &bench.fakes.store;
                let state = store.peek(&bench.ana(), 1).await.unwrap().state.unwrap();
                let aliases: Vec<Alias> = state.aliases.clone();
                let erasure = Erasure {
                    conversation: bench.ana(),
                    aliases,
                    forgotten_at: bench.now(),
                };
                // An operator's process that died right after its first transaction.
                let begun = store.begin_erasure(&erasure, state.version).await.unwrap();
                assert_eq!(begun, Written::Done);
                bench.pass_ms(152_000).await;
                bench.watch(Kind::Sweep);
                bench.sweep().await;
                bench.steps.watch(None);
            }
            .boxed()
        },
        truth: nothing_is_left,
    })
    .await;
}
