//! Reads single variables and remembers everything that is wrong on the way.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tracing_subscriber::filter::Targets;

use super::{Environment, SettingsError};
use crate::config::nearest::nearest;
use crate::config::secret::Secret;
use crate::domain::Provider;

const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Variables under reading.
pub(super) struct Reader<'e> {
    environment: &'e Environment,
    asked: BTreeSet<&'static str>,
    lines: Vec<String>,
}

impl<'e> Reader<'e> {
    pub fn new(environment: &'e Environment) -> Self {
        Self {
            environment,
            asked: BTreeSet::new(),
            lines: Vec::new(),
        }
    }

    /// The value as it stands.
    pub fn get(&mut self, name: &'static str) -> Option<&'e str> {
        self.asked.insert(name);
        self.environment.get(name)
    }

    /// The value, which must be there.
    pub fn required(&mut self, name: &'static str, example: &str) -> &'e str {
        let value = self.get(name);
        if value.is_none() {
            self.mistake(name, format!("is not set; for instance {name}={example}"));
        }
        value.unwrap_or_default()
    }

    /// A whole number, or its default.
    pub fn number<N>(&mut self, name: &'static str, default: N, wanted: &str) -> N
    where
        N: std::str::FromStr + std::fmt::Display + Copy,
    {
        let Some(text) = self.get(name) else {
            return default;
        };
        text.parse().unwrap_or_else(|_| {
            self.mistake(
                name,
                format!("must be {wanted}, not {text:?}; for instance {name}={default}"),
            );
            default
        })
    }

    /// The address of a provider of models, to which the name of the request is added.
    pub fn model_url(
        &mut self,
        name: &'static str,
        provider: Provider,
        example: &str,
    ) -> Option<String> {
        let url = self.url(name, example)?;
        match check_model_url(&url, provider) {
            Ok(()) => Some(url),
            Err(problem) => {
                self.mistake(name, format!("{problem}; for instance {name}={example}"));
                None
            }
        }
    }

    /// An http or https address without a slash at its end.
    pub fn url(&mut self, name: &'static str, example: &str) -> Option<String> {
        let text = self.get(name)?;
        match check_url(text) {
            Ok(()) => Some(text.trim_end_matches('/').to_owned()),
            // The address is not shown: it may hold a password.
            Err(problem) => {
                self.mistake(name, format!("{problem}; for instance {name}={example}"));
                None
            }
        }
    }

    /// A secret text; `right` says what to give.
    pub fn secret(
        &mut self,
        name: &'static str,
        parse: fn(&str) -> Result<Secret, &'static str>,
        right: &str,
    ) -> Option<Secret> {
        match parse(self.get(name)?) {
            Ok(secret) => Some(secret),
            Err(problem) => {
                self.mistake(name, format!("{problem}; wanted: {right}"));
                None
            }
        }
    }

    /// Paths with commas between them.
    pub fn paths(&mut self, name: &'static str) -> Vec<PathBuf> {
        let text = self.get(name).unwrap_or_default();
        text.split(',')
            .map(str::trim)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect()
    }

    /// What the log shows: a level, or levels by module.
    pub fn log_filter(&mut self, name: &'static str) -> String {
        let text = self.get(name).unwrap_or("info");
        // A mistyped level would be taken for the name of a module, and silence everything.
        let slip = text.split(',').map(str::trim).find_map(|part| {
            let is_level = LOG_LEVELS
                .iter()
                .any(|level| level.eq_ignore_ascii_case(part));
            // A bare word that is no level would be taken for a module's name, and silence all others.
            if is_level || part.contains('=') {
                None
            } else {
                Some(nearest(part, LOG_LEVELS).unwrap_or("info"))
            }
        });
        if let Some(level) = slip {
            self.mistake(
                name,
                format!("{text:?} is not a filter; did you mean {level}?"),
            );
        } else if text.parse::<Targets>().is_err() {
            self.mistake(
                name,
                format!(
                    "{text:?} is not a filter; for instance {name}=info or {name}=info,recado=debug"
                ),
            );
        }
        text.to_owned()
    }

    /// Notes what is wrong with a variable.
    pub fn mistake(&mut self, name: &str, message: impl std::fmt::Display) {
        self.lines.push(format!("{name}: {message}"));
    }

    /// Notes a mistake that names its variable itself.
    pub fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    /// The settings, if nothing was wrong.
    pub fn finish<T>(self, settings: T) -> Result<T, SettingsError> {
        if self.lines.is_empty() {
            Ok(settings)
        } else {
            Err(SettingsError { lines: self.lines })
        }
    }

    /// Every variable that was asked for.
    #[cfg(test)]
    pub fn asked(self) -> BTreeSet<&'static str> {
        self.asked
    }
}

fn check_url(text: &str) -> Result<(), &'static str> {
    let url = reqwest::Url::parse(text).map_err(|_| "must be an http or https address")?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("must be an http or https address");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a user or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must end with its path, without ? or #");
    }
    Ok(())
}

/// What is copied from a provider's pages and would get 404 for every answer.
fn check_model_url(url: &str, provider: Provider) -> Result<(), String> {
    let request = match provider {
        Provider::OpenAi => "/responses",
        Provider::OpenRouter | Provider::Compatible => "/chat/completions",
        Provider::Anthropic => "/messages",
    };
    let requests = [
        "/responses",
        "/chat/completions",
        "/completions",
        "/messages",
    ];
    if requests.iter().any(|path| url.ends_with(path)) {
        return Err(format!(
            "must end before the name of the request, for {request} is added to it"
        ));
    }
    let Ok(url) = reqwest::Url::parse(url) else {
        return Ok(());
    };
    let host = url.host_str().unwrap_or_default();
    let places = [
        ("api.openai.com", "/v1", "OpenAI"),
        ("api.anthropic.com", "/v1", "Anthropic"),
        ("openrouter.ai", "/api/v1", "OpenRouter"),
    ];
    let is_at = |place: &str| {
        host == place
            || host
                .strip_suffix(place)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    match places.into_iter().find(|(place, _, _)| is_at(place)) {
        Some((_, path, name))
            if url.path() == "/" || (name == "OpenRouter" && url.path() != path) =>
        {
            Err(format!("must end in {path} at {name}"))
        }
        _ => Ok(()),
    }
}
