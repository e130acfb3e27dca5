//! Settings from the environment: the one file that reads it, and what an installation makes of it.

mod aws;
mod listen;
mod local;
mod models;
mod reader;

use std::collections::BTreeMap;
use std::fmt;

pub use aws::{AwsSettings, SecretSource};
pub use listen::Listen;
pub use local::{Channel, LocalSettings, MetaSettings, ModelAccess};
pub use models::{ModelSettings, ProviderSettings};

use super::agent_file::Overrides;
use super::nearest::nearest;
use super::secret::Secret;

/// Every variable that some part of the program reads, beside those that override an agent file.
const KNOWN: [&str; 32] = [
    "RECADO_AGENT_FILE",
    "RECADO_ANTHROPIC_BASE_URL",
    "RECADO_ANTHROPIC_KEY",
    "RECADO_BRL_PER_USD",
    "RECADO_CHANNEL",
    "RECADO_COMPACTIONS_QUEUE_URL",
    "RECADO_COMPATIBLE_BASE_URL",
    "RECADO_COMPATIBLE_KEY",
    "RECADO_DATA_DIR",
    "RECADO_LISTEN",
    "RECADO_LOG",
    "RECADO_META_ACCESS_TOKEN",
    "RECADO_META_APP_SECRET",
    "RECADO_META_GRAPH_URL",
    "RECADO_META_GRAPH_VERSION",
    "RECADO_META_VERIFY_TOKEN",
    "RECADO_MODEL_BASE_URL",
    "RECADO_MODEL_KEY",
    "RECADO_MODEL_PROVIDER",
    "RECADO_OPENAI_BASE_URL",
    "RECADO_OPENAI_KEY",
    "RECADO_OPENROUTER_BASE_URL",
    "RECADO_OPENROUTER_KEY",
    "RECADO_PORT",
    "RECADO_SECRET_ID",
    "RECADO_SECRET_JSON",
    "RECADO_TABLE",
    "RECADO_TICKS_DELAY_S",
    "RECADO_TICKS_QUEUE_URL",
    // Set for other programs, and good for us too.
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
];

/// How the variable of a tool's secret begins; its name in the agent file follows. The two that begin so and are known
/// are no tool's.
const TOOL_SECRET: &str = "RECADO_SECRET_";

/// The environment's variables that may be ours. A blank one counts as absent.
#[derive(Clone, Default)]
pub struct Environment {
    values: BTreeMap<String, String>,
}

impl Environment {
    /// The environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one file that reads the environment"
    )]
    pub fn of_process() -> Self {
        Self::of(std::env::vars_os().map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        }))
    }

    /// These variables.
    pub fn of<N: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let values = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into().trim().to_owned()))
            .filter(|(name, value)| !value.is_empty() && (is_ours(name) || is_known(name)))
            .collect();
        Self { values }
    }

    /// The same with this variable set: a flag of the command line stands above the environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.values.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same without every variable whose name begins so.
    #[must_use]
    pub fn without(mut self, prefix: &str) -> Self {
        self.values.retain(|name, _| !name.starts_with(prefix));
        self
    }

    /// The value of a variable, without space around it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// One line for each variable of ours that nothing reads.
    pub fn warnings(&self) -> Vec<String> {
        let known = || KNOWN.into_iter().chain(Overrides::variables());
        self.values
            .keys()
            .filter(|name| !is_known(name))
            .map(|name| match nearest(name, known()) {
                Some(meant) => {
                    format!("{name}: nothing reads this variable; did you mean {meant}?")
                }
                None => format!("{name}: nothing reads this variable"),
            })
            .collect()
    }

    /// The secrets of tools by their names; an error is one line.
    fn tool_secrets(&self) -> impl Iterator<Item = (String, Result<Secret, String>)> {
        let ours = self.values.iter().filter(|(name, _)| is_tool_secret(name));
        ours.map(|(variable, text)| {
            let name = variable
                .strip_prefix(TOOL_SECRET)
                .unwrap_or(variable)
                .to_owned();
            let secret = Secret::parse(text)
                .map_err(|problem| format!("{variable}: {problem}; wanted: the secret of a tool"));
            (name, secret)
        })
    }

    fn overrides(&self) -> Overrides {
        Overrides::read(|name| self.get(name).map(str::to_owned))
    }
}

/// The names only: a value may be a secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("RECADO_")
}

fn is_tool_secret(name: &str) -> bool {
    let rest = name.strip_prefix(TOOL_SECRET);
    let is_sign = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    !KNOWN.contains(&name) && rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_sign))
}

fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
        || is_tool_secret(name)
        || Overrides::variables().any(|variable| variable == name)
}

/// What is wrong with the settings: one line for each, with the setting's name and a right value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// The lines.
    pub lines: Vec<String>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_nothing_reads_is_told_with_the_one_that_was_meant() {
        let environment = Environment::of([
            ("RECADO_WINDOWS_S", "5"),
            ("RECADO_MODEL_KEI", "sk-canary"),
            ("RECADO_BANANA_SPLIT", "1"),
            ("RECADO_PORT", "1"),
            ("RECADO_SECRET_CLINIC", "canary"),
            ("RECADO_EMPTY", " "),
            ("PATH", "/bin"),
        ]);
        assert_eq!(
            environment.warnings(),
            [
                "RECADO_BANANA_SPLIT: nothing reads this variable",
                "RECADO_MODEL_KEI: nothing reads this variable; did you mean RECADO_MODEL_KEY?",
                "RECADO_WINDOWS_S: nothing reads this variable; did you mean RECADO_WINDOW_S?",
            ]
        );
        assert!(!format!("{environment:?}").contains("canary"));
        assert_eq!(environment.get("PATH"), None);
    }

    #[test]
    fn every_known_variable_is_read_by_someone_and_no_other() {
        let read: std::collections::BTreeSet<_> = local::variables()
            .into_iter()
            .chain(aws::variables())
            .collect();
        let known: std::collections::BTreeSet<_> = KNOWN.into_iter().collect();
        assert_eq!(read, known);
    }

    #[test]
    fn the_process_has_an_environment() {
        assert!(
            Environment::of_process()
                .get("RECADO_NO_SUCH_THING")
                .is_none()
        );
    }
}
