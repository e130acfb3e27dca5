//! Secrets that age, fail and come back, under a clock that the test moves.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use aws_sdk_secretsmanager::config::{BehaviorVersion, Credentials, Region};

use super::*;

#[derive(Default)]
struct MovedClock(AtomicU64);

impl MovedClock {
    fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, _: Duration) {}
}

/// A text that the test changes; `None` cannot be read.
#[derive(Clone, Default)]
struct ChangingText {
    text: Arc<StdMutex<Option<String>>>,
    reads: Arc<AtomicUsize>,
}

impl ChangingText {
    fn set(&self, text: Option<&str>) {
        *self.text.lock().unwrap() = text.map(str::to_owned);
    }
}

#[async_trait]
impl SecretText for ChangingText {
    fn id(&self) -> &'static str {
        "test/secrets"
    }

    async fn read(&self) -> Result<String, SecretsError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let text = self.text.lock().unwrap().clone();
        text.ok_or_else(|| SecretsError::Unreadable {
            id: self.id().to_owned(),
            problem: "access denied",
            source: None,
        })
    }
}

fn parse(text: &str) -> Result<String, String> {
    if text == "broken" {
        return Err("the key \"model_key\" is missing".to_owned());
    }
    Ok(text.to_owned())
}

struct Scene {
    text: ChangingText,
    clock: Arc<MovedClock>,
    secrets: SecretsProvider<String>,
}

fn scene(text: Option<&str>) -> Scene {
    let changing = ChangingText::default();
    changing.set(text);
    let clock = Arc::new(MovedClock::default());
    let secrets = SecretsProvider::reading(changing.clone(), parse, clock.clone());
    Scene {
        text: changing,
        clock,
        secrets,
    }
}

impl Scene {
    async fn current(&self) -> String {
        self.secrets.current().await.unwrap().to_string()
    }

    async fn refresh(&self) -> String {
        self.secrets.refresh().await.unwrap().to_string()
    }

    fn reads(&self) -> usize {
        self.text.reads.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_value_is_read_again_after_five_minutes() {
    let scene = scene(Some("one"));
    assert_eq!(scene.current().await, "one");
    scene.text.set(Some("two"));
    scene.clock.advance(299);
    assert_eq!((scene.current().await.as_str(), scene.reads()), ("one", 1));
    scene.clock.advance(1);
    assert_eq!((scene.current().await.as_str(), scene.reads()), ("two", 2));
}

#[tokio::test]
async fn a_refresh_reads_at_most_once_a_minute() {
    let scene = scene(Some("one"));
    scene.current().await;
    scene.text.set(Some("two"));
    scene.clock.advance(59);
    assert_eq!((scene.refresh().await.as_str(), scene.reads()), ("one", 1));
    scene.clock.advance(1);
    assert_eq!((scene.refresh().await.as_str(), scene.reads()), ("two", 2));
    assert_eq!((scene.refresh().await.as_str(), scene.reads()), ("two", 2));
}

#[tokio::test]
async fn the_last_good_value_stays_while_no_better_one_can_be_read() {
    for (label, worse) in [("unreadable", None), ("malformed", Some("broken"))] {
        let scene = scene(Some("one"));
        scene.current().await;
        scene.text.set(worse);
        scene.clock.advance(300);
        assert_eq!(
            (scene.current().await.as_str(), scene.reads()),
            ("one", 2),
            "{label}"
        );
        scene.clock.advance(59);
        assert_eq!(
            (scene.current().await.as_str(), scene.reads()),
            ("one", 2),
            "{label}: no storm"
        );
        scene.text.set(Some("two"));
        scene.clock.advance(1);
        assert_eq!(
            (scene.current().await.as_str(), scene.reads()),
            ("two", 3),
            "{label}"
        );
    }
}

#[tokio::test]
async fn without_any_good_value_the_error_names_the_secret_and_every_call_tries_again() {
    let scene = scene(None);
    for _ in 0..2 {
        let error = scene.secrets.current().await.unwrap_err();
        assert_eq!(error.to_string(), "secret test/secrets: access denied");
    }
    scene.text.set(Some("broken"));
    let error = scene.secrets.current().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "secret test/secrets: the key \"model_key\" is missing"
    );
    scene.text.set(Some("one"));
    assert_eq!((scene.current().await.as_str(), scene.reads()), ("one", 4));
}

#[tokio::test]
async fn many_callers_at_once_cause_one_read() {
    let scene = scene(Some("one"));
    let calls = (0..10).map(|_| scene.secrets.current());
    for value in futures_util::future::join_all(calls).await {
        assert_eq!(*value.unwrap(), "one");
    }
    assert_eq!(scene.reads(), 1);
}

#[tokio::test]
async fn a_fixed_value_is_given_for_ever() {
    let secrets = SecretsProvider::fixed("one".to_owned());
    assert_eq!(*secrets.current().await.unwrap(), "one");
    assert_eq!(*secrets.refresh().await.unwrap(), "one");
}

/// Serves one canned answer over HTTP and gives what a client of Secrets Manager makes of it.
async fn read_answer(status: &'static str, body: &'static str) -> Result<String, SecretsError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 8192];
        let mut length = 0;
        while !request[..length].windows(2).any(|pair| pair == b"\"}") {
            length += stream.read(&mut request[length..]).unwrap();
        }
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let read = SecretsManagerText::new(client(&format!("http://{address}")), "recado/secrets")
        .read()
        .await;
    server.join().unwrap();
    read
}

