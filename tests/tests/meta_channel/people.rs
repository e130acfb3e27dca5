//! Forgetting a person of an installation with several agents, while it runs and while it does not.

use recado_cli::local::offline;

use crate::bench::{Bench, NUMBER, OTHER_NUMBER, agents, graph, texts_of};

/// Writes to both agents, and both answer.
async fn known_to_both(bench: &Bench, phone: &str) {
    bench.writes(phone, &["meu nome é Quitéria"]).await;
    bench.until("sent", 1).await;
    let other = texts_of(OTHER_NUMBER, phone, &["oi, aqui é a Quitéria"]);
    assert_eq!(bench.webhook(other).await.status(), 200);
    bench.until("sent", 2).await;
}

#[tokio::test]
async fn every_agent_forgets_a_person_or_only_the_one_that_is_named() {
    let phone = "5511900000721";
    let bench = Bench::start().await;
    let late = texts_of(NUMBER, phone, &["meu nome é Quitéria"]);
    known_to_both(&bench, phone).await;

    let (status, unknown) = bench.forget(phone, Some("financeiro")).await;
    assert_eq!(status, 404);
    let sentence = unknown["error"].as_str().unwrap();
    assert!(sentence.contains("recepcao, vendas"), "{sentence}");
    let (status, one) = bench.forget(phone, Some("vendas")).await;
    assert_eq!(
        (status, &one["agents"]),
        (200, &serde_json::json!(["vendas"]))
    );
    let (status, rest) = bench.forget(phone, None).await;
    assert_eq!(
        (status, &rest["agents"]),
        (200, &serde_json::json!(["recepcao"]))
    );
    let (status, nobody) = bench.forget(phone, None).await;
    assert_eq!(
        (status, &nobody["error"]),
        (404, &"nobody of this phone is known".into())
    );
    assert_eq!(bench.forget("ana", None).await.0, 400);

    // A webhook of before comes late and is dropped.
    assert_eq!(bench.webhook(late).await.status(), 200);
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(bench.graph.taken_for(phone).len(), 2);
    bench.end().await;
}

#[tokio::test]
async fn without_an_instance_the_folder_is_opened_and_nobody_is_answered() {
    let phone = "5511900000722";
    let folder = tempfile::tempdir().unwrap();
    let graph = graph().await;
    let bench = Bench::of(Some(folder.path()), graph.clone()).await;
    bench.writes(phone, &["meu nome é Quitéria"]).await;
    bench.until("sent", 1).await;
    // This one is still pending when the instance ends.
    bench
        .webhook(texts_of(NUMBER, "5511900000723", &["oi"]))
        .await;
    bench.end().await;

    let asked = graph.count();
    let gone = offline::forget(folder.path(), agents(), phone, None)
        .await
        .unwrap();
    assert_eq!(gone.agents.len(), 1);
    assert_eq!(graph.count(), asked);
    let again = offline::forget(folder.path(), agents(), phone, None).await;
    assert_eq!(
        again.unwrap_err().to_string(),
        "nobody of this phone is known"
    );

    let after = Bench::of(Some(folder.path()), graph.clone()).await;
    after.until("sent", 1).await;
    assert_eq!(
        graph.taken_for("5511900000723").len(),
        1,
        "what was pending is answered"
    );
    after.writes(phone, &["como eu me chamo?"]).await;
    after.until("sent", 2).await;
    let answer = graph.taken_for(phone).pop().unwrap().text;
    assert!(!answer.contains("Quitéria"), "{answer}");
    after.end().await;
}
