//! A strict stand-in for Meta's Graph API: it takes exactly the documented request, and refuses all else as Meta does.
//!
//! A test may prepare answers for the next requests that are right; without one a request is accepted. What was wrong
//! about a request is refused by Meta's own codes, and kept, so that a test can ask that nothing ever was.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use recado::domain::{Bsuid, Phone};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::local_server::serve;

/// The version in the path.
pub const VERSION: &str = "v25.0";
/// Code points that a text may have.
const CHARS_MAX: usize = 4096;
/// Characters that come back in statuses.
const CALLBACK_MAX: usize = 512;

/// What is done with a request that is right.
#[derive(Clone)]
pub enum Answer {
    /// Taken: an id comes back.
    Accept,
    /// This status and JSON.
    With(u16, Value),
    /// This status and text, as a gateway in front of Graph would answer.
    Text(u16, &'static str),
    /// Taken, and no answer for half a minute.
    AcceptSlowly,
}

/// A request as it came.
pub struct Seen {
    /// Path and query.
    pub uri: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, `null` where it is not JSON.
    pub body: Value,
    /// The connection it came by.
    pub from: SocketAddr,
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Our id of it.
    pub id: String,
    /// A phone or a BSUID.
    pub to: String,
    /// What it says.
    pub text: String,
    /// What statuses carry back: the reply's id.
    pub callback: String,
}

/// The stand-in.
#[derive(Clone)]
pub struct FakeGraph {
    /// Where it is.
    pub base: String,
    shared: Arc<Shared>,
}

struct Shared {
    numbers: Vec<String>,
    tokens: Mutex<Vec<String>>,
    answers: Mutex<VecDeque<Answer>>,
    seen: Mutex<Vec<Seen>>,
    taken: Mutex<Vec<Taken>>,
    faults: Mutex<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    messaging_product: String,
    recipient_type: String,
    to: Option<String>,
    recipient: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    text: TextBody,
    biz_opaque_callback_data: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextBody {
    body: String,
    preview_url: bool,
}

impl FakeGraph {
    /// On a free port: sends from these business numbers, for who holds one of `tokens`.
    pub async fn start(numbers: &[&str], tokens: &[&str], answers: Vec<Answer>) -> Self {
        let shared = Arc::new(Shared {
            numbers: numbers.iter().map(ToString::to_string).collect(),
            tokens: Mutex::new(tokens.iter().map(ToString::to_string).collect()),
            answers: Mutex::new(answers.into()),
            seen: Mutex::default(),
            taken: Mutex::default(),
            faults: Mutex::default(),
        });
        let app = Router::new()
            .fallback(any(answer))
            .with_state(Arc::clone(&shared));
        let base = serve(app).await;
        Self { base, shared }
    }

    /// Prepares answers for the next requests that are right.
    pub fn prepare(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.answers.lock().unwrap().extend(answers);
    }

    /// Only this token is good from now on.
    pub fn accept_only(&self, token: &str) {
        *self.shared.tokens.lock().unwrap() = vec![token.to_owned()];
    }

    /// How often it was asked.
    pub fn count(&self) -> usize {
        self.shared.seen.lock().unwrap().len()
    }

    /// Every request.
    pub fn seen<T>(&self, look: impl FnOnce(&[Seen]) -> T) -> T {
        look(&self.shared.seen.lock().unwrap())
    }

    /// What was taken.
    pub fn taken(&self) -> Vec<Taken> {
        self.shared.taken.lock().unwrap().clone()
    }

    /// What was taken for this phone or BSUID.
    pub fn taken_for(&self, to: &str) -> Vec<Taken> {
        let mut taken = self.taken();
        taken.retain(|taken| taken.to == to);
        taken
    }

