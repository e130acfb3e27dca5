//! Settings of the Lambdas. Secrets are not among them: they come from Secrets Manager.

use std::path::PathBuf;
use std::time::Duration;

use super::local::{read_graph_url, read_graph_version};
use super::models::{self, ModelSettings};
use super::reader::Reader;
use super::{Environment, SettingsError};
use crate::config::agent_file::Overrides;
use crate::config::secrets::Secrets;
use crate::domain::provider::DEMO;

/// Where the secrets are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In Secrets Manager, under this name or ARN.
    Stored(String),
    /// In the environment itself: for local use, where there is no Secrets Manager.
    Given(Secrets),
}

/// Everything that a Lambda is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsSettings {
    /// The table's name or ARN.
    pub table: String,
    /// The FIFO queue of ticks.
    pub ticks_queue_url: String,
    /// The delay of that queue; no agent's window may be smaller. Default 5 s.
    pub ticks_delay: Duration,
    /// The standard queue of compaction jobs.
    pub compactions_queue_url: String,
    /// The secrets' place.
    pub secrets: SecretSource,
    /// Agent files beside the program; none means those that were built in.
    pub agent_files: Vec<PathBuf>,
    /// What stands above every agent file.
    pub overrides: Overrides,
    /// Whether the demo model answers, which needs no key: only where it was asked for by name.
    pub is_demo: bool,
    /// The providers of models; their keys are in the secret.
    pub models: ModelSettings,
    /// The Graph API, without a slash at the end.
    pub graph_url: String,
    /// Its version.
    pub graph_version: String,
    /// What the log shows. Default `info`.
    pub log: String,
    /// What looks wrong but stops nothing, one line each.
    pub warnings: Vec<String>,
}

impl AwsSettings {
    /// Reads the environment; an error holds one line for each mistake.
    pub fn read(environment: &Environment) -> Result<Self, SettingsError> {
        let mut reader = Reader::new(environment);
        let settings = read(&mut reader, environment);
        reader.finish(settings)
    }
}

fn read(reader: &mut Reader<'_>, environment: &Environment) -> AwsSettings {
    let models = models::read_aws(reader);
    AwsSettings {
        table: read_table(reader),
        ticks_queue_url: read_queue(reader, "RECADO_TICKS_QUEUE_URL", true),
        ticks_delay: read_delay(reader),
        compactions_queue_url: read_queue(reader, "RECADO_COMPACTIONS_QUEUE_URL", false),
        secrets: read_secrets(reader),
        agent_files: reader.paths("RECADO_AGENT_FILE"),
        overrides: environment.overrides().for_provider(models.default),
        is_demo: environment.get("RECADO_MODEL") == Some(DEMO),
        models,
        graph_url: read_graph_url(reader),
        graph_version: read_graph_version(reader),
        log: reader.log_filter("RECADO_LOG"),
        warnings: environment.warnings(),
    }
}

fn read_secrets(reader: &mut Reader<'_>) -> SecretSource {
    let (id, json) = ("RECADO_SECRET_ID", "RECADO_SECRET_JSON");
    let Some(text) = reader.get(json) else {
        return SecretSource::Stored(reader.required(id, "recado/secrets").to_owned());
    };
    if reader.get(id).is_some() {
        reader.mistake(
            json,
            format!("is set beside {id}; keep {id}, or {json} alone for local use"),
        );
    }
    SecretSource::Given(Secrets::parse(text).unwrap_or_else(|problem| {
        reader.mistake(json, problem);
        Secrets::default()
    }))
}

fn read_table(reader: &mut Reader<'_>) -> String {
    let name = "RECADO_TABLE";
    let table = reader.required(name, "recado");
    let is_name = table
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b':' | b'/'));
    if !is_name {
        reader.mistake(name, format!(
            "{table:?} is not the name of a table (letters, digits, _ . -); for instance {name}=recado"
        ));
    }
    table.to_owned()
}

fn read_queue(reader: &mut Reader<'_>, name: &'static str, is_fifo: bool) -> String {
    let queue = if is_fifo { "ticks.fifo" } else { "compactions" };
    let example = format!("https://sqs.sa-east-1.amazonaws.com/123456789012/{queue}");
    if reader.required(name, &example).is_empty() {
        return String::new();
    }
    let Some(url) = reader.url(name, &example) else {
        return String::new();
    };
    // Swapped queues would lose the order of a person's messages without an error.
    if (url.rsplit('.').next() == Some("fifo")) != is_fifo {
        let wanted = if is_fifo {
            "must be a FIFO queue (its name ends in .fifo)"
        } else {
            "must be a standard queue (its name does not end in .fifo)"
        };
        reader.mistake(name, format!("{wanted}; for instance {name}={example}"));
    }
    url
}

fn read_delay(reader: &mut Reader<'_>) -> Duration {
    let name = "RECADO_TICKS_DELAY_S";
    let wanted = "the DelaySeconds of the queue of ticks, 0 to 60 whole seconds";
    let seconds: u32 = reader.number(name, 5, wanted);
    if seconds > 60 {
        reader.mistake(
            name,
            format!("must be {wanted}, not \"{seconds}\"; for instance {name}=5"),
        );
    }
    Duration::from_secs(u64::from(seconds))
}

