//! Contracts of claims, releases and closing.

use recado::domain::batch::Closure;
use recado::domain::{ClosedReason, Lease, OptOut, Sealed, Session, Spent, State};
use recado::ports::{Appended, Release, Swapped, Written};

use super::Bench;
use super::scene::{Scene, at, event, message, phone, reply_id, run_id};

fn release(run: u64, epoch: u64) -> Release {
    Release {
        run: run_id(run),
        epoch,
        attempts: 3,
        first_attempt_at: Some(at(60)),
        hold_until: Some(at(70)),
        crashes: 2,
        spent: None,
    }
}

async fn end(scene: &Scene<'_>, release: &Release) -> Written {
    let written = scene.store().release(&scene.conversation, release).await;
    written.expect("release")
}

async fn close(scene: &Scene<'_>, expected: u64, ids: &[&str]) -> Written {
    let closure = Closure {
        events: ids.iter().map(|id| message(id)).collect(),
        reason: ClosedReason::Paused,
        ends: None,
    };
    let store = scene.store();
    let written = store.close(&scene.conversation, expected, &closure, at(90));
    written.await.expect("close")
}

pub async fn a_swap_needs_the_version_that_was_read(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let read = scene.state().await;
    let found = scene.change(|state| state.crashes = 1).await;
    let before = bench.dump().await;
    let mut mine = read.clone();
    mine.version += 1;
    mine.epoch = 7;
    let swap = bench
        .store()
        .swap_state(&scene.conversation, read.version, &mine);
    assert_eq!(
        swap.await.expect("swap"),
        Swapped::Lost(Some(Box::new(found)))
    );
    scene.is_unchanged(&before, "a stale swap").await;
}

pub async fn of_two_racing_claims_one_wins(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let read = scene.state().await;
    let claim = |run| {
        let mut mine = read.clone();
        mine.version += 1;
        mine.epoch += 1;
        mine.lease = Some(Lease {
            run: run_id(run),
            until: at(200),
        });
        mine
    };
    let (one, two) = (claim(1), claim(2));
    let store = bench.store();
    let (first, second) = tokio::join!(
        store.swap_state(&scene.conversation, read.version, &one),
        store.swap_state(&scene.conversation, read.version, &two),
    );
    let (first, second) = (first.expect("swap"), second.expect("swap"));
    let winner = if first == Swapped::Done {
        assert_eq!(second, Swapped::Lost(Some(Box::new(one.clone()))));
        one
    } else {
        assert_eq!(second, Swapped::Done);
        assert_eq!(first, Swapped::Lost(Some(Box::new(two.clone()))));
        two
    };
    assert_eq!(scene.state().await, winner);
}

pub async fn a_swap_never_brings_back_a_state_that_is_gone(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let read = scene.state().await;
    scene.begin(20).await;
    let before = bench.dump().await;
    let swap = bench
        .store()
        .swap_state(&scene.conversation, read.version, &read);
    assert_eq!(swap.await.expect("swap"), Swapped::Lost(None));
    scene.is_unchanged(&before, "a late swap").await;
}

pub async fn whatever_a_state_holds_reads_back(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let full = State {
        version: 2,
        epoch: 41,
        lease: Some(Lease {
            run: run_id(3),
            until: at(200),
        }),
        sealed: Some(Sealed {
            reply: reply_id(4),
            events: vec![message("m#1"), message("m2")],
        }),
        attempts: 2,
        first_attempt_at: Some(at(1)),
        hold_until: Some(at(2)),
        crashes: 1,
        token_factors: [
            ("gpt-5.1".to_owned(), 1.234_567_890_123),
            ("b.c".to_owned(), 0.1),
        ]
        .into(),
        cut_point: Some(reply_id(1)),
        last_reply: Some(reply_id(2)),
        last_inbound_at: Some(at(3)),
        opt_out: Some(OptOut { sent_at: at(4) }),
        paused_until: Some(at(6)),
        taken_over_at: Some(at(5)),
        spent: Some(Spent {
            day: jiff::civil::date(2030, 3, 17),
            micro_usd: 12_345,
        }),
        session: Some(Session {
            began_at: at(40),
            exchanges: 3,
            is_over: true,
        }),
        limited_until: Some(at(90)),
        aliases: vec![phone(1)],
        met: vec![super::scene::contact("other")],
        created_at: at(0),
    };
    let swap = bench.store().swap_state(&scene.conversation, 1, &full);
    assert_eq!(swap.await.expect("swap"), Swapped::Done);
    assert_eq!(scene.state().await, full);
    // A swap replaces the state: nothing of the old one shines through.
    let empty = State {
        version: 3,
        ..State::new(Vec::new(), at(0))
    };
    let swap = bench.store().swap_state(&scene.conversation, 2, &empty);
    assert_eq!(swap.await.expect("swap"), Swapped::Done);
    assert_eq!(scene.state().await, empty);
}

