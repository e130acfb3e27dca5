//! The one thing that only the local phone answers and Graph does not: what became of a reply.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use recado::domain::ReplyId;
use recado_tests::local_server::serve;
use serde_json::json;

/// Serves the look-up on a free port. Yields its address.
pub async fn phone() -> String {
    serve(Router::new().route("/phone/replies/{reply}", get(look_up))).await
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

pub fn reply_id(n: u128) -> ReplyId {
    ReplyId::from_parts(1_795_000_000_000, n)
}
