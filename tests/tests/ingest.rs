//! The way in over the fake table: stored once, ticked, nobody mixed up, nothing of an erased life.

#[path = "ingest/people.rs"]
mod people;
#[path = "ingest/statuses.rs"]
mod statuses;
#[path = "ingest/world.rs"]
mod world;

use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use recado::domain::batch::Closure;
use recado::domain::{
    Address, Alias, BusinessNumber, ClosedReason, Event, MessageId, Phone, ProviderEvent, Timestamp,
};
use recado::flow::ingest::{Ingested, ingest};
use recado::ports::Store;
use recado_tests::fake_store::Fault;
use world::{ANA, ANA_ID, Here, NOON, conversation, image, inbound, text};

const BIA: &str = "5511900000002";
const BIA_ID: &str = "BR.1000000000000002";
const SECOND: &str = "5511900000001~2";

fn stored(stored: usize) -> Ingested {
    Ingested {
        stored,
        ..Ingested::default()
    }
}

fn held(of: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    of.iter()
        .map(|(contact, ids)| {
            let ids = ids.iter().map(ToString::to_string).collect();
            ((*contact).to_owned(), ids)
        })
        .collect()
}

fn stored_event(here: &Here, contact: &str, id: &str) -> Event {
    let table = here.table();
    let events = &table.people[&conversation(contact)].events;
    events[&MessageId::parse(id).unwrap()]
        .event
        .clone()
        .unwrap()
}

#[tokio::test]
async fn a_message_is_stored_and_ticked_and_told() {
    let here = Here::new();
    assert_eq!(here.take(vec![text("m1", &[ANA], 0)]).await, stored(1));

    assert_eq!(here.held(), held(&[(ANA, &["m1"])]));
    assert_eq!(here.queue.count(), 1);
    assert_eq!(here.told.fresh(), [true]);
    let key = &here.queue.keys()[0];
    assert!(
        key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{key}"
    );
    let state = here.table().people[&conversation(ANA)]
        .state
        .clone()
        .unwrap();
    assert_eq!(state.created_at, Timestamp::from_ms(NOON));
}

/// T9, W2: the condition is in the write.
#[tokio::test]
async fn twenty_deliveries_in_one_second_store_one_message() {
    let here = Here::new();
    let deliveries = (0..20).map(|_| ingest(&here.world, vec![text("m1", &[ANA, ANA_ID], 0)]));
    let outcomes = join_all(deliveries).await;

    let sum = |of: fn(&Ingested) -> usize| outcomes.iter().map(of).sum::<usize>();
    assert_eq!(
        (sum(|i| i.stored), sum(|i| i.duplicates), sum(|i| i.failed)),
        (1, 19, 0)
    );
    assert_eq!(here.held(), held(&[(ANA, &["m1"])]));
    let mut keys = here.queue.keys();
    keys.sort();
    keys.dedup();
    assert_eq!(
        keys.len(),
        2,
        "the first tick's key, and one for all repeats of the minute"
    );
}

#[tokio::test]
async fn a_repeat_is_ticked_again_only_while_the_message_waits() {
    let here = Here::new();
    let event = || vec![text("m1", &[ANA], 0)];
    let duplicate = Ingested {
        duplicates: 1,
        ..Ingested::default()
    };
    here.take(event()).await;
    assert_eq!(here.take(event()).await, duplicate);
    here.clock.set(59);
    here.take(event()).await;
    assert_eq!(here.queue.keys().len(), 2, "one more key within the minute");
    here.clock.set(61);
    here.take(event()).await;
    assert_eq!(here.queue.keys().len(), 3, "and another in the next");

    let closure = Closure {
        events: vec![MessageId::parse("m1").unwrap()],
        reason: ClosedReason::Paused,
        ends: None,
    };
    let now = Timestamp::from_ms(NOON);
    here.store
        .close(&conversation(ANA), 1, &closure, now)
        .await
        .unwrap();
    assert_eq!(here.take(event()).await, duplicate);
    assert_eq!(here.queue.count(), 4, "at rest: no tick");
    assert_eq!(here.told.fresh(), [true, false, false, false, false]);
}

#[tokio::test]
async fn a_kind_that_is_not_answered_is_kept_closed_and_not_ticked() {
    let here = Here::new();
    assert_eq!(here.take(vec![image("m1", &[ANA])]).await, stored(1));
    let table = here.table();
    let stored = table.people[&conversation(ANA)]
        .events
        .values()
        .next()
        .unwrap();
    assert_eq!(
        stored.answered_by.as_deref(),
        Some("closed:kind_not_answered")
    );
    assert_eq!(here.queue.count(), 0);
}

/// W4.
#[tokio::test]
async fn where_the_queue_refuses_the_retry_completes_only_that() {
    let here = Here::new();
    let events = || vec![text("m1", &[ANA], 0), image("m2", &[ANA])];
    here.queue.refuses.store(true, Ordering::SeqCst);
    let first = here.take(events()).await;
    assert_eq!((first.stored, first.failed), (1, 1));

    here.queue.refuses.store(false, Ordering::SeqCst);
    let second = here.take(events()).await;
    assert_eq!((second.stored, second.duplicates, second.failed), (0, 2, 0));
    assert_eq!(here.queue.count(), 1);
    assert_eq!(here.held(), held(&[(ANA, &["m1", "m2"])]));
}

#[tokio::test]
async fn any_request_to_the_table_may_fail_and_the_retry_completes_it() {
    for operation in ["resolve", "create_contact", "append", "add_alias"] {
        for fault in [Fault::FailBefore, Fault::FailAfter] {
            let here = Here::new();
            let mut events = vec![text("m1", &[ANA], 0), text("m2", &[ANA, ANA_ID], 1)];
            events.push(text("m3", &[BIA], 0));
            here.faults.fail(operation, fault);
            let first = here.take(events.clone()).await;
            assert_eq!(
                (first.stored, first.failed),
                (2, 1),
                "{operation} {fault:?}"
            );

            let second = here.take(events).await;
            assert_eq!(second.failed, 0, "{operation} {fault:?}");
            let all = held(&[(ANA, &["m1", "m2"]), (BIA, &["m3"])]);
            assert_eq!(here.held(), all, "{operation} {fault:?}");
            let ticked: Vec<_> = here.queue.keys();
            assert!(ticked.len() >= 3, "{operation} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_number_without_an_agent_fails_and_spares_the_others() {
    let here = Here::new();
    let mut other = inbound("m1", &[ANA], 0);
    other.number = BusinessNumber::parse("100000000000099").unwrap();
    let events = vec![ProviderEvent::Message(other), text("m2", &[BIA], 0)];
    let outcome = here.take(events).await;
    assert_eq!((outcome.stored, outcome.failed), (1, 1));
    assert_eq!(here.held(), held(&[(BIA, &["m2"])]));
}

#[tokio::test]
async fn one_persons_messages_of_one_body_keep_their_order() {
    let here = Here::new();
    let ids = ["z", "a", "m", "b"];
    let mut events = Vec::new();
    for (place, id) in (0..).zip(ids) {
        let mut inbound = inbound(id, &[ANA], 0);
        inbound.arrived_at = Timestamp::from_ms(NOON + place);
        events.push(ProviderEvent::Message(inbound));
        events.push(text(&format!("other-{id}"), &[BIA], 0));
    }
    assert_eq!(here.take(events).await, stored(8));
    let pending = here
        .store
        .peek(&conversation(ANA), 10)
        .await
        .unwrap()
        .pending;
    let order: Vec<&str> = pending.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(order, ids);
}
