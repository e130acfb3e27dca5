//! The Lambdas where something is missing or wrong: one line names it and says what to do, the webhook answers 5xx,
//! the queues keep what they hold, and once it is mended nothing is lost.

mod front;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::types::QueueAttributeName as Name;
use front::Front;
use recado::adapters::clock::SystemClock;
use recado::adapters::dynamo::schema;
use recado::adapters::meta::signature::sign;
use recado::config::settings::Environment;
use recado::domain::Timestamp;
use recado::installation::{Installation, Part};
use recado::ports::Clock;
use recado_cli::poller::sqs_event;
use recado_ingest::gateway;
use recado_processor::{BatchResponse, invocation};
use recado_tests::kept_log::KeptLog;
use recado_tests::local_server;
use serde_json::{Value, json};
use tracing::Level;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// The one line that was written since the last look; it must hold all of `parts`.
fn tells_once(log: &KeptLog, parts: &[&str]) {
    let text = log.take();
    assert_eq!(text.lines().count(), 1, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// A clock that is a number of minutes ahead, for the age of secrets.
#[derive(Default)]
struct Ahead(AtomicU64);

#[async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        let minutes = self.0.load(Ordering::SeqCst);
        SystemClock.now().plus(Duration::from_mins(minutes))
    }

    async fn sleep(&self, duration: Duration) {
        SystemClock.sleep(duration).await;
    }
}

/// An installation of which a test leaves out a part.
struct Scene {
    front: Front,
    ahead: Arc<Ahead>,
    environment: HashMap<String, String>,
}

impl Scene {
    async fn start() -> Self {
        let front = Front::start().await;
        let queue = |name: &str| format!("{}/000000000000/{name}", front.url);
        let environment = [
            ("RECADO_TABLE", "recado".to_owned()),
            ("RECADO_TICKS_QUEUE_URL", queue("ticks.fifo")),
            ("RECADO_TICKS_DELAY_S", "0".to_owned()),
            ("RECADO_COMPACTIONS_QUEUE_URL", queue("compactions")),
            ("RECADO_SECRET_ID", "recado/secrets".to_owned()),
            ("RECADO_META_GRAPH_URL", front.url.clone()),
            ("RECADO_MODEL", "demo".to_owned()),
            ("RECADO_WINDOW_S", "1".to_owned()),
            ("RECADO_CEILING_S", "1".to_owned()),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value));
        Self {
            front,
            ahead: Arc::default(),
            environment: environment.into(),
        }
    }

    /// With everything in place.
    async fn complete() -> Self {
        let scene = Self::start().await;
        scene.make_table().await;
        scene.make_queues().await;
        scene.front.keep_secret(&secret());
        scene
    }

    async fn make_table(&self) {
        let client = aws_sdk_dynamodb::Client::new(&local_server::sdk(&self.front.url));
        schema::create_table(&client, "recado").await.unwrap();
    }

    fn sqs(&self) -> aws_sdk_sqs::Client {
        aws_sdk_sqs::Client::new(&local_server::sdk(&self.front.url))
    }

    async fn make_queues(&self) {
        let fifo = HashMap::from([
            (Name::FifoQueue, "true".to_owned()),
            (Name::VisibilityTimeout, "150".to_owned()),
        ]);
        for (name, attributes) in [("ticks.fifo", fifo), ("compactions", HashMap::new())] {
            let request = self.sqs().create_queue().queue_name(name);
            let request = request.set_attributes(Some(attributes));
            request.send().await.unwrap();
        }
    }

    fn installation(&self, part: Part) -> Installation {
        let environment = Environment::of(self.environment.clone());
        Installation::of(
            part,
            &environment,
            local_server::sdk(&self.front.url),
            self.ahead.clone(),
        )
    }

    async fn wait_for_message(&self) -> Value {
        let queue = &self.environment["RECADO_TICKS_QUEUE_URL"];
        let request = self.sqs().receive_message().queue_url(queue);
        let request = request.message_system_attribute_names("All".into());
        let received = request.send().await.unwrap().messages.unwrap_or_default();
        sqs_event(&received, "arn:aws:sqs:us-east-1:000000000000:ticks.fifo")
    }
}

fn secret() -> Value {
    json!({ "hash_key": SECRET, "meta_app_secret": SECRET, "meta_access_token": "token", "meta_verify_token": "word" })
}

/// A message that was signed and sent now.
fn webhook(signed_with: &str) -> Value {
    let text = include_str!("../../fixtures/meta/text.json");
    let now = SystemClock.now().seconds().to_string();
    let body = text.replace("1795000000", &now);
    json!({
        "rawPath": "/webhook/meta",
        "rawQueryString": "",
        "headers": { "x-hub-signature-256": sign(signed_with.as_bytes(), body.as_bytes()) },
        "requestContext": { "http": { "method": "POST" } },
        "body": body,
        "isBase64Encoded": false
    })
}

fn soon() -> Timestamp {
    SystemClock.now().plus(Duration::from_secs(100))
}

async fn take(installation: &Installation, request: &Value) -> u16 {
    let request = serde_json::from_value(request.clone()).unwrap();
    gateway::handle(installation, request, soon())
        .await
        .status_code
}

async fn process(installation: &Installation, event: Value) -> BatchResponse {
    let event = serde_json::from_value(event).unwrap();
    invocation::handle(installation, event, soon()).await
}

