//! The webhook behind an HTTP API: its payload (format 2.0) in, its answer out, and what may go wrong in between.
//!
//! Whatever happens there is an answer before the invocation is cut off, and every failure is a 5xx: the provider
//! sends again, and nothing is lost.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use recado::adapters::clock::SystemClock;
use recado::domain::Timestamp;
use recado::installation::{Installation, NotReady};
use recado::ports::Clock as _;
use serde::{Deserialize, Serialize};

use crate::{Channels, Ingest, Request, Response};

/// An answer has to be on its way this long before the invocation is cut off.
const MARGIN: Duration = Duration::from_millis(500);

/// A request, as an HTTP API hands it over in payload format 2.0.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GatewayRequest {
    // What is absent is null where it comes from another server than AWS's own.
    raw_path: Option<String>,
    raw_query_string: Option<String>,
    headers: BTreeMap<String, String>,
    request_context: RequestContext,
    body: Option<String>,
    is_base64_encoded: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestContext {
    http: Http,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Http {
    method: String,
}

impl fmt::Debug for GatewayRequest {
    /// Neither body nor query: the one holds words, the other the verify token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = &self.request_context.http.method;
        let path = self.raw_path.as_deref().unwrap_or_default();
        write!(f, "GatewayRequest({method} {path})")
    }
}

/// An answer in payload format 2.0.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayResponse {
    /// The HTTP status.
    pub status_code: u16,
    /// Header names in lower case.
    pub headers: BTreeMap<&'static str, &'static str>,
    /// Text, never base64.
    pub body: String,
    is_base64_encoded: bool,
    /// None; `cargo lambda watch` wants to be told.
    cookies: [(); 0],
}

/// Answers one request, before `deadline`, when the invocation is cut off.
pub async fn handle(
    installation: &Installation,
    request: GatewayRequest,
    deadline: Timestamp,
) -> GatewayResponse {
    let answering = AssertUnwindSafe(answer(installation, request.into())).catch_unwind();
    let time = deadline.since(SystemClock.now()).saturating_sub(MARGIN);
    let response = match tokio::time::timeout(time, answering).await {
        Ok(Ok(response)) => response,
        Ok(Err(_panic)) => {
            tracing::error!("a panic was caught; the provider has to send the webhook again");
            Response::error(500, "this webhook could not be taken in; send it again")
        }
        Err(_) => {
            tracing::error!("a webhook took too long; the provider has to send it again");
            Response::error(503, "this webhook took too long; send it again")
        }
    };
    response.into()
}

async fn answer(installation: &Installation, request: Request) -> Response {
    let ingest = match opened(installation).await {
        Ok(ingest) => ingest,
        Err(not_ready) => {
            not_ready.log();
            return Response::error(503, "not ready; its log says what to mend");
        }
    };
    ingest.handle(request).await
}

async fn opened(installation: &Installation) -> Result<Ingest, NotReady> {
    let world = installation.world().await?.clone();
    let meta = installation.secrets()?;
    let channels = Channels { meta };
    Ok(Ingest { world, channels })
}

impl From<GatewayRequest> for Request {
    fn from(request: GatewayRequest) -> Self {
        let query = request.raw_query_string.unwrap_or_default();
        Self {
            method: request.request_context.http.method,
            path: request.raw_path.unwrap_or_default(),
            query: form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            headers: request.headers.into_iter().collect(),
            body: request.body.unwrap_or_default().into_bytes(),
            is_base64: request.is_base64_encoded,
        }
    }
}

impl From<Response> for GatewayResponse {
    fn from(response: Response) -> Self {
        Self {
            status_code: response.status,
            headers: BTreeMap::from([("content-type", response.content_type)]),
            body: response.body,
            is_base64_encoded: false,
            cookies: [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_of_the_gateway_is_read_whole() {
        let payload = serde_json::json!({
            "version": "2.0",
            "routeKey": "POST /webhook/meta",
            "rawPath": "/webhook/meta",
            "rawQueryString": "hub.mode=subscribe&hub.challenge=a%20b",
            "headers": { "x-hub-signature-256": "sha256=00" },
            "requestContext": { "http": { "method": "POST", "path": "/webhook/meta" } },
            "body": "e30=",
            "isBase64Encoded": true
        });
        let read: GatewayRequest = serde_json::from_value(payload).unwrap();
        assert_eq!(
            format!("{read:?}"),
            "GatewayRequest(POST /webhook/meta)",
            "nothing else is shown"
        );
        let request = Request::from(read);
        assert_eq!(request.method, "POST");
        assert_eq!(request.path, "/webhook/meta");
        let query = [("hub.mode", "subscribe"), ("hub.challenge", "a b")];
        assert_eq!(
            request.query,
            query.map(|(n, v)| (n.to_owned(), v.to_owned()))
        );
        assert_eq!(request.header("X-Hub-Signature-256"), Some("sha256=00"));
        assert_eq!((request.body, request.is_base64), (b"e30=".to_vec(), true));
    }

    #[test]
    fn an_answer_is_written_as_the_gateway_reads_it() {
        let response = GatewayResponse::from(Response::new(200, "text/plain", "challenge"));
        let written = serde_json::to_value(response).unwrap();
        let expected = serde_json::json!({
            "statusCode": 200,
            "headers": { "content-type": "text/plain" },
            "body": "challenge",
            "isBase64Encoded": false,
            "cookies": []
        });
        assert_eq!(written, expected);
    }

    #[test]
    fn what_is_absent_may_be_null() {
        let payload = serde_json::json!({ "rawPath": "/", "rawQueryString": null, "body": null });
        let read: GatewayRequest = serde_json::from_value(payload).unwrap();
        let request = Request::from(read);
        assert!(request.query.is_empty() && request.body.is_empty());
    }
}
