//! What stands between the functions and the local AWS and counts: requests by service and action, and the table's
//! units as the table tells them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::config::{Credentials, SharedCredentialsProvider};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use recado_cli::aws::{self, Data, LocalAws};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// A service that is billed by the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    DynamoDb,
    SqsFifo,
    SqsStandard,
    Graph,
}

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub requests: BTreeMap<(Service, String), u64>,
    pub write_units: f64,
    pub read_units: f64,
}

impl Counts {
    pub fn of(&self, service: Service) -> u64 {
        let same = self.requests.iter().filter(|((of, _), _)| *of == service);
        same.map(|(_, count)| count).sum()
    }
}

/// The front.
pub struct Front {
    pub url: String,
    pub behind: Arc<Behind>,
    _aws: LocalAws,
    _server: JoinSet<()>,
}

/// What the front answers by.
#[derive(Default)]
pub struct Behind {
    pub counts: Mutex<Counts>,
    /// The replies that were sent.
    pub sent: Mutex<Vec<Value>>,
    under_way: AtomicUsize,
    secret: String,
    aws_url: String,
    client: reqwest::Client,
}

impl Front {
    pub async fn start(secret: &Value, now: recado_cli::sqs::Now) -> Self {
        let aws = aws::serve(0, &Data::Memory, now).await.unwrap();
        let behind = Arc::new(Behind {
            secret: secret.to_string(),
            aws_url: aws.url().to_owned(),
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            ..Behind::default()
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&behind));
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            behind,
            _aws: aws,
            _server: server,
        }
    }

    /// What a function's SDK is set to.
    pub fn sdk(&self) -> SdkConfig {
        let credentials = Credentials::new("test", "test", None, None, "test");
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(&self.url)
            .region(Region::new("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .build()
    }
}

async fn answer(State(behind): State<Arc<Behind>>, headers: HeaderMap, body: Bytes) -> Response {
    behind.under_way.fetch_add(1, Ordering::SeqCst);
    let response = behind.answer(headers, &body).await;
    behind.under_way.fetch_sub(1, Ordering::SeqCst);
    response
}

impl Behind {
    pub fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    async fn answer(&self, headers: HeaderMap, body: &[u8]) -> Response {
        let mut request: Value = serde_json::from_slice(body).unwrap();
        let target = headers.get("x-amz-target").map(|t| t.to_str().unwrap());
        let Some((service, action)) = target.and_then(|target| target.split_once('.')) else {
            return self.send(request);
        };
        let action = action.to_owned();
        if service == "secretsmanager" {
            // Once for each running instance of a function and again after five minutes: not a cost of a message.
            return axum::Json(json!({ "SecretString": self.secret })).into_response();
        }
        if service == "AmazonSQS" {
            let url = request["QueueUrl"].as_str().unwrap_or_default();
            let service = if url.contains("ticks") {
                Service::SqsFifo
            } else {
                Service::SqsStandard
            };
            let (response, body) = self.pass_on(headers, &request).await;
            // How often an empty queue is asked is the mapping's affair.
            if action != "ReceiveMessage" || body["Messages"].is_array() {
                self.count(service, action, 1);
            }
            return response;
        }
        request["ReturnConsumedCapacity"] = "TOTAL".into();
        let (response, body) = self.pass_on(headers, &request).await;
        let is_write = action.contains("Write") || action.starts_with(['P', 'U', 'D']);
        let units = match body["__type"].as_str() {
            // A write whose condition does not hold is billed as one of the item that is there: a small one, here.
            Some(refused) if refused.ends_with("ConditionalCheckFailedException") => 1.0,
            Some(refused) => panic!("{action}: {refused}"),
            None => units(&body["ConsumedCapacity"]),
        };
        self.count(Service::DynamoDb, action, 1);
        let mut counts = self.counts.lock().unwrap();
        if is_write {
            counts.write_units += units;
        } else {
            counts.read_units += units;
        }
        drop(counts);
        response
    }

    fn send(&self, request: Value) -> Response {
        self.count(Service::Graph, "send".to_owned(), 1);
        let mut sent = self.sent.lock().unwrap();
        sent.push(request);
        let id = format!("wamid.sent{}", sent.len());
        axum::Json(json!({ "messages": [{ "id": id }] })).into_response()
    }

    pub fn count(&self, service: Service, action: String, times: u64) {
        let mut counts = self.counts.lock().unwrap();
        *counts.requests.entry((service, action)).or_default() += times;
    }

    async fn pass_on(&self, mut headers: HeaderMap, request: &Value) -> (Response, Value) {
        headers.remove("host");
        headers.remove("content-length");
        let passed = self.client.post(&self.aws_url).headers(headers);
        let passed = passed.body(request.to_string()).send().await.unwrap();
        let (status, headers) = (passed.status(), passed.headers().clone());
        let bytes = passed.bytes().await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let mut response = (status, bytes).into_response();
        for (name, value) in &headers {
            if name != "transfer-encoding" && name != "content-length" {
                response.headers_mut().insert(name.clone(), value.clone());
            }
        }
        (response, body)
    }
}

/// One table's units, or several tables'.
fn units(consumed: &Value) -> f64 {
    match consumed {
        Value::Array(tables) => tables.iter().map(units).sum(),
        one => one["CapacityUnits"].as_f64().unwrap_or(0.0),
    }
}
