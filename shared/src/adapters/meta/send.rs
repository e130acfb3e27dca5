//! The way back: one text to one person by the Graph API. The processor sends what is committed through this.
//!
//! Every failure says what is known of the message: refused (it is surely not there), not connected (nothing left),
//! or unknown. The API has no idempotency key, so an unknown send is never repeated from here.

mod outcome;
mod token;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::adapters::retry_after;
use crate::domain::{Address, BusinessNumber, ReplyId};
use crate::error::{SendError, Source, Verdict};
use crate::policy::sendable;
use crate::policy::visible::is_blank;
use crate::ports::{LookUp, Messenger, Outgoing};

pub use token::{AccessToken, FixedToken};

/// A look-up is a courtesy of the local phone; it must not hold a run.
const LOOK_UP_TIMEOUT: Duration = Duration::from_secs(5);

/// An answer of Graph has some hundred bytes.
const BODY_BYTES_MAX: usize = 256 * 1024;

/// Where and how to send.
#[derive(Debug, Clone)]
pub struct GraphSettings {
    /// For instance `https://graph.facebook.com`.
    pub base: String,
    /// For instance `v25.0`.
    pub version: String,
    /// For one connection to stand. Default 5 s.
    pub connect_timeout: Duration,
    /// For the whole request, the connection included; longer than `connect_timeout`. Default 15 s.
    pub timeout: Duration,
    /// Base of `GET {base}/phone/replies/{reply}`, which the local phone answers and Meta does not.
    pub look_up_base: Option<String>,
}

impl GraphSettings {
    /// The defaults for this base and version.
    pub fn new(base: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            version: version.into(),
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(15),
            look_up_base: None,
        }
    }
}

/// Sends by the Graph API.
pub struct GraphMessenger {
    client: Client,
    base: Url,
    version: String,
    look_up_base: Option<Url>,
    token: Arc<dyn AccessToken>,
}

/// Settings that no sender can be made of.
#[derive(Debug, thiserror::Error)]
pub enum GraphSettingsError {
    /// A base is not an address to send to.
    #[error("{name} must be an http or https address, for instance https://graph.facebook.com")]
    Base {
        /// The setting.
        name: &'static str,
    },
    /// The HTTP client cannot be made (no TLS roots, say).
    #[error("the HTTP client for the Graph API cannot be made")]
    Client(#[source] Source),
}

impl GraphMessenger {
    /// A sender of these settings.
    pub fn new(
        settings: &GraphSettings,
        token: Arc<dyn AccessToken>,
    ) -> Result<Self, GraphSettingsError> {
        let client = Client::builder()
            .connect_timeout(settings.connect_timeout)
            .timeout(settings.timeout)
            // A Lambda is frozen between invocations; a connection kept over that is dead on the other side, and the
            // first send over it ends with an unknown outcome that no person or provider caused.
            .pool_max_idle_per_host(0)
            // Nothing is sent twice unless the processor decides so.
            .retry(retry::never())
            // A redirect would carry the words, and perhaps the token, elsewhere.
            .redirect(redirect::Policy::none())
            // Behind a proxy a refused connection looks like an answer, and the outcome would be unknown.
            .no_proxy()
            .build()
            .map_err(|error| GraphSettingsError::Client(error.without_url().into()))?;
        let look_up_base = settings.look_up_base.as_deref();
        Ok(Self {
            client,
            base: address(&settings.base, "the Graph base")?,
            version: settings.version.clone(),
            look_up_base: look_up_base
                .map(|base| address(base, "the look-up base"))
                .transpose()?,
            token,
        })
    }

    fn messages_url(&self, number: &BusinessNumber) -> Url {
        below(&self.base, &[&self.version, number.as_str(), "messages"])
    }

    async fn post(&self, url: Url, token: &str, body: &Value) -> Result<String, SendError> {
        let response = self
            .client
            .post(url)
            .bearer_auth(token)
            .json(body)
            .send()
            .await
            .map_err(outcome::of_failure)?;
        let status = response.status();
        let retry_after = retry_after::wait(response.headers());
        match whole(response).await {
            Some(body) => outcome::of_answer(status, retry_after, &body),
            None => Err(outcome::of_cut_answer(status, retry_after)),
        }
    }
}

/// The body; `None` where it breaks off or is too long to be an answer.
async fn whole(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Some(body)
}

#[async_trait]
impl Messenger for GraphMessenger {
    async fn send(&self, outgoing: &Outgoing) -> Result<String, SendError> {
        if is_blank(&outgoing.text) {
            return Err(SendError::Refused {
                code: "blank".to_owned(),
                verdict: Verdict::GiveUp,
            });
        }
        let body = request(outgoing);
        let url = self.messages_url(&outgoing.number);
        let token = self
            .token
            .current()
            .await
            .map_err(SendError::NotConnected)?;
        let answer = self.post(url.clone(), &token, &body).await;
        if !matches!(&answer, Err(error) if outcome::is_of_token(error)) {
            return answer;
        }
        // Surely not accepted, so it may go again with the token that replaced this one.
        match self.token.renewed(&token).await {
            Ok(Some(renewed)) if renewed != token => self.post(url, &renewed, &body).await,
            _ => answer,
        }
    }

    async fn look_up(&self, reply: ReplyId) -> LookUp {
        #[derive(Deserialize)]
        struct Found {
            id: String,
        }
        let Some(base) = &self.look_up_base else {
            return LookUp::CannotTell;
        };
        let url = below(base, &["phone", "replies", &reply.to_string()]);
        let request = self.client.get(url).timeout(LOOK_UP_TIMEOUT);
        let Ok(response) = request.send().await else {
            return LookUp::CannotTell;
        };
        match response.status() {
            StatusCode::OK => whole(response)
                .await
                .and_then(|body| serde_json::from_slice::<Found>(&body).ok())
                .map_or(LookUp::CannotTell, |found| LookUp::Sent(found.id)),
            StatusCode::NOT_FOUND => LookUp::NotReceived,
            _ => LookUp::CannotTell,
        }
    }
}

/// A phone goes in `to`, a business-scoped user id in `recipient`: in `to` it is dropped without a word.
fn request(outgoing: &Outgoing) -> Value {
    let mut body = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "type": "text",
        "text": { "body": sendable::fit(&outgoing.text), "preview_url": false },
        "biz_opaque_callback_data": outgoing.reply.to_string(),
    });
    match &outgoing.to {
        Address::Phone(phone) => body["to"] = phone.as_str().into(),
        Address::Bsuid(bsuid) => body["recipient"] = bsuid.as_str().into(),
    }
    body
}

fn address(text: &str, name: &'static str) -> Result<Url, GraphSettingsError> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or(GraphSettingsError::Base { name })
}

/// `base` with `segments` appended, each escaped.
fn below(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

#[cfg(test)]
mod tests;
