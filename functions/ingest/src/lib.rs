//! The webhook: what a request is answered with, whatever server it came through. The Lambda's shell and the local
//! server both call [`Ingest::handle`].
//!
//! 2xx only after every event is in the table and its tick in the queue; 5xx for what was not stored, and the
//! provider's retry completes only that. No answer holds anything of a person.

pub mod gateway;
mod secrets;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recado::adapters::meta::handshake::handshake;
use recado::adapters::meta::parse::{self, BodyError, Rejected};
use recado::adapters::meta::signature::{self, SignatureError, VerifiedBody};
use recado::error::Source;
use recado::flow::World;
use recado::flow::ingest::{Ingested, ingest};

pub use secrets::{Channels, MetaSecrets, MetaSecretsSource};

/// The largest body that is read, after it is decoded.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// A request, as any server has it.
#[derive(Clone, Default)]
pub struct Request {
    /// In capitals.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Names and values, decoded.
    pub query: Vec<(String, String)>,
    /// Names in any case.
    pub headers: Vec<(String, String)>,
    /// The bytes exactly as they came: the signature is over them.
    pub body: Vec<u8>,
    /// Whether the gateway wrote the body in base64.
    pub is_base64: bool,
}

/// What to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The header of that name.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

/// The handler.
#[derive(Clone)]
pub struct Ingest {
    /// What the events meet.
    pub world: World,
    /// What the requests are checked with.
    pub channels: Channels,
}

impl Ingest {
    /// Answers one request.
    pub async fn handle(&self, request: Request) -> Response {
        match request.path.trim_end_matches('/') {
            "/webhook/meta" => self.meta(request).await,
            _ => Response::error(404, "nothing here; a webhook's path is /webhook/meta"),
        }
    }

    async fn meta(&self, request: Request) -> Response {
        match request.method.as_str() {
            "GET" => self.meta_handshake(&request).await,
            "POST" => self.meta_events(request).await,
            _ => return Response::error(405, "only GET and POST are answered here"),
        }
        .unwrap_or_else(|refusal| refusal)
    }

    /// Where the token does not match, the operator may have put another one there just now.
    async fn meta_handshake(&self, request: &Request) -> Result<Response, Response> {
        let channel = &self.channels.meta;
        let mut secrets = channel.current().await.map_err(|e| unknown_secrets(&e))?;
        let mut challenge = handshake(&request.query, &secrets.verify_token);
        if challenge.is_none() {
            secrets = channel.renewed().await.map_err(|e| unknown_secrets(&e))?;
            challenge = handshake(&request.query, &secrets.verify_token);
        }
        let challenge = challenge.ok_or_else(|| refused_handshake(&secrets))?;
        Ok(Response::new(200, "text/plain", challenge))
    }

    async fn meta_events(&self, request: Request) -> Result<Response, Response> {
        let signature = request.header(signature::HEADER).map(str::to_owned);
        let raw = decoded(request)?;
        let verified = self.verify_meta(signature.as_deref(), &raw).await?;
        let parsed = parse::parse(verified, self.world.clock.now()).map_err(unreadable)?;
        log_rejected(&parsed.rejected);
        Ok(answer(ingest(&self.world, parsed.events).await))
    }

    /// A signature that does not match may be of a secret that is newer than ours, and a secret that is not there
    /// may be there by now: it is tried once with secrets read again.
    async fn verify_meta<'r>(
        &self,
        header: Option<&str>,
        raw: &'r [u8],
    ) -> Result<VerifiedBody<'r>, Response> {
        let channel = &self.channels.meta;
        let secrets = channel.current().await.map_err(|e| unknown_secrets(&e))?;
        match signature::verify(&secrets.app_secrets, header, raw) {
            Err(SignatureError::Mismatch | SignatureError::NoSecret) => {}
            verified => return verified.map_err(unsigned),
        }
        let renewed = channel.renewed().await.map_err(|e| unknown_secrets(&e))?;
        signature::verify(&renewed.app_secrets, header, raw).map_err(unsigned)
    }
}

