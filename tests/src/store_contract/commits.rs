//! Contracts of the one transaction that answers.

use recado::domain::batch::Closure;
use recado::domain::{ClosedReason, Counters, Lease, OptOut, Sealed, Session, Spent, State};
use recado::ports::{Appended, Commit, Release, Written};

use super::Bench;
use super::scene::{Scene, at, event, message, reply, reply_id, run_id};

fn stop() -> OptOut {
    OptOut { sent_at: at(10) }
}

pub async fn a_commit_moves_messages_reply_and_state_at_once(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1", "m2", "m3"]).await;
    let epoch = scene.claim(1).await;
    let claimed = scene
        .change(|state| {
            state.hold_until = Some(at(60));
            state.crashes = 1;
            state.cut_point = Some(reply_id(0));
            state.token_factors = [("one".to_owned(), 1.5), ("two".to_owned(), 1.25)].into();
            state.sealed = Some(Sealed {
                reply: reply_id(1),
                events: vec![message("m1")],
            });
        })
        .await;
    let commit = Commit {
        token_factor: Some(("two".to_owned(), 1.75)),
        ..scene.commit_of(1, epoch, &["m1", "m2"])
    };
    assert_eq!(scene.commit(&commit).await, Written::Done);
    let peek = scene.peek().await;
    let after = State {
        version: claimed.version + 1,
        sealed: None,
        attempts: 0,
        first_attempt_at: None,
        hold_until: None,
        crashes: 0,
        token_factors: [("one".to_owned(), 1.5), ("two".to_owned(), 1.75)].into(),
        cut_point: None,
        last_reply: Some(reply_id(1)),
        last_inbound_at: Some(at(12)),
        ..claimed
    };
    assert_eq!(peek.state, Some(after));
    assert_eq!(peek.outbox, [reply(1)]);
    assert_eq!(peek.outbox[0].text, "answer 1");
    let pending: Vec<_> = peek.pending.into_iter().map(|event| event.id).collect();
    assert_eq!(pending, [message("m3")]);
    let memory = bench.store().load(&scene.conversation).await.expect("load");
    let turn = &memory.exchanges[0];
    assert_eq!((turn.reply, turn.messages.len()), (reply_id(1), 2));
    assert_eq!(turn.answer, None, "it is still on its way");
    let next = scene.claim(2).await;
    let commit = Commit {
        cut_point: Some(reply_id(1)),
        ..scene.commit_of(2, next, &["m3"])
    };
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.state().await.cut_point, Some(reply_id(1)));
}

/// What someone else does to the state.
type Change = fn(&mut State);

pub async fn a_commit_is_lost_to_anyone_who_came_between(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let commit = scene.commit_of(1, epoch, &["m1"]);
    let claimed = scene.state().await;
    let between: [(&str, Change); 5] = [
        ("another claim of the same run", |state| state.epoch += 1),
        ("another run's lease", |state| {
            state.lease = Some(Lease {
                run: run_id(2),
                until: at(300),
            });
        }),
        ("a lease let go", |state| state.lease = None),
        ("an opt-out", |state| state.opt_out = Some(stop())),
        ("a pause", |state| state.paused_until = Some(at(102))),
    ];
    for (label, change) in between {
        scene.change(change).await;
        let before = bench.dump().await;
        assert_eq!(scene.commit(&commit).await, Written::Lost, "{label}");
        scene.is_unchanged(&before, label).await;
        scene
            .change(|state| {
                *state = State {
                    version: state.version,
                    ..claimed.clone()
                }
            })
            .await;
    }
    assert_eq!(scene.commit(&commit).await, Written::Done);
}

pub async fn a_commit_is_lost_where_one_message_is_no_longer_pending(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.answered(1, &["answered"]).await;
    scene.receive(&["closed", "waiting"]).await;
    let closure = Closure {
        events: vec![message("closed")],
        reason: ClosedReason::Paused,
        ends: None,
    };
    let version = scene.state().await.version;
    let store = bench.store();
    let closed = store.close(&scene.conversation, version, &closure, at(90));
    assert_eq!(closed.await.expect("close"), Written::Done);
    let epoch = scene.claim(2).await;
    let before = bench.dump().await;
    for id in ["answered", "closed", "never seen"] {
        let commit = scene.commit_of(2, epoch, &["waiting", id]);
        assert_eq!(scene.commit(&commit).await, Written::Lost, "{id}");
        scene.is_unchanged(&before, id).await;
    }
    let commit = scene.commit_of(2, epoch, &["waiting"]);
    assert_eq!(scene.commit(&commit).await, Written::Done);
}

pub async fn a_pause_that_is_over_does_not_fence(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let commit = scene.commit_of(1, epoch, &["m1"]);
    scene
        .change(|state| state.paused_until = Some(commit.now))
        .await;
    assert_eq!(scene.commit(&commit).await, Written::Done);
}