fn client(endpoint: &str) -> Client {
    let config = aws_sdk_secretsmanager::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("sa-east-1"))
        .credentials_provider(Credentials::new("id", "key", None, None, "test"))
        .retry_config(aws_sdk_secretsmanager::config::retry::RetryConfig::disabled())
        .endpoint_url(endpoint)
        .build();
    Client::from_conf(config)
}

#[tokio::test]
async fn the_text_of_a_secret_is_read() {
    let read = read_answer("200 OK", r#"{"Name":"recado/secrets","SecretString":"{}"}"#).await;
    assert_eq!(read.unwrap(), "{}");
}

#[tokio::test]
async fn each_refusal_of_secrets_manager_names_the_secret_and_the_fix() {
    for (label, status, body, fix) in [
        (
            "missing",
            "400 Bad Request",
            r#"{"__type":"ResourceNotFoundException"}"#,
            "set RECADO_SECRET_ID",
        ),
        (
            "denied",
            "400 Bad Request",
            r#"{"__type":"AccessDeniedException"}"#,
            "allow secretsmanager:GetSecretValue",
        ),
        (
            "encrypted",
            "400 Bad Request",
            r#"{"__type":"DecryptionFailure"}"#,
            "allow kms:Decrypt",
        ),
        (
            "deleted",
            "400 Bad Request",
            r#"{"__type":"InvalidRequestException"}"#,
            "restore-secret",
        ),
        (
            "expired",
            "400 Bad Request",
            r#"{"__type":"ExpiredTokenException"}"#,
            "renew them",
        ),
        (
            "ill",
            "500 Internal Server Error",
            r#"{"__type":"InternalServiceError"}"#,
            "refused to give it",
        ),
        (
            "bytes",
            "200 OK",
            r#"{"SecretBinary":"AAAA"}"#,
            "store a JSON object",
        ),
    ] {
        let error = read_answer(status, body).await.unwrap_err().to_string();
        assert!(
            error.starts_with("secret recado/secrets: "),
            "{label}: {error}"
        );
        assert!(error.contains(fix), "{label}: {error}");
    }
}

#[tokio::test]
async fn nobody_at_the_other_end_is_told_as_such() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let text = SecretsManagerText::new(client(&format!("http://{closed}")), "recado/secrets");
    let error = text.read().await.unwrap_err().to_string();
    assert!(error.contains("could not be reached"), "{error}");
}
