//! The poller between a queue and a function.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use recado_cli::poller::{HttpInvoke, Invoke, InvokeError, Poller, Settings};
use recado_tests::local_server::serve;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::Sqs;

/// A function whose messages say what it does: `ok`, `fail`, `panic`, `hang`, `slow`, before a dash; the first time only.
#[derive(Default)]
struct Script {
    /// How often each body came.
    seen: Mutex<BTreeMap<String, usize>>,
    running: AtomicUsize,
    most_running: AtomicUsize,
}

impl Script {
    fn seen(&self, body: &str) -> usize {
        self.seen
            .lock()
            .unwrap()
            .get(body)
            .copied()
            .unwrap_or_default()
    }

    async fn until_seen(&self, body: &str, times: usize) {
        let begun = Instant::now();
        while self.seen(body) < times {
            assert!(
                begun.elapsed() < Duration::from_secs(8),
                "{body} seen {} times",
                self.seen(body)
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[async_trait]
impl Invoke for Script {
    async fn invoke(&self, event: Value) -> Result<Value, InvokeError> {
        let records = event["Records"].as_array().unwrap();
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        let mut failures = Vec::new();
        for record in records {
            let body = record["body"].as_str().unwrap();
            let times = {
                let mut seen = self.seen.lock().unwrap();
                let times = seen.entry(body.to_owned()).or_default();
                *times += 1;
                *times
            };
            match body.split('-').next().unwrap() {
                "fail" if times == 1 => {
                    failures.push(json!({ "itemIdentifier": record["messageId"] }));
                }
                "panic" if times == 1 => panic!("as the script says"),
                "hang" if times == 1 => std::future::pending().await,
                "slow" => tokio::time::sleep(Duration::from_millis(300)).await,
                _ => {}
            }
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(json!({ "batchItemFailures": failures }))
    }
}

struct Running {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Running {
    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap();
    }
}

fn poll(sqs: &Sqs, queue: &str, invoke: Arc<dyn Invoke>, change: fn(&mut Settings)) -> Running {
    let arn = "arn:aws:sqs:us-east-1:000000000000:ticks.fifo";
    let mut settings = Settings::new(queue, arn, Arc::new(|| 0.5));
    settings.invoke_timeout = Duration::from_millis(400);
    change(&mut settings);
    let poller = Poller::new(sqs.client.clone(), invoke, settings);
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(poller.run(async move {
        let _ = stopped.await;
    }));
    Running { stop, ended }
}

#[tokio::test]
async fn what_succeeds_is_deleted_and_what_fails_comes_back() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[("VisibilityTimeout", "1")]).await;
    for body in ["ok-1", "fail-1", "panic-1", "hang-1"] {
        sqs.send(&queue, body, body).await;
    }
    let script = Arc::new(Script::default());
    let running = poll(&sqs, &queue, script.clone(), |_| {});
    for body in ["fail-1", "panic-1", "hang-1"] {
        script.until_seen(body, 2).await;
    }
    running.stop().await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert!(
        sqs.receive(&queue, 0).await.is_empty(),
        "all were deleted in the end"
    );
    for (body, times) in [("ok-1", 1), ("fail-1", 2), ("panic-1", 2), ("hang-1", 2)] {
        assert_eq!(script.seen(body), times, "{body}");
    }
}

#[tokio::test]
async fn groups_run_side_by_side_up_to_the_limit_and_a_group_never_beside_itself() {
    let sqs = Sqs::start().await;
    for (groups, concurrency, most) in [(4, 2, 2), (1, 4, 1)] {
        let queue = sqs.fifo(&format!("ticks-{groups}.fifo"), &[]).await;
        for number in 0..4 {
            let group = (number % groups).to_string();
            sqs.send(&queue, &group, &format!("slow-{number}")).await;
        }
        let script = Arc::new(Script::default());
        let change = if concurrency == 2 {
            |settings: &mut Settings| settings.concurrency = 2
        } else {
            |settings: &mut Settings| settings.concurrency = 4
        };
        let running = poll(&sqs, &queue, script.clone(), change);
        for number in 0..4 {
            script.until_seen(&format!("slow-{number}"), 1).await;
        }
        running.stop().await;
        assert_eq!(
            script.most_running.load(Ordering::SeqCst),
            most,
            "{groups} groups"
        );
    }
}

#[tokio::test]
async fn a_batch_is_deleted_but_for_the_failed_item() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[("VisibilityTimeout", "1")]).await;
    for body in ["ok-1", "ok-2", "fail-3"] {
        sqs.send(&queue, "ana", body).await;
    }
    let script = Arc::new(Script::default());
    let running = poll(&sqs, &queue, script.clone(), |settings| {
        settings.batch_size = 10;
    });
    script.until_seen("fail-3", 2).await;
    running.stop().await;
    assert_eq!((script.seen("ok-1"), script.seen("ok-2")), (1, 1));
}

#[tokio::test]
async fn a_shutdown_lets_running_invocations_end_and_cuts_off_what_hangs() {
    let sqs = Sqs::start().await;
    for (body, deleted) in [("slow-1", true), ("hang-1", false)] {
        let queue = sqs
            .fifo(&format!("{body}.fifo"), &[("VisibilityTimeout", "1")])
            .await;
        sqs.send(&queue, "ana", body).await;
        let script = Arc::new(Script::default());
        let running = poll(&sqs, &queue, script.clone(), |settings| {
            settings.invoke_timeout = Duration::from_mins(1);
            settings.drain = Duration::from_millis(1500);
        });
        script.until_seen(body, 1).await;
        let begun = Instant::now();
        running.stop().await;
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{body}: {:?}",
            begun.elapsed()
        );
        assert_eq!(sqs.receive(&queue, 2).await.is_empty(), deleted, "{body}");
    }
}

