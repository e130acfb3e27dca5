//! Contracts of closing a sealed turn: what was done for it becomes history, in the same transaction.

use recado::domain::batch::{Closure, EndedTurn};
use recado::domain::memory::Fold;
use recado::domain::{Batch, Call, ClosedReason, Effect, State, ToolResult};
use recado::ports::{Appended, Written};

use super::Bench;
use super::calls::{booked, call, fold_of_the_first, load, new, result, running, seal, store};
use super::scene::{Scene, at, event, message, reply_id};

/// Two messages under a seal, one call with a result and one that runs, and a third message behind them.
async fn left_in_the_middle(scene: &Scene<'_>) -> Closure {
    scene.receive(&["m1", "m2", "m3"]).await;
    let epoch = scene.claim(1).await;
    let made = vec![running(0), running(1)];
    let sealing = new(1, epoch, Some(seal(1, &["m1", "m2"])), made);
    assert_eq!(store(scene, &sealing).await, Written::Done);
    assert_eq!(result(scene, 0, &booked()).await, Written::Done);
    Closure {
        events: ["m1", "m2", "m3"].map(message).to_vec(),
        reason: ClosedReason::Paused,
        ends: Some(EndedTurn {
            reply: reply_id(1),
            messages: ["m1", "m2"].map(message).to_vec(),
            calls: vec![0, 1],
        }),
    }
}

async fn close(scene: &Scene<'_>, closure: &Closure) -> Written {
    let expected = scene.state().await.version;
    let store = scene.store();
    let closed = store.close(&scene.conversation, expected, closure, at(90));
    closed.await.expect("close")
}

pub async fn what_was_done_for_a_turn_that_is_closed_becomes_history(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let closure = left_in_the_middle(&scene).await;
    let before = scene.state().await;
    assert_eq!(close(&scene, &closure).await, Written::Done);
    let after = State {
        version: before.version + 1,
        epoch: before.epoch + 1,
        lease: None,
        sealed: None,
        last_reply: Some(reply_id(1)),
        attempts: 0,
        first_attempt_at: None,
        ..before
    };
    assert_eq!(scene.state().await, after);
    assert_eq!(scene.pending().await, [""; 0]);
    let turns = load(&scene).await.exchanges;
    assert_eq!((turns.len(), turns[0].reply), (1, reply_id(1)));
    let said: Vec<_> = turns[0].messages.iter().map(|one| &one.id).collect();
    assert_eq!(said, [&message("m1"), &message("m2")]);
    assert_eq!(turns[0].answer, None);
    let made = [
        call(0, Effect::Write, Some(booked())),
        call(1, Effect::Write, Some(ToolResult::Unknown)),
    ];
    assert_eq!(turns[0].calls, made);
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::AtRest);
    // Whoever still worked on it does nothing more.
    let late = new(1, after.epoch - 1, None, vec![running(2)]);
    assert_eq!(store(&scene, &late).await, Written::Lost);
    assert_eq!(result(&scene, 1, &booked()).await, Written::Lost);
}

pub async fn a_closed_turn_is_compacted_like_any_other(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let closure = left_in_the_middle(&scene).await;
    assert_eq!(close(&scene, &closure).await, Written::Done);
    let fold = Fold {
        messages: vec![message("m1"), message("m2")],
        replies: Vec::new(),
        calls: vec![(reply_id(1), 0), (reply_id(1), 1)],
        ..fold_of_the_first()
    };
    let store = scene.store();
    let folded = store.fold(&scene.conversation, &fold, at(300)).await;
    assert_eq!(folded.expect("fold"), Written::Done);
    assert!(load(&scene).await.exchanges.is_empty());
    assert!(!bench.dump().await.contains("10h"), "nothing is left");
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::AtRest);
}

pub async fn a_closing_with_a_call_that_is_not_there_is_lost(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let mut closure = left_in_the_middle(&scene).await;
    let before = bench.dump().await;
    if let Some(turn) = &mut closure.ends {
        turn.calls.push(2);
    }
    assert_eq!(close(&scene, &closure).await, Written::Lost);
    scene.is_unchanged(&before, "a call that is gone").await;
}

/// Who looked before a call was stored has not read it: the closing would leave it behind.
pub async fn a_closing_is_lost_to_a_call_that_came_between(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let closure = left_in_the_middle(&scene).await;
    let looked = scene.state().await;
    let more = new(1, looked.epoch, None, vec![call(2, Effect::Read, None)]);
    assert_eq!(store(&scene, &more).await, Written::Done);
    let before = bench.dump().await;
    let of = scene.store();
    let closed = of.close(&scene.conversation, looked.version, &closure, at(90));
    assert_eq!(closed.await.expect("close"), Written::Lost);
    scene.is_unchanged(&before, "a call that nobody read").await;
}

pub async fn a_full_batch_with_all_its_calls_is_one_closing(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let ids: Vec<_> = (0..Batch::MAX).map(|n| format!("m{n}")).collect();
    for (id, n) in ids.iter().zip(0..) {
        assert_eq!(scene.append(&event(id, n)).await, Appended::New);
    }
    let all: Vec<_> = ids.iter().map(String::as_str).collect();
    let epoch = scene.claim(1).await;
    let made = (0..12).map(running).collect::<Vec<_>>();
    assert_eq!(made.len(), Call::MAX);
    let sealing = new(1, epoch, Some(seal(1, &all)), made);
    assert_eq!(store(&scene, &sealing).await, Written::Done);
    let messages: Vec<_> = all.iter().map(|id| message(id)).collect();
    let closure = Closure {
        events: messages.clone(),
        reason: ClosedReason::Paused,
        ends: Some(EndedTurn {
            reply: reply_id(1),
            messages,
            calls: (0..12).collect(),
        }),
    };
    assert_eq!(close(&scene, &closure).await, Written::Done);
    let turn = &load(&scene).await.exchanges[0];
    assert_eq!((turn.messages.len(), turn.calls.len()), (80, 12));
    let is_unknown = |call: &Call| call.result == Some(ToolResult::Unknown);
    assert!(turn.calls.iter().all(is_unknown));
    let said: Vec<_> = turn.messages.iter().map(|one| one.id.to_string()).collect();
    assert_eq!(said, ids, "in their order");
}
