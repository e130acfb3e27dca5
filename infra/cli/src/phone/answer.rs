//! Answers of the phone's own routes, and how request bodies are read: bounded, and refused with a sentence.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;

/// Most bytes a request may bring.
pub const BODY_MAX: usize = 1024 * 1024;

/// A refusal: a status and a sentence that says what to do.
pub type Refusal = (StatusCode, Json<serde_json::Value>);

/// A refusal with this sentence.
pub fn refuse(status: StatusCode, sentence: impl Into<String>) -> Refusal {
    (status, Json(json!({ "error": sentence.into() })))
}

/// Reads a JSON body.
pub fn read_json<T: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, Refusal> {
    let body = body.map_err(|rejection| {
        let status = rejection.status();
        let sentence = if status == StatusCode::PAYLOAD_TOO_LARGE {
            "the body is larger than 1 MiB; send fewer or shorter texts"
        } else {
            "the body could not be read; send it again"
        };
        refuse(status, sentence)
    })?;
    serde_json::from_slice(&body).map_err(|error| {
        refuse(
            StatusCode::BAD_REQUEST,
            format!("the body is not what this route takes: {error}"),
        )
    })
}

/// The answer to every path that is not served.
pub async fn not_found() -> Response {
    refuse(
        StatusCode::NOT_FOUND,
        "nothing is served here; the chat page is at /",
    )
    .into_response()
}

/// The answer to a known path with another method.
pub async fn wrong_method() -> Response {
    refuse(
        StatusCode::METHOD_NOT_ALLOWED,
        "this path does not take this method; see the Allow header",
    )
    .into_response()
}
