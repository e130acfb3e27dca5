//! Contracts of messages as they come in and wait.

use recado::domain::{Address, Bsuid, ClosedReason, Content, ConversationId, Event, Kind};
use recado::ports::{Appended, Written};

use super::Bench;
use super::scene::{Scene, at, event, message};

pub async fn a_repeated_message_is_pending_until_it_is_answered(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::New);
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::Pending);
    let epoch = scene.claim(1).await;
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::Pending);
    let commit = scene.commit_of(1, epoch, &["m1"]);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::AtRest);
    scene.is_unchanged(&before, "a repeat").await;
}

pub async fn a_repeat_never_changes_what_was_stored(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1"]).await;
    let before = bench.dump().await;
    let other = Event {
        content: Content::Text("other words".to_owned()),
        ..event("m1", 99)
    };
    assert_eq!(scene.append(&other).await, Appended::Pending);
    scene.is_unchanged(&before, "a repeat").await;
}

pub async fn a_message_stored_closed_waits_for_nobody(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let sticker = Event {
        content: Content::Unsupported(Kind::parse("sticker").expect("a kind")),
        closed: Some(ClosedReason::KindNotAnswered),
        ..event("m1", 10)
    };
    assert_eq!(scene.append(&sticker).await, Appended::New);
    assert_eq!(scene.append(&sticker).await, Appended::AtRest);
    assert_eq!(scene.pending().await, [""; 0]);
    assert_eq!(scene.unrest().await, []);
    assert!(bench.dump().await.contains("closed:kind_not_answered"));
}

pub async fn a_message_stored_closed_needs_a_living_person(bench: &dyn Bench) {
    let nobody = ConversationId::parse("recepcao#5511900000099").expect("a key");
    let sticker = Event {
        content: Content::Unsupported(Kind::parse("sticker").expect("a kind")),
        closed: Some(ClosedReason::KindNotAnswered),
        ..event("m1", 10)
    };
    let appended = bench.store().append(&nobody, &sticker).await;
    assert_eq!(appended.expect("append"), Appended::AtRest);
    assert!(!bench.dump().await.contains("5511900000099"));
}

pub async fn pending_messages_come_in_the_order_they_were_sent(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.append(&event("second", 20)).await;
    // It came last and was sent first.
    let late = Event {
        arrived_at: at(500),
        ..event("first", 3)
    };
    scene.append(&late).await;
    // Sent in the same second: as they arrived, then by id.
    let arrived = |id, seconds| Event {
        arrived_at: at(seconds),
        ..event(id, 30)
    };
    scene.append(&arrived("a later", 33)).await;
    scene.append(&arrived("z sooner", 32)).await;
    scene.append(&arrived("b later", 33)).await;
    let order = ["first", "second", "z sooner", "a later", "b later"];
    assert_eq!(scene.pending().await, order);
}

pub async fn a_peek_gives_the_oldest_up_to_its_limit(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.answered(1, &["m1"]).await;
    for n in (20..60).rev() {
        scene.append(&event(&format!("m{n}"), n)).await;
    }
    for max in [1, 3, 39] {
        let peek = bench.store().peek(&scene.conversation, max).await;
        let peek = peek.expect("peek");
        assert!(peek.state.is_some());
        assert_eq!(peek.outbox.len(), 1);
        let ids: Vec<_> = peek.pending.into_iter().map(|event| event.id).collect();
        let oldest: Vec<_> = (20..20 + max).map(|n| message(&format!("m{n}"))).collect();
        assert_eq!(ids, oldest);
    }
    assert_eq!(scene.pending().await.len(), 40);
}

pub async fn a_peek_reads_on_where_a_page_is_cut_at_a_megabyte(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    for n in 10..55 {
        let long = Event {
            content: Content::Text("x".repeat(32_000)),
            ..event(&format!("m{n}"), n)
        };
        scene.append(&long).await;
    }
    let ids: Vec<_> = (10..55).map(|n| format!("m{n}")).collect();
    assert_eq!(scene.pending().await, ids);
}

pub async fn whatever_a_message_holds_reads_back(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let odd = Event {
        reply_to: Address::Bsuid(Bsuid::parse("BR.ENT.aB9").expect("a BSUID")),
        content: Content::Text("olá 👋\nsegunda linha #1".to_owned()),
        ..event("wamid.#HBg=#\u{e9}", 10)
    };
    let empty = Event {
        content: Content::Text(String::new()),
        ..event(&"é".repeat(256), 11)
    };
    let kind = Event {
        content: Content::Unsupported(Kind::parse("image").expect("a kind")),
        ..event("event#", 12)
    };
    for event in [&odd, &empty, &kind] {
        assert_eq!(scene.append(event).await, Appended::New);
    }
    assert_eq!(scene.peek().await.pending, [odd, empty, kind]);
}

pub async fn late_messages_are_deleted_only_where_there_is_no_state(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.receive(&["m1", "m2"]).await;
    let late = [message("m1"), message("never seen")];
    let delete = async || {
        let written = bench.store().delete_late(&scene.conversation, &late).await;
        written.expect("delete")
    };
    let before = bench.dump().await;
    assert_eq!(delete().await, Written::Lost);
    scene.is_unchanged(&before, "somebody lives here").await;
    scene.begin(20).await;
    assert_eq!(delete().await, Written::Done);
    assert_eq!(scene.pending().await, ["m2"]);
}