/// The body's own bytes, within the limit.
fn decoded(request: Request) -> Result<Vec<u8>, Response> {
    let too_large = || {
        Response::error(
            413,
            "the body is larger than 1 MiB; send fewer events at once",
        )
    };
    let limit = if request.is_base64 {
        BODY_BYTES_MAX.div_ceil(3) * 4
    } else {
        BODY_BYTES_MAX
    };
    if request.body.len() > limit {
        return Err(too_large());
    }
    if !request.is_base64 {
        return Ok(request.body);
    }
    let raw = STANDARD
        .decode(request.body)
        .map_err(|_| Response::error(400, "the body is said to be base64 and is not"))?;
    if raw.len() > BODY_BYTES_MAX {
        return Err(too_large());
    }
    Ok(raw)
}

fn unknown_secrets(error: &Source) -> Response {
    tracing::error!(error = %error, "the secrets cannot be read, so no webhook can be trusted");
    Response::error(503, "the secrets cannot be read; send the same body again")
}

/// A token that is not there at all is the operator's to mend; a wrong one is the caller's.
fn refused_handshake(secrets: &MetaSecrets) -> Response {
    if secrets.verify_token.is_empty() {
        tracing::error!(
            "no verify token is configured, so no handshake can succeed: put a word of your choice under the key \
             \"meta_verify_token\" of the installation's secret, and the same word in the webhook's settings at Meta"
        );
    }
    Response::error(
        403,
        "hub.verify_token is not the one configured, or hub.mode is not subscribe",
    )
}

fn unsigned(error: SignatureError) -> Response {
    match error {
        SignatureError::NoSecret => {
            tracing::error!(
                "no app secret is configured, so no webhook can be trusted: put the Meta app's secret under the \
                 key \"meta_app_secret\" of the installation's secret"
            );
            Response::error(503, "no app secret is configured; set it and send again")
        }
        SignatureError::Missing => {
            tracing::warn!("a webhook without a signature is refused");
            Response::error(401, "the header X-Hub-Signature-256 is missing")
        }
        SignatureError::Mismatch => {
            tracing::warn!("a webhook whose signature does not match is refused");
            Response::error(401, "the signature does not match; check the app secret")
        }
    }
}

fn unreadable(error: BodyError) -> Response {
    tracing::warn!(%error, "a signed webhook cannot be read");
    let reason = match error {
        BodyError::NotJson => "the body is not JSON, or nested deeper than 128 levels",
        BodyError::NotAnObject => "the body must be a JSON object, not a list or a value",
    };
    Response::error(400, reason)
}

fn answer(ingested: Ingested) -> Response {
    let Ingested {
        stored,
        duplicates,
        late,
        noted,
        ignored,
        failed,
    } = ingested;
    tracing::info!(
        stored,
        duplicates,
        late,
        noted,
        ignored,
        failed,
        "a webhook is done"
    );
    if failed > 0 {
        return Response::error(
            503,
            "some events could not be stored; send the same body again",
        );
    }
    let body = format!(r#"{{"stored":{stored},"duplicates":{duplicates}}}"#);
    Response::new(200, "application/json", body)
}

/// One line per reason, with how often.
fn log_rejected(rejected: &[Rejected]) {
    let mut reasons: Vec<&str> = rejected.iter().map(|rejected| rejected.reason).collect();
    reasons.sort_unstable();
    for same in reasons.chunk_by(|one, two| one == two) {
        tracing::warn!(
            reason = same[0],
            count = same.len(),
            "parts of a webhook are left out"
        );
    }
}

impl Request {
    /// The first header of this name, which is given in lower case.
    fn header(&self, name: &str) -> Option<&str> {
        let header = self
            .headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        Some(&header.1)
    }
}

impl Response {
    fn new(status: u16, content_type: &'static str, body: impl Into<String>) -> Self {
        Self {
            status,
            content_type,
            body: body.into(),
        }
    }

    /// `what` says what to do, and needs no escaping.
    fn error(status: u16, what: &'static str) -> Self {
        let body = serde_json::json!({ "error": what }).to_string();
        Self::new(status, "application/json", body)
    }
}
