//! What stands between the functions and the local AWS and counts: requests by service and action, and the table's
//! units as the table tells them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use recado_cli::aws::{self, Data, LocalAws};
use recado_tests::local_server;
use serde_json::{Value, json};

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
}

/// What the front answers by.
#[derive(Default)]
pub struct Behind {
    pub counts: Mutex<Counts>,
    /// The replies that were sent.
    pub sent: Mutex<Vec<Value>>,
    under_way: AtomicUsize,
    secret: String,
    aws: local_server::Behind,
}

impl Front {
    pub async fn start(secret: &Value, now: recado_cli::sqs::Now) -> Self {
        let aws = aws::serve(0, &Data::Memory, now).await.unwrap();
        let behind = Arc::new(Behind {
            secret: secret.to_string(),
            aws: local_server::Behind::at(aws.url()),
            ..Behind::default()
        });
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&behind));
        Self {
            url: local_server::serve(router).await,
            behind,
            _aws: aws,
        }
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

    async fn pass_on(&self, headers: HeaderMap, request: &Value) -> (Response, Value) {
        let (response, body) = self.aws.ask(headers, request.to_string().into()).await;
        (response, serde_json::from_slice(&body).unwrap_or_default())
    }
}

/// One table's units, or several tables'.
fn units(consumed: &Value) -> f64 {
    match consumed {
        Value::Array(tables) => tables.iter().map(units).sum(),
        one => one["CapacityUnits"].as_f64().unwrap_or(0.0),
    }
}
