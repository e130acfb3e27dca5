//! Who may ask for what: the public address has the webhook and nothing else, the operator's is this machine's.

use std::net::SocketAddr;
use std::sync::Arc;

use recado::adapters::chance::SystemChance;
use recado::adapters::meta::send::FixedToken;
use recado_cli::client;
use recado_cli::local::{Channel, LocalRun, Secrets, StartError};
use serde_json::{Value, json};

use crate::bench::{Bench, TOKEN, graph, meta, options};

#[tokio::test]
async fn nothing_but_webhook_and_health_is_on_the_public_address() {
    let bench = Bench::start().await;
    assert_ne!(bench.run.url(), bench.run.public_url());
    let address = bench.run.url().trim_start_matches("http://");
    assert!(address.parse::<SocketAddr>().unwrap().ip().is_loopback());

    let health = bench.http.get(bench.public("/health"));
    // A tunnel brings its own host name.
    let health = health
        .header("Host", "tunnel.example.org")
        .send()
        .await
        .unwrap();
    assert_eq!(
        health.json::<Value>().await.unwrap(),
        json!({ "recado": "ready" })
    );
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/story"),
        ("GET", "/story/live"),
        ("GET", "/memory/5511900000711"),
        ("GET", "/phone/conversations"),
        ("POST", "/phone/messages"),
        ("POST", "/people/5511900000711/forget"),
        ("POST", "/v25.0/100000000000001/messages"),
        ("POST", "/webhook/telegram"),
    ] {
        let method = method.parse().unwrap();
        let asked = bench.http.request(method, bench.public(path)).body("{}");
        assert_eq!(asked.send().await.unwrap().status(), 404, "{path}");
    }
    bench.end().await;
}

#[tokio::test]
async fn the_operators_address_takes_no_webhook_and_no_foreign_page() {
    let bench = Bench::start().await;
    let webhook = bench.http.post(bench.operator("/webhook/meta")).body("{}");
    assert_eq!(webhook.send().await.unwrap().status(), 404);
    for path in ["/health", "/story"] {
        let foreign = bench
            .http
            .get(bench.operator(path))
            .header("Host", "evil.example");
        assert_eq!(foreign.send().await.unwrap().status(), 421, "{path}");
    }
    let forget = bench
        .http
        .post(bench.operator("/people/5511900000712/forget"));
    let foreign = forget.header("Origin", "http://evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    bench.end().await;
}

#[tokio::test]
async fn commands_find_the_instance_by_its_folder_and_learn_its_channel() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::of(Some(folder.path()), graph().await).await;
    let running = client::running(folder.path()).await.unwrap();
    assert_eq!(
        (running.url.as_str(), running.channel.as_str()),
        (bench.run.url(), "meta")
    );
    bench.end().await;
    assert!(client::running(folder.path()).await.is_none());
}

#[tokio::test]
async fn the_phone_is_for_this_machine_and_a_folder_for_one_channel() {
    let phone = || Channel::Phone(Secrets::random(SystemChance));
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let mut beyond = options(None, phone());
    beyond.listen = everywhere;
    let refused = LocalRun::start(beyond).await.err().unwrap();
    assert!(
        matches!(refused, StartError::BeyondThisMachine(_)),
        "{refused}"
    );
    assert!(refused.to_string().contains("--channel meta"), "{refused}");

    let folder = tempfile::tempdir().unwrap();
    let graph = graph().await;
    let to_meta = || Channel::Meta(meta(&graph, Arc::new(FixedToken(TOKEN.to_owned()))));
    let mut public = options(Some(folder.path()), to_meta());
    public.listen = everywhere;
    let run = LocalRun::start(public).await.unwrap();
    assert!(run.url().starts_with("http://127.0.0.1:"), "{}", run.url());
    assert!(run.public_url().starts_with("http://0.0.0.0:"));
    run.stop().await.unwrap();

    let mixed = LocalRun::start(options(Some(folder.path()), phone())).await;
    let refused = mixed.err().unwrap().to_string();
    assert!(refused.contains("belongs to channel meta"), "{refused}");
    assert!(refused.contains("RECADO_DATA_DIR"), "{refused}");
    LocalRun::start(options(Some(folder.path()), to_meta()))
        .await
        .unwrap()
        .stop()
        .await
        .unwrap();
}
