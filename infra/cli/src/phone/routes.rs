//! The HTTP side: the page, the phone's own routes, the story, memory, and the send endpoint.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use recado::domain::Phone as Number;
use recado::domain::time::whole_ms;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, BODY_MAX, Refusal, read_json, refuse};
use super::guard::Guard;
use super::live::{self, Position};
use super::memory::MemoryReader;
use super::provider::Phone;
use super::story::{Story, Told};
use super::{graph, guard, page, people, step_json};

/// Most texts of one burst.
const TEXTS_MAX: usize = 200;
/// Most code points of a text: what WhatsApp lets a person write.
const TEXT_MAX: usize = 65_536;
/// The longest pause between two texts of a burst: an hour.
const GAP_MS_MAX: u64 = 3_600_000;

/// What the routes work on.
#[derive(Clone)]
pub struct PhoneState {
    /// The phone.
    pub phone: Phone,
    /// The story of each conversation.
    pub story: Arc<Story>,
    /// What is remembered of each person.
    pub memory: Arc<dyn MemoryReader>,
    /// The agent's window: the page counts down by it, for the first look at a conversation comes only at its end.
    pub window: Duration,
    /// The agent's ceiling.
    pub ceiling: Duration,
    /// Whether the server listens on this machine only; then other host names are refused.
    pub loopback: bool,
}

/// All routes of the phone. Everything else is answered with 404; a server with more routes adds them to this
/// router, and they are then not behind the phone's guard.
pub fn router(state: PhoneState) -> Router {
    let guard = Guard {
        loopback: state.loopback,
    };
    Router::new()
        .merge(page::routes())
        .route("/phone/messages", post(write))
        .route("/phone/replies/{reply}", get(find_reply))
        .route("/phone/conversations", get(conversations))
        .route("/phone/conversations/{phone}", get(conversation))
        .route("/story", get(story))
        .route("/story/live", get(story_live))
        .route("/memory/{phone}", get(memory))
        .route("/{version}/{phone_number_id}/messages", post(graph::send))
        .fallback(answer::not_found)
        .method_not_allowed_fallback(answer::wrong_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .with_state(state)
}

impl PhoneState {
    /// A step as JSON, with the `phone` it belongs to where that is known.
    pub(super) fn step_json(&self, told: &Told, asked_for: Option<&Number>) -> Value {
        let mut fields = step_json::told(told);
        let id = people::first_life(told.conversation.contact.as_str());
        let phone = asked_for
            .cloned()
            .or_else(|| self.phone.phone_of(id))
            .or_else(|| Number::parse(id).ok());
        fields.insert("phone".to_owned(), json!(phone));
        Value::Object(fields)
    }
}

/// What `POST /phone/messages` takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Writing {
    from: String,
    text: Option<String>,
    texts: Option<Vec<String>>,
    #[serde(default)]
    gap_ms: u64,
}

impl Writing {
    fn check(self) -> Result<(Number, Vec<String>, Duration), Refusal> {
        let bad = |sentence: &str| refuse(StatusCode::BAD_REQUEST, sentence);
        let from = parse_phone(&self.from)?;
        let texts = match (self.text, self.texts) {
            (Some(text), None) => vec![text],
            (None, Some(texts)) => texts,
            _ => {
                return Err(bad(
                    "give either text (a string) or texts (a list of strings)",
                ));
            }
        };
        if texts.is_empty() || texts.len() > TEXTS_MAX {
            return Err(bad("texts must hold 1 to 200 strings"));
        }
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Err(bad("a text must not be empty"));
        }
        if texts.iter().any(|text| text.chars().count() > TEXT_MAX) {
            return Err(bad("a text must be at most 65,536 characters long"));
        }
        if self.gap_ms > GAP_MS_MAX {
            return Err(bad("gap_ms must be at most 3,600,000 (an hour)"));
        }
        Ok((from, texts, Duration::from_millis(self.gap_ms)))
    }
}

fn parse_phone(text: &str) -> Result<Number, Refusal> {
    Number::parse(text).map_err(|error| {
        refuse(
            StatusCode::BAD_REQUEST,
            format!("{error}, for instance 5511900000001"),
        )
    })
}

async fn write(
    State(state): State<PhoneState>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let (from, texts, gap) = read_json::<Writing>(body)?.check()?;
    let ids = state.phone.write(&from, texts, gap).map_err(|error| {
        tracing::error!(error = %error, "a text was not written");
        refuse(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("{error}; free some space in the data folder and send it again"),
        )
    })?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "ids": ids }))).into_response())
}

async fn find_reply(
    State(state): State<PhoneState>,
    Path(reply): Path<String>,
) -> Result<Response, Refusal> {
    match state.phone.find(&reply) {
        Some(found) => Ok(Json(found).into_response()),
        None => Err(refuse(
            StatusCode::NOT_FOUND,
            "no message was received for this reply",
        )),
    }
}

async fn conversations(State(state): State<PhoneState>) -> Json<Value> {
    Json(json!({ "conversations": state.phone.conversations() }))
}

async fn conversation(
    State(state): State<PhoneState>,
    Path(phone): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let phone = parse_phone(&phone)?;
    Ok(Json(json!({
        "phone": phone,
        "name": people::name(&phone),
        "bsuid": people::bsuid(&phone),
        "messages": state.phone.conversation(&phone),
    })))
}

/// What the story's routes can be asked.
#[derive(Deserialize)]
struct Asked {
    since: Option<u64>,
    story: Option<String>,
    phone: Option<String>,
}

impl Asked {
    fn phone(&self) -> Result<Option<Number>, Refusal> {
        self.phone.as_deref().map(parse_phone).transpose()
    }
}

async fn story(
    State(state): State<PhoneState>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, Refusal> {
    let phone = asked.phone()?;
    let chapter = state.story.since(asked.since.unwrap_or(0), |conversation| {
        phone
            .as_ref()
            .is_none_or(|phone| people::is_contact(phone, conversation.contact.as_str()))
    });
    let steps: Vec<_> = chapter
        .steps
        .iter()
        .map(|told| state.step_json(told, phone.as_ref()))
        .collect();
    Ok(Json(json!({
        "story": chapter.story,
        "now": chapter.now,
        "last": chapter.last,
        "complete": chapter.complete,
        "window_ms": whole_ms(state.window),
        "ceiling_ms": whole_ms(state.ceiling),
        "steps": steps,
    })))
}

async fn story_live(
    State(state): State<PhoneState>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let phone = asked.phone()?;
    let seen = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok())
        .and_then(Position::parse);
    let position = seen.or(asked.since.map(|seq| Position {
        story: asked.story,
        seq,
    }));
    Ok(live::stream_for(state, phone, position).into_response())
}

async fn memory(
    State(state): State<PhoneState>,
    Path(phone): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let phone = parse_phone(&phone)?;
    let memory = state.memory.read(phone.as_str()).await;
    memory.map(Json).map_err(|error| {
        tracing::warn!(error = %error, "memory could not be read");
        refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "memory cannot be read just now; try again",
        )
    })
}
