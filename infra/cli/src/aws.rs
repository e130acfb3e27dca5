//! The local AWS: the embedded DynamoDB and the SQS server behind ONE port, told apart by `X-Amz-Target`, as AWS's clients send it.
//!
//! DynamoDB's requests go on to its own loopback port, which is there to be used directly where the hop matters.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use recado::adapters::chance::SystemChance;
use recado::ports::Chance as _;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use crate::dynamo::Data;
use crate::dynamo::{Dynamo, DynamoError};
use crate::phone::guard::is_loopback;
use crate::sqs::http::Api;
use crate::sqs::{Now, REQUEST_BYTES_MAX, ServerError, listen};

/// Headers that belong to one connection and are not passed on.
const HOP_HEADERS: [HeaderName; 5] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::EXPECT,
    header::HOST,
    header::TRANSFER_ENCODING,
];

/// How long a stop waits for requests that are still running.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Why the local AWS could not start, or ended by itself.
#[derive(Debug, Error)]
pub enum AwsError {
    /// The embedded DynamoDB.
    #[error(transparent)]
    Dynamo(#[from] DynamoError),
    /// The port for both.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The client that passes DynamoDB's requests on.
    #[error("prepare the way to the embedded DynamoDB")]
    Client(#[source] reqwest::Error),
    /// The server's task ended.
    #[error("the local AWS stopped: its task panicked")]
    Panicked,
}

/// A running local AWS. Dropped, it ends at once; `stop` ends it in good order.
pub struct LocalAws {
    url: String,
    dynamo: Dynamo,
    stop: watch::Sender<bool>,
    server: JoinSet<Result<(), ServerError>>,
}

struct Front {
    sqs: Api,
    dynamo_url: String,
    client: reqwest::Client,
}

/// Starts both on this loopback port (0 takes a free one). The clock gives milliseconds since 1970.
pub async fn serve(port: u16, data: &Data, now: Now) -> Result<LocalAws, AwsError> {
    let (listener, url) = listen(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    let dynamo = start_dynamo(data)?;
    // A proxy set for the outside world has no business on loopback.
    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .map_err(AwsError::Client)?;
    let front = Arc::new(Front {
        sqs: Api::new(&url, now),
        dynamo_url: dynamo.url().to_owned(),
        client,
    });
    let router = Router::new()
        .fallback(answer)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .with_state(Arc::clone(&front));
    let (stop, mut stopped) = watch::channel(false);
    let shutdown = async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
        front.sqs.stop_waiting();
    };
    let mut server = JoinSet::new();
    server.spawn(async move {
        let serving = axum::serve(listener, router).with_graceful_shutdown(shutdown);
        serving.await.map_err(ServerError::Serve)
    });
    Ok(LocalAws {
        url,
        dynamo,
        stop,
        server,
    })
}

/// The embedded DynamoDB answers whoever asks, other sites' pages in a browser too. So it gets an address of its own
/// that no page can guess; where a system knows no other loopback address than the first, the port alone has to do.
fn start_dynamo(data: &Data) -> Result<Dynamo, DynamoError> {
    let [.., a, b, c] = SystemChance.bits().to_be_bytes();
    let hidden = SocketAddr::from(([127, a, b, c.clamp(2, 254)], 0));
    match Dynamo::start(data, hidden) {
        Err(DynamoError::Bind { .. }) => Dynamo::start(data, SocketAddr::from(([127, 0, 0, 1], 0))),
        started => started,
    }
}

/// Whether a request comes from a program of this machine: a page of another site shows itself by its origin, or by
/// the name that its server is known by.
fn is_from_a_program(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    !headers.contains_key(header::ORIGIN) && host.is_none_or(is_loopback)
}

impl LocalAws {
    /// The endpoint URL of both services.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The endpoint URL of SQS.
    pub fn sqs_url(&self) -> &str {
        &self.url
    }

    /// The endpoint URL of DynamoDB alone, without the hop through the common port.
    pub fn dynamodb_url(&self) -> &str {
        self.dynamo.url()
    }

    /// Serves until the future resolves, then stops in good order.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Result<(), AwsError> {
        tokio::select! {
            ended = self.server.join_next() => {
                self.dynamo.stop().await?;
                return finished(ended);
            }
            () = shutdown => {}
        }
        self.stop().await
    }

    /// Ends waiting receives, lets running requests finish, flushes the data.
    pub async fn stop(mut self) -> Result<(), AwsError> {
        self.stop.send_replace(true);
        // A client that has sent half a request must not hold the end up.
        let ended = tokio::time::timeout(STOP_PATIENCE, self.server.join_next()).await;
        self.dynamo.stop().await?;
        ended.map_or(Ok(()), finished)
    }
}

fn finished(
    ended: Option<Result<Result<(), ServerError>, tokio::task::JoinError>>,
) -> Result<(), AwsError> {
    match ended {
        Some(Ok(served)) => Ok(served?),
        Some(Err(_)) => Err(AwsError::Panicked),
        None => Ok(()),
    }
}

async fn answer(
    State(front): State<Arc<Front>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let target = headers
        .get("x-amz-target")
        .map_or(&b""[..], HeaderValue::as_bytes);
    if !is_from_a_program(&headers) {
        return StatusCode::FORBIDDEN.into_response();
    }
    if method == Method::GET {
        return "The local AWS of recado: DynamoDB and SQS.\n".into_response();
    }
    if method == Method::POST && target.starts_with(b"DynamoDB") {
        return front.pass_on(headers, body).await;
    }
    front.sqs.answer(&headers, &body).await
}

impl Front {
    async fn pass_on(&self, headers: HeaderMap, body: Bytes) -> Response {
        let request = self
            .client
            .post(&self.dynamo_url)
            .headers(own_headers(headers))
            .body(body);
        let passed = async {
            let response = request.send().await?;
            let (status, headers) = (response.status(), response.headers().clone());
            Ok::<_, reqwest::Error>((status, headers, response.bytes().await?))
        };
        match passed.await {
            Ok((status, headers, body)) => (status, own_headers(headers), body).into_response(),
            Err(error) => {
                tracing::warn!(error = %error.without_url(), "the embedded DynamoDB did not answer");
                unavailable()
            }
        }
    }
}

fn own_headers(mut headers: HeaderMap) -> HeaderMap {
    for name in HOP_HEADERS {
        headers.remove(name);
    }
    headers
}

/// What AWS's clients take for a fault of the service and try again.
fn unavailable() -> Response {
    let body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"The embedded DynamoDB did not answer."}"#;
    let kind = [(header::CONTENT_TYPE, "application/x-amz-json-1.0")];
    (StatusCode::INTERNAL_SERVER_ERROR, kind, Body::from(body)).into_response()
}
