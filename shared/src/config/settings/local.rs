//! Settings of the local run: one process on a laptop or a small server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::models::{self, ModelSettings};
use super::reader::Reader;
use super::{Environment, Listen, SettingsError};
use crate::config::agent_file::Overrides;
use crate::config::prices::millionths;
use crate::config::secret::Secret;
use crate::domain::provider::DEMO;

/// Where Meta's Graph API is.
pub(super) const GRAPH_URL: &str = "https://graph.facebook.com";
/// The version of the Graph API that we were written against.
pub(super) const GRAPH_VERSION: &str = "v25.0";

/// Where a local run keeps everything.
const DATA_DIR: &str = ".recado";

/// What the channel Meta needs, and what to give. The first of them may be the phone's, too.
const APP_SECRET: (&str, &str) = (
    "RECADO_META_APP_SECRET",
    "the app secret of the Meta app (App settings, Basic), 32 hexadecimal characters",
);
const VERIFY_TOKEN: (&str, &str) = (
    "RECADO_META_VERIFY_TOKEN",
    "a word of your choice, the same as in the webhook's settings at Meta",
);
const ACCESS_TOKEN: (&str, &str) = (
    "RECADO_META_ACCESS_TOKEN",
    "a system user's access token with whatsapp_business_messaging",
);
const META_SECRETS: [(&str, &str); 3] = [APP_SECRET, VERIFY_TOKEN, ACCESS_TOKEN];

/// Everything that a local run is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSettings {
    /// Agent files and folders of them; none means the embedded agent.
    pub agent_files: Vec<PathBuf>,
    /// What stands above every agent file.
    pub overrides: Overrides,
    /// Who answers.
    pub model: ModelAccess,
    /// The secrets that tools send, by their names in the agent files: `RECADO_SECRET_<NAME>`.
    pub tool_secrets: BTreeMap<String, Secret>,
    /// Whether the demo model was asked for by name.
    pub is_demo_chosen: bool,
    /// Where memory is kept. Default `.recado`.
    pub data_dir: PathBuf,
    /// The port, where the address to listen on has none; 0 takes a free one. Default 8787.
    pub port: u16,
    /// The address to listen on. Default: this machine only.
    pub listen: Listen,
    /// Where messages come from and answers go.
    pub channel: Channel,
    /// How many millionths of a real a dollar is worth, where sums are to be shown in reais too.
    pub brl_per_usd: Option<u64>,
    /// What the log shows. Default `info`.
    pub log: String,
    /// What looks wrong but stops nothing, one line each.
    pub warnings: Vec<String>,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelAccess {
    /// The built-in demo model: no key was given.
    Demo,
    /// These providers.
    Providers(ModelSettings),
}

/// Where messages come from and answers go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// The simulated phone. It signs its webhooks with the app secret that is given, so that another program can post
    /// webhooks too; with one of its own otherwise.
    Phone(Option<Secret>),
    /// `WhatsApp` itself.
    Meta(MetaSettings),
}

/// The way to Meta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaSettings {
    /// Signs the webhooks.
    pub app_secret: Secret,
    /// Echoed in the handshake.
    pub verify_token: Secret,
    /// Lets us send.
    pub access_token: Secret,
    /// The Graph API, without a slash at the end. Default `https://graph.facebook.com`.
    pub graph_url: String,
    /// Its version. Default `v25.0`.
    pub graph_version: String,
}

impl LocalSettings {
    /// Reads the environment; an error holds one line for each mistake.
    pub fn read(environment: &Environment) -> Result<Self, SettingsError> {
        let mut reader = Reader::new(environment);
        let settings = read(&mut reader, environment);
        reader.finish(settings)
    }
}

fn read(reader: &mut Reader<'_>, environment: &Environment) -> LocalSettings {
    let mut warnings = environment.warnings();
    let is_demo_chosen = environment.get("RECADO_MODEL") == Some(DEMO);
    let models = models::read_local(reader, is_demo_chosen);
    LocalSettings {
        agent_files: reader.paths("RECADO_AGENT_FILE"),
        overrides: environment.overrides().for_provider(models.default),
        model: access(environment, models, &mut warnings),
        tool_secrets: read_tool_secrets(reader, environment),
        is_demo_chosen,
        data_dir: PathBuf::from(reader.get("RECADO_DATA_DIR").unwrap_or(DATA_DIR)),
        port: reader.number("RECADO_PORT", 8787, "a port from 0 to 65535"),
        listen: read_listen(reader),
        channel: read_channel(reader, &mut warnings),
        brl_per_usd: read_rate(reader),
        log: reader.log_filter("RECADO_LOG"),
        warnings,
    }
}

fn read_tool_secrets(
    reader: &mut Reader<'_>,
    environment: &Environment,
) -> BTreeMap<String, Secret> {
    let mut secrets = BTreeMap::new();
    for (name, secret) in environment.tool_secrets() {
        match secret {
            Ok(secret) => {
                secrets.insert(name, secret);
            }
            Err(problem) => reader.note(problem),
        }
    }
    secrets
}

