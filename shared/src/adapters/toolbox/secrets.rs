//! The secrets that tools send: by the names the agent file gives them.

use std::collections::BTreeMap;

use async_trait::async_trait;

/// Gives a tool's secret when it is needed.
#[async_trait]
pub trait ToolSecrets: Send + Sync {
    /// The secret of this name, where there is one.
    async fn current(&self, name: &str) -> Option<String>;
    /// A newer value than `refused`, where there is one.
    async fn renewed(&self, name: &str, refused: &str) -> Option<String>;
}

/// Secrets that stay as they are: a local run has them from its environment.
#[derive(Clone, Default)]
pub struct FixedToolSecrets(BTreeMap<String, String>);

impl FixedToolSecrets {
    /// These secrets, by name.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(secrets.into_iter().collect())
    }
}

#[async_trait]
impl ToolSecrets for FixedToolSecrets {
    async fn current(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    async fn renewed(&self, _name: &str, _refused: &str) -> Option<String> {
        None
    }
}
