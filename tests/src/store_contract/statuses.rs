//! Contracts of what a provider's webhook tells of a reply.

use recado::domain::DeliveryStatus;
use recado::domain::reply::Settlement;
use recado::ports::{Noted, Written};

use super::Bench;
use super::outbox::{failed, sent, settle};
use super::scene::{Scene, at, reply_id, run_id};

pub async fn a_status_moves_a_reply_that_may_have_been_sent(bench: &dyn Bench) {
    let delivered = DeliveryStatus::Sent;
    let refused = DeliveryStatus::Failed("131026".to_owned());
    let (now, already, nothing) = (Noted::Now, Noted::Already, Noted::Nothing);
    let scene = Scene::new(bench).await;
    let note = async |n, status: &DeliveryStatus| {
        let store = scene.store();
        let noted = store.note_status(&scene.conversation, reply_id(n), status, at(140));
        noted.await.expect("note")
    };
    assert_eq!(
        note(99, &delivered).await,
        nothing,
        "there is no such reply"
    );
    for (n, label, settlement, statuses) in [
        (
            1,
            "ready",
            None,
            [(&delivered, nothing), (&refused, nothing)],
        ),
        (
            2,
            "sending",
            None,
            [(&delivered, now), (&delivered, already)],
        ),
        (3, "sending", None, [(&refused, now), (&delivered, nothing)]),
        (
            4,
            "sent",
            Some(sent()),
            [(&delivered, already), (&refused, now)],
        ),
        (
            5,
            "failed",
            Some(failed()),
            [(&delivered, nothing), (&refused, already)],
        ),
        (
            6,
            "unknown",
            Some(Settlement::Unknown),
            [(&delivered, now), (&refused, now)],
        ),
        (
            7,
            "unknown",
            Some(Settlement::Unknown),
            [(&refused, now), (&delivered, nothing)],
        ),
    ] {
        let reply = scene.answered(n, &[&format!("m{n}")]).await;
        if label != "ready" {
            assert_eq!(scene.sending(&reply, n).await, Written::Done, "{n}");
        }
        if let Some(settlement) = settlement {
            let settled = settle(&scene, &reply, Some(run_id(n)), &settlement).await;
            assert_eq!(settled, Written::Done, "{n}");
        }
        for (status, written) in statuses {
            assert_eq!(note(n, status).await, written, "{n}: {label}, {status:?}");
        }
        let outbox = scene.peek().await.outbox;
        let leaving = outbox.iter().any(|reply| reply.id == reply_id(n));
        assert_eq!(leaving, label == "ready", "{n}: {label}");
    }
}
