//! The queues behind HTTP: SQS's JSON protocol 1.0, and the long poll. The one place with a lock, a clock and a wait.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::Now;
use super::actions::{parse, perform};
use super::queues::Queues;
use super::refusal::{Code, Refusal};
use super::wire::ReceiveRequest;

/// What `X-Amz-Target` begins with in a request for SQS.
pub const TARGET: &str = "AmazonSQS.";

/// SQS as a function from a request to a response.
pub struct Api {
    queues: Mutex<Queues>,
    now: Now,
    /// Something happened that may make a message receivable.
    changed: Notify,
    stopping: watch::Sender<bool>,
}

impl Api {
    /// No queues yet; their URLs will begin with this one.
    pub fn new(server_url: &str, now: Now) -> Self {
        Self {
            queues: Mutex::new(Queues::new(server_url)),
            now,
            changed: Notify::new(),
            stopping: watch::Sender::new(false),
        }
    }

    /// Answers every waiting receive with nothing, and every later one without waiting, so that a server can stop.
    pub fn stop_waiting(&self) {
        self.stopping.send_replace(true);
    }

    /// Answers one request. Whatever the bytes are, this answers: an error is a response, too.
    pub async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Response {
        let target = headers
            .get("x-amz-target")
            .and_then(|target| target.to_str().ok());
        let result = match target.and_then(|target| target.strip_prefix(TARGET)) {
            Some("ReceiveMessage") => self.receive(body).await,
            Some(action) => {
                let result = perform(&mut self.lock(), action, body, (self.now)());
                self.changed.notify_waiters();
                result
            }
            None => Err(Refusal::new(
                Code::UnknownOperation,
                "This is a local SQS: it speaks the AWS JSON protocol, with the header X-Amz-Target: AmazonSQS.<Action>.",
            )),
        };
        render(result)
    }

    async fn receive(&self, body: &[u8]) -> Result<Value, Refusal> {
        let request: ReceiveRequest = parse(body)?;
        request.check()?;
        let wait_s = request.wait_s(self.lock().by_url(&request.queue_url)?)?;
        let deadline = tokio::time::sleep(Duration::from_secs(wait_s.into()));
        tokio::pin!(deadline);
        let mut stopping = self.stopping.subscribe();
        loop {
            // Registered before the look, so that no change between the two is missed.
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let (answer, next_change_ms) = self.look(&request)?;
            if let Some(answer) = answer {
                return Ok(answer);
            }
            if wait_s == 0 || *stopping.borrow() {
                return Ok(request.answer(&[]));
            }
            tokio::select! {
                () = &mut deadline => return Ok(request.answer(&[])),
                () = changed => {}
                () = sleep_ms(next_change_ms) => {}
                _ = stopping.changed() => {}
            }
        }
    }

    /// What can be received now; where nothing can, in how many ms time alone changes that.
    fn look(&self, request: &ReceiveRequest) -> Result<(Option<Value>, Option<u64>), Refusal> {
        let now = (self.now)();
        let mut queues = self.lock();
        let (limit, visibility_s) = (request.max_number_of_messages, request.visibility_timeout);
        let received = queues.receive(&request.queue_url, limit, visibility_s, now)?;
        if received.moved {
            self.changed.notify_waiters();
        }
        if received.deliveries.is_empty() {
            let next_change = queues.by_url(&request.queue_url)?.next_change(now);
            return Ok((None, next_change.map(|moment| moment - now)));
        }
        Ok((Some(request.answer(&received.deliveries)), None))
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        // A panic elsewhere leaves whole messages behind: each change is one insert or one remove.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn sleep_ms(ms: Option<u64>) {
    match ms {
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}

fn render(result: Result<Value, Refusal>) -> Response {
    let (status, query_error, body) = match result {
        Ok(value) => (StatusCode::OK, None, value),
        Err(refusal) => {
            let code = refusal.code;
            let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::BAD_REQUEST);
            // Clients take the code of the older query protocol from this header.
            let query_error = HeaderValue::from_str(&format!("{};Sender", code.query_code())).ok();
            let body = json!({ "__type": code.kind(), "message": refusal.message });
            (status, query_error, body)
        }
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/x-amz-json-1.0");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if let Some(query_error) = query_error {
        response
            .headers_mut()
            .insert("x-amzn-query-error", query_error);
    }
    response
}
