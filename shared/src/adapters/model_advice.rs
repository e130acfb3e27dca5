//! What an operator does about a failed model call: one sentence for each failure that does not pass by itself.

use crate::error::ModelErrorClass;

/// What to do where a call failed with this class, for the reason that the log tells; `None` where it passes, or is the
/// model's own will.
pub fn advice(class: ModelErrorClass, reason: &str) -> Option<&'static str> {
    let is_unknown = ["status 404", "status 405", "model_not_found"]
        .iter()
        .any(|sign| reason.contains(sign));
    let is_unreachable = reason.starts_with("no connection");
    Some(match class {
        ModelErrorClass::Auth => {
            "the provider does not take the key, or it may not use this model: check RECADO_MODEL_KEY (on AWS model_key \
             in the secret)"
        }
        ModelErrorClass::Quota => {
            "the account of the key has no credit or quota left: see billing and limits at the provider"
        }
        ModelErrorClass::Invalid if is_unknown => {
            "the provider does not know this model, or nothing is at this address: check RECADO_MODEL or [model] in the \
             agent file, and RECADO_MODEL_BASE_URL, which ends where /responses follows"
        }
        ModelErrorClass::Invalid => {
            "the provider does not take the request: check that it speaks the Responses API, and that the model writes text"
        }
        ModelErrorClass::Overflow => {
            "the prompt is too long for this model: lower history_tokens_max under [budget] in the agent file, or take \
             another model"
        }
        ModelErrorClass::Transient if is_unreachable => {
            "nobody answers at the model's address: check the network, and RECADO_MODEL_BASE_URL where it is set; it is \
             tried again"
        }
        ModelErrorClass::Transient
        | ModelErrorClass::Throttled
        | ModelErrorClass::Refusal
        | ModelErrorClass::Cut => return None,
    })
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
                ModelErrorClass::Invalid,
                "status 404, code model_not_found",
                Some("RECADO_MODEL or"),
            ),
            (
                "an unknown model by its code alone",
                ModelErrorClass::Invalid,
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
}