#[tokio::test]
async fn a_queue_that_comes_late_is_polled_all_the_same() {
    let sqs = Sqs::start().await;
    let url = format!("{}/000000000000/late.fifo", sqs.url);
    let script = Arc::new(Script::default());
    let running = poll(&sqs, &url, script.clone(), |_| {});
    tokio::time::sleep(Duration::from_millis(200)).await;
    let queue = sqs.fifo("late.fifo", &[]).await;
    sqs.send(&queue, "ana", "ok-1").await;
    script.until_seen("ok-1", 1).await;
    running.stop().await;
}

#[tokio::test]
async fn a_function_behind_http_answers_fails_or_is_not_there() {
    let path = |name: &str| format!("/2015-03-31/functions/{name}/invocations");
    let router = Router::new()
        .route(&path("good"), post(|body: String| async move { body }))
        .route(&path("empty"), post(|| async {}))
        .route(
            &path("bad"),
            post(|| async {
                (
                    [("X-Amz-Function-Error", "Unhandled")],
                    r#"{"errorMessage":"x"}"#,
                )
            }),
        )
        .route(&path("odd"), post(|| async { "not json" }))
        .route(
            &path("busy"),
            post(|| async { StatusCode::TOO_MANY_REQUESTS }),
        );
    let url = serve(router).await;

    let invoke = async |name: &str| {
        HttpInvoke::new(reqwest::Client::new(), &url, name)
            .invoke(json!({ "Records": [] }))
            .await
    };
    assert_eq!(invoke("good").await.unwrap(), json!({ "Records": [] }));
    assert_eq!(invoke("empty").await.unwrap(), Value::Null);
    for (name, function_failed) in [
        ("bad", true),
        ("odd", true),
        ("busy", false),
        ("gone", false),
    ] {
        let error = invoke(name).await.unwrap_err();
        assert_eq!(
            matches!(error, InvokeError::Function(_)),
            function_failed,
            "{name}: {error}"
        );
    }
}
