//! What the provider says of a reply, noted on the reply it names.

use recado::domain::{DeliveryStatus, Reply, ReplyId, ReplyKind, ReplyStatus, StatusUpdate};
use recado_tests::fake_store::StoredReply;

use super::*;

fn reply_id() -> ReplyId {
    ReplyId::from_parts(NOON, 7)
}

/// A person with one reply that no one knows the fate of.
async fn here() -> Here {
    let here = Here::new();
    here.take(vec![text("m1", &[ANA, ANA_ID], 0)]).await;
    let event = stored_event(&here, ANA, "m1");
    let reply = Reply {
        id: reply_id(),
        kind: ReplyKind::Answer,
        text: "oi".to_owned(),
        number: event.number,
        to: event.reply_to,
        status: ReplyStatus::Unknown,
        token: None,
        refusals: 0,
        refused_since: None,
        committed_at: Timestamp::from_ms(NOON),
        cost: None,
    };
    let stored = StoredReply {
        reply,
        epoch: 1,
        given_back_by: None,
        since: Timestamp::from_ms(NOON),
        provider_id: None,
        failure: None,
    };
    here.store.touch(|table| {
        let person = table.people.get_mut(&conversation(ANA)).unwrap();
        person.replies.insert(reply_id(), stored);
    });
    here
}

fn status(reply: ReplyId, of: &[&str], status: DeliveryStatus) -> ProviderEvent {
    let inbound = inbound("out", of, 0);
    ProviderEvent::Status(StatusUpdate {
        reply,
        aliases: inbound.aliases,
        number: inbound.number,
        message: inbound.id,
        status,
    })
}

#[tokio::test]
async fn it_is_noted_whichever_id_it_names_the_person_by() {
    let noted = Ingested {
        noted: 1,
        ..Ingested::default()
    };
    for of in [vec![ANA], vec![ANA_ID], vec![BIA, ANA_ID]] {
        let here = here().await;
        let event = status(reply_id(), &of, DeliveryStatus::Sent);
        assert_eq!(here.take(vec![event]).await, noted, "{of:?}");
        let table = here.table();
        let reply = &table.people[&conversation(ANA)].replies[&reply_id()];
        assert_eq!(reply.reply.status, ReplyStatus::Sent);
    }
    let here = here().await;
    let event = status(
        reply_id(),
        &[ANA],
        DeliveryStatus::Failed("131047".to_owned()),
    );
    for repeat in ["first", "second", "third"] {
        assert_eq!(here.take(vec![event.clone()]).await, noted, "{repeat}");
    }
    let table = here.table();
    let reply = &table.people[&conversation(ANA)].replies[&reply_id()];
    assert_eq!(reply.failure.as_deref(), Some("131047"));
    assert_eq!(here.told.failures(), ["131047"], "an operator sees it once");
}

#[tokio::test]
async fn it_is_ignored_where_the_person_or_the_reply_is_not_known() {
    let ignored = Ingested {
        ignored: 1,
        ..Ingested::default()
    };
    let here = here().await;
    let other = ReplyId::from_parts(NOON, 8);
    assert_eq!(
        here.take(vec![status(other, &[ANA], DeliveryStatus::Sent)])
            .await,
        ignored
    );
    assert_eq!(
        here.take(vec![status(reply_id(), &[BIA], DeliveryStatus::Sent)])
            .await,
        ignored
    );
    assert_eq!(
        here.table().people.len(),
        1,
        "nobody is created by a status"
    );

    here.clock.set(100);
    here.forget(ANA).await;
    assert_eq!(
        here.take(vec![status(reply_id(), &[ANA], DeliveryStatus::Sent)])
            .await,
        ignored
    );
    assert_eq!(here.queue.count(), 1, "only the message ticked");
}

#[tokio::test]
async fn it_fails_where_the_table_does() {
    let here = here().await;
    here.faults.fail("note_status", Fault::FailBefore);
    let events = vec![
        status(reply_id(), &[ANA], DeliveryStatus::Sent),
        text("m2", &[ANA], 1),
    ];
    let outcome = here.take(events).await;
    assert_eq!((outcome.noted, outcome.stored, outcome.failed), (0, 1, 1));
}
