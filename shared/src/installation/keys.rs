//! Keys that are looked up when they are needed, so that a new one is in use without a new deployment.

use std::sync::Arc;

use async_trait::async_trait;

use crate::adapters::meta::send::AccessToken;
use crate::adapters::openai::ApiKey;
use crate::adapters::secrets::SecretsProvider;
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
