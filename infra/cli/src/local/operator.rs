//! What the operator's commands ask a running instance for: its health, `forget`, and the story of its
//! conversations. Served on loopback only, and never where a tunnel leads.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use recado::config::roster::Roster;
use recado::domain::{Alias, Timestamp};
use recado::flow::World;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::channel::ChannelName;
use super::money::{self, Asked, LedgerError};
use super::people::{self, ForgetError, Whom};
use crate::phone::guard::{self, Guard};
use crate::phone::{Story, step_json};

/// What the routes work on.
#[derive(Clone)]
pub struct Operator {
    /// The installation.
    pub world: World,
    /// Its agents.
    pub agents: Arc<Roster>,
    /// Its channel.
    pub channel: ChannelName,
}

/// Health, who knows a person, and `forget`.
pub fn router(operator: &Operator, folder: Option<&FilePath>) -> Router {
    let health =
        json!({ "recado": "ready", "folder": folder, "channel": operator.channel.as_str() });
    Router::new()
        .route("/health", get(|| async move { Json(health) }))
        .route("/ledger", get(ledger))
        .route("/people/{id}", get(known))
        .route("/people/{id}/forget", post(forget))
        .route("/people/{id}/pause", post(pause))
        .with_state(operator.clone())
        .layer(middleware::from_fn_with_state(
            Guard { loopback: true },
            guard::check,
        ))
}

/// The story, where no phone's page tells it.
pub fn story(story: Arc<Story>) -> Router {
    Router::new()
        .route("/story", get(tell))
        .with_state(story)
        .layer(middleware::from_fn_with_state(
            Guard { loopback: true },
            guard::check,
        ))
}

/// For which agent a person can be asked for.
#[derive(Deserialize)]
struct Of {
    agent: Option<String>,
}

async fn forget(
    State(operator): State<Operator>,
    Path(id): Path<String>,
    Query(asked): Query<Of>,
) -> Response {
    let whom = Whom::parse(&id, asked.agent.as_deref(), operator.channel);
    let forgotten = match whom {
        Ok(whom) => people::forget(&operator.world, &operator.agents, &whom).await,
        Err(error) => Err(error),
    };
    match forgotten {
        Ok(gone) => Json(json!({
            "forgotten": gone.items,
            "agents": gone.agents,
            "others": gone.others.iter().map(Alias::as_str).collect::<Vec<_>>(),
        }))
        .into_response(),
        Err(error) => refused(&error),
    }
}

/// For which agent, and until when.
#[derive(Deserialize)]
struct Taken {
    agent: Option<String>,
    until: Option<u64>,
}

async fn pause(
    State(operator): State<Operator>,
    Path(id): Path<String>,
    Query(asked): Query<Taken>,
) -> Response {
    let whom = Whom::parse(&id, asked.agent.as_deref(), operator.channel);
    let until = asked.until.map(Timestamp::from_ms);
    let paused = match whom {
        Ok(whom) => people::pause(&operator.world, &operator.agents, &whom, until).await,
        Err(error) => Err(error),
    };
    match paused {
        Ok(agents) => Json(json!({ "agents": agents })).into_response(),
        Err(error) => refused(&error),
    }
}

async fn ledger(State(operator): State<Operator>, Query(asked): Query<Asked>) -> Response {
    let Operator {
        world,
        agents,
        channel,
    } = &operator;
    match money::lines(world, agents, *channel, &asked).await {
        Ok(lines) => Json(json!({ "lines": lines })).into_response(),
        Err(LedgerError::Whom(error)) => refused(&error),
        Err(error) => {
            let status = match error {
                LedgerError::Day(_) => StatusCode::BAD_REQUEST,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            (status, Json(json!({ "error": chain(&error) }))).into_response()
        }
    }
}

async fn known(
    State(operator): State<Operator>,
    Path(id): Path<String>,
    Query(asked): Query<Of>,
) -> Response {
    let whom = Whom::parse(&id, asked.agent.as_deref(), operator.channel);
    let known = match whom {
        Ok(whom) => people::known(&operator.world, &operator.agents, &whom).await,
        Err(error) => Err(error),
    };
    match known {
        Ok(agents) => Json(json!({ "agents": agents })).into_response(),
        Err(error) => refused(&error),
    }
}

fn refused(error: &ForgetError) -> Response {
    let status = match error {
        ForgetError::NoId(_) => StatusCode::BAD_REQUEST,
        ForgetError::NoAgent { .. } | ForgetError::Nobody(_) => StatusCode::NOT_FOUND,
        ForgetError::Table(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(json!({ "error": chain(error) }))).into_response()
}

/// The whole of an error, for the operator who asked; none of it names a person.
fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line = format!("{line}: {cause}");
        source = cause.source();
    }
    line
}

/// What the story can be asked.
#[derive(Deserialize)]
struct Since {
    since: Option<u64>,
    agent: Option<String>,
}

async fn tell(State(story): State<Arc<Story>>, Query(asked): Query<Since>) -> Json<Value> {
    let chapter = story.since(asked.since.unwrap_or(0), |conversation| {
        let agent = asked.agent.as_deref();
        agent.is_none_or(|agent| agent == conversation.agent.as_str())
    });
    let steps: Vec<Map<String, Value>> = chapter
        .steps
        .iter()
        .map(|told| step_json::told(told))
        .collect();
    Json(json!({
        "story": chapter.story,
        "now": chapter.now,
        "last": chapter.last,
        "complete": chapter.complete,
        "steps": steps,
    }))
}
