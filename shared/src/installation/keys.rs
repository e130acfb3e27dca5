//! Keys that are looked up when they are needed, so that a new one is in use without a new deployment.

use std::sync::Arc;

use async_trait::async_trait;

use crate::adapters::meta::send::AccessToken;
use crate::adapters::models::ApiKey;
use crate::adapters::secrets::SecretsProvider;
use crate::adapters::toolbox::secrets::ToolSecrets;
use crate::config::secret::Secret;
use crate::config::secrets::{MissingSecret, SecretKey, Secrets};
use crate::domain::Provider;
use crate::error::Source;

/// One key of the installation's secret.
#[derive(Clone)]
pub(super) struct StoredKey {
    pub(super) secrets: Arc<SecretsProvider<Secrets>>,
    /// What the secret is called, for the log.
    pub(super) place: String,
    /// Where it may stand, the first that is there before the others.
    pub(super) keys: Vec<SecretKey>,
}

impl StoredKey {
    async fn value(&self) -> Result<String, Source> {
        let secrets = self.secrets.current().await?;
        let (_, secret) = first(&secrets, &self.keys)?;
        Ok(secret.reveal().to_owned())
    }

    /// A newer value than `refused`. Where there is none the operator has to act, and is told.
    async fn newer(&self, refused: &str) -> Result<Option<String>, Source> {
        let secrets = self.secrets.refresh().await?;
        let (key, secret) = first(&secrets, &self.keys)?;
        if secret.reveal() != refused {
            return Ok(Some(secret.reveal().to_owned()));
        }
        tracing::error!(
            "{}: the key \"{}\" is refused; put there {}",
            self.place,
            key.name(),
            key.right_value()
        );
        Ok(None)
    }
}

/// Where a provider's key may stand: under its own name, and the default's under the usual one.
pub(super) fn keys_of(provider: Provider, default: Provider) -> Vec<SecretKey> {
    let usual = (provider == default).then_some(SecretKey::ModelKey);
    let own = SecretKey::of(provider);
    std::iter::once(own).chain(usual).collect()
}

/// The first of these keys that is there. What is missing is the last, the one that most installations have.
pub(super) fn first<'s>(
    secrets: &'s Secrets,
    keys: &[SecretKey],
) -> Result<(SecretKey, &'s Secret), MissingSecret> {
    let mut found = keys
        .iter()
        .filter_map(|key| secrets.get(*key).map(|secret| (*key, secret)));
    let last = keys.last().copied().unwrap_or(SecretKey::ModelKey);
    found.next().ok_or(MissingSecret(last))
}

#[async_trait]
impl ApiKey for StoredKey {
    async fn current(&self) -> Result<Option<String>, Source> {
        self.value().await.map(Some)
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source> {
        self.newer(refused).await
    }
}

/// A key that may be left out: a server of one's own may need none.
pub(super) struct OptionalKey(pub(super) StoredKey);

#[async_trait]
impl ApiKey for OptionalKey {
    async fn current(&self) -> Result<Option<String>, Source> {
        let secrets = self.0.secrets.current().await?;
        let found = first(&secrets, &self.0.keys).ok();
        Ok(found.map(|(_, secret)| secret.reveal().to_owned()))
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source> {
        let secrets = self.0.secrets.refresh().await?;
        match first(&secrets, &self.0.keys) {
            Ok(_) => self.0.newer(refused).await,
            Err(_) => Ok(None),
        }
    }
}

#[async_trait]
impl AccessToken for StoredKey {
    async fn current(&self) -> Result<String, Source> {
        self.value().await
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source> {
        self.newer(refused).await
    }
}

/// The tools' secrets: `tool_secrets` in the installation's secret.
pub(super) struct StoredToolSecrets {
    pub(super) secrets: Arc<SecretsProvider<Secrets>>,
}

#[async_trait]
impl ToolSecrets for StoredToolSecrets {
    async fn current(&self, name: &str) -> Option<String> {
        let secret = |secrets: &Secrets| Some(secrets.tool(name)?.reveal().to_owned());
        if let Some(secret) = secret(&*self.secrets.current().await.ok()?) {
            return Some(secret);
        }
        // It may have been put there just now.
        secret(&*self.secrets.refresh().await.ok()?)
    }

    async fn renewed(&self, name: &str, refused: &str) -> Option<String> {
        let secrets = self.secrets.refresh().await.ok()?;
        let newer = secrets.tool(name)?.reveal();
        (newer != refused).then(|| newer.to_owned())
    }
}
