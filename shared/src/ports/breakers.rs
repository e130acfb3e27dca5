//! Breakers of models.

use async_trait::async_trait;

use super::Written;
use crate::domain::Breaker;
use crate::error::StoreError;

/// Which models are left out for a while, shared by every process of the installation. Holds nothing of anybody.
#[async_trait]
pub trait Breakers: Send + Sync {
    /// What is known of this model's breaker; `None` where it is closed. May be seconds old.
    async fn breaker(&self, model: &str) -> Result<Option<Breaker>, StoreError>;
    /// Replaces what was `seen` with `next`, if it still is that (told by its mark); `None` is closed on either side.
    /// The same again is `Done` too: its first answer may have been lost.
    async fn swap_breaker(
        &self,
        model: &str,
        seen: Option<&Breaker>,
        next: Option<&Breaker>,
    ) -> Result<Written, StoreError>;
}
