//! Contracts of what the sweeper sees.

use recado::domain::Timestamp;
use recado::domain::reply::Settlement;
use recado::ports::{Unrest, Written};

use super::scene::{Scene, at, event, run_id};
use super::{Bench, Damage};

fn waiting(scene: &Scene<'_>, since: Timestamp) -> Unrest {
    Unrest {
        conversation: scene.conversation.clone(),
        since,
        erasure: false,
    }
}

pub async fn unrest_follows_a_message_until_its_reply_is_at_rest(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    assert_eq!(scene.unrest().await, [], "a contact without messages");
    scene.receive(&["m1"]).await;
    assert_eq!(scene.unrest().await, [waiting(&scene, at(11))], "pending");
    let epoch = scene.claim(1).await;
    assert_eq!(scene.unrest().await, [waiting(&scene, at(11))], "claimed");
    let commit = scene.commit_of(1, epoch, &["m1"]);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.unrest().await, [waiting(&scene, at(101))], "ready");
    let (store, reply) = (scene.store(), commit.reply);
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    assert_eq!(scene.unrest().await, [waiting(&scene, at(120))], "sending");
    let settle = async |settlement| {
        let token = Some(run_id(1));
        let settled = store.settle(&scene.conversation, reply.id, token, &settlement, at(130));
        assert_eq!(settled.await.expect("settle"), Written::Done);
        scene.unrest().await
    };
    assert_eq!(settle(Settlement::Unknown).await, [], "unknown");
    let again = [waiting(&scene, at(130))];
    assert_eq!(
        settle(Settlement::Ready {
            refused_since: None
        })
        .await,
        again,
        "ready again"
    );
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    assert_eq!(settle(Settlement::Sent { provider_id: None }).await, []);
}

pub async fn unrest_comes_oldest_first_and_no_more_than_asked_for(bench: &dyn Bench) {
    // Enough people for every shard to hold several.
    let people: Vec<_> = (0..40).map(|n| Scene::of(bench, n)).collect();
    for (scene, n) in people.iter().zip(0_u64..) {
        scene.append(&event("m1", 10 + n * 7 % 40)).await;
    }
    let mut all: Vec<_> = people
        .iter()
        .zip(0_u64..)
        .map(|(scene, n)| waiting(scene, at(11 + n * 7 % 40)))
        .collect();
    all.sort_by_key(|unrest| unrest.since);
    for limit in [1, 7, 40, 100] {
        let unrest = bench.store().unrest(at(1000), limit).await;
        let oldest = &all[..limit.min(40)];
        assert_eq!(unrest.expect("unrest"), oldest, "limit {limit}");
    }
    let unrest = bench.store().unrest(at(21), 100).await;
    assert_eq!(unrest.expect("unrest"), all[..10], "before a moment");
}

pub async fn a_conversation_in_unrest_is_named_once(bench: &dyn Bench) {
    let (one, two) = (Scene::of(bench, 1), Scene::of(bench, 2));
    for n in 0..12 {
        one.append(&event(&format!("m{n}"), 10 + n)).await;
        two.append(&event(&format!("m{n}"), 30 + n)).await;
    }
    let both = [waiting(&one, at(11)), waiting(&two, at(31))];
    let unrest = bench.store().unrest(at(1000), 2).await;
    assert_eq!(unrest.expect("unrest"), both);
}

pub async fn an_erasure_under_way_is_unrest(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let erasure = scene.begin(20).await;
    let job = Unrest {
        erasure: true,
        ..waiting(&scene, at(20))
    };
    assert_eq!(scene.unrest().await, [job]);
    bench.store().end_erasure(&erasure).await.expect("end");
    assert_eq!(scene.unrest().await, []);
}

pub async fn an_erasure_that_cannot_be_read_keeps_nobody_else_waiting(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.begin(20).await;
    let other = Scene::of(bench, 2);
    other.append(&event("m1", 30)).await;
    for damage in [Damage::Future, Damage::Broken] {
        bench.damage_job(&scene.conversation, damage).await;
        assert_eq!(scene.unrest().await, [waiting(&other, at(31))]);
        let found = bench
            .store()
            .erasure(&scene.conversation.agent, &scene.conversation);
        assert!(found.await.is_err(), "{damage:?}");
    }
}
