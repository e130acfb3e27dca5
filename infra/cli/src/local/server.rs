//! The HTTP side of a local run: the webhook (the ingest handler), with the phone beside it or alone in public.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use futures_util::StreamExt as _;
use recado::adapters::chance::SystemChance;
use recado::adapters::meta::send::{FixedToken, GraphMessenger, GraphSettings, GraphSettingsError};
use recado::domain::BusinessNumber;
use recado::flow::World;
use recado::ports::Chance as _;
use recado_ingest::{BODY_BYTES_MAX, Channels, Ingest, MetaSecrets, MetaSecretsSource, Request};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::connections::{self, Limits};
use super::operator::{self, Operator};
use crate::phone::{self, PhoneState};

/// A body that takes longer is not read to its end: the provider sends it again.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);
/// The phone's Graph version; the real one is a setting.
const GRAPH_VERSION: &str = "v25.0";
/// The business number people write to, as its id. Fictitious.
const NUMBER: &str = "100000000000001";
/// The same number as people see it. Fictitious.
const DISPLAY_NUMBER: &str = "551140000001";
/// The business account it belongs to. Fictitious.
const ACCOUNT: &str = "200000000000001";

/// What webhook and sender of the phone are secured with: made anew at each start, for both ends are in this
/// process. Only the app secret may be given, so that another program can post webhooks too.
#[derive(Clone)]
pub struct Secrets {
    /// Signs the webhooks.
    pub app_secret: String,
    /// Lets the sender send.
    pub access_token: String,
    /// Echoed in the handshake.
    pub verify_token: String,
}

impl Secrets {
    /// Three random ones.
    pub fn random(chance: SystemChance) -> Self {
        let random = || hex::encode(chance.bits().to_be_bytes());
        Self {
            app_secret: random(),
            access_token: random(),
            verify_token: random(),
        }
    }
}

/// The business number of the phone.
///
/// # Panics
/// Never: the id is a constant of digits, which a test reads.
pub fn number() -> BusinessNumber {
    #[expect(clippy::expect_used, reason = "a constant of digits")]
    BusinessNumber::parse(NUMBER).expect("digits are a business number")
}

/// What the phone has to know.
pub fn phone_settings(url: &str, secrets: &Secrets) -> phone::Settings {
    phone::Settings {
        webhook_url: format!("{url}/webhook/meta"),
        app_secret: secrets.app_secret.clone(),
        access_token: secrets.access_token.clone(),
        number: number(),
        display_number: DISPLAY_NUMBER.to_owned(),
        business_account: ACCOUNT.to_owned(),
    }
}

/// The sender, aimed at the phone.
pub fn messenger(url: &str, secrets: &Secrets) -> Result<GraphMessenger, GraphSettingsError> {
    let mut settings = GraphSettings::new(url, GRAPH_VERSION);
    settings.look_up_base = Some(url.to_owned());
    GraphMessenger::new(
        &settings,
        Arc::new(FixedToken(secrets.access_token.clone())),
    )
}

/// Everything of a run with the phone, on one loopback port.
pub fn with_phone(
    operator: &Operator,
    secrets: &Secrets,
    state: PhoneState,
    folder: Option<&std::path::Path>,
) -> Router {
    let meta = Arc::new(MetaSecrets {
        app_secrets: vec![secrets.app_secret.clone()],
        verify_token: secrets.verify_token.clone(),
    });
    phone::router(state)
        .merge(operator::router(operator, folder))
        .merge(webhook_router(&operator.world, meta))
}

/// What a tunnel may lead to: the webhook, and whether anybody is there. It tells nothing of the installation.
pub fn public(world: &World, meta: Arc<dyn MetaSecretsSource>) -> Router {
    Router::new()
        .route("/health", get(async || Json(json!({ "recado": "ready" }))))
        .merge(webhook_router(world, meta))
        .fallback(async || {
            let sentence = json!({ "error": "nothing here; the webhook is at /webhook/meta" });
            (StatusCode::NOT_FOUND, Json(sentence))
        })
}

fn webhook_router(world: &World, meta: Arc<dyn MetaSecretsSource>) -> Router {
    let ingest = Arc::new(Ingest {
        world: world.clone(),
        channels: Channels { meta },
    });
    Router::new()
        .route("/webhook/{channel}", any(webhook))
        .with_state(ingest)
}

/// Serves until the run is to stop.
pub async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>) {
    connections::serve(listener, router, stopped, Limits::default()).await;
}

/// Hands a request to the ingest handler as it came. The body is read here, with the handler's own limit, so that
/// what is too large gets the handler's answer.
async fn webhook(
    State(ingest): State<Arc<Ingest>>,
    method: Method,
    uri: Uri,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let body = match tokio::time::timeout(BODY_TIMEOUT, read(body)).await {
        Ok(Some(body)) => body,
        Ok(None) => {
            let sentence = json!({ "error": "the body broke off or is not well chunked" });
            return (StatusCode::BAD_REQUEST, Json(sentence)).into_response();
        }
        // The rest is not waited for: the connection goes with it.
        Err(_) => {
            return (StatusCode::REQUEST_TIMEOUT, [("connection", "close")]).into_response();
        }
    };
    let headers = headers
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let request = Request {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query,
        headers,
        body,
        is_base64: false,
    };
    let answer = ingest.handle(request).await;
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [("content-type", answer.content_type)], answer.body).into_response()
}

/// The body, or a beginning that is longer than is allowed, so that the handler sees that it is too much; `None` where
/// it breaks off.
async fn read(body: Body) -> Option<Vec<u8>> {
    let mut chunks = body.into_data_stream();
    let mut read = Vec::new();
    while let Some(chunk) = chunks.next().await {
        read.extend_from_slice(&chunk.ok()?);
        if read.len() > BODY_BYTES_MAX {
            break;
        }
    }
    Some(read)
}
