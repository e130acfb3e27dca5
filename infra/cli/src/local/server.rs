//! The HTTP side of a local run: the webhook (the ingest handler), the phone, and `forget`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use recado::adapters::chance::SystemChance;
use recado::adapters::meta::send::{FixedToken, GraphMessenger, GraphSettings, GraphSettingsError};
use recado::domain::BusinessNumber;
use recado::flow::World;
use recado::flow::forget::{self, Forgotten};
use recado::ports::Chance as _;
use recado_ingest::{BODY_BYTES_MAX, Channels, Ingest, MetaSecrets, Request};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::memory::TableMemory;
use crate::phone::{self, PhoneState, guard};

/// The phone's Graph version; the real one is a setting.
const GRAPH_VERSION: &str = "v25.0";
/// The business number people write to, as its id. Fictitious.
const NUMBER: &str = "100000000000001";
/// The same number as people see it. Fictitious.
const DISPLAY_NUMBER: &str = "551140000001";
/// The business account it belongs to. Fictitious.
const ACCOUNT: &str = "200000000000001";

/// What webhook and sender are secured with: made anew at each start, for both ends are in this process.
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

/// All routes of the process.
pub fn router(
    world: &World,
    secrets: &Secrets,
    state: &PhoneState,
    folder: Option<&std::path::Path>,
) -> Router {
    let health = json!({ "recado": "ready", "folder": folder });
    let ingest = Arc::new(Ingest {
        world: world.clone(),
        channels: Channels {
            meta: Arc::new(MetaSecrets {
                app_secrets: vec![secrets.app_secret.clone()],
                verify_token: secrets.verify_token.clone(),
            }),
        },
    });
    let operator = Router::new()
        .route("/health", get(|| async move { Json(health) }))
        .route("/people/{phone}/forget", post(forget_person))
        .with_state(world.clone())
        .layer(middleware::from_fn_with_state(state.clone(), guard::check));
    let webhook = Router::new()
        .route("/webhook/{channel}", any(webhook))
        .with_state(ingest);
    phone::router(state.clone()).merge(operator).merge(webhook)
}

/// Serves until the run is to stop.
pub async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>) {
    let serving = axum::serve(listener, router).with_graceful_shutdown(super::until(stopped));
    if let Err(error) = serving.await {
        tracing::error!(%error, "the local server ended");
    }
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
    let body = read(body).await;
    let headers = headers
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let request = Request {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query,
        headers,
        body: body.to_vec(),
        is_base64: false,
    };
    let answer = ingest.handle(request).await;
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [("content-type", answer.content_type)], answer.body).into_response()
}

/// At most one byte more than is allowed, so that the handler sees that it is too much.
async fn read(body: Body) -> Bytes {
    let oversized = || Bytes::from(vec![0; BODY_BYTES_MAX + 1]);
    axum::body::to_bytes(body, BODY_BYTES_MAX + 1)
        .await
        .unwrap_or_else(|_| oversized())
}

async fn forget_person(State(world): State<World>, Path(phone): Path<String>) -> Response {
    let problem = |status: StatusCode, sentence: String| {
        (status, Json(json!({ "error": sentence }))).into_response()
    };
    let conversation = match TableMemory::new(world.clone()).conversation(&phone).await {
        Ok(Some(conversation)) => conversation,
        Ok(None) => {
            return problem(
                StatusCode::NOT_FOUND,
                "nobody of this phone is known".into(),
            );
        }
        Err(error) => {
            let sentence = format!("{error}, for instance 5511900000001");
            return problem(StatusCode::BAD_REQUEST, sentence);
        }
    };
    match forget::forget(&world, &conversation).await {
        Ok(Forgotten::Gone { items }) => Json(json!({ "forgotten": items })).into_response(),
        Ok(Forgotten::Nobody) => problem(
            StatusCode::NOT_FOUND,
            "nobody of this phone is known".into(),
        ),
        Err(error) => problem(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    }
}
