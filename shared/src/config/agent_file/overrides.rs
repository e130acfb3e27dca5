//! The settings of an agent that an environment variable may replace, for every agent of the installation.

use std::collections::BTreeMap;

use crate::domain::Provider;

/// A variable and the setting it replaces.
struct Override {
    variable: &'static str,
    section: &'static str,
    key: &'static str,
}

const OVERRIDES: [Override; 8] = [
    Override::new("RECADO_MODEL", "model", "main"),
    Override::new("RECADO_MODEL_LIGHT", "model", "light"),
    Override::new("RECADO_MODEL_COMPACTION", "model", "compaction"),
    Override::new("RECADO_MODEL_FALLBACK", "model", "fallback"),
    Override::new("RECADO_WINDOW_S", "timing", "window_s"),
    Override::new("RECADO_CEILING_S", "timing", "ceiling_s"),
    Override::new("RECADO_LANGUAGE", "", "language"),
    Override::new("RECADO_TIME_ZONE", "", "time_zone"),
];

impl Override {
    const fn new(variable: &'static str, section: &'static str, key: &'static str) -> Self {
        Self {
            variable,
            section,
            key,
        }
    }
}

/// Values that stand above every agent file. They pass the same checks as the file's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    values: BTreeMap<&'static str, String>,
    /// Who serves the models, where it is not `OpenAI`.
    provider: Option<Provider>,
}

impl Overrides {
    /// Nothing replaced.
    pub fn none() -> Self {
        Self::default()
    }

    /// Takes each variable that `lookup` knows; a blank value counts as absent.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let values = Self::variables()
            .filter_map(|variable| Some((variable, lookup(variable)?.trim().to_owned())))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        Self {
            values,
            provider: None,
        }
    }

    /// The same for an installation whose default provider is this one: an agent that names no model gets one of its.
    #[must_use]
    pub fn for_provider(self, provider: Provider) -> Self {
        Self {
            provider: Some(provider).filter(|provider| *provider != Provider::OpenAi),
            ..self
        }
    }

    /// The model of an agent that names none; empty where the provider has none of its own, which the start refuses.
    pub(super) fn default_model(&self) -> &'static str {
        let provider = self.provider.unwrap_or(Provider::OpenAi);
        provider.default_model().unwrap_or_default()
    }

    /// Every variable that can replace a setting.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        OVERRIDES.iter().map(|known| known.variable)
    }

    /// The variable that can replace this setting, if one can.
    pub(super) fn variable(section: &str, key: &str) -> Option<&'static str> {
        let known = OVERRIDES
            .iter()
            .find(|known| known.section == section && known.key == key)?;
        Some(known.variable)
    }

    /// What replaces this setting: the variable and its value.
    pub(super) fn of(&self, section: &str, key: &str) -> Option<(&'static str, &str)> {
        let variable = Self::variable(section, key)?;
        let value = self.values.get(variable)?;
        Some((variable, value))
    }
}
