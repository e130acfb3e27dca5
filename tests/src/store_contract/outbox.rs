//! Contracts of the outbox: one sender, and no reply moved by anybody else.

use recado::domain::reply::Settlement;
use recado::domain::{DeliveryStatus, OptOut, Reply, ReplyKind, ReplyStatus, RunId};
use recado::ports::{Commit, Noted, Written};

use super::Bench;
use super::scene::{Scene, at, run_id};

pub(super) fn sent() -> Settlement {
    Settlement::Sent {
        provider_id: Some("wamid.out".to_owned()),
    }
}

fn given_back() -> Settlement {
    Settlement::Ready {
        refused_since: None,
    }
}

pub(super) fn failed() -> Settlement {
    Settlement::Failed {
        code: "131047".to_owned(),
    }
}

pub(super) async fn settle(
    scene: &Scene<'_>,
    reply: &Reply,
    token: Option<RunId>,
    settlement: &Settlement,
) -> Written {
    let store = scene.store();
    let settled = store.settle(&scene.conversation, reply.id, token, settlement, at(130));
    settled.await.expect("settle")
}

/// The first reply, taken by run 1, left by it as `settlement` says.
async fn left(bench: &dyn Bench, settlement: Option<Settlement>) -> (Scene<'_>, Reply) {
    let scene = Scene::new(bench).await;
    let reply = scene.answered(1, &["m1"]).await;
    if let Some(settlement) = settlement {
        assert_eq!(scene.sending(&reply, 1).await, Written::Done);
        let settled = settle(&scene, &reply, Some(run_id(1)), &settlement).await;
        assert_eq!(settled, Written::Done);
    }
    (scene, reply)
}

async fn opt_out(scene: &Scene<'_>) {
    scene
        .change(|state| {
            state.opt_out = Some(OptOut { sent_at: at(110) });
        })
        .await;
}

pub async fn only_one_token_may_send(bench: &dyn Bench) {
    let (scene, reply) = left(bench, None).await;
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    assert_eq!(scene.sending(&reply, 2).await, Written::Lost);
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    let taken = scene.leaving().await;
    assert_eq!(taken.status, ReplyStatus::Sending);
    assert_eq!(taken.token, Some(run_id(1)));
    for settlement in [Settlement::Unknown, sent()] {
        let settled = settle(&scene, &reply, Some(run_id(1)), &settlement).await;
        assert_eq!(settled, Written::Done);
        for token in [1, 2] {
            assert_eq!(scene.sending(&reply, token).await, Written::Lost);
        }
    }
}

pub async fn nothing_but_the_confirmation_goes_to_someone_who_opted_out(bench: &dyn Bench) {
    let (scene, reply) = left(bench, None).await;
    opt_out(&scene).await;
    let before = bench.dump().await;
    assert_eq!(scene.sending(&reply, 1).await, Written::Lost);
    scene.is_unchanged(&before, "an answer").await;
    scene.change(|state| state.opt_out = None).await;
    scene.receive(&["stop"]).await;
    let epoch = scene.claim(2).await;
    let mut commit = scene.commit_of(2, epoch, &["stop"]);
    commit.reply.kind = ReplyKind::OptOut;
    assert_eq!(scene.commit(&commit).await, Written::Done);
    opt_out(&scene).await;
    assert_eq!(scene.sending(&commit.reply, 2).await, Written::Done);
}

pub async fn nothing_is_sent_where_the_state_is_gone(bench: &dyn Bench) {
    let (scene, reply) = left(bench, None).await;
    scene.begin(120).await;
    let before = bench.dump().await;
    for kind in [ReplyKind::Answer, ReplyKind::OptOut] {
        let reply = Reply {
            kind,
            ..reply.clone()
        };
        assert_eq!(scene.sending(&reply, 1).await, Written::Lost);
        scene.is_unchanged(&before, "a send to nobody").await;
    }
}

pub async fn only_the_sender_moves_a_reply_on(bench: &dyn Bench) {
    let (scene, reply) = left(bench, None).await;
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    let before = bench.dump().await;
    for token in [Some(run_id(2)), None] {
        for settlement in [sent(), failed(), Settlement::Unknown, given_back()] {
            let settled = settle(&scene, &reply, token, &settlement).await;
            assert_eq!(settled, Written::Lost, "{token:?} {settlement:?}");
            scene.is_unchanged(&before, "not the sender").await;
        }
    }
    let unknown = settle(&scene, &reply, Some(run_id(1)), &Settlement::Unknown).await;
    assert_eq!(unknown, Written::Done);
    let before = bench.dump().await;
    for token in [Some(run_id(2)), None] {
        for settlement in [sent(), failed(), given_back()] {
            let settled = settle(&scene, &reply, token, &settlement).await;
            assert_eq!(settled, Written::Lost, "{token:?} {settlement:?}");
            scene.is_unchanged(&before, "not the sender").await;
        }
    }
}

