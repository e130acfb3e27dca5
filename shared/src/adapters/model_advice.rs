//! What an operator does about a failed model call: one sentence for each failure that does not pass by itself.

use crate::domain::Provider;
use crate::error::ModelErrorClass;

/// What to do where a call failed with this class, for the reason that the log tells (its end names the provider); `None`
/// where it passes, or is the model's own will.
pub fn advice(class: ModelErrorClass, reason: &str) -> Option<&'static str> {
    let provider = reason
        .rsplit_once(", from ")
        .and_then(|(_, name)| Provider::parse(name))
        .unwrap_or(Provider::OpenAi);
    let is_elsewhere = reason.contains("status 405");
    let is_unreachable = reason.starts_with("no connection");
    Some(match class {
        ModelErrorClass::Auth => wrong_key(provider),
        ModelErrorClass::Quota => out_of_money(provider),
        ModelErrorClass::Missing => unknown_model(provider),
        ModelErrorClass::Invalid if is_elsewhere => unknown_model(provider),
        ModelErrorClass::Invalid if reason.starts_with("the provider is not set up") => {
            "the model's provider has no key or address here: see the variables of its name (RECADO_…_KEY, \
             RECADO_…_BASE_URL), or name another model"
        }
        ModelErrorClass::Invalid => another_api(provider),
        ModelErrorClass::Overflow => {
            "the prompt is too long for this model: lower history_tokens_max under [budget] in the agent file, or take \
             another model"
        }
        ModelErrorClass::Transient if is_unreachable => nobody_there(provider),
        ModelErrorClass::Transient
        | ModelErrorClass::Throttled
        | ModelErrorClass::Refusal
        | ModelErrorClass::Cut => return None,
    })
}

const fn wrong_key(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => {
            "the provider does not take the key, or it may not use this model: check RECADO_MODEL_KEY or \
             RECADO_OPENAI_KEY (on AWS model_key or openai_key in the secret)"
        }
        Provider::OpenRouter => {
            "OpenRouter does not take the key, or it may not use this model: check RECADO_OPENROUTER_KEY, or \
             RECADO_MODEL_KEY where OpenRouter is the default (on AWS openrouter_key or model_key in the secret)"
        }
        Provider::Anthropic => {
            "Anthropic does not take the key, or it may not use this model: check RECADO_ANTHROPIC_KEY, or \
             RECADO_MODEL_KEY where Anthropic is the default (on AWS anthropic_key or model_key in the secret)"
        }
        Provider::Compatible => {
            "the server wants another key: check RECADO_COMPATIBLE_KEY (on AWS compatible_key in the secret)"
        }
    }
}

const fn out_of_money(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => {
            "the account of the key has no credit or quota left: see billing and limits at the provider"
        }
        Provider::OpenRouter => {
            "no credits, or a limit of the key or the workspace is reached: see credits and keys at openrouter.ai"
        }
        Provider::Anthropic => {
            "no credit, or the month's spend limit is reached: see billing and limits in Anthropic's console"
        }
        Provider::Compatible => "the server says that there is no quota left: see its own limits",
    }
}

const fn unknown_model(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => {
            "the provider does not know this model, or nothing is at this address: check RECADO_MODEL or [model] in the \
             agent file (gpt-5.6-luna, say; anthropic:… for another provider's), and the base address, which ends where \
             /responses follows (RECADO_MODEL_BASE_URL, RECADO_OPENAI_BASE_URL)"
        }
        Provider::OpenRouter => {
            "OpenRouter does not know this model, or nobody there serves it: its names hold a slash, \
             openai/gpt-5.6-luna, say; check RECADO_MODEL or [model] in the agent file, and \
             RECADO_OPENROUTER_BASE_URL where it is set"
        }
        Provider::Anthropic => {
            "Anthropic does not know this model: check RECADO_MODEL or [model] in the agent file (claude-haiku-4-5, say; \
             openai:… for another provider's), and RECADO_ANTHROPIC_BASE_URL where it is set"
        }
        Provider::Compatible => {
            "the server does not have this model, or nothing is at this address: load it there (ollama pull …), check \
             RECADO_MODEL or [model] in the agent file, and RECADO_COMPATIBLE_BASE_URL, which ends where \
             /chat/completions follows, for most servers in /v1"
        }
    }
}

