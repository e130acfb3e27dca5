//! Contracts of forgetting: nothing is left, nothing comes back, and the next life is not touched.

use recado::domain::batch::Closure;
use recado::domain::memory::Fold;
use recado::domain::reply::Settlement;
use recado::domain::{ClosedReason, DeliveryStatus, Fact, Summary};
use recado::ports::{AliasAddition, Creation, Noted, Release, Written};

use super::Bench;
use super::scene::{
    Scene, agent, at, bsuid, contact, conversation, creation, event, fact_id, message, phone,
    phone_text, reply_id, run_id,
};

/// A person with everything a person can have.
async fn full(bench: &dyn Bench) -> Scene<'_> {
    let scene = Scene::new(bench).await;
    let reply = scene.answered(1, &["m1", "m2"]).await;
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    let (store, token) = (scene.store(), Some(run_id(1)));
    let sent = Settlement::Sent {
        provider_id: Some("wamid.out".to_owned()),
    };
    let settled = store.settle(&scene.conversation, reply.id, token, &sent, at(130));
    assert_eq!(settled.await.expect("settle"), Written::Done);
    let fold = compaction(None);
    let folded = store.fold(&scene.conversation, &fold, at(140)).await;
    assert_eq!(folded.expect("fold"), Written::Done);
    scene.answered(2, &["m3"]).await;
    scene.receive(&["m4"]).await;
    scene
}

fn compaction(from_version: Option<u64>) -> Fold {
    Fold {
        from_version,
        summary: Summary {
            version: from_version.unwrap_or(0) + 1,
            text: "a summary".to_owned(),
            through: reply_id(1),
            written_at: at(140),
        },
        facts: vec![Fact {
            id: fact_id(1),
            text: "a fact".to_owned(),
            sources: vec![message("m1")],
            said_at: at(10),
        }],
        retired: Vec::new(),
        messages: vec![message("m1")],
        replies: Vec::new(),
        calls: Vec::new(),
    }
}

pub async fn an_erasure_needs_the_version_whose_aliases_it_read(bench: &dyn Bench) {
    let scene = full(bench).await;
    let (erasure, version) = scene.erasure(200).await;
    let before = bench.dump().await;
    for wrong in [version - 1, version + 1] {
        let begun = bench.store().begin_erasure(&erasure, wrong).await;
        assert_eq!(begun.expect("begin"), Written::Lost);
        scene.is_unchanged(&before, "a stale beginning").await;
    }
}

pub async fn an_alias_added_meanwhile_stops_an_erasure(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let (erasure, version) = scene.erasure(20).await;
    let addition = AliasAddition {
        conversation: scene.conversation.clone(),
        alias: phone(2),
        stale: None,
        event_sent_at: at(15),
    };
    let added = bench.store().add_alias(&addition).await;
    assert_eq!(added.expect("add"), Written::Done);
    let begun = bench.store().begin_erasure(&erasure, version).await;
    assert_eq!(begun.expect("begin"), Written::Lost);
}

pub async fn a_begun_erasure_is_found_until_it_has_ended(bench: &dyn Bench) {
    let scene = full(bench).await;
    let find = async || {
        let found = bench.store().erasure(&agent(), &scene.conversation).await;
        found.expect("find")
    };
    assert_eq!(find().await, None);
    let erasure = scene.begin(200).await;
    assert_eq!(scene.peek().await.state, None);
    assert_eq!(find().await, Some(erasure.clone()));
    assert!(bench.store().erase(&erasure).await.expect("erase") > 0);
    assert_eq!(find().await, Some(erasure.clone()), "erased, not ended");
    bench.store().end_erasure(&erasure).await.expect("end");
    assert_eq!(find().await, None);
    bench
        .store()
        .end_erasure(&erasure)
        .await
        .expect("end twice");
}