pub async fn a_settled_reply_leaves_the_outbox_for_the_history(bench: &dyn Bench) {
    for (n, settlement) in (1..).zip([sent(), failed(), Settlement::Unknown]) {
        let scene = if n == 1 {
            Scene::new(bench).await
        } else {
            Scene::of(bench, 1)
        };
        let id = format!("m{n}");
        let reply = scene.answered(n, &[&id]).await;
        assert_eq!(scene.sending(&reply, n).await, Written::Done);
        let token = Some(run_id(n));
        assert_eq!(
            settle(&scene, &reply, token, &settlement).await,
            Written::Done
        );
        let before = bench.dump().await;
        assert_eq!(
            settle(&scene, &reply, token, &settlement).await,
            Written::Done
        );
        scene.is_unchanged(&before, "a repeat").await;
        if settlement == failed() {
            let late = settle(&scene, &reply, token, &sent()).await;
            assert_eq!(late, Written::Lost, "failed to sent");
            scene.is_unchanged(&before, "failed to sent").await;
        }
        assert_eq!(scene.peek().await.outbox, []);
        assert_eq!(scene.unrest().await, []);
        let memory = bench.store().load(&scene.conversation).await.expect("load");
        let turn = memory.exchanges.last().expect("a turn");
        assert_eq!(turn.answer, Some(reply.text), "{settlement:?}");
        assert_eq!(turn.delivered, settlement != failed(), "{settlement:?}");
        assert_eq!(turn.known_sent, settlement == sent(), "{settlement:?}");
    }
    let dump = bench.dump().await;
    assert!(dump.contains("wamid.out") && dump.contains("131047"));
}

pub async fn since_when_a_reply_is_refused_is_kept_until_something_else_keeps_it(
    bench: &dyn Bench,
) {
    let since = |refused_since| Settlement::Ready { refused_since };
    let (scene, reply) = left(bench, Some(since(Some(at(125))))).await;
    assert_eq!(scene.leaving().await.refused_since, Some(at(125)));
    for (token, refused_since) in [(2, Some(at(125))), (3, None), (4, Some(at(140)))] {
        assert_eq!(scene.sending(&reply, token).await, Written::Done);
        let settled = settle(&scene, &reply, Some(run_id(token)), &since(refused_since)).await;
        assert_eq!(settled, Written::Done);
        assert_eq!(scene.leaving().await.refused_since, refused_since);
    }
}

pub async fn a_refused_reply_is_ready_again_and_counts_it_once(bench: &dyn Bench) {
    let (scene, reply) = left(bench, Some(given_back())).await;
    let before = bench.dump().await;
    let again = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(again, Written::Done, "a repeat");
    let other = settle(&scene, &reply, Some(run_id(2)), &given_back()).await;
    assert_eq!(other, Written::Lost, "not the one who gave it back");
    scene.is_unchanged(&before, "a repeat").await;
    let ready = scene.leaving().await;
    assert_eq!((ready.status, ready.token), (ReplyStatus::Ready, None));
    assert_eq!(ready.refusals, 1);
    assert_eq!(scene.sending(&reply, 2).await, Written::Done);
    let before = bench.dump().await;
    let late = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(late, Written::Lost, "it is another's by now");
    scene.is_unchanged(&before, "a late retry").await;
}

pub async fn an_unknown_reply_is_sent_or_ready_again_for_its_sender(bench: &dyn Bench) {
    let (scene, reply) = left(bench, Some(Settlement::Unknown)).await;
    let before = bench.dump().await;
    let refused = settle(&scene, &reply, Some(run_id(1)), &failed()).await;
    assert_eq!(refused, Written::Lost);
    scene.is_unchanged(&before, "unknown to failed").await;
    let ready = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(ready, Written::Done);
    assert_eq!(scene.leaving().await.status, ReplyStatus::Ready);
    assert_eq!(scene.unrest().await.len(), 1);
    assert_eq!(scene.sending(&reply, 2).await, Written::Done);
    for settlement in [Settlement::Unknown, sent()] {
        let settled = settle(&scene, &reply, Some(run_id(2)), &settlement).await;
        assert_eq!(settled, Written::Done);
    }
    assert_eq!(scene.peek().await.outbox, []);
    let before = bench.dump().await;
    for settlement in [failed(), Settlement::Unknown, given_back()] {
        let settled = settle(&scene, &reply, Some(run_id(2)), &settlement).await;
        assert_eq!(settled, Written::Lost, "sent to {settlement:?}");
        scene.is_unchanged(&before, "a sent reply").await;
    }
}

