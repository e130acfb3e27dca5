//! Which provider is meant, by the variables that are set.

use super::*;
use crate::config::agent_file::Overrides;
use crate::config::settings::{Environment, LocalSettings, ModelAccess};

fn read(pairs: &[(&str, &str)]) -> Result<ModelSettings, Vec<String>> {
    let environment = Environment::of(pairs.iter().copied());
    match LocalSettings::read(&environment) {
        Ok(settings) => match settings.model {
            ModelAccess::Providers(models) => Ok(models),
            ModelAccess::Demo => Err(vec!["demo".to_owned()]),
        },
        Err(error) => Err(error.lines),
    }
}

/// The default provider, and each provider with its address and key.
fn told(models: &ModelSettings) -> (Provider, Vec<String>) {
    let each = models.providers.iter().map(|(provider, settings)| {
        let key = settings.key.as_ref().map_or("no key", |key| key.reveal());
        format!("{provider} {} {key}", settings.base_url)
    });
    (models.default, each.collect())
}

#[test]
fn the_default_provider_is_the_one_that_is_named_or_has_a_key() {
    use Provider::{Anthropic, Compatible, OpenAi, OpenRouter};
    for (label, pairs, default, providers) in [
        (
            "only Anthropic's own variable",
            vec![("ANTHROPIC_API_KEY", "a")],
            Anthropic,
            vec!["anthropic https://api.anthropic.com/v1 a"],
        ),
        (
            "only OpenRouter's own variable",
            vec![("OPENROUTER_API_KEY", "r")],
            OpenRouter,
            vec!["openrouter https://openrouter.ai/api/v1 r"],
        ),
        (
            "OpenAI before the others",
            vec![("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")],
            OpenAi,
            vec![
                "openai https://api.openai.com/v1 o",
                "anthropic https://api.anthropic.com/v1 a",
            ],
        ),
        (
            "the usual key is OpenAI's, whatever lies about",
            vec![("ANTHROPIC_API_KEY", "a"), ("RECADO_MODEL_KEY", "m")],
            OpenAi,
            vec![
                "openai https://api.openai.com/v1 m",
                "anthropic https://api.anthropic.com/v1 a",
            ],
        ),
        (
            "the usual key is the named provider's",
            vec![
                ("RECADO_MODEL_PROVIDER", "openrouter"),
                ("RECADO_MODEL_KEY", "m"),
                ("RECADO_MODEL_BASE_URL", "http://proxy/api/v1/"),
            ],
            OpenRouter,
            vec!["openrouter http://proxy/api/v1 m"],
        ),
        (
            "a provider's own variables stand above the usual ones",
            vec![
                ("RECADO_MODEL_KEY", "m"),
                ("RECADO_MODEL_BASE_URL", "http://m/v1"),
                ("RECADO_OPENAI_KEY", "o"),
                ("RECADO_OPENAI_BASE_URL", "http://o/v1"),
            ],
            OpenAi,
            vec!["openai http://o/v1 o"],
        ),
        (
            "a local server needs no key",
            vec![("RECADO_COMPATIBLE_BASE_URL", "http://localhost:11434/v1")],
            Compatible,
            vec!["compatible http://localhost:11434/v1 no key"],
        ),
        (
            "nor where it is named",
            vec![
                ("RECADO_MODEL_PROVIDER", "compatible"),
                ("RECADO_MODEL_BASE_URL", "http://localhost:11434/v1"),
                ("OPENAI_API_KEY", "o"),
            ],
            Compatible,
            vec![
                "openai https://api.openai.com/v1 o",
                "compatible http://localhost:11434/v1 no key",
            ],
        ),
    ] {
        let models = read(&pairs).unwrap();
        let providers = providers.into_iter().map(str::to_owned).collect();
        assert_eq!(told(&models), (default, providers), "{label}");
    }
}