pub async fn a_repeated_beginning_is_done_and_changes_nothing(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let (erasure, version) = scene.erasure(20).await;
    let begin = async |seconds| {
        let erasure = recado::ports::Erasure {
            forgotten_at: at(seconds),
            ..erasure.clone()
        };
        let begun = bench.store().begin_erasure(&erasure, version).await;
        begun.expect("begin")
    };
    assert_eq!(begin(20).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(begin(20).await, Written::Done, "the same one");
    assert_eq!(begin(25).await, Written::Lost, "the moment is not moved");
    scene.is_unchanged(&before, "a repeat").await;
}

pub async fn an_erasure_of_any_number_of_aliases_ends_each_of_them(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let many: Vec<_> = (1..=230).map(phone).collect();
    scene.change(|state| state.aliases.clone_from(&many)).await;
    let erasure = scene.forget(20).await;
    assert_eq!(erasure.aliases, many);
    let life = bench.hasher().life(&scene.conversation);
    for some in many.chunks(50) {
        for known in bench
            .store()
            .resolve(&agent(), some)
            .await
            .expect("resolve")
        {
            assert_eq!(known.contact, None);
            let ended = known.ended.expect("a tombstone");
            assert_eq!((ended.at, ended.lives), (at(20), vec![life.clone()]));
        }
    }
}

pub async fn nothing_is_left_of_a_person_but_hashes(bench: &dyn Bench) {
    let other = Scene::of(bench, 2);
    let creation = creation(&phone_text(2), &[phone(2)], 0);
    let written = bench.store().create_contact(&creation).await;
    assert_eq!(written.expect("create"), Written::Done);
    other.receive(&["x1"]).await;
    let scene = full(bench).await;
    let erasure = scene.begin(200).await;
    // Two aliases, four messages, two replies, a summary and a fact; the state went before.
    assert_eq!(bench.store().erase(&erasure).await.expect("erase"), 10);
    assert_eq!(bench.store().erase(&erasure).await.expect("erase"), 0);
    bench.store().end_erasure(&erasure).await.expect("end");
    let dump = bench.dump().await;
    let (phone_digits, bsuid) = (phone_text(1), "BR.1abc");
    for personal in [&*phone_digits, bsuid, "m1", "words of", "answer", "a fact"] {
        let theirs = dump.lines().filter(|line| !line.contains(&phone_text(2)));
        let left: Vec<_> = theirs.filter(|line| line.contains(personal)).collect();
        assert_eq!(left, [""; 0], "{personal} is left");
    }
    let life = bench.hasher().life(&scene.conversation);
    assert!(dump.contains(&life), "the life's hash stays");
    assert_eq!(other.pending().await, ["x1"]);
}

pub async fn an_erasure_run_again_leaves_the_next_life_alone(bench: &dyn Bench) {
    let scene = full(bench).await;
    let erasure = scene.begin(200).await;
    // It crashed here; the person writes again with the phone, which still names the ended life.
    let next_life = Scene {
        bench,
        conversation: conversation("next"),
    };
    let next = Creation {
        stale: vec![(phone(1), contact(&phone_text(1)))],
        ..creation("next", &[phone(1)], 210)
    };
    let created = bench.store().create_contact(&next).await;
    assert_eq!(created.expect("create"), Written::Done);
    next_life.receive(&["n1"]).await;
    // One alias less: it names the next life.
    assert_eq!(bench.store().erase(&erasure).await.expect("erase"), 9);
    assert_eq!(bench.store().erase(&erasure).await.expect("erase"), 0);
    let known = bench.store().resolve(&agent(), &[phone(1), bsuid(1)]).await;
    let named: Vec<_> = known
        .expect("resolve")
        .into_iter()
        .map(|known| known.contact)
        .collect();
    assert_eq!(named, [Some(contact("next")), None]);
    assert_eq!(next_life.pending().await, ["n1"]);
    assert_eq!(next_life.state().await, next.state);
}

pub async fn every_ended_life_of_an_alias_is_remembered(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.forget(20).await;
    let second = Scene {
        bench,
        conversation: conversation("second"),
    };
    let next = creation("second", &[phone(1)], 30);
    let created = bench.store().create_contact(&next).await;
    assert_eq!(created.expect("create"), Written::Done);
    second.forget(40).await;
    let known = bench.store().resolve(&agent(), &[phone(1), bsuid(1)]).await;
    let known = known.expect("resolve");
    let ended: Vec<_> = known.into_iter().filter_map(|known| known.ended).collect();
    let first_life = bench.hasher().life(&scene.conversation);
    let mut both = vec![
        first_life.clone(),
        bench.hasher().life(&second.conversation),
    ];
    both.sort();
    assert_eq!((ended[0].at, &ended[0].lives), (at(40), &both));
    assert_eq!((ended[1].at, &ended[1].lives), (at(20), &vec![first_life]));
}

pub async fn no_update_brings_back_what_was_erased(bench: &dyn Bench) {
    let scene = full(bench).await;
    let claimed = scene.state().await;
    scene.forget(200).await;
    let before = bench.dump().await;
    let (store, conversation) = (scene.store(), &scene.conversation);
    let swap = store.swap_state(conversation, claimed.version, &claimed);
    swap.await.expect("swap");
    let release = Release {
        run: run_id(2),
        epoch: claimed.epoch,
        attempts: 0,
        first_attempt_at: None,
        hold_until: None,
        crashes: 0,
        spent: None,
    };
    store
        .release(conversation, &release)
        .await
        .expect("release");
    let closure = Closure {
        events: vec![message("m4")],
        reason: ClosedReason::OptedOut,
        ends: None,
    };
    let version = claimed.version;
    let closed = store.close(conversation, version, &closure, at(210)).await;
    assert_eq!(closed.expect("close"), Written::Lost);
    let commit = scene.commit_of(3, claimed.epoch, &["m4"]);
    assert_eq!(scene.commit(&commit).await, Written::Lost);
    let reply = super::scene::reply(2);
    assert_eq!(scene.sending(&reply, 2).await, Written::Lost);
    let status = DeliveryStatus::Sent;
    let noted = store.note_status(conversation, reply.id, &status, at(210));
    assert_eq!(noted.await.expect("note"), Noted::Nothing);
    for from in [None, Some(1)] {
        let folded = store.fold(conversation, &compaction(from), at(210)).await;
        assert_eq!(folded.expect("fold"), Written::Lost);
    }
    let addition = AliasAddition {
        conversation: conversation.clone(),
        alias: phone(9),
        stale: None,
        event_sent_at: at(220),
    };
    let added = store.add_alias(&addition).await.expect("add");
    assert_eq!(added, Written::Lost);
    scene.is_unchanged(&before, "an update").await;
    // A message of before the erasure, late: it is put, found to be nobody's, and deleted.
    scene.append(&event("m9", 9)).await;
    assert_eq!(scene.peek().await.state, None);
    let late = store.delete_late(conversation, &[message("m9")]).await;
    assert_eq!(late.expect("delete"), Written::Done);
    scene.is_unchanged(&before, "a late message").await;
}
