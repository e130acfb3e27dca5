//! Tools that are services of the web.
//!
//! Redirects are not followed: one would carry the secret and the arguments to a place that nobody named, and a second
//! request of a write is a second effect. An address that moved is an address to mend in the agent file.

mod outcome;
mod request;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::HeaderValue;
use reqwest::{Client, ClientBuilder, Response, StatusCode, redirect, retry};

use super::addresses::{self, PublicOnly};
use super::secrets::ToolSecrets;
use super::{Made, Source};
use crate::domain::tool_spec::HttpTarget;
use crate::domain::{Agent, Effect, Target, Tool, ToolResult, ToolSpec};
use crate::error::Source as Cause;

/// For a connection to stand; before it does nothing was done.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Read beyond what a result holds, so that a secret that lies across its end is found whole.
const SLACK_BYTES: usize = 8 * 1024;

/// Calls services of the web.
pub struct HttpTools {
    public: Client,
    private: Client,
    secrets: Arc<dyn ToolSecrets>,
}

/// What a compressed body is taken for, whatever is in it.
const COMPRESSED: &str = "compressed";

/// A request cannot be made as the agent file says.
struct NotSent(String);

impl HttpTools {
    /// With these secrets. An error means that no HTTP client can be made (no TLS roots, say).
    pub fn new(secrets: Arc<dyn ToolSecrets>) -> Result<Self, Cause> {
        Ok(Self {
            public: client()
                .dns_resolver(Arc::new(PublicOnly::system()))
                .build()?,
            private: client().build()?,
            secrets,
        })
    }

