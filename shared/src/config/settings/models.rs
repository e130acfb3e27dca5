//! Which providers of models an installation has, where they are, and which one is meant where a model names none.

use std::collections::BTreeMap;

use super::reader::Reader;
use crate::config::roster::Roster;
use crate::config::secret::Secret;
use crate::domain::provider::{DEMO, Provider};

/// The variable that names the default provider.
const PROVIDER: &str = "RECADO_MODEL_PROVIDER";
/// The default provider's key and address, whichever it is.
const KEY: &str = "RECADO_MODEL_KEY";
const BASE_URL: &str = "RECADO_MODEL_BASE_URL";

/// The variables of a provider, and what holds without them.
struct Variables {
    key: &'static str,
    base_url: &'static str,
    /// Set for other programs, and good for us too.
    shared_key: Option<&'static str>,
    /// Where the provider is, or an example where it is nowhere until somebody says so.
    address: &'static str,
}

const fn variables(provider: Provider) -> Variables {
    match provider {
        Provider::OpenAi => Variables {
            key: "RECADO_OPENAI_KEY",
            base_url: "RECADO_OPENAI_BASE_URL",
            shared_key: Some("OPENAI_API_KEY"),
            address: "https://api.openai.com/v1",
        },
        Provider::OpenRouter => Variables {
            key: "RECADO_OPENROUTER_KEY",
            base_url: "RECADO_OPENROUTER_BASE_URL",
            shared_key: Some("OPENROUTER_API_KEY"),
            address: "https://openrouter.ai/api/v1",
        },
        Provider::Anthropic => Variables {
            key: "RECADO_ANTHROPIC_KEY",
            base_url: "RECADO_ANTHROPIC_BASE_URL",
            shared_key: Some("ANTHROPIC_API_KEY"),
            address: "https://api.anthropic.com/v1",
        },
        Provider::Compatible => Variables {
            key: "RECADO_COMPATIBLE_KEY",
            base_url: "RECADO_COMPATIBLE_BASE_URL",
            shared_key: None,
            address: "http://localhost:11434/v1",
        },
    }
}

/// The providers of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// Who serves the models that name no provider.
    pub default: Provider,
    /// Every provider that can be asked.
    pub providers: BTreeMap<Provider, ProviderSettings>,
}

/// One provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its address up to where the name of a request follows, without a slash at the end.
    pub base_url: String,
    /// Our key there; none where a server of one's own needs none, and on AWS, where it stands in the secret.
    pub key: Option<Secret>,
}

impl ModelSettings {
    /// Each model of these agents whose provider is not set up: one line with the agent, the model and what to set.
    pub fn lacking(&self, agents: &Roster) -> Vec<String> {
        let mut lines = Vec::new();
        for (agent, model) in models(agents) {
            let (provider, name) = Provider::of(model, self.default);
            if name.is_empty() {
                lines.push(format!(
                    "agent {agent}: names no model, and the provider {provider} has none of its own; set RECADO_MODEL, or \
                     main under [model] in the agent file, for instance RECADO_MODEL=llama3.2:3b"
                ));
            } else if !self.providers.contains_key(&provider) {
                lines.push(format!(
                    "agent {agent}: the model {model:?} needs the provider {provider}, which is not set up; {}",
                    what_to_set(provider)
                ));
            }
        }
        lines
    }

    /// Who serves any model of these agents, each with an agent and the model: what an installation needs keys for.
    pub fn needed<'a>(&self, agents: &'a Roster) -> BTreeMap<Provider, (&'a str, &'a str)> {
        let served = models(agents)
            .map(|(agent, model)| (Provider::of(model, self.default).0, (agent, model)));
        let mut needed = BTreeMap::new();
        for (provider, first) in served {
            needed.entry(provider).or_insert(first);
        }
        needed
    }
}

/// Every model of every agent, with the agent's id; the demo model needs nobody.
fn models(agents: &Roster) -> impl Iterator<Item = (&str, &str)> {
    agents.agents().flat_map(|agent| {
        let names = agent.model.names().filter(|name| *name != DEMO);
        names.map(|name| (agent.id.as_str(), name))
    })
}

fn what_to_set(provider: Provider) -> String {
    let own = variables(provider);
    match provider {
        Provider::Compatible => format!("set {0}, for instance {0}={1}", own.base_url, own.address),
        _ => format!("set {0}, for instance {0}=sk-…", own.key),
    }
}

/// The providers that the environment of a local run gives: those with a key, and the compatible server with an address.
/// With the demo model nothing has to be set up.
pub(super) fn read_local(reader: &mut Reader<'_>, is_demo: bool) -> ModelSettings {
    let named = read_provider(reader);
    let default = named.unwrap_or_else(|| inferred(reader));
    let bases = read_bases(reader, default);
    let mut providers = BTreeMap::new();
    for provider in Provider::ALL {
        let key = read_key(reader, provider, default);
        let base_url = match (bases.get(&provider), provider) {
            (Some((_, url)), _) => url.clone(),
            (None, Provider::Compatible) => None,
            (None, _) => Some(variables(provider).address.to_owned()),
        };
        let is_open = provider == Provider::Compatible || key.is_some();
        if let Some(base_url) = base_url.filter(|_| is_open) {
            providers.insert(provider, ProviderSettings { base_url, key });
        }
    }
    let settings = ModelSettings { default, providers };
    // Silently answering with the demo model is not what someone who gave an address, or a provider, wants.
    if !is_demo {
        require_keys(reader, &settings, &bases);
        require_default(reader, &settings, named);
    }
    settings
}