/// Every variable that a Lambda reads.
#[cfg(test)]
pub(super) fn variables() -> std::collections::BTreeSet<&'static str> {
    let environment = Environment::of([
        ("RECADO_TICKS_QUEUE_URL", "http://x/t.fifo"),
        ("RECADO_COMPACTIONS_QUEUE_URL", "http://x/c"),
        ("RECADO_SECRET_JSON", "{}"),
    ]);
    let mut reader = Reader::new(&environment);
    read(&mut reader, &environment);
    reader.asked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Provider;

    const RIGHT: [(&str, &str); 4] = [
        ("RECADO_TABLE", "recado"),
        (
            "RECADO_TICKS_QUEUE_URL",
            "https://sqs.sa-east-1.amazonaws.com/1/ticks.fifo",
        ),
        (
            "RECADO_COMPACTIONS_QUEUE_URL",
            "https://sqs.sa-east-1.amazonaws.com/1/compactions",
        ),
        ("RECADO_SECRET_ID", "recado/secrets"),
    ];

    fn read_with(more: &[(&str, &str)]) -> Result<AwsSettings, SettingsError> {
        AwsSettings::read(&Environment::of(RIGHT.iter().chain(more).copied()))
    }

    #[test]
    fn four_variables_are_enough() {
        let settings = read_with(&[]).unwrap();
        assert_eq!(settings.table, "recado");
        assert_eq!(settings.ticks_delay, Duration::from_secs(5));
        let openai = &settings.models.providers[&Provider::OpenAi];
        assert_eq!(settings.models.default, Provider::OpenAi);
        assert_eq!(openai.base_url, "https://api.openai.com/v1");
        assert_eq!(settings.graph_url, "https://graph.facebook.com");
        assert_eq!(settings.graph_version, "v25.0");
        let stored = SecretSource::Stored("recado/secrets".to_owned());
        assert_eq!(settings.secrets, stored);
        assert!(settings.agent_files.is_empty());
        assert!(!settings.is_demo);
        assert!(settings.warnings.is_empty());
    }

    #[test]
    fn the_demo_model_answers_only_where_it_is_named() {
        for (model, is_demo) in [("demo", true), ("gpt-5.6-luna", false)] {
            let settings = read_with(&[("RECADO_MODEL", model)]).unwrap();
            assert_eq!(settings.is_demo, is_demo, "{model}");
        }
    }

    #[test]
    fn the_secrets_may_be_given_whole_but_not_twice() {
        let alone = RIGHT.iter().filter(|(name, _)| *name != "RECADO_SECRET_ID");
        let given = |json| {
            let given = ("RECADO_SECRET_JSON", json);
            AwsSettings::read(&Environment::of(alone.clone().copied().chain([given])))
        };
        let settings = given(r#"{"model_key": "canary"}"#).unwrap();
        assert!(matches!(settings.secrets, SecretSource::Given(_)));
        assert!(!format!("{settings:?}").contains("canary"));
        let error = given("canary").unwrap_err();
        assert!(error.lines[0].starts_with("RECADO_SECRET_JSON: must be a JSON object"));
        assert!(!error.to_string().contains("canary"));
        let error = read_with(&[("RECADO_SECRET_JSON", "{}")]).unwrap_err();
        assert_eq!(
            error.lines,
            [
                "RECADO_SECRET_JSON: is set beside RECADO_SECRET_ID; keep RECADO_SECRET_ID, or RECADO_SECRET_JSON alone for local use"
            ]
        );
    }

    #[test]
    fn everything_missing_is_told_at_once() {
        let error = AwsSettings::read(&Environment::default()).unwrap_err();
        assert_eq!(
            error.lines,
            [
                "RECADO_TABLE: is not set; for instance RECADO_TABLE=recado",
                "RECADO_TICKS_QUEUE_URL: is not set; for instance RECADO_TICKS_QUEUE_URL=https://sqs.sa-east-1.amazonaws.com/123456789012/ticks.fifo",
                "RECADO_COMPACTIONS_QUEUE_URL: is not set; for instance RECADO_COMPACTIONS_QUEUE_URL=https://sqs.sa-east-1.amazonaws.com/123456789012/compactions",
                "RECADO_SECRET_ID: is not set; for instance RECADO_SECRET_ID=recado/secrets",
            ]
        );
    }

    #[test]
    fn each_wrong_variable_is_told_with_a_right_value() {
        for (label, name, value, expected) in [
            (
                "table",
                "RECADO_TABLE",
                "my table",
                "\"my table\" is not the name of a table (letters, digits, _ . -); for instance RECADO_TABLE=recado",
            ),
            (
                "not FIFO",
                "RECADO_TICKS_QUEUE_URL",
                "https://q/1/ticks",
                "must be a FIFO queue (its name ends in .fifo); for instance RECADO_TICKS_QUEUE_URL=https://sqs.sa-east-1.amazonaws.com/123456789012/ticks.fifo",
            ),
            (
                "FIFO",
                "RECADO_COMPACTIONS_QUEUE_URL",
                "https://q/1/c.fifo",
                "must be a standard queue (its name does not end in .fifo); for instance RECADO_COMPACTIONS_QUEUE_URL=https://sqs.sa-east-1.amazonaws.com/123456789012/compactions",
            ),
            (
                "a name for an address",
                "RECADO_TICKS_QUEUE_URL",
                "ticks.fifo",
                "must be an http or https address; for instance RECADO_TICKS_QUEUE_URL=https://sqs.sa-east-1.amazonaws.com/123456789012/ticks.fifo",
            ),
            (
                "delay",
                "RECADO_TICKS_DELAY_S",
                "61",
                "must be the DelaySeconds of the queue of ticks, 0 to 60 whole seconds, not \"61\"; for instance RECADO_TICKS_DELAY_S=5",
            ),
            (
                "delay in words",
                "RECADO_TICKS_DELAY_S",
                "5s",
                "must be the DelaySeconds of the queue of ticks, 0 to 60 whole seconds, not \"5s\"; for instance RECADO_TICKS_DELAY_S=5",
            ),
        ] {
            let error = read_with(&[(name, value)]).unwrap_err();
            assert_eq!(error.lines, [format!("{name}: {expected}")], "{label}");
        }
    }
}