/// Only for what is printed: nothing is counted in reais.
fn read_rate(reader: &mut Reader<'_>) -> Option<u64> {
    let name = "RECADO_BRL_PER_USD";
    let text = reader.get(name)?;
    let rate = text.parse().ok().filter(|rate| *rate > 0.0);
    let rate = rate.and_then(millionths);
    if rate.is_none() {
        let message = format!("{text:?} is no rate: how many reais a dollar is, for instance 5.40");
        reader.mistake(name, message);
    }
    rate
}

fn read_listen(reader: &mut Reader<'_>) -> Listen {
    let name = "RECADO_LISTEN";
    let Some(text) = reader.get(name) else {
        return Listen::LOOPBACK;
    };
    text.parse().unwrap_or_else(|problem: String| {
        reader.mistake(name, problem);
        Listen::LOOPBACK
    })
}

fn access(
    environment: &Environment,
    models: ModelSettings,
    warnings: &mut Vec<String>,
) -> ModelAccess {
    match environment.get("RECADO_MODEL") {
        // By name, as on AWS: a key that lies about must not send "demo" to a provider.
        Some(DEMO) => return ModelAccess::Demo,
        Some(_) if models.providers.is_empty() => warnings.push(
            "RECADO_MODEL: is set, but without RECADO_MODEL_KEY the demo model answers".to_owned(),
        ),
        _ => {}
    }
    if models.providers.is_empty() {
        ModelAccess::Demo
    } else {
        ModelAccess::Providers(models)
    }
}

fn read_channel(reader: &mut Reader<'_>, warnings: &mut Vec<String>) -> Channel {
    let graph_url = read_graph_url(reader);
    let graph_version = read_graph_version(reader);
    let mut secret = |(name, right), parse| reader.secret(name, parse, right);
    let app_secret = secret(APP_SECRET, Secret::parse_app_secret);
    let verify_token = secret(VERIFY_TOKEN, Secret::parse);
    let access_token = secret(ACCESS_TOKEN, Secret::parse_token);
    match reader.get("RECADO_CHANNEL").unwrap_or("phone") {
        "phone" => {
            let unused = META_SECRETS
                .into_iter()
                .skip(1)
                .find(|(name, _)| reader.get(name).is_some());
            if let Some((name, _)) = unused {
                warnings.push(format!(
                    "{name}: is set, but messages come from the simulated phone; set RECADO_CHANNEL=meta to use it"
                ));
            }
        }
        "meta" => {
            require_for_meta(reader);
            if let (Some(app_secret), Some(verify_token), Some(access_token)) =
                (app_secret.clone(), verify_token, access_token)
            {
                return Channel::Meta(MetaSettings {
                    app_secret,
                    verify_token,
                    access_token,
                    graph_url,
                    graph_version,
                });
            }
        }
        other => reader.mistake(
            "RECADO_CHANNEL",
            format!("must be phone or meta, not {other:?}; for instance RECADO_CHANNEL=phone"),
        ),
    }
    Channel::Phone(app_secret)
}

fn require_for_meta(reader: &mut Reader<'_>) {
    // Real people must not land in the folder of the phone, which would then be refused to it.
    let data_dir = (
        "RECADO_DATA_DIR",
        "a folder of its own for real people, for instance RECADO_DATA_DIR=.recado-whatsapp",
    );
    for (name, right_value) in META_SECRETS.into_iter().chain([data_dir]) {
        if reader.get(name).is_none() {
            reader.mistake(
                name,
                format!("is not set, and RECADO_CHANNEL=meta needs it: {right_value}"),
            );
        }
    }
}

/// The Graph API's address.
pub(super) fn read_graph_url(reader: &mut Reader<'_>) -> String {
    reader
        .url("RECADO_META_GRAPH_URL", GRAPH_URL)
        .unwrap_or_else(|| GRAPH_URL.to_owned())
}

/// The Graph API's version, such as `v25.0`.
pub(super) fn read_graph_version(reader: &mut Reader<'_>) -> String {
    let name = "RECADO_META_GRAPH_VERSION";
    let version = reader.get(name).unwrap_or(GRAPH_VERSION);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let numbers = version
        .strip_prefix('v')
        .and_then(|rest| rest.split_once('.'));
    if !numbers.is_some_and(|(major, minor)| digits(major) && digits(minor)) {
        reader.mistake(
            name,
            format!("{version:?} is not a version; for instance {name}={GRAPH_VERSION}"),
        );
    }
    version.to_owned()
}

/// Every variable that a local run reads.
#[cfg(test)]
pub(super) fn variables() -> std::collections::BTreeSet<&'static str> {
    let environment = Environment::default();
    let mut reader = Reader::new(&environment);
    read(&mut reader, &environment);
    reader.asked()
}

#[cfg(test)]
mod tests;
