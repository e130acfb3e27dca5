//! Contracts of tool calls: stored with the seal, given a result once, history with the commit.

use recado::domain::memory::Fold;
use recado::domain::{
    Arguments, Call, CallId, Effect, Lease, Memory, OptOut, Sealed, State, Summary, ToolCall,
    ToolName, ToolResult,
};
use recado::ports::{Appended, Commit, NewCalls, Written};

use super::Bench;
use super::scene::{Scene, at, event, message, reply_id, run_id};

pub(super) fn call(n: u16, effect: Effect, result: Option<ToolResult>) -> Call {
    Call {
        n,
        effect,
        call: ToolCall {
            id: CallId::parse(format!("call_{n}")).expect("an id"),
            tool: ToolName::parse("book").expect("a name"),
            arguments: Arguments::parse(&format!(r#"{{"at":"10h","n":{n}}}"#)).expect("arguments"),
        },
        result,
    }
}

pub(super) fn running(n: u16) -> Call {
    call(n, Effect::Write, None)
}

pub(super) fn booked() -> ToolResult {
    ToolResult::Ok("booked".to_owned())
}

pub(super) fn seal(n: u64, ids: &[&str]) -> Sealed {
    Sealed {
        reply: reply_id(n),
        events: ids.iter().map(|id| message(id)).collect(),
    }
}

/// New calls of the n-th run for the n-th reply.
pub(super) fn new(n: u64, epoch: u64, seal: Option<Sealed>, calls: Vec<Call>) -> NewCalls {
    NewCalls {
        run: run_id(n),
        epoch,
        reply: reply_id(n),
        seal,
        calls,
        now: at(60),
    }
}

pub(super) async fn store(scene: &Scene<'_>, new: &NewCalls) -> Written {
    let written = scene.store().store_calls(&scene.conversation, new).await;
    written.expect("store calls")
}

pub(super) async fn result(scene: &Scene<'_>, n: u16, result: &ToolResult) -> Written {
    let place = (reply_id(1), n);
    let store = scene.store();
    let written = store.store_result(&scene.conversation, place, result).await;
    written.expect("store a result")
}

async fn calls(scene: &Scene<'_>, reply: u64) -> Vec<Call> {
    let calls = scene
        .store()
        .calls(&scene.conversation, reply_id(reply))
        .await;
    calls.expect("calls")
}

pub(super) async fn load(scene: &Scene<'_>) -> Memory {
    let memory = scene.store().load(&scene.conversation).await;
    memory.expect("load")
}

pub async fn the_first_write_seals_the_batch_and_stores_what_was_called(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1", "m2"]).await;
    let epoch = scene.claim(1).await;
    let claimed = scene.state().await;
    let read = call(
        0,
        Effect::Read,
        Some(ToolResult::Error("closed".to_owned())),
    );
    let first = new(
        1,
        epoch,
        Some(seal(1, &["m1", "m2"])),
        vec![read.clone(), running(1)],
    );
    assert_eq!(store(&scene, &first).await, Written::Done);
    let sealed = State {
        version: claimed.version + 1,
        sealed: Some(seal(1, &["m1", "m2"])),
        ..claimed
    };
    assert_eq!(scene.state().await, sealed);
    assert_eq!(calls(&scene, 1).await, [read.clone(), running(1)]);
    assert_eq!(calls(&scene, 2).await, [], "of another reply");
    // Later ones only raise the version; of twelve each keeps its place.
    let later: Vec<_> = (2..12).map(running).collect();
    assert_eq!(
        store(&scene, &new(1, epoch, None, later.clone())).await,
        Written::Done
    );
    let raised = State {
        version: sealed.version + 1,
        ..sealed
    };
    assert_eq!(scene.state().await, raised);
    let all: Vec<_> = [read, running(1)].into_iter().chain(later).collect();
    assert_eq!(calls(&scene, 1).await, all);
    assert_eq!(load(&scene).await.items(), 0, "no history yet");
    assert_eq!(scene.pending().await, ["m1", "m2"]);
}

/// The first turn, of one message and two calls, becomes a summary.
pub(super) fn fold_of_the_first() -> Fold {
    Fold {
        from_version: None,
        summary: Summary {
            version: 1,
            text: "a summary".to_owned(),
            through: reply_id(1),
            written_at: at(300),
        },
        facts: Vec::new(),
        retired: Vec::new(),
        messages: vec![message("m1")],
        replies: vec![reply_id(1)],
        calls: vec![(reply_id(1), 0), (reply_id(1), 1)],
    }
}

/// What someone else does to the state.
type Change = fn(&mut State);

pub async fn new_calls_are_lost_to_anyone_who_came_between(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
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
        ("an opt-out", |state| {
            state.opt_out = Some(OptOut { sent_at: at(10) });
        }),
        ("a pause", |state| state.paused_until = Some(at(61))),
    ];
    for seal in [Some(seal(1, &["m1"])), None] {
        for (label, change) in between {
            scene.change(change).await;
            let before = bench.dump().await;
            let new = new(1, epoch, seal.clone(), vec![running(0)]);
            assert_eq!(store(&scene, &new).await, Written::Lost, "{label}");
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
    }
}

pub async fn new_calls_after_a_pause_that_is_over_are_stored(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    scene
        .change(|state| state.paused_until = Some(at(60)))
        .await;
    let sealing = new(1, epoch, Some(seal(1, &["m1"])), vec![running(0)]);
    assert_eq!(store(&scene, &sealing).await, Written::Done);
    let later = new(1, epoch, None, vec![running(1)]);
    assert_eq!(store(&scene, &later).await, Written::Done);
}

pub async fn repeated_new_calls_are_done_and_change_nothing(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let sealing = new(1, epoch, Some(seal(1, &["m1"])), vec![running(0)]);
    assert_eq!(store(&scene, &sealing).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(store(&scene, &sealing).await, Written::Done);
    scene.is_unchanged(&before, "a repeat").await;
    // A later claim finds the same calls there: those of another, and not its own.
    let next = scene.claim(2).await;
    let other = NewCalls {
        run: run_id(2),
        epoch: next,
        ..sealing
    };
    let before = bench.dump().await;
    assert_eq!(store(&scene, &other).await, Written::Lost);
    scene.is_unchanged(&before, "another claim").await;
}

pub async fn a_call_is_stored_once(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let first = new(1, epoch, Some(seal(1, &["m1"])), vec![running(0)]);
    assert_eq!(store(&scene, &first).await, Written::Done);
    assert_eq!(result(&scene, 0, &booked()).await, Written::Done);
    let before = bench.dump().await;
    for sealed in [Some(seal(1, &["m1"])), None] {
        let again = new(1, epoch, sealed, vec![running(1), running(0)]);
        assert_eq!(store(&scene, &again).await, Written::Lost);
        scene.is_unchanged(&before, "a number that is taken").await;
    }
}

pub async fn the_first_result_of_a_call_stays(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let epoch = scene.claim(1).await;
    let first = new(
        1,
        epoch,
        Some(seal(1, &["m1"])),
        (0..3).map(running).collect(),
    );
    assert_eq!(store(&scene, &first).await, Written::Done);
    let refused = ToolResult::Error("full".to_owned());
    for (n, told) in [(0, booked()), (1, ToolResult::Unknown), (2, refused)] {
        assert_eq!(result(&scene, n, &told).await, Written::Done);
        let before = bench.dump().await;
        assert_eq!(result(&scene, n, &told).await, Written::Done, "a repeat");
        let other = ToolResult::Ok("something else".to_owned());
        assert_eq!(result(&scene, n, &other).await, Written::Lost);
        scene.is_unchanged(&before, "another result").await;
        let expected = Call {
            result: Some(told),
            ..running(n)
        };
        assert_eq!(calls(&scene, 1).await[usize::from(n)], expected);
    }
    // A run that is fenced by now may still tell what it did: it is the truth.
    let fourth = new(1, epoch, None, vec![running(3)]);
    assert_eq!(store(&scene, &fourth).await, Written::Done);
    scene.claim(2).await;
    assert_eq!(result(&scene, 3, &booked()).await, Written::Done);
    assert_eq!(
        result(&scene, 9, &booked()).await,
        Written::Lost,
        "never stored"
    );
}

pub async fn calls_become_history_with_their_reply_and_go_with_it(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let first = new(1, epoch, Some(seal(1, &["m1"])), vec![running(0)]);
    assert_eq!(store(&scene, &first).await, Written::Done);
    assert_eq!(result(&scene, 0, &booked()).await, Written::Done);
    let made = vec![
        call(0, Effect::Write, Some(booked())),
        call(1, Effect::Read, Some(ToolResult::Unknown)),
    ];
    let commit = Commit {
        calls: made.clone(),
        ..scene.commit_of(1, epoch, &["m1"])
    };
    assert_eq!(scene.commit(&commit).await, Written::Done);
    assert_eq!(scene.commit(&commit).await, Written::Done, "a repeat");
    assert_eq!(scene.state().await.sealed, None);
    let turn = &load(&scene).await.exchanges[0];
    assert_eq!((&turn.calls, turn.messages.len()), (&made, 1));
    assert!(!bench.dump().await.contains("expires_at"), "history stays");
    let reply = scene.leaving().await;
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    let sent = recado::domain::reply::Settlement::Sent { provider_id: None };
    let store = scene.store();
    let settled = store.settle(
        &scene.conversation,
        reply.id,
        Some(run_id(1)),
        &sent,
        at(130),
    );
    assert_eq!(settled.await.expect("settle"), Written::Done);
    let fold = fold_of_the_first();
    let folded = store.fold(&scene.conversation, &fold, at(300)).await;
    assert_eq!(folded.expect("fold"), Written::Done);
    assert!(load(&scene).await.exchanges.is_empty());
    assert!(
        !bench.dump().await.contains("10h"),
        "the arguments are gone"
    );
}

pub async fn no_call_is_brought_back_after_an_erasure(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let epoch = scene.claim(1).await;
    let sealing = new(1, epoch, Some(seal(1, &["m1"])), vec![running(0)]);
    assert_eq!(store(&scene, &sealing).await, Written::Done);
    scene.forget(20).await;
    assert!(
        !bench.dump().await.contains("10h"),
        "the arguments are gone"
    );
    let before = bench.dump().await;
    assert_eq!(result(&scene, 0, &booked()).await, Written::Lost);
    for seal in [Some(seal(1, &["m1"])), None] {
        let late = new(1, epoch, seal, vec![running(1)]);
        assert_eq!(store(&scene, &late).await, Written::Lost);
    }
    let commit = Commit {
        calls: vec![call(0, Effect::Write, Some(booked()))],
        ..scene.commit_of(1, epoch, &[])
    };
    assert_eq!(scene.commit(&commit).await, Written::Lost);
    scene.is_unchanged(&before, "a call").await;
}

pub async fn a_full_batch_with_all_its_calls_is_one_commit(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let ids: Vec<_> = (0..80).map(|n| format!("m{n}")).collect();
    for (id, n) in ids.iter().zip(0..) {
        assert_eq!(scene.append(&event(id, n)).await, Appended::New);
    }
    let epoch = scene.claim(1).await;
    let all: Vec<_> = ids.iter().map(String::as_str).collect();
    let made: Vec<_> = (0..12)
        .map(|n| call(n, Effect::Read, Some(booked())))
        .collect();
    let commit = Commit {
        calls: made.clone(),
        ..scene.commit_of(1, epoch, &all)
    };
    assert_eq!(scene.commit(&commit).await, Written::Done);
    let turn = &load(&scene).await.exchanges[0];
    assert_eq!((&turn.calls, turn.stored()), (&made, 92));
}
