//! The webhook as a server meets it: what each request is answered with, and what is in the table by then.

#[expect(
    dead_code,
    reason = "shared with the flow's tests, which use all of it"
)]
#[path = "ingest/world.rs"]
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recado::adapters::meta::signature::sign;
use recado::adapters::secrets::SecretsProvider;
use recado::config::secret::Secret;
use recado::config::secrets::{SecretKey, Secrets};
use recado::error::Source;
use recado_ingest::{
    BODY_BYTES_MAX, Channels, Ingest, MetaSecrets, MetaSecretsSource, Request, Response,
};
use recado_tests::fake_store::Fault;
use serde_json::{Value, json};
use world::Here;

const SECRET: &str = "app secret for tests";
const OLD_SECRET: &str = "the secret before";
const VERIFY: &str = "verify token for tests";

fn handler(here: &Here) -> Ingest {
    Ingest {
        world: here.world.clone(),
        channels: Channels {
            meta: Arc::new(MetaSecrets {
                app_secrets: vec![SECRET.to_owned(), OLD_SECRET.to_owned()],
                verify_token: VERIFY.to_owned(),
            }),
        },
    }
}

fn payload(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/meta");
    std::fs::read(folder.join(format!("{name}.json"))).unwrap()
}

fn post(body: impl Into<Vec<u8>>) -> Request {
    let body = body.into();
    Request {
        method: "POST".to_owned(),
        path: "/webhook/meta".to_owned(),
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            (
                "X-Hub-Signature-256".to_owned(),
                sign(SECRET.as_bytes(), &body),
            ),
        ],
        body,
        ..Request::default()
    }
}

/// The same request as a gateway hands it on that takes every body for binary.
fn in_base64(request: Request) -> Request {
    Request {
        body: STANDARD.encode(&request.body).into_bytes(),
        is_base64: true,
        ..request
    }
}

fn get(query: &[(&str, &str)]) -> Request {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Request {
        method: "GET".to_owned(),
        path: "/webhook/meta".to_owned(),
        query: query.iter().map(pair).collect(),
        ..Request::default()
    }
}

async fn answer(request: Request) -> Response {
    handler(&Here::new()).handle(request).await
}

