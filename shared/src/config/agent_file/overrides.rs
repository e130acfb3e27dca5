//! The settings of an agent that an environment variable may replace, for every agent of the installation.

use std::collections::BTreeMap;

/// A variable and the setting it replaces.
struct Override {
    variable: &'static str,
    section: &'static str,
    key: &'static str,
}

const OVERRIDES: [Override; 7] = [
    Override::new("RECADO_MODEL", "model", "main"),
    Override::new("RECADO_MODEL_LIGHT", "model", "light"),
    Override::new("RECADO_MODEL_COMPACTION", "model", "compaction"),
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
        Self { values }
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
