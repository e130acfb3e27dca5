//! The phone over real HTTP, as the back end meets it: webhooks, sends, statuses, restarts.

#[path = "phone/bench.rs"]
mod bench;
#[path = "phone/web.rs"]
mod web;

use std::sync::Arc;
use std::time::Duration;

use bench::{ANA, BackEnd, NUMBER, REPLY, bench, text_to, until};
use recado::adapters::meta::send::{FixedToken, GraphMessenger, GraphSettings};
use recado::domain::{
    Address, BusinessNumber, DeliveryStatus, Phone as Number, ProviderEvent, ReplyId,
};
use recado::ports::{LookUp, Messenger as _, Outgoing};
use serde_json::{Value, json};

#[tokio::test]
async fn a_burst_arrives_signed_and_in_order_and_the_gaps_are_kept() {
    let bench = bench(None, BackEnd::default()).await;
    let started = std::time::Instant::now();
    let ids = bench
        .write(&json!({ "from": ANA, "texts": ["olá", "às 9/10", "tá? 😀"], "gap_ms": 150 }))
        .await;
    assert!(
        started.elapsed() < Duration::from_millis(140),
        "the ids come at once"
    );
    until("all three arrived", || bench.back_end.texts().len() == 3).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(bench.back_end.texts(), ["olá", "às 9/10", "tá? 😀"]);
    assert_eq!(*bench.back_end.bad_signatures.lock().unwrap(), 0);
    let heard = bench.back_end.heard.lock().unwrap().clone();
    assert_eq!(heard[0]["messages"][0]["id"], ids[0]);
    assert_eq!(heard[0]["metadata"]["phone_number_id"], NUMBER);
    assert_eq!(heard[0]["contacts"][0]["wa_id"], ANA);
}

#[tokio::test]
async fn a_refused_webhook_is_sent_again_until_it_is_taken_and_order_is_kept() {
    let back_end = BackEnd::default();
    back_end.refuse_with(&[503, 401, 500]);
    let bench = bench(None, back_end).await;
    bench
        .write(&json!({ "from": ANA, "texts": ["um", "dois"] }))
        .await;
    until("both were taken", || bench.back_end.texts().len() == 5).await;
    assert_eq!(bench.back_end.texts(), ["um", "um", "um", "um", "dois"]);
    let (_, chat) = bench.get(&format!("/phone/conversations/{ANA}")).await;
    assert_eq!(chat["messages"][0]["status"], "delivered");
    assert_eq!(chat["messages"][0]["failures"], 3);
}

