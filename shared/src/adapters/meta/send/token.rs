//! The access token, which an operator may replace while the program runs.

use async_trait::async_trait;

use crate::error::Source;

/// Where the token comes from, so that it can be replaced while the program runs.
#[async_trait]
pub trait AccessToken: Send + Sync {
    /// The token to send with.
    async fn current(&self) -> Result<String, Source>;
    /// Asked after `refused` was refused: another token, where there is one by now. The implementor sees to it that
    /// the secret is read again at most once a minute.
    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source>;
}

/// A token that stays.
pub struct FixedToken(pub String);

#[async_trait]
impl AccessToken for FixedToken {
    async fn current(&self) -> Result<String, Source> {
        Ok(self.0.clone())
    }

    async fn renewed(&self, _refused: &str) -> Result<Option<String>, Source> {
        Ok(None)
    }
}
