//! A strict stand-in for the Graph API.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use recado::domain::ReplyId;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::PHONE;

/// What the stand-in does with the next request.
#[derive(Clone)]
pub enum Answer {
    With(u16, Value),
    Text(u16, &'static str),
    Slowly,
}

pub struct Seen {
    pub uri: String,
    pub headers: HeaderMap,
    pub body: Value,
    pub from: SocketAddr,
}

/// A stand-in that notes every request and gives the prepared answers, the last one again and again.
pub struct Graph {
    pub base: String,
    pub seen: Arc<Mutex<Vec<Seen>>>,
}

type Shared = (Arc<Mutex<Vec<Seen>>>, Arc<Mutex<Vec<Answer>>>);

impl Graph {
    pub async fn start(answers: Vec<Answer>) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared: Shared = (seen.clone(), Arc::new(Mutex::new(answers)));
        let app = Router::new()
            .route("/phone/replies/{reply}", get(look_up))
            .fallback(any(message))
            .with_state(shared)
            .into_make_service_with_connect_info::<SocketAddr>();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { base, seen }
    }

    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

async fn message(
    State((seen, answers)): State<Shared>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap();
    let uri = uri.to_string();
    seen.lock().unwrap().push(Seen {
        uri,
        headers,
        body,
        from,
    });
    let answer = {
        let mut answers = answers.lock().unwrap();
        if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0].clone()
        }
    };
    match answer {
        Answer::With(status, body) => {
            (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
        }
        Answer::Text(status, body) => (StatusCode::from_u16(status).unwrap(), body).into_response(),
        Answer::Slowly => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            StatusCode::OK.into_response()
        }
    }
}

async fn look_up(Path(reply): Path<String>) -> Response {
    match reply {
        reply if reply == reply_id(1).to_string() => {
            Json(json!({ "id": "wamid.KNOWN" })).into_response()
        }
        reply if reply == reply_id(2).to_string() => StatusCode::NOT_FOUND.into_response(),
        reply if reply == reply_id(3).to_string() => "not JSON".into_response(),
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

pub fn accepted() -> Answer {
    Answer::With(
        200,
        json!({ "messaging_product": "whatsapp", "contacts": [{ "input": PHONE, "wa_id": PHONE }], "messages": [{ "id": "wamid.OUT" }] }),
    )
}

pub fn refused(status: u16, code: i64) -> Answer {
    Answer::With(
        status,
        json!({ "error": { "message": format!("(#{code}) about {PHONE}"), "code": code, "fbtrace_id": "A" } }),
    )
}

pub fn reply_id(n: u128) -> ReplyId {
    ReplyId::from_parts(1_795_000_000_000, n)
}