pub async fn a_commit_never_brings_back_what_is_gone(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let commit = scene.commit_of(1, epoch, &["m1"]);
    scene.begin(20).await;
    let before = bench.dump().await;
    assert_eq!(scene.commit(&commit).await, Written::Lost);
    scene.is_unchanged(&before, "the state is gone").await;
    let nothing = scene.commit_of(1, epoch, &[]);
    assert_eq!(scene.commit(&nothing).await, Written::Lost);
    scene.is_unchanged(&before, "a commit of nothing").await;
}

pub async fn a_repeated_commit_is_done_and_changes_nothing(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let commit = scene.commit_of(1, epoch, &["m1"]);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(scene.commit(&commit).await, Written::Done);
    scene.is_unchanged(&before, "at once").await;
    assert_eq!(scene.sending(&commit.reply, 1).await, Written::Done);
    scene.claim(2).await;
    let before = bench.dump().await;
    assert_eq!(scene.commit(&commit).await, Written::Done);
    scene.is_unchanged(&before, "while it is sent").await;
}

pub async fn a_commit_may_carry_the_opt_out_it_confirms(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let commit = Commit {
        opt_out: Some(stop()),
        ..scene.commit_of(1, epoch, &["m1"])
    };
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.state().await.opt_out, Some(stop()));
}

pub async fn a_commit_may_hand_the_person_to_a_human(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let commit = Commit {
        paused_until: Some(at(900)),
        ..scene.commit_of(1, epoch, &["m1"])
    };
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.state().await.paused_until, Some(at(900)));
    // What announces it is sent all the same.
    assert_eq!(scene.sending(&commit.reply, 1).await, Written::Done);
}

pub async fn a_reply_id_is_committed_once(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.answered(1, &["m1"]).await;
    scene.receive(&["m2"]).await;
    let epoch = scene.claim(2).await;
    let before = bench.dump().await;
    let again = Commit {
        reply: reply(1),
        ..scene.commit_of(2, epoch, &["m2"])
    };
    assert_eq!(scene.commit(&again).await, Written::Lost);
    scene.is_unchanged(&before, "the same reply id").await;
}

pub async fn eighty_messages_are_answered_in_one_commit_and_keep_their_order(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    // Neither the order of the ids nor that of the times.
    let ids: Vec<_> = (0..80).map(|n| format!("m{}", n * 37 % 80)).collect();
    for (id, n) in ids.iter().zip(0..) {
        assert_eq!(scene.append(&event(id, 200 - n)).await, Appended::New);
    }
    let epoch = scene.claim(1).await;
    let all: Vec<_> = ids.iter().map(String::as_str).collect();
    let commit = scene.commit_of(1, epoch, &all);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.pending().await, [""; 0]);
    let memory = bench.store().load(&scene.conversation).await.expect("load");
    let turn = &memory.exchanges[0].messages;
    let order: Vec<_> = turn.iter().map(|message| message.id.to_string()).collect();
    assert_eq!(order, ids);
}

pub async fn more_than_a_transaction_holds_is_an_error(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let ids: Vec<_> = (0..99).map(|n| format!("m{n}")).collect();
    let all: Vec<_> = ids.iter().map(String::as_str).collect();
    let before = bench.dump().await;
    let commit = scene.commit_of(1, epoch, &all);
    let refused = bench.store().commit(&scene.conversation, &commit).await;
    assert!(refused.is_err());
    scene.is_unchanged(&before, "too much").await;
}

pub async fn a_commit_and_a_release_note_what_was_spent(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let spent = |day, micro_usd| Spent {
        day: jiff::civil::date(2030, 3, day),
        micro_usd,
    };
    let session = Session {
        began_at: at(1),
        exchanges: 4,
        is_over: true,
    };
    let cost = Counters {
        calls: 2,
        micro_usd: 77,
        ..Counters::default()
    };
    let mut commit = Commit {
        spent: Some(spent(17, 77)),
        session: Some(session),
        limited_until: Some(at(500)),
        ..scene.commit_of(1, epoch, &["m1"])
    };
    commit.reply.cost = Some(cost);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    let peek = scene.peek().await;
    assert_eq!(peek.outbox[0].cost, Some(cost));
    let state = peek.state.expect("a state");
    assert_eq!(state.spent, Some(spent(17, 77)));
    assert_eq!(state.session, Some(session));
    assert_eq!(state.limited_until, Some(at(500)));
    let release = Release {
        run: run_id(1),
        epoch,
        attempts: 0,
        first_attempt_at: None,
        hold_until: None,
        crashes: 0,
        spent: Some(spent(18, 5)),
    };
    let written = bench.store().release(&scene.conversation, &release).await;
    assert_eq!(written.expect("release"), Written::Done);
    assert_eq!(scene.state().await.spent, Some(spent(18, 5)));
    scene.receive(&["m2"]).await;
    let epoch = scene.claim(2).await;
    let plain = scene.commit_of(2, epoch, &["m2"]);
    assert_eq!(scene.commit(&plain).await, Written::Done);
    let state = scene.state().await;
    assert_eq!(state.spent, Some(spent(18, 5)), "what is not told stays");
    assert_eq!(state.session, Some(session));
    assert_eq!(state.limited_until, Some(at(500)));
}
