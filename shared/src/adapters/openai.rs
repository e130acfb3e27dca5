//! The Responses API of OpenAI, and of whatever speaks it behind another base address.
//!
//! [`encode`] and [`decode`] are pure and hold all there is to know of the wire; `converse` only carries bytes.
//! Nothing is kept by the provider (`store: false`), and no error holds an address, a key or a word of anybody.

mod answer;
mod calls;
mod classify;
mod request;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Url, header, redirect};

pub use answer::decode;
pub use request::encode;

use crate::domain::{ModelReply, Prompt};
use crate::error::{ModelError, ModelErrorClass, Source};
use crate::ports::Model;

/// An answer longer than this is no answer to our requests.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Where the key comes from, so that it can be replaced while the program runs.
#[async_trait]
pub trait ApiKey: Send + Sync {
    /// The key to ask with.
    async fn current(&self) -> Result<String, Source>;
    /// Asked after `refused` was refused: another key, where there is one by now. The implementor sees to it that the
    /// secret is read again at most once a minute.
    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source>;
}

/// A key that stays.
pub struct FixedKey(pub String);

#[async_trait]
impl ApiKey for FixedKey {
    async fn current(&self) -> Result<String, Source> {
        Ok(self.0.clone())
    }

    async fn renewed(&self, _refused: &str) -> Result<Option<String>, Source> {
        Ok(None)
    }
}

/// Where and how to ask.
#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    /// Up to and without `/responses`. Default `https://api.openai.com/v1`.
    pub base: String,
    /// For one connection to stand. Default 5 s.
    pub connect_timeout: Duration,
    /// Whether the models take cache marks (GPT-5.6 and later do; others refuse the request). Default no.
    pub cache_marks: bool,
}

impl Default for OpenAiSettings {
    fn default() -> Self {
        Self {
            base: "https://api.openai.com/v1".to_owned(),
            connect_timeout: Duration::from_secs(5),
            cache_marks: false,
        }
    }
}

/// Settings that no client can be made of.
#[derive(Debug, thiserror::Error)]
pub enum OpenAiSettingsError {
    /// The base is not an address.
    #[error(
        "the models' base must be an http or https address, for instance https://api.openai.com/v1"
    )]
    Base,
    /// The HTTP client cannot be made (no TLS roots, say).
    #[error("the HTTP client for the models cannot be made")]
    Client(#[source] Source),
}

/// Asks models by the Responses API.
pub struct OpenAiModel {
    client: Client,
    address: Url,
    cache_marks: bool,
    key: Arc<dyn ApiKey>,
}

impl OpenAiModel {
    /// A client of these settings.
    pub fn new(
        settings: &OpenAiSettings,
        key: Arc<dyn ApiKey>,
    ) -> Result<Self, OpenAiSettingsError> {
        let is_address = |base: &Url| matches!(base.scheme(), "http" | "https") && base.has_host();
        let address = Url::parse(&settings.base)
            .ok()
            .filter(is_address)
            .and_then(|base| {
                format!("{}/responses", base.as_str().trim_end_matches('/'))
                    .parse()
                    .ok()
            })
            .ok_or(OpenAiSettingsError::Base)?;
        let client = Client::builder()
            .connect_timeout(settings.connect_timeout)
            // A Lambda is frozen between invocations: a connection kept over that is dead on the other side.
            .pool_idle_timeout(Duration::from_secs(20))
            // The run has one budget of attempts; a second ladder in here would multiply it.
            .retry(reqwest::retry::never())
            // A redirect would carry the words, and perhaps the key, elsewhere.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| OpenAiSettingsError::Client(error.without_url().into()))?;
        Ok(Self {
            client,
            address,
            cache_marks: settings.cache_marks,
            key,
        })
    }

    /// One request with one key.
    async fn ask(&self, key: &str, body: Vec<u8>) -> Result<ModelReply, ModelError> {
        let mut response = self
            .client
            .post(self.address.clone())
            .bearer_auth(key)
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
        decode(status, &headers, &body)
    }

    /// One request, and a second only where the key was replaced meanwhile.
    async fn ask_with_current_key(&self, body: Vec<u8>) -> Result<ModelReply, ModelError> {
        let key = self.key.current().await.map_err(|_| no_key())?;
        let outcome = self.ask(&key, body.clone()).await;
        match outcome {
            Err(error) if error.class == ModelErrorClass::Auth => {
                match self.key.renewed(&key).await.map_err(|_| no_key())? {
                    Some(renewed) if renewed != key => self.ask(&renewed, body).await,
                    _ => Err(error),
                }
            }
            outcome => outcome,
        }
    }
}

#[async_trait]
impl Model for OpenAiModel {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        let body = encode(model, prompt, self.cache_marks)
            .to_string()
            .into_bytes();
        match tokio::time::timeout(timeout, self.ask_with_current_key(body)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ModelError::new(
                ModelErrorClass::Transient,
                "no answer in time",
            )),
        }
    }
}

/// The error's own text holds the address; only its kind is told.
fn unreachable(error: &reqwest::Error) -> ModelError {
    let reason = if error.is_connect() {
        "no connection"
    } else if error.is_timeout() {
        "no answer in time"
    } else {
        "the connection broke"
    };
    ModelError::new(ModelErrorClass::Transient, reason)
}

/// The secret could not be read: a failure of ours, worth another try.
fn no_key() -> ModelError {
    ModelError::new(ModelErrorClass::Transient, "the key could not be read")
}