pub async fn an_unknown_reply_is_ready_again_where_nobody_works(bench: &dyn Bench) {
    let (scene, reply) = left(bench, Some(Settlement::Unknown)).await;
    scene.change(|state| state.lease = None).await;
    let before = bench.dump().await;
    let other = settle(&scene, &reply, Some(run_id(2)), &given_back()).await;
    assert_eq!(other, Written::Lost, "not its sender");
    scene.is_unchanged(&before, "not its sender").await;
    let ready = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(ready, Written::Done);
    assert_eq!(scene.leaving().await.status, ReplyStatus::Ready);
}

pub async fn an_unknown_reply_is_not_ready_again_while_another_run_works(bench: &dyn Bench) {
    let (scene, reply) = left(bench, Some(Settlement::Unknown)).await;
    scene.claim(2).await;
    let before = bench.dump().await;
    let ready = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(ready, Written::Lost);
    scene
        .is_unchanged(&before, "another run may write a later one")
        .await;
}

pub async fn an_unknown_reply_is_not_ready_again_after_a_later_one(bench: &dyn Bench) {
    let (scene, reply) = left(bench, Some(Settlement::Unknown)).await;
    scene.answered(2, &["m2"]).await;
    // Nobody works on it any more: what stands in the way is the later reply alone.
    scene.change(|state| state.lease = None).await;
    let before = bench.dump().await;
    let ready = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(ready, Written::Lost);
    scene.is_unchanged(&before, "an old reply").await;
    scene.begin(140).await;
    let before = bench.dump().await;
    let ready = settle(&scene, &reply, Some(run_id(1)), &given_back()).await;
    assert_eq!(ready, Written::Lost);
    scene.is_unchanged(&before, "a reply to nobody").await;
}

pub async fn a_ready_reply_is_withheld_only_by_who_holds_no_token(bench: &dyn Bench) {
    let (scene, reply) = left(bench, None).await;
    let before = bench.dump().await;
    for (token, settlement) in [
        (Some(run_id(1)), failed()),
        (Some(run_id(1)), sent()),
        (Some(run_id(1)), Settlement::Unknown),
        (None, sent()),
        (None, Settlement::Unknown),
        (None, given_back()),
    ] {
        let settled = settle(&scene, &reply, token, &settlement).await;
        assert_eq!(settled, Written::Lost, "{token:?} {settlement:?}");
        scene.is_unchanged(&before, "ready").await;
    }
    assert_eq!(settle(&scene, &reply, None, &failed()).await, Written::Done);
    assert_eq!(settle(&scene, &reply, None, &failed()).await, Written::Done);
    assert_eq!(scene.sending(&reply, 1).await, Written::Lost);
    assert_eq!(scene.peek().await.outbox, []);
    assert_eq!(scene.unrest().await, []);
}

pub async fn a_settlement_never_brings_back_a_reply(bench: &dyn Bench) {
    let (scene, reply) = left(bench, None).await;
    assert_eq!(scene.sending(&reply, 1).await, Written::Done);
    scene.forget(130).await;
    let before = bench.dump().await;
    for token in [Some(run_id(1)), None] {
        for settlement in [sent(), failed(), Settlement::Unknown, given_back()] {
            let settled = settle(&scene, &reply, token, &settlement).await;
            assert_eq!(settled, Written::Lost, "{token:?} {settlement:?}");
        }
    }
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed("1".to_owned())] {
        let store = scene.store();
        let noted = store.note_status(&scene.conversation, reply.id, &status, at(140));
        assert_eq!(noted.await.expect("note"), Noted::Nothing);
    }
    let again = Commit {
        answered: Vec::new(),
        ..scene.commit_of(1, 1, &[])
    };
    assert_eq!(scene.commit(&again).await, Written::Lost);
    scene.is_unchanged(&before, "a settlement of nothing").await;
}
