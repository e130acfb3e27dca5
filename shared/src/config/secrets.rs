//! The one secret of an installation on AWS: a JSON object with documented keys.
//!
//! ```json
//! {
//!   "hash_key": "made by the stack; never change it",
//!   "model_key": "the default provider's API key",
//!   "openai_key": "OpenAI's, where another provider is the default",
//!   "openrouter_key": "OpenRouter's, in the same way",
//!   "anthropic_key": "Anthropic's, in the same way",
//!   "compatible_key": "that of a server of chat completions, where it asks for one",
//!   "meta_app_secret": "the app's secret, which signs the webhooks",
//!   "meta_app_secret_previous": "the one before, while it is being rotated",
//!   "meta_verify_token": "a word of your choice, also typed into the webhook's settings",
//!   "meta_access_token": "the system user's token, which may send",
//!   "tool_secrets": { "CLINIC": "what the header of a tool holds as secret:CLINIC" }
//! }
//! ```
//!
//! A blank value counts as absent: a new stack starts with blanks, and what is missing is told when it is needed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::nearest::nearest;
use super::secret::Secret;
use crate::domain::Provider;

/// The key that holds the tools' secrets, by their names in the agent files.
const TOOL_SECRETS: &str = "tool_secrets";

/// A key of the installation's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretKey {
    /// Keys the hashes that stand for people; at least 32 characters, never changed.
    HashKey,
    /// The default model provider's API key.
    ModelKey,
    /// `OpenAI`'s.
    OpenAiKey,
    /// `OpenRouter`'s.
    OpenRouterKey,
    /// Anthropic's.
    AnthropicKey,
    /// That of a server of chat completions.
    CompatibleKey,
    /// Signs Meta's webhooks.
    MetaAppSecret,
    /// Signed them before; accepted while the new one spreads.
    MetaAppSecretPrevious,
    /// Echoed in Meta's handshake.
    MetaVerifyToken,
    /// Lets us send through Meta.
    MetaAccessToken,
}

impl SecretKey {
    /// Every key.
    pub const ALL: [Self; 10] = [
        Self::HashKey,
        Self::ModelKey,
        Self::OpenAiKey,
        Self::OpenRouterKey,
        Self::AnthropicKey,
        Self::CompatibleKey,
        Self::MetaAppSecret,
        Self::MetaAppSecretPrevious,
        Self::MetaVerifyToken,
        Self::MetaAccessToken,
    ];

    /// The key of this provider alone.
    pub fn of(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi => Self::OpenAiKey,
            Provider::OpenRouter => Self::OpenRouterKey,
            Provider::Anthropic => Self::AnthropicKey,
            Provider::Compatible => Self::CompatibleKey,
        }
    }

    /// Its name in the JSON object.
    pub fn name(self) -> &'static str {
        match self {
            Self::HashKey => "hash_key",
            Self::ModelKey => "model_key",
            Self::OpenAiKey => "openai_key",
            Self::OpenRouterKey => "openrouter_key",
            Self::AnthropicKey => "anthropic_key",
            Self::CompatibleKey => "compatible_key",
            Self::MetaAppSecret => "meta_app_secret",
            Self::MetaAppSecretPrevious => "meta_app_secret_previous",
            Self::MetaVerifyToken => "meta_verify_token",
            Self::MetaAccessToken => "meta_access_token",
        }
    }

    /// What to put there.
    pub fn right_value(self) -> &'static str {
        match self {
            Self::HashKey => {
                "at least 32 random characters, for instance from `openssl rand -hex 32`"
            }
            Self::ModelKey => "the model provider's API key, for instance sk-…",
            Self::OpenAiKey => "the API key of OpenAI, for instance sk-…",
            Self::OpenRouterKey => "the API key of OpenRouter, for instance sk-or-…",
            Self::AnthropicKey => "the API key of Anthropic, for instance sk-ant-…",
            Self::CompatibleKey => "the key of the server of chat completions",
            Self::MetaAppSecret | Self::MetaAppSecretPrevious => {
                "the app secret of the Meta app (App settings, Basic), 32 hexadecimal characters"
            }
            Self::MetaVerifyToken => {
                "a word of your choice, the same as in the webhook's settings at Meta"
            }
            Self::MetaAccessToken => {
                "a system user's access token with whatsapp_business_messaging"
            }
        }
    }

    fn parse(self, text: &str) -> Result<Secret, &'static str> {
        match self {
            Self::HashKey => {
                let secret = Secret::parse(text)?;
                if secret.reveal().len() < 32 {
                    return Err("is too short");
                }
                Ok(secret)
            }
            Self::MetaVerifyToken => Secret::parse(text),
            Self::MetaAppSecret | Self::MetaAppSecretPrevious => Secret::parse_app_secret(text),
            _ => Secret::parse_token(text),
        }
    }
}

