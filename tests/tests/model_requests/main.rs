//! The exact requests to every provider: golden, against the published schemas, against a strict peer, at random, and
//! through the real client.

mod end_to_end;
mod golden;
mod laws;
mod mock;
mod refusals;

mod schemas;
mod shapes;
mod shell;

use recado::adapters::models::Asked;
use recado::domain::Provider;

/// A model of each provider, and of `OpenAI`'s one that takes cache marks.
const MODELS: [(&str, Asked<'static>); 5] = [
    ("openai", asked(Provider::OpenAi, "gpt-5.4-mini")),
    ("openai_with_marks", asked(Provider::OpenAi, "gpt-5.6-sol")),
    (
        "openrouter",
        asked(Provider::OpenRouter, "openai/gpt-5.4-mini"),
    ),
    ("anthropic", asked(Provider::Anthropic, "claude-haiku-4-5")),
    ("compatible", asked(Provider::Compatible, "llama3.2:3b")),
];

const fn asked(provider: Provider, model: &'static str) -> Asked<'static> {
    Asked { provider, model }
}
