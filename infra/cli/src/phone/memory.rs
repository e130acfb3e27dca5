//! What the agent remembers of a person, for the page: a door that the local run opens to its table.

use async_trait::async_trait;
use serde_json::Value;

/// Why memory cannot be shown: a sentence without any of its content.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MemoryUnavailable(pub String);

/// Reads what is remembered of the person behind a phone.
#[async_trait]
pub trait MemoryReader: Send + Sync {
    /// An object with `recent` (texts of both sides not yet compacted), `facts` (texts, or objects with a `text`),
    /// `summary` (text or null) and `state` (an object of numbers and words). Of a stranger all are empty.
    async fn read(&self, phone: &str) -> Result<Value, MemoryUnavailable>;
}
