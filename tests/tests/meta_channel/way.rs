//! The way of a message that nothing stops: handshake, signed burst, one send, statuses, restart.

use serde_json::json;

use crate::bench::{Bench, NUMBER, VERIFY, graph, now, texts_of};
use recado_tests::local_run::envelope;

#[tokio::test]
async fn the_handshake_gives_the_challenge_to_who_knows_the_token() {
    let bench = Bench::start().await;
    for (label, token, status, body) in [
        ("the right one", VERIFY, 200, Some("1158201444")),
        ("another", "guess", 403, None),
        ("none", "", 403, None),
    ] {
        let query = format!("hub.mode=subscribe&hub.verify_token={token}&hub.challenge=1158201444");
        let request = bench
            .http
            .get(bench.public(&format!("/webhook/meta?{query}")));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), status, "{label}");
        if let Some(body) = body {
            assert_eq!(answer.text().await.unwrap(), body, "{label}");
        }
    }
    bench.end().await;
}

#[tokio::test]
async fn a_signed_burst_has_one_answer_and_statuses_change_nothing_about_it() {
    let phone = "5511900000701";
    let bench = Bench::start().await;
    let body = texts_of(NUMBER, phone, &["oi", "queria marcar", "pra sexta"]);
    assert_eq!(bench.webhook(body.clone()).await.status(), 200);
    // The provider sends it again, as it may.
    assert_eq!(bench.webhook(body).await.status(), 200);
    bench.until("sent", 1).await;
    let taken = bench.graph.taken_for(phone);
    assert_eq!(taken.len(), 1);
    assert!(
        taken[0].text.contains("oi / queria marcar / pra sexta"),
        "{}",
        taken[0].text
    );
    for status in ["sent", "delivered", "delivered", "read"] {
        assert_eq!(bench.status(&taken[0], status, None).await.status(), 200);
    }
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(bench.graph.count(), 1, "sent once");
    assert_eq!(
        bench.steps("send_refused").await,
        Vec::<serde_json::Value>::new()
    );
    bench.end().await;
}

#[tokio::test]
async fn what_is_not_signed_by_the_app_secret_does_not_come_in() {
    let bench = Bench::start().await;
    let body = texts_of(NUMBER, "5511900000702", &["oi"]);
    let wrong = format!("sha256={}", "0".repeat(64));
    for (label, signature) in [("none", None), ("a wrong one", Some(wrong))] {
        let mut request = bench
            .http
            .post(bench.public("/webhook/meta"))
            .body(body.clone());
        if let Some(signature) = signature {
            request = request.header("X-Hub-Signature-256", signature);
        }
        assert_eq!(request.send().await.unwrap().status(), 401, "{label}");
    }
    assert!(bench.steps("received").await.is_empty());
    bench.end().await;
}

#[tokio::test]
async fn a_person_without_a_phone_is_answered_at_the_bsuid() {
    let bsuid = "BR.7030000000000001";
    let bench = Bench::start().await;
    let body = envelope(
        NUMBER,
        json!({
            "contacts": [{ "profile": { "name": "Exemplo", "username": "exemplo" }, "user_id": bsuid }],
            "messages": [{ "id": "wamid.B1", "from_user_id": bsuid, "timestamp": now(), "type": "text",
                "text": { "body": "oi" } }],
        }),
    );
    assert_eq!(bench.webhook(body).await.status(), 200);
    bench.until("sent", 1).await;
    assert_eq!(bench.graph.taken_for(bsuid).len(), 1);
    let body = bench.graph.seen(|seen| seen[0].body.clone());
    assert_eq!((&body["recipient"], body.get("to")), (&json!(bsuid), None));
    bench.end().await;
}

#[tokio::test]
async fn memory_lasts_over_a_restart() {
    let phone = "5511900000704";
    let folder = tempfile::tempdir().unwrap();
    let graph = graph().await;
    let first = Bench::of(Some(folder.path()), graph.clone()).await;
    first.writes(phone, &["meu nome é Quitéria"]).await;
    first.until("sent", 1).await;
    first.end().await;

    let second = Bench::of(Some(folder.path()), graph.clone()).await;
    second.writes(phone, &["como eu me chamo?"]).await;
    second.until("sent", 1).await;
    let taken = graph.taken_for(phone);
    assert_eq!(taken.len(), 2);
    assert!(taken[1].text.contains("Quitéria"), "{}", taken[1].text);
    second.end().await;
}