    /// One request, and once more where the secret was refused and there is a newer one: surely nothing was done.
    async fn ask(
        &self,
        spec: &ToolSpec,
        http: &HttpTarget,
        made: &Made<'_>,
        timeout: Duration,
    ) -> Result<ToolResult, NotSent> {
        let mut sent = self.secrets_of(spec, http).await?;
        let mut answer = self.send(spec, http, made, &sent, timeout).await?;
        if answer
            .as_ref()
            .is_ok_and(|answer| answer.status() == StatusCode::UNAUTHORIZED)
            && self.renew(http, &mut sent).await
        {
            answer = self.send(spec, http, made, &sent, timeout).await?;
        }
        let effect = spec.tool.effect;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Ok(failed(spec, &error)),
        };
        let status = answer.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let (tool, status) = (&spec.tool.name, status.as_u16());
            tracing::warn!(%tool, status, "a tool's service refuses us: look at the secret in its headers");
        }
        let said = |name: &str| {
            let value = answer
                .headers()
                .get(name)
                .and_then(|kind| kind.to_str().ok());
            value.unwrap_or_default().to_ascii_lowercase()
        };
        // Nobody asked for a compressed body.
        let kind = match said("content-encoding").as_str() {
            "" | "identity" => said("content-type"),
            _ => COMPRESSED.to_owned(),
        };
        let (body, is_whole) = body(answer).await;
        let secrets: Vec<&str> = sent.iter().flatten().map(String::as_str).collect();
        let text = outcome::hidden(outcome::text(&kind, &body), &secrets);
        Ok(outcome::of(effect, status, text, is_whole).bounded())
    }

    /// The secret of each header, in their order.
    async fn secrets_of(
        &self,
        spec: &ToolSpec,
        http: &HttpTarget,
    ) -> Result<Vec<Option<String>>, NotSent> {
        let mut found = Vec::new();
        for header in &http.headers {
            let Some(name) = &header.secret else {
                found.push(None);
                continue;
            };
            let secret = self.secrets.current(name).await;
            if secret.is_none() {
                let tool = &spec.tool.name;
                tracing::error!(
                    "tool {tool}: its secret {name} is missing; set RECADO_SECRET_{name}, or on AWS the key {name} of \
                     tool_secrets in the secret"
                );
                return Err(NotSent(
                    "the tool is not set up: nothing was done".to_owned(),
                ));
            }
            found.push(secret);
        }
        Ok(found)
    }

    async fn renew(&self, http: &HttpTarget, sent: &mut [Option<String>]) -> bool {
        let mut is_newer = false;
        for (header, secret) in http.headers.iter().zip(sent) {
            if let (Some(name), Some(refused)) = (&header.secret, secret.as_deref())
                && let Some(newer) = self.secrets.renewed(name, refused).await
            {
                is_newer |= newer != refused;
                *secret = Some(newer);
            }
        }
        is_newer
    }

    async fn send(
        &self,
        spec: &ToolSpec,
        http: &HttpTarget,
        made: &Made<'_>,
        secrets: &[Option<String>],
        timeout: Duration,
    ) -> Result<reqwest::Result<Response>, NotSent> {
        let arguments = made.call.arguments.fields();
        let request::Parts { url, body } = request::parts(http, arguments).map_err(NotSent)?;
        if !http.private && request::literal(&url).is_some_and(|ip| !addresses::is_public(ip)) {
            return Err(private(spec));
        }
        let client = if http.private {
            &self.private
        } else {
            &self.public
        };
        let mut request = client
            .request(request::method(http.method), url)
            .timeout(timeout);
        for (header, secret) in http.headers.iter().zip(secrets) {
            let text = format!("{}{}", header.text, secret.as_deref().unwrap_or_default());
            let Ok(mut value) = HeaderValue::from_str(&text) else {
                let (tool, name) = (&spec.tool.name, &header.name);
                tracing::error!(
                    "tool {tool}: the secret of its header {name} holds what no header can hold"
                );
                return Err(NotSent(
                    "the tool is not set up: nothing was done".to_owned(),
                ));
            };
            value.set_sensitive(true);
            request = request.header(&header.name, value);
        }
        if spec.tool.effect == Effect::Write {
            request = request.header("idempotency-key", made.key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        match request.send().await {
            Err(error) if addresses::is_not_public(&error) => Err(private(spec)),
            sent => Ok(sent),
        }
    }
}

fn client() -> ClientBuilder {
    Client::builder()
        .user_agent("recado")
        .connect_timeout(CONNECT_TIMEOUT)
        // A Lambda is frozen between invocations, and a connection kept over that is dead on the other side.
        .pool_max_idle_per_host(0)
        // Nothing is sent twice unless the flow decides so.
        .retry(retry::never())
        .redirect(redirect::Policy::none())
        // A proxy would make the connection, to wherever it likes.
        .no_proxy()
}

fn private(spec: &ToolSpec) -> NotSent {
    let tool = &spec.tool.name;
    tracing::error!(
        "tool {tool}: its host is in a private network and was not called; if that is meant, set private = true in its \
         http in the agent file"
    );
    NotSent("the tool's service cannot be reached: nothing was done".to_owned())
}

/// Without an answer: nothing was done where no connection stood.
fn failed(spec: &ToolSpec, error: &reqwest::Error) -> ToolResult {
    if error.is_connect() || error.is_builder() {
        return ToolResult::Error("the service cannot be reached: nothing was done".to_owned());
    }
    super::no_answer(spec.tool.effect, "the service did not answer in time")
}

/// As much of the body as a result holds, and whether it came to its end or to that.
async fn body(mut answer: Response) -> (Vec<u8>, bool) {
    let most = ToolResult::BYTES_MAX + SLACK_BYTES;
    let mut body = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk[..chunk.len().min(most - body.len())]),
            Ok(None) => return (body, true),
            Err(_) => return (body, false),
        }
        if body.len() == most {
            return (body, true);
        }
    }
}

#[async_trait]
impl Source for HttpTools {
    fn declared(&self, agent: &Agent) -> Vec<Tool> {
        let specs = agent.tools.iter();
        let web = specs.filter(|spec| matches!(spec.target, Target::Http(_)));
        web.map(|spec| spec.tool.clone()).collect()
    }

    async fn run(&self, agent: &Agent, made: &Made<'_>, timeout: Duration) -> ToolResult {
        let found = agent.tools.iter().find_map(|spec| match &spec.target {
            Target::Http(http) if spec.tool.name == made.call.tool => Some((spec, http)),
            _ => None,
        });
        let Some((spec, http)) = found else {
            return ToolResult::Error("there is no such tool".to_owned());
        };
        let timeout = timeout.min(spec.timeout);
        self.ask(spec, http, made, timeout)
            .await
            .unwrap_or_else(|NotSent(why)| ToolResult::Error(why))
    }
}
