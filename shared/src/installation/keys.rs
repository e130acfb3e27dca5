//! Keys that are looked up when they are needed, so that a new one is in use without a new deployment.

use std::sync::Arc;

use async_trait::async_trait;

use crate::adapters::meta::send::AccessToken;
use crate::adapters::openai::ApiKey;
use crate::adapters::secrets::SecretsProvider;
use crate::adapters::toolbox::secrets::ToolSecrets;
use crate::config::secrets::{SecretKey, Secrets};
use crate::error::Source;

/// One key of the installation's secret.
#[derive(Clone)]
pub(super) struct StoredKey {
    pub(super) secrets: Arc<SecretsProvider<Secrets>>,
    /// What the secret is called, for the log.
    pub(super) place: String,
    pub(super) key: SecretKey,
}

impl StoredKey {
    async fn value(&self) -> Result<String, Source> {
        Ok(self
            .secrets
            .current()
            .await?
            .require(self.key)?
            .reveal()
            .to_owned())
    }

    /// A newer value than `refused`. Where there is none the operator has to act, and is told.
    async fn newer(&self, refused: &str) -> Result<Option<String>, Source> {
        let secrets = self.secrets.refresh().await?;
        let newer = secrets.require(self.key)?.reveal();
        if newer != refused {
            return Ok(Some(newer.to_owned()));
        }
        tracing::error!(
            "{}: the key \"{}\" is refused; put there {}",
            self.place,
            self.key.name(),
            self.key.right_value()
        );
        Ok(None)
    }
}

#[async_trait]
impl ApiKey for StoredKey {
    async fn current(&self) -> Result<String, Source> {
        self.value().await
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source> {
        self.newer(refused).await
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
