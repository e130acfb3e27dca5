//! Refusals in Meta's shape.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// What a refused send is answered with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GraphError {
    /// The answer's status.
    pub(super) status: StatusCode,
    /// Meta's code.
    pub(super) code: u32,
    /// Meta's words for the code.
    pub(super) message: String,
    /// What is wrong with this request, where Meta says so.
    pub(super) details: Option<String>,
}

impl GraphError {
    /// A refusal of this code with status 400.
    pub(super) fn new(code: u32, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code,
            message: message.into(),
            details: None,
        }
    }

    /// A refusal of one parameter.
    pub(super) fn parameter(details: impl Into<String>) -> Self {
        Self {
            details: Some(details.into()),
            ..Self::new(100, "(#100) Invalid parameter")
        }
    }
}

impl IntoResponse for GraphError {
    fn into_response(self) -> Response {
        let mut error = json!({
            "message": self.message,
            "type": "OAuthException",
            "code": self.code,
            "fbtrace_id": "ArecadoPhoneTrace00000",
        });
        if let (Some(details), Some(fields)) = (self.details, error.as_object_mut()) {
            fields.insert(
                "error_data".to_owned(),
                json!({ "messaging_product": "whatsapp", "details": details }),
            );
        }
        (self.status, Json(json!({ "error": error }))).into_response()
    }
}
