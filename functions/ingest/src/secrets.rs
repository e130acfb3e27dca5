//! What each channel's requests are checked with, and where that comes from.

use std::sync::Arc;

use async_trait::async_trait;
use recado::adapters::secrets::SecretsProvider;
use recado::config::secrets::{SecretKey, Secrets};
use recado::error::Source;

/// Where each channel's secrets come from.
#[derive(Clone)]
pub struct Channels {
    /// Meta's.
    pub meta: Arc<dyn MetaSecretsSource>,
}

/// The secrets of the Meta app.
#[derive(Clone, Default)]
pub struct MetaSecrets {
    /// The app secret; two while one replaces the other.
    pub app_secrets: Vec<String>,
    /// The word chosen by the operator for the handshake.
    pub verify_token: String,
}

/// Gives the secrets of the Meta app, so that they can be replaced while the program runs.
#[async_trait]
pub trait MetaSecretsSource: Send + Sync {
    /// The secrets to check with.
    async fn current(&self) -> Result<MetaSecrets, Source>;
    /// Asked after a signature did not match. The implementor reads again at most once a minute.
    async fn renewed(&self) -> Result<MetaSecrets, Source>;
}

/// Secrets that stay.
#[async_trait]
impl MetaSecretsSource for MetaSecrets {
    async fn current(&self) -> Result<MetaSecrets, Source> {
        Ok(self.clone())
    }

    async fn renewed(&self) -> Result<MetaSecrets, Source> {
        Ok(self.clone())
    }
}

#[async_trait]
impl MetaSecretsSource for SecretsProvider<Secrets> {
    async fn current(&self) -> Result<MetaSecrets, Source> {
        Ok(of(&*SecretsProvider::current(self).await?))
    }

    async fn renewed(&self) -> Result<MetaSecrets, Source> {
        Ok(of(&*self.refresh().await?))
    }
}

/// A secret that is not there stays empty, and an empty one matches nothing.
fn of(secrets: &Secrets) -> MetaSecrets {
    let text = |key| secrets.get(key).map(|secret| secret.reveal().to_owned());
    let app_secrets = [SecretKey::MetaAppSecret, SecretKey::MetaAppSecretPrevious];
    MetaSecrets {
        app_secrets: app_secrets.into_iter().filter_map(text).collect(),
        verify_token: text(SecretKey::MetaVerifyToken).unwrap_or_default(),
    }
}
