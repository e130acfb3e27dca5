//! What stands between the functions and the local AWS here: it keeps the secret, refuses what it is told to refuse,
//! and takes the replies.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use recado::adapters::clock::SystemClock;
use recado::ports::Clock as _;
use recado_cli::aws::{self, Data, LocalAws};
use recado_tests::local_server;
use serde_json::{Value, json};

/// The local AWS with its front.
pub struct Front {
    /// The endpoint of everything, the Graph API too.
    pub url: String,
    /// What is behind it.
    pub behind: Arc<Behind>,
    /// Added to the queues' clock, in milliseconds.
    pub later_ms: Arc<AtomicU64>,
    _aws: LocalAws,
}

/// What the front answers by.
#[derive(Default)]
pub struct Behind {
    /// The secret's text; none where there is no secret.
    pub secret: Mutex<Option<String>>,
    /// Requests whose target ends so are refused for want of a right.
    pub denied: Mutex<Option<&'static str>>,
    /// The replies that were sent.
    pub sent: Mutex<Vec<Value>>,
    aws: local_server::Behind,
}

impl Front {
    pub async fn start() -> Self {
        let later_ms = Arc::new(AtomicU64::new(0));
        let later = Arc::clone(&later_ms);
        let now = move || SystemClock.now().ms() + later.load(Ordering::SeqCst);
        let aws = aws::serve(0, &Data::Memory, Arc::new(now)).await.unwrap();
        let behind = Arc::new(Behind {
            aws: local_server::Behind::at(aws.url()),
            ..Behind::default()
        });
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&behind));
        Self {
            url: local_server::serve(router).await,
            behind,
            later_ms,
            _aws: aws,
        }
    }

    pub fn keep_secret(&self, secret: &Value) {
        *self.behind.secret.lock().unwrap() = Some(secret.to_string());
    }

    pub fn deny(&self, action: Option<&'static str>) {
        *self.behind.denied.lock().unwrap() = action;
    }

    pub fn sent(&self) -> usize {
        self.behind.sent.lock().unwrap().len()
    }
}

async fn answer(
    State(behind): State<Arc<Behind>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let target = headers.get("x-amz-target").map(|t| t.to_str().unwrap());
    let Some(target) = target else {
        assert!(uri.path().ends_with("/messages"), "a request to {uri}");
        let mut sent = behind.sent.lock().unwrap();
        sent.push(serde_json::from_slice(&body).unwrap());
        let id = format!("wamid.sent{}", sent.len());
        return axum::Json(json!({ "messages": [{ "id": id }] })).into_response();
    };
    let denied = *behind.denied.lock().unwrap();
    if denied.is_some_and(|action| target.ends_with(action)) {
        return refusal("AccessDeniedException");
    }
    if target.starts_with("secretsmanager") {
        return match &*behind.secret.lock().unwrap() {
            Some(text) => axum::Json(json!({ "SecretString": text })).into_response(),
            None => refusal("ResourceNotFoundException"),
        };
    }
    behind.aws.ask(headers, body).await.0
}

fn refusal(code: &str) -> Response {
    let body = json!({ "__type": code, "message": "…" });
    (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}
