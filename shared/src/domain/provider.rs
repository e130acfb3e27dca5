//! Who serves a model. Everywhere a model is one text, `provider:model`; without a known provider before the colon it is
//! the installation's default provider's (names of models may hold colons of their own).

use serde::Serialize;

/// The name that stands for the built-in demo model, whatever the providers.
pub const DEMO: &str = "demo";

/// A provider of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// OpenAI, by its Responses API.
    OpenAi,
    /// OpenRouter, by chat completions.
    OpenRouter,
    /// Anthropic, by its Messages API.
    Anthropic,
    /// Any server of chat completions: Ollama, vLLM, llama.cpp.
    Compatible,
}

impl Provider {
    /// Every provider, in the order in which one becomes the default where several could.
    pub const ALL: [Self; 4] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::OpenRouter,
        Self::Compatible,
    ];

    /// What stands before the colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenRouter => "openrouter",
            Self::Anthropic => "anthropic",
            Self::Compatible => "compatible",
        }
    }

    /// The provider of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Who serves `model`, and how it is called there.
    pub fn of(model: &str, default: Self) -> (Self, &str) {
        let named = model
            .split_once(':')
            .and_then(|(name, rest)| Some((Self::parse(name)?, rest)));
        named.unwrap_or((default, model))
    }

    /// The model of an agent that names none; a compatible server's models are its owner's.
    pub const fn default_model(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("gpt-5.6-luna"),
            Self::OpenRouter => Some("openai/gpt-5.6-luna"),
            Self::Anthropic => Some("claude-haiku-4-5"),
            Self::Compatible => None,
        }
    }
}

impl std::fmt::Display for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_provider_before_the_colon_is_one() {
        use Provider::{Anthropic, Compatible, OpenAi, OpenRouter};
        for (text, default, expected) in [
            ("gpt-5.6-luna", OpenAi, (OpenAi, "gpt-5.6-luna")),
            (
                "anthropic:claude-haiku-4-5",
                OpenAi,
                (Anthropic, "claude-haiku-4-5"),
            ),
            ("llama3.2:3b", Compatible, (Compatible, "llama3.2:3b")),
            (
                "compatible:llama3.2:3b",
                OpenAi,
                (Compatible, "llama3.2:3b"),
            ),
            (
                "openrouter:deepseek/deepseek-r1:free",
                OpenAi,
                (OpenRouter, "deepseek/deepseek-r1:free"),
            ),
            ("ft:gpt-4o:acme", OpenAi, (OpenAi, "ft:gpt-4o:acme")),
            ("OpenAI:x", Anthropic, (Anthropic, "OpenAI:x")),
        ] {
            assert_eq!(Provider::of(text, default), expected, "{text}");
        }
    }

    #[test]
    fn a_provider_is_found_by_its_own_name() {
        for provider in Provider::ALL {
            assert_eq!(Provider::parse(provider.name()), Some(provider));
            let text = format!("{provider}:m");
            assert_eq!(Provider::of(&text, Provider::OpenAi), (provider, "m"));
        }
    }
}
