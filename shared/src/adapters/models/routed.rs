//! All the models of an installation behind one port: the text of a model's name picks its provider.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::http::{Endpoint, HttpModel, HttpModelError, client};
use crate::adapters::demo::DemoModel;
use crate::domain::provider::{DEMO, Provider};
use crate::domain::{ModelReply, Prompt};
use crate::error::{ModelError, ModelErrorClass};
use crate::ports::Model;

/// Asks whoever serves the model that is named.
pub struct RoutedModel {
    default: Provider,
    /// A provider that is spoken to otherwise than by our HTTP is one more entry.
    by_provider: BTreeMap<Provider, Arc<dyn Model>>,
    demo: DemoModel,
}

impl RoutedModel {
    /// Over these providers; a name without one means `default`.
    pub fn new(default: Provider, endpoints: Vec<Endpoint>) -> Result<Self, HttpModelError> {
        let client = client()?;
        let made = endpoints.into_iter().map(|endpoint| {
            let provider = endpoint.provider;
            let model: Arc<dyn Model> = Arc::new(HttpModel::with(client.clone(), endpoint)?);
            Ok((provider, model))
        });
        Ok(Self {
            default,
            by_provider: made.collect::<Result<_, HttpModelError>>()?,
            demo: DemoModel::default(),
        })
    }
}

#[async_trait]
impl Model for RoutedModel {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        if model == DEMO {
            return self.demo.converse(model, prompt, timeout).await;
        }
        let (provider, name) = Provider::of(model, self.default);
        let Some(model) = self.by_provider.get(&provider) else {
            // The start is refused for this; only a table that names an older model can still ask.
            let reason = format!("the provider is not set up, from {provider}");
            return Err(ModelError::new(ModelErrorClass::Invalid, reason));
        };
        model.converse(name, prompt, timeout).await
    }
}
