//! The webhook of a whole local run, over HTTP: each body gets its documented answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recado::adapters::demo::DemoModel;
use recado_tests::local_run::{Here, NUMBER, envelope};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PHONE: &str = "5511900000061";

async fn here() -> Here {
    Here::start(Arc::new(DemoModel::new(Duration::from_millis(50)))).await
}

fn message(id: &str, rest: &Value) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut message = json!({
        "id": id,
        "from": PHONE,
        "timestamp": now.as_secs().to_string(),
    });
    if let (Value::Object(message), Value::Object(rest)) = (&mut message, rest) {
        message.extend(rest.clone());
    }
    message
}

fn text(id: &str, words: &str) -> String {
    let text = json!({ "type": "text", "text": { "body": words } });
    envelope(NUMBER, json!({ "messages": [message(id, &text)] }))
}

#[tokio::test]
async fn what_cannot_be_trusted_or_read_is_refused_with_its_own_status() {
    let here = here().await;
    let body = text("wamid.A1", "oi");
    let bare = |body: String| here.http.post(here.url("/webhook/meta")).body(body);
    let missing = bare(body.clone()).send().await.unwrap();
    assert_eq!(missing.status(), 401, "no signature");
    let wrong = bare(body).header("X-Hub-Signature-256", format!("sha256={}", "0".repeat(64)));
    assert_eq!(wrong.send().await.unwrap().status(), 401, "a wrong one");
    let large = here.webhook(vec![b' '; 2 * 1024 * 1024]).await;
    assert_eq!(large.status(), 413, "2 MiB");
    for (label, body) in [("an array", "[]"), ("no JSON", "oi"), ("nothing", "")] {
        let refused = here.webhook(body).await;
        assert_eq!(refused.status(), 400, "{label}");
        let reason = refused.text().await.unwrap();
        assert!(reason.len() > 10, "{label}: {reason}");
    }
    let channel = here.http.post(here.url("/webhook/telegram")).body("{}");
    assert_eq!(channel.send().await.unwrap().status(), 404);
    let put = here.http.put(here.url("/webhook/meta")).body("{}");
    assert_eq!(put.send().await.unwrap().status(), 405);
    let story = here.get("/story").await;
    assert_eq!(story["steps"], json!([]), "nothing of it came in");
    here.run.stop().await.unwrap();
}

#[tokio::test]
async fn a_body_that_breaks_off_or_is_badly_chunked_is_a_bad_request() {
    let here = here().await;
    let address = here.url("");
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    for (label, chunks) in [
        ("a size that is none", "zz\r\nabc\r\n0\r\n\r\n"),
        ("a chunk longer than it says", "2\r\nabcdef\r\n0\r\n\r\n"),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let asked = format!(
            "POST /webhook/meta HTTP/1.1\r\nhost: {address}\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
        );
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]);
        assert!(answer.starts_with("HTTP/1.1 400"), "{label}: {answer}");
    }
    here.run.stop().await.unwrap();
}

#[tokio::test]
async fn a_number_that_no_agent_answers_on_is_a_failure_of_ours_that_the_provider_repeats() {
    let here = here().await;
    let words = json!({ "type": "text", "text": { "body": "oi" } });
    let body = envelope(
        "999999999999999",
        json!({ "messages": [message("wamid.N1", &words)] }),
    );
    assert!(here.webhook(body).await.status().is_server_error());
    here.run.stop().await.unwrap();
}

#[tokio::test]
async fn an_unknown_kind_is_kept_and_closed() {
    let here = here().await;
    let kind = json!({ "type": "hologram", "hologram": { "id": "1" } });
    let body = envelope(NUMBER, json!({ "messages": [message("wamid.K1", &kind)] }));
    let taken = here.webhook(body).await;
    assert!(taken.status().is_success());
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(here.answers(PHONE).await, Vec::<String>::new());
    let memory = here.get(&format!("/memory/{PHONE}")).await;
    assert_eq!(memory["state"]["pending"], 0, "{memory}");
    here.run.stop().await.unwrap();
}

/// W2.
#[tokio::test]
async fn twenty_deliveries_of_one_message_have_one_answer() {
    let here = here().await;
    let body = text("wamid.D1", "só uma vez");
    let posts = (0..20).map(|_| here.webhook(body.clone()));
    for answer in futures_util::future::join_all(posts).await {
        assert!(answer.status().is_success(), "{}", answer.status());
    }
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    // A repeat after the answer is a repeat all the same.
    assert!(here.webhook(body).await.status().is_success());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let answers = here.answers(PHONE).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    let story = here.get("/story").await;
    let steps = story["steps"].as_array().unwrap();
    let fresh = steps.iter().filter(|step| step["fresh"] == true).count();
    assert_eq!(fresh, 1);
    here.run.stop().await.unwrap();
}