/// The providers of an installation on AWS, where the keys are another place's matter.
pub(super) fn read_aws(reader: &mut Reader<'_>) -> ModelSettings {
    let default = read_provider(reader).unwrap_or(Provider::OpenAi);
    let mut bases = read_bases(reader, default);
    let providers = Provider::ALL.into_iter().filter_map(|provider| {
        let base_url = match (bases.remove(&provider), provider) {
            (Some((_, url)), _) => url,
            (None, Provider::Compatible) => None,
            (None, _) => Some(variables(provider).address.to_owned()),
        };
        let settings = ProviderSettings {
            base_url: base_url?,
            key: None,
        };
        Some((provider, settings))
    });
    ModelSettings {
        default,
        providers: providers.collect(),
    }
}

fn read_provider(reader: &mut Reader<'_>) -> Option<Provider> {
    let text = reader.get(PROVIDER)?;
    let provider = Provider::parse(text);
    if provider.is_none() {
        let names = "openai, openrouter, anthropic or compatible";
        reader.mistake(
            PROVIDER,
            format!("must be {names}, not {text:?}; for instance {PROVIDER}=openai"),
        );
    }
    provider
}

/// Without a word about it: whoever there is a key for, or an address, `OpenAI` first.
fn inferred(reader: &mut Reader<'_>) -> Provider {
    let mut is_set = |name: &'static str| reader.get(name).is_some();
    if is_set(KEY) || is_set(BASE_URL) {
        return Provider::OpenAi;
    }
    let found = Provider::ALL.into_iter().find(|provider| {
        let own = variables(*provider);
        match provider {
            Provider::Compatible => is_set(own.base_url),
            _ => is_set(own.key) || own.shared_key.is_some_and(&mut is_set),
        }
    });
    found.unwrap_or(Provider::OpenAi)
}

/// The addresses that are given: each with its variable, and without a value where it is wrong.
type Bases = BTreeMap<Provider, (&'static str, Option<String>)>;

fn read_bases(reader: &mut Reader<'_>, default: Provider) -> Bases {
    let mut bases = Bases::new();
    let names = [(default, BASE_URL)].into_iter();
    let names = names.chain(Provider::ALL.map(|provider| (provider, variables(provider).base_url)));
    for (provider, name) in names {
        if reader.get(name).is_some() {
            let url = reader.model_url(name, provider, variables(provider).address);
            bases.insert(provider, (name, url));
        }
    }
    bases
}

/// The key of a provider: its own variable, then the default's, then what was set for other programs.
fn read_key(reader: &mut Reader<'_>, provider: Provider, default: Provider) -> Option<Secret> {
    let own = variables(provider);
    let usual = (provider == default).then_some(KEY);
    let names = [Some(own.key), usual, own.shared_key];
    let name = names
        .into_iter()
        .flatten()
        .filter(|name| reader.get(name).is_some())
        .collect::<Vec<_>>()
        .into_iter()
        .next()?;
    let right = format!("the key as the provider shows it, for instance {name}=sk-…");
    reader.secret(name, Secret::parse_token, &right)
}

/// Who gives an address has to give its key too; only a compatible server may need none, but that one has no address
/// until it is given.
fn require_keys(reader: &mut Reader<'_>, settings: &ModelSettings, bases: &Bases) {
    // An address that is wrong is told already.
    let right = bases.iter().filter(|(_, (_, url))| url.is_some());
    for (provider, (name, _)) in right {
        let is_open = *provider == Provider::Compatible;
        let key = if *name == BASE_URL {
            KEY
        } else {
            variables(*provider).key
        };
        let is_given = [key, variables(*provider).key]
            .into_iter()
            .chain(variables(*provider).shared_key)
            .any(|name| reader.get(name).is_some());
        if !is_open && !is_given {
            reader.mistake(
                key,
                format!(
                    "is not set, but {name} is; give the key of that address, or any word where it asks for none, for \
                     instance {key}=none"
                ),
            );
        }
    }
    let own = variables(Provider::Compatible);
    let is_default = settings.default == Provider::Compatible;
    if !is_default && reader.get(own.key).is_some() && !bases.contains_key(&Provider::Compatible) {
        reader.mistake(
            own.base_url,
            format!(
                "is not set, but {} is; for instance {}={}",
                own.key, own.base_url, own.address
            ),
        );
    }
}

/// Who names the default provider has to set it up.
fn require_default(reader: &mut Reader<'_>, settings: &ModelSettings, named: Option<Provider>) {
    let Some(provider) = named.filter(|named| !settings.providers.contains_key(named)) else {
        return;
    };
    let own = variables(provider);
    let given = [own.key, KEY]
        .into_iter()
        .chain(own.shared_key)
        .any(|name| reader.get(name).is_some());
    // A key or an address that is there but wrong is told already.
    let is_told = given || reader.get(own.base_url).is_some() || reader.get(BASE_URL).is_some();
    if provider == Provider::Compatible {
        if reader.get(own.base_url).is_none() && reader.get(BASE_URL).is_none() {
            reader.mistake(
                PROVIDER,
                format!(
                    "is {provider}, which is nowhere yet; {}",
                    what_to_set(provider)
                ),
            );
        }
    } else if !is_told {
        reader.mistake(
            PROVIDER,
            format!(
                "is {provider}, but there is no key; {}",
                what_to_set(provider)
            ),
        );
    }
}

#[cfg(test)]
mod tests;