/// The reason an answer gives.
fn reason(response: &Response) -> String {
    assert_eq!(response.content_type, "application/json");
    let body: Value = serde_json::from_str(&response.body).unwrap();
    body["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_handshake_is_answered_with_the_bare_challenge() {
    let right = [
        ("hub.mode", "subscribe"),
        ("hub.verify_token", VERIFY),
        ("hub.challenge", "1158201444"),
    ];
    let response = answer(get(&right)).await;
    assert_eq!(
        (response.status, response.content_type),
        (200, "text/plain")
    );
    assert_eq!(response.body, "1158201444");

    let wrong = [right[0], ("hub.verify_token", "guess"), right[2]];
    assert_eq!(answer(get(&wrong)).await.status, 403);
    assert_eq!(answer(get(&[])).await.status, 403);
}

#[tokio::test]
async fn every_request_that_is_none_says_what_to_do() {
    let change = |act: fn(&mut Request)| {
        let mut request = post(payload("text"));
        act(&mut request);
        request
    };
    for (label, request, status) in [
        (
            "another channel",
            change(|r| r.path = "/webhook/telegram".to_owned()),
            404,
        ),
        ("another path", change(|r| r.path = "/".to_owned()), 404),
        (
            "a path below",
            change(|r| r.path = "/webhook/meta/x".to_owned()),
            404,
        ),
        (
            "another method",
            change(|r| r.method = "PUT".to_owned()),
            405,
        ),
        ("no signature", change(|r| r.headers.clear()), 401),
        (
            "another signature",
            change(|r| r.headers[1].1 = sign(b"guess", &r.body)),
            401,
        ),
        ("another body", change(|r| r.body.push(b' ')), 401),
        ("base64 that is none", change(|r| r.is_base64 = true), 400),
        ("a list", post("[]"), 400),
        ("no JSON", post("hello"), 400),
        ("nothing", post(""), 400),
        ("a deep body", post("[".repeat(BODY_BYTES_MAX)), 400),
        ("too large", post(vec![b' '; BODY_BYTES_MAX + 1]), 413),
        (
            "too large in base64",
            in_base64(post(vec![b' '; BODY_BYTES_MAX + 1])),
            413,
        ),
        (
            "far too large in base64",
            in_base64(post(vec![b' '; BODY_BYTES_MAX * 2])),
            413,
        ),
    ] {
        let here = Here::new();
        let response = handler(&here).handle(request).await;
        assert_eq!(response.status, status, "{label}: {}", response.body);
        let reason = reason(&response);
        assert!(reason.len() > 15 && reason.len() < 120, "{label}: {reason}");
        assert_eq!((here.held().len(), here.queue.count()), (0, 0), "{label}");
    }
}

#[tokio::test]
async fn a_body_of_just_a_mebibyte_is_taken() {
    for wrap in [|request| request, in_base64] {
        let mut body = payload("text");
        body.resize(BODY_BYTES_MAX, b' ');
        assert_eq!(answer(wrap(post(body))).await.status, 200);
    }
}

/// W1.
#[tokio::test]
async fn a_message_is_in_table_and_queue_before_it_is_acknowledged() {
    for wrap in [|request| request, in_base64] {
        for name in [
            "text",
            "escaped_unicode",
            "half_a_character",
            "status_beside_message",
        ] {
            let here = Here::new();
            let response = handler(&here).handle(wrap(post(payload(name)))).await;
            assert_eq!(response.status, 200, "{name}: {}", response.body);
            assert!(!here.held().is_empty() && here.queue.count() > 0, "{name}");
        }
    }
}

#[tokio::test]
async fn the_secret_before_is_accepted_while_it_is_configured() {
    let mut request = post(payload("text"));
    request.headers[1].1 = sign(OLD_SECRET.as_bytes(), &request.body);
    assert_eq!(answer(request).await.status, 200);
}

/// Has the new secret only once it has been asked again.
#[derive(Default)]
struct Rotating {
    asked_again: AtomicU32,
}

#[async_trait]
impl MetaSecretsSource for Rotating {
    async fn current(&self) -> Result<MetaSecrets, Source> {
        let app_secrets = vec![OLD_SECRET.to_owned()];
        Ok(MetaSecrets {
            app_secrets,
            ..MetaSecrets::default()
        })
    }

    async fn renewed(&self) -> Result<MetaSecrets, Source> {
        self.asked_again.fetch_add(1, Ordering::SeqCst);
        let app_secrets = vec![SECRET.to_owned(), OLD_SECRET.to_owned()];
        Ok(MetaSecrets {
            app_secrets,
            ..MetaSecrets::default()
        })
    }
}

#[tokio::test]
async fn a_signature_that_does_not_match_is_tried_once_with_secrets_read_again() {
    for (label, secret, status, asked_again) in [
        ("the secret at hand", OLD_SECRET, 200, 0),
        ("a newer one", SECRET, 200, 1),
        ("none of them", "guess", 401, 1),
    ] {
        let source = Arc::new(Rotating::default());
        let mut handler = handler(&Here::new());
        handler.channels.meta = source.clone();
        let mut request = post(payload("text"));
        request.headers[1].1 = sign(secret.as_bytes(), &request.body);
        assert_eq!(handler.handle(request).await.status, status, "{label}");
        assert_eq!(
            source.asked_again.load(Ordering::SeqCst),
            asked_again,
            "{label}"
        );
    }
}

#[tokio::test]
async fn the_installations_secrets_serve_as_they_are() {
    let secret = |text: &str| Secret::parse(text).unwrap();
    let secrets = Secrets::of([
        (SecretKey::MetaAppSecret, secret(SECRET)),
        (SecretKey::MetaAppSecretPrevious, secret(OLD_SECRET)),
    ]);
    let mut handler = handler(&Here::new());
    handler.channels.meta = Arc::new(SecretsProvider::fixed(secrets));
    for (secret, status) in [(SECRET, 200), (OLD_SECRET, 200), ("guess", 401)] {
        let mut request = post(payload("text"));
        request.headers[1].1 = sign(secret.as_bytes(), &request.body);
        assert_eq!(handler.handle(request).await.status, status);
    }
    let empty = [
        ("hub.mode", "subscribe"),
        ("hub.verify_token", ""),
        ("hub.challenge", "7"),
    ];
    assert_eq!(
        handler.handle(get(&empty)).await.status,
        403,
        "no verify token, no handshake"
    );
}

#[tokio::test]
async fn without_a_secret_nobody_is_trusted_and_the_provider_tries_again_later() {
    for app_secrets in [vec![], vec![String::new()]] {
        let here = Here::new();
        let mut handler = handler(&here);
        handler.channels.meta = Arc::new(MetaSecrets {
            app_secrets,
            ..MetaSecrets::default()
        });
        let mut request = post(payload("text"));
        request.headers[1].1 = sign(b"", &request.body);
        assert_eq!(handler.handle(request).await.status, 503);
        assert!(here.held().is_empty());
    }
}

/// W3: what is broken never sinks what is whole.
#[tokio::test]
async fn what_is_left_out_is_acknowledged_or_it_would_come_for_a_week() {
    for name in [
        "empty",
        "echo_of_the_business",
        "other_fields",
        "account_error",
        "another_product",
        "without_metadata",
        "text_without_sender",
        "status_of_another_sender",
    ] {
        let here = Here::new();
        let response = handler(&here).handle(post(payload(name))).await;
        assert_eq!(response.status, 200, "{name}");
        assert!(here.held().is_empty(), "{name}");
    }
}

/// W4.
#[tokio::test]
async fn a_refusal_of_table_or_queue_is_a_5xx_and_the_retry_completes_it() {
    let here = Here::new();
    let handler = handler(&here);
    here.faults.fail("append", Fault::FailBefore);
    here.queue.refuses.store(true, Ordering::SeqCst);
    let request = || post(payload("several_messages"));
    let response = handler.handle(request()).await;
    assert_eq!(response.status, 503);
    assert!(reason(&response).contains("send the same body again"));

    here.queue.refuses.store(false, Ordering::SeqCst);
    let response = handler.handle(request()).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.body, r#"{"stored":1,"duplicates":2}"#);
    assert_eq!(here.held()[0].1.len(), 3);
    assert_eq!(here.queue.count(), 3);
}

#[tokio::test]
async fn a_number_without_an_agent_is_a_5xx_and_never_a_loss() {
    let here = Here::new();
    let response = handler(&here)
        .handle(post(payload("several_changes")))
        .await;
    assert_eq!(response.status, 503);
    assert_eq!(
        here.held().len(),
        1,
        "the message of the known number is stored"
    );
}

#[tokio::test]
async fn no_answer_tells_of_a_person() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/meta")).unwrap() {
        let raw = std::fs::read(entry.unwrap().path()).unwrap();
        for failing in [false, true] {
            let here = Here::new();
            here.queue.refuses.store(failing, Ordering::SeqCst);
            let response = handler(&here).handle(post(raw.clone())).await;
            for personal in ["55119", "BR.", "wamid", "Ana"] {
                assert!(!response.body.contains(personal), "{}", response.body);
            }
        }
    }
}

/// W3.
#[tokio::test]
async fn a_body_of_hundreds_of_messages_is_stored_whole() {
    let message = |n: usize| json!({ "id": format!("wamid.{n}"), "from": format!("55119{:08}", n % 50), "type": "text", "text": { "body": "oi" } });
    let messages: Vec<Value> = (0..500).map(message).collect();
    let body = json!({ "entry": [{ "changes": [{ "field": "messages", "value": {
        "metadata": { "phone_number_id": world::NUMBER }, "messages": messages,
    } }] }] });
    let here = Here::new();
    let response = handler(&here).handle(post(body.to_string())).await;
    assert_eq!(response.body, r#"{"stored":500,"duplicates":0}"#);
    assert_eq!(here.held().len(), 50);
}
