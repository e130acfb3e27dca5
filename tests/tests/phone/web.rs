//! The phone's own routes: who is let in, what is refused, the stream, the page.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{ANA, BackEnd, bench};

#[tokio::test]
async fn bad_requests_get_a_sentence() {
    let bench = bench(None, BackEnd::default()).await;
    let url = bench.url("/phone/messages");
    for (label, body, status, word) in [
        ("no JSON", "oi".to_owned(), 400, "not what this route takes"),
        (
            "a phone in words",
            json!({ "from": "ana", "text": "oi" }).to_string(),
            400,
            "5511900000001",
        ),
        (
            "no text",
            json!({ "from": ANA }).to_string(),
            400,
            "either text",
        ),
        (
            "no texts",
            json!({ "from": ANA, "texts": [] }).to_string(),
            400,
            "1 to 200",
        ),
        (
            "a blank text",
            json!({ "from": ANA, "text": " " }).to_string(),
            400,
            "not be empty",
        ),
        (
            "an unknown key",
            json!({ "from": ANA, "txt": "oi" }).to_string(),
            400,
            "txt",
        ),
        (
            "2 MiB",
            format!("\"{}\"", "a".repeat(2 * 1024 * 1024)),
            413,
            "1 MiB",
        ),
    ] {
        let answer = bench.http.post(&url).body(body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{label}");
        let error: Value = answer.json().await.unwrap();
        assert!(
            error["error"].as_str().unwrap().contains(word),
            "{label}: {error}"
        );
    }
    assert_eq!(bench.get("/nothing").await.0, 404);
    assert_eq!(bench.get("/phone/messages").await.0, 405);
    assert_eq!(
        bench.get(&format!("/memory/{ANA}")).await.1["facts"],
        json!([ANA])
    );
}

#[tokio::test]
async fn foreign_hosts_and_foreign_pages_are_refused() {
    let bench = bench(None, BackEnd::default()).await;
    let port = bench.address.port();
    for (label, host, origin, status) in [
        (
            "its own page",
            format!("localhost:{port}"),
            Some(format!("http://localhost:{port}")),
            202,
        ),
        ("a program", format!("127.0.0.1:{port}"), None, 202),
        ("rebinding", format!("evil.example:{port}"), None, 421),
        (
            "a foreign page",
            format!("127.0.0.1:{port}"),
            Some("http://evil.example".to_owned()),
            403,
        ),
        (
            "a sandboxed page",
            format!("127.0.0.1:{port}"),
            Some("null".to_owned()),
            403,
        ),
    ] {
        let mut request = bench
            .http
            .post(bench.url("/phone/messages"))
            .header("Host", host)
            .json(&json!({ "from": ANA, "text": "oi" }));
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        assert_eq!(request.send().await.unwrap().status(), status, "{label}");
    }
    let page = bench
        .http
        .get(bench.url("/"))
        .header("Host", "evil.example")
        .send()
        .await
        .unwrap();
    assert_eq!(page.status(), 421);
}

/// Reads a stream until it holds `wanted`.
async fn read_until(answer: &mut reqwest::Response, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let chunk = tokio::time::timeout(Duration::from_secs(5), answer.chunk());
        let chunk = chunk
            .await
            .unwrap_or_else(|_| panic!("no {wanted} in {text}"));
        text.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    text
}

#[tokio::test]
async fn a_stream_resumes_where_the_reader_was_and_follows_chat_and_story() {
    let bench = bench(None, BackEnd::default()).await;
    for id in ["one", "two", "three"] {
        bench.note(ANA, id);
    }
    bench.note("5511900000002", "of someone else");
    let (_, story) = bench.get(&format!("/story?since=1&phone={ANA}")).await;
    let seqs: Vec<_> = story["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["seq"])
        .collect();
    assert_eq!(seqs, [2, 3]);
    assert_eq!(
        (&story["last"], &story["complete"]),
        (&json!(4), &json!(true))
    );

    let name = story["story"].as_str().unwrap();
    let url = bench.url(&format!("/story/live?phone={ANA}"));
    let request = bench
        .http
        .get(&url)
        .header("Last-Event-ID", format!("{name}-2"));
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = read_until(&mut answer, "event: hello").await;
    assert!(text.contains("three") && !text.contains("two") && !text.contains("someone else"));
    assert!(text.contains(&format!("id: {name}-3")));
    bench.note(ANA, "four");
    read_until(&mut answer, "four").await;
    bench
        .write(&json!({ "from": ANA, "text": "ao vivo" }))
        .await;
    read_until(&mut answer, "\"status\":\"delivered\"").await;

    let request = bench.http.get(&url).header("Last-Event-ID", "another-2");
    let mut answer = request.send().await.unwrap();
    let text = read_until(&mut answer, "event: reset").await;
    assert!(text.contains("restarted") && !text.contains("three"));

    bench.phone.close();
    let ends = tokio::time::timeout(Duration::from_secs(5), async {
        while answer.chunk().await.unwrap().is_some() {}
    });
    ends.await.expect("a closed phone ends its streams");
}

#[tokio::test]
async fn a_slow_reader_is_told_that_it_lagged() {
    let bench = bench(None, BackEnd::default()).await;
    let mut answer = bench
        .http
        .get(bench.url("/story/live"))
        .send()
        .await
        .unwrap();
    read_until(&mut answer, "event: hello").await;
    for index in 0..60_000 {
        bench.note(ANA, &format!("{index}-{}", "x".repeat(400)));
    }
    let text = read_until(&mut answer, "event: reset").await;
    assert!(text.contains("lagged"));
    bench.note(ANA, "after");
    read_until(&mut answer, "after").await;
}

#[tokio::test]
async fn the_page_brings_a_strict_policy_and_nothing_inline() {
    let bench = bench(None, BackEnd::default()).await;
    for path in [
        "/",
        "/page.css",
        "/icon.svg",
        "/page.js",
        "/chat.js",
        "/memory.js",
        "/now.js",
        "/timeline.js",
        "/turns.js",
        "/words.js",
    ] {
        let answer = bench.http.get(bench.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{path}"
        );
        let body = answer.text().await.unwrap();
        assert!(
            !body.contains("https://") && !body.contains("style="),
            "{path}"
        );
    }
}
