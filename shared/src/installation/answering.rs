//! The ports by which an answer is made: models, tools, the way back to the person.

use std::sync::Arc;

use super::keys::{OptionalKey, StoredKey, StoredToolSecrets, first, keys_of};
use super::{Answering, NotReady, Opened};
use crate::adapters::clock::SystemClock;
use crate::adapters::demo::DemoModel;
use crate::adapters::meta::send::{GraphMessenger, GraphSettings};
use crate::adapters::models::{ApiKey, Endpoint, RoutedModel};
use crate::adapters::toolbox::built_in::BuiltInTools;
use crate::adapters::toolbox::http::HttpTools;
use crate::adapters::toolbox::lambda::LambdaTools;
use crate::adapters::toolbox::{Source, Toolbox};
use crate::config::secrets::{SecretKey, Secrets};
use crate::domain::{Hasher, Provider};
use crate::ports::{Agenda, Messenger, Model, Tools};

impl Opened {
    pub(super) fn answering(
        &self,
        hasher: &Arc<Hasher>,
        agenda: Arc<dyn Agenda>,
    ) -> Result<Answering, NotReady> {
        Ok(Answering {
            models: self.model()?,
            tools: self.tools(hasher, agenda)?,
            messenger: self.messenger()?,
        })
    }

    fn tools(
        &self,
        hasher: &Arc<Hasher>,
        agenda: Arc<dyn Agenda>,
    ) -> Result<Arc<dyn Tools>, NotReady> {
        let secrets = Arc::new(StoredToolSecrets {
            secrets: Arc::clone(&self.secrets),
        });
        let http = HttpTools::new(secrets).map_err(|error| {
            NotReady::one(format!("the HTTP client for tools cannot be made: {error}"))
        })?;
        let lambda = LambdaTools::new(&self.sdk, Arc::clone(hasher));
        let built_in = BuiltInTools::new(agenda, Arc::new(SystemClock));
        let sources: Vec<Arc<dyn Source>> =
            vec![Arc::new(built_in), Arc::new(http), Arc::new(lambda)];
        let toolbox = Toolbox::new(self.agents.clone(), sources);
        for line in self
            .agents
            .agents()
            .flat_map(|agent| toolbox.clashes(agent))
        {
            tracing::error!("{line}");
        }
        Ok(Arc::new(toolbox))
    }

    /// Others can be answered without it, so what is missing for a tool stops nothing.
    pub(super) fn tell_missing_tool_secrets(&self, secrets: &Secrets) {
        for (tool, name) in self.agents.tool_secrets() {
            if secrets.tool(&name).is_none() {
                let place = self.place();
                tracing::error!(
                    "{place}: tool {tool} needs the key {name} in the object tool_secrets, and it is missing"
                );
            }
        }
    }

    fn model(&self) -> Result<Arc<dyn Model>, NotReady> {
        if self.settings.is_demo {
            return Ok(Arc::new(DemoModel::default()));
        }
        let models = &self.settings.models;
        let endpoints = models.providers.iter().map(|(provider, settings)| {
            let key = self.key(keys_of(*provider, models.default));
            let key: Arc<dyn ApiKey> = match provider {
                Provider::Compatible => Arc::new(OptionalKey(key)),
                _ => Arc::new(key),
            };
            Endpoint {
                provider: *provider,
                base: settings.base_url.clone(),
                key: Some(key),
            }
        });
        let model = RoutedModel::new(models.default, endpoints.collect())
            .map_err(|error| NotReady::one(error.to_string()))?;
        Ok(Arc::new(model))
    }

    fn messenger(&self) -> Result<Arc<dyn Messenger>, NotReady> {
        let settings = GraphSettings::new(&self.settings.graph_url, &self.settings.graph_version);
        let token = Arc::new(self.key(vec![SecretKey::MetaAccessToken]));
        let messenger = GraphMessenger::new(&settings, token)
            .map_err(|error| NotReady::one(error.to_string()))?;
        Ok(Arc::new(messenger))
    }

    pub(super) fn key(&self, keys: Vec<SecretKey>) -> StoredKey {
        StoredKey {
            secrets: Arc::clone(&self.secrets),
            place: self.place(),
            keys,
        }
    }

    /// A key for each provider that some agent's model needs; a compatible server may need none.
    pub(super) fn check_model_keys(&self, secrets: &Secrets) -> Result<(), NotReady> {
        let models = &self.settings.models;
        let needed = models.needed(&self.agents).into_iter();
        let lines = needed.filter_map(|(provider, (agent, model))| {
            let missing = first(secrets, &keys_of(provider, models.default)).err()?;
            (provider != Provider::Compatible).then(|| {
                format!(
                    "{}: {missing}; agent {agent} asks {provider} for {model}; to try without one, set RECADO_MODEL=demo",
                    self.place()
                )
            })
        });
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            Ok(())
        } else {
            Err(NotReady { lines })
        }
    }
}
