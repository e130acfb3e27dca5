//! Contracts of items that cannot be read.

use recado::error::StoreError;
use recado::ports::Appended;

use super::scene::{Scene, event, message};
use super::{Bench, Damage};

pub async fn a_message_that_cannot_be_read_is_set_aside(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.answered(1, &["a1", "a2"]).await;
    scene.receive(&["m1", "m2", "m3"]).await;
    for id in ["a1", "m1"] {
        let id = message(id);
        bench.damage(&scene.conversation, &id, Damage::Broken).await;
    }
    assert_eq!(scene.pending().await, ["m2", "m3"]);
    let memory = bench.store().load(&scene.conversation).await.expect("load");
    let ids: Vec<_> = memory.exchanges[0].messages.iter().map(|m| &m.id).collect();
    assert_eq!(ids, [&message("a2")]);
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::Pending);
}

pub async fn a_message_of_a_newer_program_stops_the_reading(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.answered(1, &["a1"]).await;
    scene.receive(&["m1"]).await;
    let waiting = message("m1");
    bench
        .damage(&scene.conversation, &waiting, Damage::Future)
        .await;
    let peek = bench.store().peek(&scene.conversation, 81).await;
    assert!(matches!(
        peek,
        Err(StoreError::FutureVersion {
            found: 2,
            known: 1,
            ..
        })
    ));
    assert!(bench.store().load(&scene.conversation).await.is_ok());
    let answered = message("a1");
    bench
        .damage(&scene.conversation, &answered, Damage::Future)
        .await;
    let load = bench.store().load(&scene.conversation).await;
    assert!(matches!(load, Err(StoreError::FutureVersion { .. })));
}