#[tokio::test]
async fn a_send_is_accepted_found_and_reported_as_sent_delivered_and_read() {
    let bench = bench(None, BackEnd::default()).await;
    assert_eq!(bench.get(&format!("/phone/replies/{REPLY}")).await.0, 404);
    let (status, answer) = bench.send(&text_to(ANA, "Oi! Como posso ajudar?")).await;
    assert_eq!(status, 200);
    assert_eq!(answer["messaging_product"], "whatsapp");
    assert_eq!(answer["contacts"][0]["wa_id"], ANA);
    let id = answer["messages"][0]["id"].as_str().unwrap();
    let found = bench.get(&format!("/phone/replies/{REPLY}")).await;
    assert_eq!(found, (200, json!({ "id": id, "count": 1 })));
    until("three statuses", || bench.back_end.statuses(id).len() == 3).await;
    let statuses = bench.back_end.statuses(id);
    let words: Vec<_> = statuses
        .iter()
        .map(|status| status["status"].clone())
        .collect();
    assert_eq!(words, ["sent", "delivered", "read"]);
    for status in &statuses {
        assert_eq!(status["biz_opaque_callback_data"], REPLY);
        assert_eq!(status["recipient_id"], ANA);
        assert!(
            status["recipient_user_id"]
                .as_str()
                .unwrap()
                .starts_with("BR.")
        );
    }
    assert_eq!(*bench.back_end.bad_signatures.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_send_to_the_bsuid_reaches_the_phone() {
    let bench = bench(None, BackEnd::default()).await;
    bench.write(&json!({ "from": ANA, "text": "oi" })).await;
    until("the text arrived", || bench.back_end.texts().len() == 1).await;
    let bsuid = bench.back_end.heard.lock().unwrap()[0]["messages"][0]["from_user_id"].clone();
    let mut body = text_to(ANA, "oi");
    body.as_object_mut().unwrap().remove("to");
    body["recipient"] = bsuid;
    assert_eq!(bench.send(&body).await.0, 200);
    let (_, chat) = bench.get(&format!("/phone/conversations/{ANA}")).await;
    assert_eq!(chat["messages"].as_array().unwrap().len(), 2);
    assert_eq!(chat["messages"][1]["side"], "agent");
}

#[tokio::test]
async fn a_doubled_send_is_seen_as_two() {
    let bench = bench(None, BackEnd::default()).await;
    let (_, first) = bench.send(&text_to(ANA, "oi")).await;
    bench.send(&text_to(ANA, "oi")).await;
    let (_, found) = bench.get(&format!("/phone/replies/{REPLY}")).await;
    assert_eq!(
        found,
        json!({ "id": first["messages"][0]["id"], "count": 2 })
    );
}

#[tokio::test]
async fn our_own_sender_and_reader_of_webhooks_work_with_it() {
    let bench = bench(None, BackEnd::default()).await;
    let base = bench.url("");
    let mut settings = GraphSettings::new(&base, "v25.0");
    settings.look_up_base = Some(base);
    let token = Arc::new(FixedToken("access token".to_owned()));
    let messenger = GraphMessenger::new(&settings, token).unwrap();
    let reply = ReplyId::parse(REPLY).unwrap();
    assert_eq!(messenger.look_up(reply).await, LookUp::NotReceived);
    let outgoing = Outgoing {
        number: BusinessNumber::parse(NUMBER).unwrap(),
        to: Address::Phone(Number::parse(ANA).unwrap()),
        reply,
        text: "Até sexta!".to_owned(),
    };
    let id = messenger.send(&outgoing).await.unwrap();
    assert_eq!(messenger.look_up(reply).await, LookUp::Sent(id.clone()));
    until("three statuses", || {
        bench.back_end.events.lock().unwrap().len() == 3
    })
    .await;
    for event in bench.back_end.events.lock().unwrap().iter() {
        let ProviderEvent::Status(update) = event else {
            panic!("only statuses were sent");
        };
        assert_eq!(
            (update.reply, update.message.as_str()),
            (reply, id.as_str())
        );
        assert_eq!(update.status, DeliveryStatus::Sent);
    }
}

#[tokio::test]
async fn refused_sends_have_metas_shape_and_leave_no_trace() {
    let bench = bench(None, BackEnd::default()).await;
    let (status, error) = bench.send(&text_to(ANA, &"a".repeat(4_097))).await;
    assert_eq!((status, &error["error"]["code"]), (400, &json!(100)));
    assert_eq!(
        error["error"]["message"],
        "Param text['body'] must be at most 4096 characters long."
    );
    for (label, path, token, status, code) in [
        (
            "no right token",
            format!("/v25.0/{NUMBER}/messages"),
            "wrong",
            401,
            190,
        ),
        (
            "another number",
            "/v25.0/42/messages".to_owned(),
            "access token",
            400,
            100,
        ),
        (
            "no version",
            format!("/latest/{NUMBER}/messages"),
            "access token",
            400,
            2500,
        ),
    ] {
        let request = bench.http.post(bench.url(&path)).bearer_auth(token);
        let answer = request.json(&text_to(ANA, "oi")).send().await.unwrap();
        assert_eq!(answer.status(), status, "{label}");
        let error: Value = answer.json().await.unwrap();
        assert_eq!(error["error"]["code"], code, "{label}");
        assert_eq!(error["error"]["type"], "OAuthException", "{label}");
    }
    assert_eq!(bench.get(&format!("/phone/replies/{REPLY}")).await.0, 404);
}

#[tokio::test]
async fn a_restart_delivers_what_was_not_taken_and_remembers_what_was_received() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("phone.jsonl");
    let deaf = BackEnd::default();
    deaf.refuse_with(&[503; 100]);
    let first = bench(Some(&log), deaf).await;
    let ids = first
        .write(&json!({ "from": ANA, "texts": ["oi", "mais tarde"], "gap_ms": 60_000 }))
        .await;
    let (_, sent) = first.send(&text_to(ANA, "resposta")).await;
    until("a try failed", || first.back_end.texts().len() > 1).await;
    first.phone.close();
    drop(first);

    let second = bench(Some(&log), BackEnd::default()).await;
    let (_, found) = second.get(&format!("/phone/replies/{REPLY}")).await;
    assert_eq!(
        found,
        json!({ "id": sent["messages"][0]["id"], "count": 1 })
    );
    let id = sent["messages"][0]["id"].as_str().unwrap();
    until("the text arrived", || second.back_end.texts() == ["oi"]).await;
    until("the statuses arrived", || {
        second.back_end.statuses(id).len() == 3
    })
    .await;
    let (_, chat) = second.get(&format!("/phone/conversations/{ANA}")).await;
    assert_eq!(chat["messages"][0]["id"], ids[0]);
    assert_eq!(
        chat["messages"][2]["status"], "planned",
        "its time has not come"
    );
    second.phone.close();

    let third = bench(Some(&log), BackEnd::default()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(
        third.back_end.heard.lock().unwrap().is_empty(),
        "nothing is delivered twice"
    );
}
