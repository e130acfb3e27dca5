//! The thin shell: carries a request's bytes to a provider and its answer back, in time and in size, with a key that is
//! read again once where it was refused. All there is to know of the wire stands in the dialects.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, RequestBuilder, Url, header, redirect};

use super::{Asked, Dialect, anthropic, decode};
use crate::domain::provider::Provider;
use crate::domain::{ModelReply, Prompt};
use crate::error::{ModelError, ModelErrorClass, Source};
use crate::policy::prompt::validate;
use crate::ports::Model;

/// An answer longer than this is no answer to our requests.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// For one connection to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the key comes from, so that it can be replaced while the program runs.
#[async_trait]
pub trait ApiKey: Send + Sync {
    /// The key to ask with; none where the provider needs none and none is set.
    async fn current(&self) -> Result<Option<String>, Source>;
    /// Asked after `refused` was refused: another key, where there is one by now. The implementor sees to it that the
    /// secret is read again at most once a minute.
    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source>;
}

/// A key that stays.
pub struct FixedKey(pub String);

#[async_trait]
impl ApiKey for FixedKey {
    async fn current(&self) -> Result<Option<String>, Source> {
        Ok(Some(self.0.clone()))
    }

    async fn renewed(&self, _refused: &str) -> Result<Option<String>, Source> {
        Ok(None)
    }
}

/// Where a provider is asked, and with what.
#[derive(Clone)]
pub struct Endpoint {
    /// Who it is.
    pub provider: Provider,
    /// Its address, up to where the name of the request follows.
    pub base: String,
    /// Our key there; a server of one's own may need none.
    pub key: Option<Arc<dyn ApiKey>>,
}

/// Settings that no client can be made of.
#[derive(Debug, thiserror::Error)]
pub enum HttpModelError {
    /// The base is not an address.
    #[error(
        "the base of the provider {0} must be an http or https address, for instance https://api.openai.com/v1"
    )]
    Base(Provider),
    /// The HTTP client cannot be made (no TLS roots, say).
    #[error("the HTTP client for the models cannot be made")]
    Client(#[source] Source),
}

/// Asks the models of one provider.
pub struct HttpModel {
    client: Client,
    provider: Provider,
    address: Url,
    key: Option<Arc<dyn ApiKey>>,
}

impl HttpModel {
    /// A client of its own for this provider.
    pub fn new(endpoint: Endpoint) -> Result<Self, HttpModelError> {
        Self::with(client()?, endpoint)
    }

    /// Over a client that others use too.
    pub(super) fn with(client: Client, endpoint: Endpoint) -> Result<Self, HttpModelError> {
        let Endpoint {
            provider,
            base,
            key,
        } = endpoint;
        let is_address = |base: &Url| matches!(base.scheme(), "http" | "https") && base.has_host();
        let path = Dialect::of(provider).path();
        let address = Url::parse(&base)
            .ok()
            .filter(is_address)
            .and_then(|base| {
                format!("{}/{path}", base.as_str().trim_end_matches('/'))
                    .parse()
                    .ok()
            })
            .ok_or(HttpModelError::Base(provider))?;
        Ok(Self {
            client,
            provider,
            address,
            key,
        })
    }

    /// One request with one key.
    async fn ask(
        &self,
        asked: &Asked<'_>,
        key: Option<&str>,
        body: Vec<u8>,
    ) -> Result<ModelReply, ModelError> {
        let request = self.client.post(self.address.clone());
        let mut response = self
            .signed(request, key)
            .header(header::CONTENT_TYPE, "application/json")
            .body(body)
            .send()
            .await
            .map_err(|error| unreachable(&error))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| unreachable(&error))?
        {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(ModelError::new(
                    ModelErrorClass::Invalid,
                    "answer too large",
                ));
            }
            body.extend_from_slice(&chunk);
        }
        decode(asked, status, &headers, &body)
    }

    /// With the key where this provider looks for it.
    fn signed(&self, request: RequestBuilder, key: Option<&str>) -> RequestBuilder {
        match (Dialect::of(self.provider), key) {
            (Dialect::Anthropic, key) => {
                let request = request.header("anthropic-version", anthropic::VERSION);
                match key {
                    Some(key) => request.header("x-api-key", key),
                    None => request,
                }
            }
            (_, Some(key)) => request.bearer_auth(key),
            (_, None) => request,
        }
    }

    /// One request, and a second only where the key was replaced meanwhile.
    async fn ask_with_current_key(
        &self,
        asked: &Asked<'_>,
        body: Vec<u8>,
    ) -> Result<ModelReply, ModelError> {
        let key = match &self.key {
            Some(source) => source.current().await.map_err(|_| no_key())?,
            None => None,
        };
        let outcome = self.ask(asked, key.as_deref(), body.clone()).await;
        match (outcome, &self.key) {
            (Err(error), Some(source)) if error.class == ModelErrorClass::Auth => {
                let refused = key.unwrap_or_default();
                match source.renewed(&refused).await.map_err(|_| no_key())? {
                    Some(renewed) if renewed != refused => {
                        self.ask(asked, Some(&renewed), body).await
                    }
                    _ => Err(error),
                }
            }
            (outcome, _) => outcome,
        }
    }
}

/// The client of all providers.
pub(super) fn client() -> Result<Client, HttpModelError> {
    Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        // A Lambda is frozen between invocations: a connection kept over that is dead on the other side.
        .pool_idle_timeout(Duration::from_secs(20))
        // The run has one budget of attempts; a second ladder in here would multiply it.
        .retry(reqwest::retry::never())
        // A redirect would carry the words, and perhaps the key, elsewhere.
        .redirect(redirect::Policy::none())
        .build()
        .map_err(|error| HttpModelError::Client(error.without_url().into()))
}

#[async_trait]
impl Model for HttpModel {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        let asked = Asked {
            provider: self.provider,
            model,
        };
        if let Err(flaw) = validate(prompt) {
            // The person is answered all the same.
            tracing::error!(%flaw, "a request to the model was mended");
        }
        let body = asked.encode(prompt).to_string().into_bytes();
        let asking = self.ask_with_current_key(&asked, body);
        let outcome = tokio::time::timeout(timeout, asking).await;
        let outcome = outcome.unwrap_or_else(|_| Err(transient("no answer in time")));
        // Several providers may be in use: who failed has to be told.
        outcome.map_err(|error| ModelError {
            reason: format!("{}, from {}", error.reason, self.provider),
            ..error
        })
    }
}

/// The error's own text holds the address; only its kind is told.
fn unreachable(error: &reqwest::Error) -> ModelError {
    transient(if error.is_connect() {
        "no connection"
    } else if error.is_timeout() {
        "no answer in time"
    } else {
        "the connection broke"
    })
}

/// The secret could not be read: a failure of ours, worth another try.
fn no_key() -> ModelError {
    transient("the key could not be read")
}

fn transient(reason: &str) -> ModelError {
    ModelError::new(ModelErrorClass::Transient, reason)
}