    /// What was wrong about requests, wrong tokens aside.
    pub fn faults(&self) -> Vec<String> {
        self.shared.faults.lock().unwrap().clone()
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    shared.seen.lock().unwrap().push(Seen {
        uri: uri.to_string(),
        headers: headers.clone(),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
        from,
    });
    let is_known = |number: &String| uri == format!("/{VERSION}/{number}/messages").as_str();
    if method != Method::POST || !shared.numbers.iter().any(is_known) {
        let fault = format!("{method} {uri} is no address of messages");
        return shared.refuse(&fault, "Unsupported request");
    }
    let token = headers.get("authorization").and_then(|v| v.to_str().ok());
    let token = token.and_then(|token| token.strip_prefix("Bearer "));
    if !token.is_some_and(|token| {
        shared
            .tokens
            .lock()
            .unwrap()
            .iter()
            .any(|good| good == token)
    }) {
        return refusal(401, 190, "Invalid OAuth access token");
    }
    if headers
        .get("content-type")
        .is_none_or(|kind| kind != "application/json")
    {
        return shared.refuse("the content type", "The body is not JSON");
    }
    let body: Body = match serde_json::from_slice(&bytes) {
        Ok(body) => body,
        Err(error) => return shared.refuse(&error.to_string(), "Unexpected key"),
    };
    match check(body) {
        Err(fault) => shared.refuse(fault, fault),
        Ok(message) => shared.take(message).await,
    }
}

/// The message, without an id as yet.
fn check(body: Body) -> Result<Taken, &'static str> {
    if body.messaging_product != "whatsapp" || body.recipient_type != "individual" {
        return Err("messaging_product must be whatsapp, recipient_type individual");
    }
    if body.kind != "text" || body.text.preview_url {
        return Err("type must be text, without a preview");
    }
    let to = match (body.to, body.recipient) {
        (Some(to), None) if Phone::parse(&to).is_ok_and(|phone| phone.as_str() == to) => to,
        (None, Some(to)) if Bsuid::parse(&to).is_ok() => to,
        _ => return Err("either to with a phone's digits, or recipient with a BSUID"),
    };
    if body.text.body.trim().is_empty() {
        return Err("Param text['body'] must not be empty.");
    }
    if body.text.body.chars().count() > CHARS_MAX {
        return Err("Param text['body'] must be at most 4096 characters long.");
    }
    if body.biz_opaque_callback_data.len() > CALLBACK_MAX {
        return Err("biz_opaque_callback_data must be at most 512 characters long");
    }
    Ok(Taken {
        id: String::new(),
        to,
        text: body.text.body,
        callback: body.biz_opaque_callback_data,
    })
}

impl Shared {
    fn refuse(&self, fault: &str, message: &str) -> Response {
        self.faults.lock().unwrap().push(fault.to_owned());
        refusal(400, 100, message)
    }

    async fn take(&self, message: Taken) -> Response {
        let prepared = self.answers.lock().unwrap().pop_front();
        match prepared.unwrap_or(Answer::Accept) {
            Answer::Accept => self.accept(message),
            Answer::AcceptSlowly => {
                let accepted = self.accept(message);
                tokio::time::sleep(Duration::from_secs(30)).await;
                accepted
            }
            Answer::With(status, body) => (code(status), Json(body)).into_response(),
            Answer::Text(status, body) => (code(status), body).into_response(),
        }
    }

    fn accept(&self, message: Taken) -> Response {
        let mut taken = self.taken.lock().unwrap();
        let id = format!("wamid.OUT{}", taken.len() + 1);
        let contact = json!({ "input": message.to, "wa_id": message.to });
        taken.push(Taken {
            id: id.clone(),
            ..message
        });
        Json(json!({
            "messaging_product": "whatsapp",
            "contacts": [contact],
            "messages": [{ "id": id }],
        }))
        .into_response()
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap()
}

fn refusal(status: u16, number: i64, message: &str) -> Response {
    (code(status), Json(error_body(number, message))).into_response()
}

fn error_body(number: i64, message: &str) -> Value {
    json!({ "error": {
        "message": format!("(#{number}) {message}"),
        "type": "OAuthException",
        "code": number,
        "error_data": { "messaging_product": "whatsapp", "details": message },
        "fbtrace_id": "AfakeTraceOfNoMeaning",
    } })
}

/// A refusal in Meta's shape. Its text quotes what a log must never show.
pub fn refused(status: u16, number: i64) -> Answer {
    Answer::With(status, error_body(number, "about 551190000001, segredo"))
}