const fn another_api(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => {
            "the provider does not take the request: check that it speaks the Responses API, and that the model writes text; \
             a server that only speaks chat completions is RECADO_MODEL_PROVIDER=compatible"
        }
        Provider::OpenRouter | Provider::Compatible => {
            "the server does not take the request: check that it speaks chat completions, and that the model writes text \
             and takes tools where the agent has any"
        }
        Provider::Anthropic => {
            "the provider does not take the request: check that it speaks Anthropic's Messages API, and that the model \
             takes what the agent asks of it"
        }
    }
}

const fn nobody_there(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => {
            "nobody answers at the model's address: check the network, and RECADO_MODEL_BASE_URL or \
             RECADO_OPENAI_BASE_URL where one is set; it is tried again"
        }
        Provider::OpenRouter => {
            "nobody answers at OpenRouter's address: check the network, and RECADO_OPENROUTER_BASE_URL where it is set; \
             it is tried again"
        }
        Provider::Anthropic => {
            "nobody answers at Anthropic's address: check the network, and RECADO_ANTHROPIC_BASE_URL where it is set; \
             it is tried again"
        }
        Provider::Compatible => {
            "nobody answers at RECADO_COMPATIBLE_BASE_URL: check that the server runs (ollama serve, say) and listens \
             there; it is tried again"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_operator_must_mend_comes_with_what_to_do() {
        for (label, class, reason, word) in [
            (
                "a wrong key",
                ModelErrorClass::Auth,
                "status 401, code invalid_api_key",
                Some("RECADO_MODEL_KEY"),
            ),
            (
                "no money",
                ModelErrorClass::Quota,
                "status 429, code insufficient_quota",
                Some("billing"),
            ),
            (
                "an unknown model",
                ModelErrorClass::Missing,
                "status 404, code model_not_found",
                Some("RECADO_MODEL or"),
            ),
            (
                "an unknown model by its code alone",
                ModelErrorClass::Missing,
                "status 400, code model_not_found",
                Some("RECADO_MODEL or"),
            ),
            (
                "another API",
                ModelErrorClass::Invalid,
                "status 400",
                Some("Responses API"),
            ),
            (
                "a short window",
                ModelErrorClass::Overflow,
                "status 400, code context_length_exceeded",
                Some("history_tokens_max"),
            ),
            (
                "nobody there",
                ModelErrorClass::Transient,
                "no connection",
                Some("RECADO_MODEL_BASE_URL"),
            ),
            ("down", ModelErrorClass::Transient, "status 500", None),
            ("too fast", ModelErrorClass::Throttled, "status 429", None),
            ("no", ModelErrorClass::Refusal, "refused", None),
            ("half an answer", ModelErrorClass::Cut, "cut", None),
        ] {
            let given = advice(class, reason);
            assert_eq!(given.is_some(), word.is_some(), "{label}");
            assert!(
                given.unwrap_or_default().contains(word.unwrap_or_default()),
                "{label}"
            );
        }
    }
    #[test]
    fn each_provider_is_told_by_its_own_names() {
        use ModelErrorClass::{Auth, Invalid, Missing, Transient};
        for (provider, key, model, address) in [
            (
                "openai",
                "RECADO_OPENAI_KEY",
                "gpt-5.6-luna",
                "RECADO_OPENAI_BASE_URL",
            ),
            (
                "openrouter",
                "RECADO_OPENROUTER_KEY",
                "openai/gpt-5.6-luna",
                "RECADO_OPENROUTER_BASE_URL",
            ),
            (
                "anthropic",
                "RECADO_ANTHROPIC_KEY",
                "claude-haiku-4-5",
                "RECADO_ANTHROPIC_BASE_URL",
            ),
            (
                "compatible",
                "RECADO_COMPATIBLE_KEY",
                "ollama pull",
                "RECADO_COMPATIBLE_BASE_URL",
            ),
        ] {
            let told = |class, reason: &str| {
                advice(class, &format!("{reason}, from {provider}")).unwrap_or_default()
            };
            assert!(told(Auth, "status 401").contains(key), "{provider}");
            assert!(told(Missing, "status 404").contains(model), "{provider}");
            assert!(
                told(Transient, "no connection").contains(address),
                "{provider}"
            );
            assert!(told(Invalid, "the provider is not set up").contains("RECADO_…_KEY"));
        }
    }
}
