//! Language models over HTTP. What all providers have in common stands in `http` (client, key, time, sizes), `answer`
//! and `classify` (statuses, headers, errors), `pieces` (the conversation as any provider takes it) and `cache`; a
//! dialect is the rest: how a prompt is written and an answer read. `routed` picks the provider by the model's name.
//!
//! Encoding and decoding are pure. Nothing is kept by a provider that lets us choose, and no error holds an address, a
//! key or a word of anybody.

mod answer;
mod anthropic;
mod cache;
mod calls;
mod chat;
mod classify;
mod http;
mod ids;
mod pieces;
mod responses;
mod routed;

use serde_json::Value;

pub use answer::decode;
pub use http::{ApiKey, Endpoint, FixedKey, HttpModel, HttpModelError};
pub use routed::RoutedModel;

use crate::domain::provider::Provider;
use crate::domain::{ModelReply, Prompt, Usage};
use crate::policy::prompt::validate::mended;
use classify::Failure;

/// A model at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Who serves it.
    pub provider: Provider,
    /// Its name there.
    pub model: &'a str,
}

impl Asked<'_> {
    /// What names the model among all providers': carried items go back to this one only.
    pub fn origin(&self) -> String {
        format!("{}:{}", self.provider, self.model)
    }

    /// The body of the request for `prompt`, mended where a provider would refuse it.
    pub fn encode(&self, prompt: &Prompt) -> Value {
        let prompt = mended(prompt);
        match Dialect::of(self.provider) {
            Dialect::Responses => responses::encode(self, &prompt),
            Dialect::Chat => chat::encode(self, &prompt),
            Dialect::Anthropic => anthropic::encode(self, &prompt),
        }
    }

    /// Tokens, as this provider counts them.
    fn usage(&self, usage: &Value) -> Usage {
        match Dialect::of(self.provider) {
            Dialect::Responses => responses::usage(usage),
            Dialect::Chat => chat::usage(usage),
            Dialect::Anthropic => anthropic::usage(usage),
        }
    }

    /// The reply in a body that came with status 200 and holds no error.
    fn read(&self, body: Value) -> Result<ModelReply, Failure> {
        match Dialect::of(self.provider) {
            Dialect::Responses => responses::read(self, body),
            Dialect::Chat => chat::read(self, body),
            Dialect::Anthropic => anthropic::read(self, body),
        }
    }
}

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `OpenAI`'s Responses API.
    Responses,
    /// Chat completions, `OpenAI`'s older API, which most others imitate.
    Chat,
    /// Anthropic's Messages API.
    Anthropic,
}

impl Dialect {
    /// What a provider speaks.
    pub const fn of(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi => Self::Responses,
            Provider::OpenRouter | Provider::Compatible => Self::Chat,
            Provider::Anthropic => Self::Anthropic,
        }
    }

    /// What follows the base address.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat/completions",
            Self::Anthropic => "messages",
        }
    }
}