/// A secret is needed that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the key \"{}\" is missing; put there {}", .0.name(), .0.right_value())]
pub struct MissingSecret(pub SecretKey);

/// The secrets of an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    values: BTreeMap<SecretKey, Secret>,
    tools: BTreeMap<String, Secret>,
    warnings: Vec<String>,
}

impl Secrets {
    /// These secrets.
    pub fn of(values: impl IntoIterator<Item = (SecretKey, Secret)>) -> Self {
        Self {
            values: values.into_iter().collect(),
            tools: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Reads the JSON object. An error names every wrong key in one line, and shows no value.
    pub fn parse(json: &str) -> Result<Self, String> {
        let shape = "must be a JSON object such as {\"hash_key\": \"…\", \"model_key\": \"…\"}";
        let value: Value = serde_json::from_str(json).map_err(|error| {
            // The parser's own words may hold a piece of the text.
            format!(
                "{shape}; the JSON breaks at line {} column {}",
                error.line(),
                error.column()
            )
        })?;
        let Value::Object(object) = value else {
            return Err(format!("{shape}; it is JSON, but no object"));
        };
        let mut secrets = Self::default();
        let mut problems = Vec::new();
        for (name, value) in &object {
            if name == TOOL_SECRETS {
                secrets.read_tools(value, &mut problems);
                continue;
            }
            let Some(key) = SecretKey::ALL.into_iter().find(|key| key.name() == name) else {
                secrets.warnings.push(unknown(name));
                continue;
            };
            let parsed = match value {
                Value::Null => continue,
                Value::String(text) if text.trim().is_empty() => continue,
                Value::String(text) => key.parse(text),
                _ => Err("must be text in quotes"),
            };
            match parsed {
                Ok(secret) => {
                    secrets.values.insert(key, secret);
                }
                Err(problem) => problems.push(format!(
                    "the key \"{name}\" {problem}; put there {}",
                    key.right_value()
                )),
            }
        }
        if problems.is_empty() {
            Ok(secrets)
        } else {
            Err(problems.join("; "))
        }
    }

    fn read_tools(&mut self, value: &Value, problems: &mut Vec<String>) {
        let Value::Object(object) = value else {
            problems.push(format!(
                "the key \"{TOOL_SECRETS}\" must be an object, such as {{\"CLINIC\": \"…\"}}"
            ));
            return;
        };
        for (name, value) in object {
            let parsed = match value {
                Value::String(text) if text.trim().is_empty() => continue,
                Value::String(text) => Secret::parse(text),
                _ => Err("must be text in quotes"),
            };
            match parsed {
                Ok(secret) => {
                    self.tools.insert(name.clone(), secret);
                }
                Err(problem) => problems.push(format!("a key in \"{TOOL_SECRETS}\" {problem}")),
            }
        }
    }

    /// The secret that tools call by this name, where there is one.
    pub fn tool(&self, name: &str) -> Option<&Secret> {
        self.tools.get(name)
    }

    /// The secret under this key, where there is one.
    pub fn get(&self, key: SecretKey) -> Option<&Secret> {
        self.values.get(&key)
    }

    /// The secret under this key; an error says what to put there.
    pub fn require(&self, key: SecretKey) -> Result<&Secret, MissingSecret> {
        self.get(key).ok_or(MissingSecret(key))
    }

    /// Keys that nothing reads, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Says that nothing reads this key. A name that looks like a value is not repeated.
fn unknown(name: &str) -> String {
    if let Some(meant) = nearest(name, SecretKey::ALL.map(SecretKey::name)) {
        return format!("the secret has an unknown key; did you mean \"{meant}\"?");
    }
    let is_name = name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let shown = if is_name { name } else { "…" };
    format!("the secret has the key \"{shown}\", which nothing reads")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH_KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn every_documented_key_is_read_and_trimmed() {
        let object: serde_json::Map<String, Value> = SecretKey::ALL
            .into_iter()
            .map(|key| (key.name().to_owned(), format!(" {HASH_KEY}\n").into()))
            .collect();
        let secrets = Secrets::parse(&Value::from(object).to_string()).unwrap();
        for key in SecretKey::ALL {
            assert_eq!(secrets.require(key).unwrap().reveal(), HASH_KEY);
        }
        assert!(secrets.warnings().is_empty());
    }

    #[test]
    fn a_blank_value_counts_as_absent_until_it_is_needed() {
        let secrets = Secrets::parse(r#"{"model_key": " ", "meta_app_secret": null}"#).unwrap();
        assert_eq!(secrets.get(SecretKey::MetaAppSecret), None);
        let missing = secrets.require(SecretKey::ModelKey).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the key \"model_key\" is missing; put there the model provider's API key, for instance sk-…"
        );
    }

    #[test]
    fn a_wrong_secret_is_told_without_any_value() {
        for (label, json, expected) in [
            ("not JSON", "sk-canary", "breaks at line 1 column 1"),
            ("cut", r#"{"model_key": "sk-canary"#, "breaks at line 1"),
            ("a text", r#""sk-canary""#, "but no object"),
            ("a list", r#"["sk-canary"]"#, "but no object"),
            (
                "a number",
                r#"{"model_key": 7}"#,
                "\"model_key\" must be text in quotes",
            ),
            (
                "a space",
                r#"{"model_key": "sk canary"}"#,
                "\"model_key\" holds a space",
            ),
            (
                "a short hash key",
                r#"{"hash_key": "canary"}"#,
                "\"hash_key\" is too short",
            ),
            (
                "two at once",
                r#"{"hash_key": "canary", "meta_access_token": "'canary'"}"#,
                "\"meta_access_token\" has quotes",
            ),
        ] {
            let problem = Secrets::parse(json).unwrap_err();
            assert!(problem.contains(expected), "{label}: {problem}");
            assert!(!problem.contains("canary"), "{label}: {problem}");
            assert!(!problem.contains('\n'), "{label}: {problem}");
        }
    }

    #[test]
    fn the_secrets_of_tools_have_an_object_of_their_own() {
        let json = r#"{"tool_secrets": {"CLINIC": " abc \n", "EMPTY": ""}}"#;
        let secrets = Secrets::parse(json).unwrap();
        assert_eq!(secrets.tool("CLINIC").map(Secret::reveal), Some("abc"));
        assert_eq!(secrets.tool("EMPTY"), None);
        assert!(secrets.warnings().is_empty());
        for wrong in [
            r#"{"tool_secrets": "canary"}"#,
            r#"{"tool_secrets": {"A": 7}}"#,
        ] {
            let problem = Secrets::parse(wrong).unwrap_err();
            assert!(problem.contains("tool_secrets") && !problem.contains("canary"));
        }
    }

    #[test]
    fn an_unknown_key_is_a_warning_that_shows_no_value() {
        let json = r#"{"model_keys": "canary", "note": "canary", "SK-CANARY-123": ""}"#;
        let secrets = Secrets::parse(json).unwrap();
        assert_eq!(
            secrets.warnings(),
            [
                "the secret has the key \"…\", which nothing reads",
                "the secret has an unknown key; did you mean \"model_key\"?",
                "the secret has the key \"note\", which nothing reads",
            ]
        );
        assert!(!format!("{secrets:?}").contains("canary"));
    }
}
