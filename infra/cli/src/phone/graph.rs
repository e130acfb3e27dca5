//! The send endpoint, as Meta's Graph API has it: the same checks, the same answers, the same shape of errors.
//! It never drops a doubled send: seeing one is what it is here for.

mod body;
mod error;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use super::provider::Phone;
use super::routes::PhoneState;
use error::GraphError;

/// `POST /{version}/{phone_number_id}/messages`.
pub(super) async fn send(
    State(state): State<PhoneState>,
    Path((version, number)): Path<(String, String)>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match accept(&state.phone, (&version, &number), &headers, body) {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => error.into_response(),
    }
}

fn accept(
    phone: &Phone,
    (version, number): (&str, &str),
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Value, GraphError> {
    if !is_version(version) {
        return Err(GraphError::new(
            2500,
            format!("Unknown path components: /{number}/messages"),
        ));
    }
    check_token(headers, &phone.inner.settings.access_token)?;
    if number != phone.inner.settings.number.as_str() {
        return Err(GraphError::new(
            100,
            "Unsupported post request. Object with this ID does not exist, cannot be loaded due \
             to missing permissions, or does not support this operation",
        ));
    }
    let body = body.map_err(|_| GraphError::parameter("the body must be at most 1 MiB"))?;
    let value: Value = serde_json::from_slice(&body)
        .map_err(|_| GraphError::parameter("the body must be a JSON object"))?;
    let fields = value
        .as_object()
        .ok_or_else(|| GraphError::parameter("the body must be a JSON object"))?;
    let send = body::parse(fields, |bsuid| phone.phone_of(bsuid))?;
    let id = phone
        .accept(&send.to, send.text, send.callback_data)
        .map_err(|error| {
            tracing::error!(error = %error, "a send was not accepted");
            GraphError {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                code: 131_000,
                message: "(#131000) Something went wrong".to_owned(),
                details: Some("the phone's log cannot be written".to_owned()),
            }
        })?;
    Ok(json!({
        "messaging_product": "whatsapp",
        "contacts": [send.contact],
        "messages": [{ "id": id }],
    }))
}

/// `v25.0` and its like.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v')
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(major, minor)| major.parse::<u16>().is_ok() && minor.parse::<u16>().is_ok())
}

fn check_token(headers: &HeaderMap, expected: &str) -> Result<(), GraphError> {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let is_right = given.is_some_and(|given| given.as_bytes().ct_eq(expected.as_bytes()).into());
    if is_right {
        return Ok(());
    }
    Err(GraphError {
        status: StatusCode::UNAUTHORIZED,
        code: 190,
        message: "Invalid OAuth access token - Cannot parse access token".to_owned(),
        details: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_v_and_two_numbers() {
        for (text, is) in [
            ("v25.0", true),
            ("v9.12", true),
            ("25.0", false),
            ("v25", false),
            ("vx.0", false),
        ] {
            assert_eq!(is_version(text), is, "{text}");
        }
    }
}