#[tokio::test]
async fn a_missing_setting_is_told_and_the_webhook_waits() {
    let (log, _guard) = KeptLog::start(Level::ERROR);
    let mut scene = Scene::complete().await;
    scene.environment.remove("RECADO_TABLE");
    let installation = scene.installation(Part::TAKES);
    assert_eq!(take(&installation, &webhook(SECRET)).await, 503);
    tells_once(
        &log,
        &["RECADO_TABLE: is not set; for instance RECADO_TABLE=recado"],
    );
    let event = json!({ "Records": [{ "messageId": "1", "receiptHandle": "r", "body": "" }] });
    let answer = process(&installation, event).await;
    assert_eq!(answer.batch_item_failures.len(), 1);
    tells_once(&log, &["RECADO_TABLE"]);
    let failed = recado_sweeper::invocation::handle(&installation).await;
    assert!(format!("{:?}", failed.unwrap_err()).contains("RECADO_TABLE"));
}

#[tokio::test]
async fn a_missing_secret_is_told_and_nothing_is_lost_once_it_is_there() {
    let (log, _guard) = KeptLog::start(Level::ERROR);
    let scene = Scene::complete().await;
    *scene.front.behind.secret.lock().unwrap() = None;
    let installation = scene.installation(Part::TAKES);
    let message = webhook(SECRET);
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["recado/secrets", "does not exist", "create it"]);

    let mut blank = secret();
    blank["hash_key"] = "".into();
    scene.front.keep_secret(&blank);
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(
        &log,
        &[
            "recado/secrets",
            "\"hash_key\" is missing",
            "openssl rand -hex 32",
        ],
    );

    scene.front.keep_secret(&secret());
    scene.ahead.0.store(2, Ordering::SeqCst);
    assert_eq!(take(&installation, &message).await, 200);
    assert_eq!(log.text(), "");
}

#[tokio::test]
async fn a_missing_or_wrong_app_secret_is_told_and_a_new_one_is_used_within_a_minute() {
    let (log, _guard) = KeptLog::start(Level::ERROR);
    let scene = Scene::complete().await;
    let mut other = secret();
    other["meta_app_secret"] = "".into();
    scene.front.keep_secret(&other);
    let installation = scene.installation(Part::TAKES);
    let message = webhook(SECRET);
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["\"meta_app_secret\""]);

    other["meta_app_secret"] = "fedcba9876543210fedcba9876543210".into();
    scene.front.keep_secret(&other);
    scene.ahead.0.store(2, Ordering::SeqCst);
    assert_eq!(take(&installation, &message).await, 401);

    scene.front.keep_secret(&secret());
    assert_eq!(
        take(&installation, &message).await,
        401,
        "read a moment ago"
    );
    scene.ahead.0.store(4, Ordering::SeqCst);
    assert_eq!(take(&installation, &message).await, 200);
    assert_eq!(log.text(), "");
}

#[tokio::test]
async fn a_missing_table_or_queue_or_right_is_told_and_the_webhook_can_be_sent_again() {
    let (log, _guard) = KeptLog::start(Level::ERROR);
    let scene = Scene::start().await;
    scene.front.keep_secret(&secret());
    let installation = scene.installation(Part::TAKES);
    let message = webhook(SECRET);
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["table recado does not exist: set RECADO_TABLE"]);

    scene.make_table().await;
    scene.front.deny(Some("TransactGetItems"));
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["the role needs dynamodb:GetItem on table recado"]);
    scene.front.deny(Some("TransactWriteItems"));
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["ConditionCheckItem", "PutItem", "on table recado"]);
    scene.front.deny(None);

    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["no such queue; check RECADO_TICKS_QUEUE_URL"]);
    scene.make_queues().await;
    scene.front.deny(Some("SendMessage"));
    assert_eq!(take(&installation, &message).await, 503);
    tells_once(&log, &["sqs:SendMessage", "RECADO_TICKS_QUEUE_URL"]);
    scene.front.deny(None);

    assert_eq!(take(&installation, &message).await, 200);
    assert_eq!(log.text(), "");
    let event = scene.wait_for_message().await;
    assert_eq!(event["Records"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn without_a_key_or_a_token_a_tick_is_held_and_answered_once_it_is_there() {
    let (log, _guard) = KeptLog::start(Level::ERROR);
    let mut scene = Scene::complete().await;
    scene.environment.remove("RECADO_MODEL");
    let mut blank = secret();
    blank["meta_access_token"] = "".into();
    scene.front.keep_secret(&blank);
    let keyless = scene.installation(Part::ANSWERS);
    assert_eq!(take(&keyless, &webhook(SECRET)).await, 200);

    let event = scene.wait_for_message().await;
    assert_eq!(process(&keyless, event).await.batch_item_failures.len(), 1);
    tells_once(&log, &["\"model_key\" is missing", "RECADO_MODEL=demo"]);

    scene.front.later_ms.store(61_000, Ordering::SeqCst);
    scene
        .environment
        .insert("RECADO_MODEL".into(), "demo".into());
    let installation = scene.installation(Part::ANSWERS);
    let event = scene.wait_for_message().await;
    assert_eq!(
        event["Records"].as_array().unwrap().len(),
        1,
        "held a minute"
    );
    let held = process(&installation, event).await;
    assert_eq!(held.batch_item_failures.len(), 1);
    tells_once(&log, &["\"meta_access_token\" is missing"]);
    assert_eq!(scene.front.sent(), 0);

    scene.front.keep_secret(&secret());
    scene.ahead.0.store(2, Ordering::SeqCst);
    scene.front.later_ms.store(130_000, Ordering::SeqCst);
    let event = scene.wait_for_message().await;
    let done = process(&installation, event).await;
    assert_eq!(done, BatchResponse::default());
    assert_eq!(scene.front.sent(), 1);
    assert_eq!(log.text(), "");
}