#[test]
fn a_provider_that_is_not_set_up_is_told_with_what_to_set() {
    for (pairs, expected) in [
        (
            vec![("RECADO_MODEL_PROVIDER", "google")],
            "RECADO_MODEL_PROVIDER: must be openai, openrouter, anthropic or compatible, not \"google\"; for instance RECADO_MODEL_PROVIDER=openai",
        ),
        (
            vec![("RECADO_MODEL_PROVIDER", "anthropic")],
            "RECADO_MODEL_PROVIDER: is anthropic, but there is no key; set RECADO_ANTHROPIC_KEY, for instance RECADO_ANTHROPIC_KEY=sk-…",
        ),
        (
            vec![
                ("RECADO_MODEL_PROVIDER", "compatible"),
                ("RECADO_COMPATIBLE_KEY", "k"),
            ],
            "RECADO_MODEL_PROVIDER: is compatible, which is nowhere yet; set RECADO_COMPATIBLE_BASE_URL, for instance RECADO_COMPATIBLE_BASE_URL=http://localhost:11434/v1",
        ),
        (
            vec![("RECADO_COMPATIBLE_KEY", "k")],
            "RECADO_COMPATIBLE_BASE_URL: is not set, but RECADO_COMPATIBLE_KEY is; for instance RECADO_COMPATIBLE_BASE_URL=http://localhost:11434/v1",
        ),
        (
            vec![("RECADO_ANTHROPIC_BASE_URL", "http://proxy/v1")],
            "RECADO_ANTHROPIC_KEY: is not set, but RECADO_ANTHROPIC_BASE_URL is; give the key of that address, or any word where it asks for none, for instance RECADO_ANTHROPIC_KEY=none",
        ),
        (
            vec![
                ("ANTHROPIC_API_KEY", "a"),
                (
                    "RECADO_ANTHROPIC_BASE_URL",
                    "https://api.anthropic.com/v1/messages",
                ),
            ],
            "RECADO_ANTHROPIC_BASE_URL: must end before the name of the request, for /messages is added to it; for instance RECADO_ANTHROPIC_BASE_URL=https://api.anthropic.com/v1",
        ),
        (
            vec![
                ("OPENROUTER_API_KEY", "r"),
                ("RECADO_OPENROUTER_BASE_URL", "https://openrouter.ai/v1"),
            ],
            "RECADO_OPENROUTER_BASE_URL: must end in /api/v1 at OpenRouter; for instance RECADO_OPENROUTER_BASE_URL=https://openrouter.ai/api/v1",
        ),
    ] {
        assert_eq!(read(&pairs), Err(vec![expected.to_owned()]), "{pairs:?}");
    }
    let demo = [
        ("RECADO_MODEL_PROVIDER", "anthropic"),
        ("RECADO_MODEL", "demo"),
    ];
    assert_eq!(read(&demo), Err(vec!["demo".to_owned()]));
}

fn roster(model: &str, overrides: &Overrides) -> Roster {
    let text = format!("id = \"vendas\"\npersona = \"Oi.\"\n{model}");
    Roster::of_texts(&[("vendas.toml", &text)], overrides).unwrap()
}

#[test]
fn a_model_whose_provider_is_not_set_up_is_told_with_its_agent() {
    let models = read(&[("ANTHROPIC_API_KEY", "a")]).unwrap();
    let lacking = |model: &str| models.lacking(&roster(model, &Overrides::none()));
    assert_eq!(lacking("model.main = \"claude-haiku-4-5\""), [""; 0]);
    assert_eq!(lacking("model.main = \"demo\""), [""; 0]);
    assert_eq!(
        lacking("model.main = \"openai:gpt-5.6-luna\""),
        [
            "agent vendas: the model \"openai:gpt-5.6-luna\" needs the provider openai, which is not set up; set RECADO_OPENAI_KEY, for instance RECADO_OPENAI_KEY=sk-…"
        ]
    );
    assert_eq!(
        lacking("model.compaction = \"compatible:qwen3:4b\""),
        [
            "agent vendas: the model \"compatible:qwen3:4b\" needs the provider compatible, which is not set up; set RECADO_COMPATIBLE_BASE_URL, for instance RECADO_COMPATIBLE_BASE_URL=http://localhost:11434/v1"
        ]
    );
}

#[test]
fn an_agent_that_names_no_model_gets_one_of_the_default_provider() {
    for (provider, expected) in [
        (Provider::OpenAi, "gpt-5.6-luna"),
        (Provider::Anthropic, "claude-haiku-4-5"),
        (Provider::OpenRouter, "openai/gpt-5.6-luna"),
    ] {
        let agents = roster("", &Overrides::none().for_provider(provider));
        let main = agents.agents().next().map(|agent| agent.model.main.clone());
        assert_eq!(main.as_deref(), Some(expected));
    }
    let models = read(&[("RECADO_COMPATIBLE_BASE_URL", "http://localhost:11434/v1")]).unwrap();
    let agents = roster("", &Overrides::none().for_provider(models.default));
    let lines = models.lacking(&agents);
    assert!(
        lines.len() == 1 && lines[0].contains("RECADO_MODEL=llama3.2:3b"),
        "{lines:?}"
    );
}