pub async fn a_release_needs_the_epoch_and_the_lease(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let before = bench.dump().await;
    for (label, wrong) in [
        ("an older claim", release(1, epoch - 1)),
        ("a newer claim", release(1, epoch + 1)),
        ("another run", release(2, epoch)),
    ] {
        assert_eq!(end(&scene, &wrong).await, Written::Lost, "{label}");
        scene.is_unchanged(&before, label).await;
    }
    scene.begin(20).await;
    let before = bench.dump().await;
    assert_eq!(end(&scene, &release(1, epoch)).await, Written::Lost);
    scene.is_unchanged(&before, "the state is gone").await;
}

pub async fn a_release_sets_what_the_run_leaves_behind(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let held = scene.change(seal).await;
    assert_eq!(end(&scene, &release(1, epoch)).await, Written::Done);
    let left = State {
        version: held.version + 1,
        lease: None,
        attempts: 3,
        first_attempt_at: Some(at(60)),
        hold_until: Some(at(70)),
        crashes: 2,
        ..held
    };
    assert_eq!(scene.state().await, left);
    let epoch = scene.claim(2).await;
    let clean = Release {
        attempts: 0,
        first_attempt_at: None,
        hold_until: None,
        crashes: 0,
        ..release(2, epoch)
    };
    assert_eq!(end(&scene, &clean).await, Written::Done);
    let state = scene.state().await;
    assert_eq!((state.first_attempt_at, state.hold_until), (None, None));
    assert_eq!((state.attempts, state.crashes), (0, 0));
}

fn seal(state: &mut State) {
    state.sealed = Some(Sealed {
        reply: reply_id(1),
        events: vec![message("m1")],
    });
}

pub async fn a_repeated_release_is_done_and_changes_nothing(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    assert_eq!(end(&scene, &release(1, epoch)).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(end(&scene, &release(1, epoch)).await, Written::Done);
    let other = Release {
        attempts: 9,
        ..release(1, epoch)
    };
    assert_eq!(end(&scene, &other).await, Written::Lost);
    scene.is_unchanged(&before, "a repeat").await;
}

pub async fn a_release_keeps_the_seal(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let held = scene.change(seal).await;
    assert_eq!(end(&scene, &release(1, epoch)).await, Written::Done);
    assert_eq!(scene.state().await.sealed, held.sealed);
}

pub async fn a_closed_message_is_at_rest(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1", "m2"]).await;
    assert_eq!(close(&scene, 1, &["m1", "m2"]).await, Written::Done);
    assert_eq!(scene.pending().await, [""; 0]);
    assert_eq!(scene.state().await.version, 2);
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::AtRest);
    assert_eq!(scene.unrest().await, []);
    assert!(bench.dump().await.contains("closed:paused"));
    let memory = bench.store().load(&scene.conversation).await;
    assert_eq!(memory.expect("load").items(), 0);
}

pub async fn what_was_counted_against_closed_messages_counts_against_no_others(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1", "m2"]).await;
    let counted = |state: &mut State| {
        (state.attempts, state.crashes) = (3, 2);
        state.first_attempt_at = Some(at(5));
    };
    let version = scene.change(counted).await.version;
    assert_eq!(close(&scene, version, &["m1"]).await, Written::Done);
    let state = scene.state().await;
    assert_eq!((state.attempts, state.crashes), (0, 0));
    assert_eq!(state.first_attempt_at, None);
}

pub async fn closing_needs_the_version_that_was_read(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    scene.change(|state| state.paused_until = None).await;
    let before = bench.dump().await;
    assert_eq!(close(&scene, 1, &["m1"]).await, Written::Lost);
    scene.is_unchanged(&before, "a stale closing").await;
    scene.begin(20).await;
    let before = bench.dump().await;
    assert_eq!(close(&scene, 2, &["m1"]).await, Written::Lost);
    scene.is_unchanged(&before, "nobody's closing").await;
}

pub async fn closing_is_lost_where_one_message_is_no_longer_pending(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.answered(1, &["answered"]).await;
    scene.receive(&["waiting"]).await;
    let version = scene.state().await.version;
    let before = bench.dump().await;
    for id in ["answered", "never seen"] {
        let closed = close(&scene, version, &["waiting", id]).await;
        assert_eq!(closed, Written::Lost, "{id}");
        scene.is_unchanged(&before, id).await;
    }
}
