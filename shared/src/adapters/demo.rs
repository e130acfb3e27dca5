//! A stand-in for a language model, so that everything else can be seen at work without an account anywhere.
//!
//! It is deterministic and honest: every answer says that a demonstration wrote it. It does not think; it shows what a
//! model would have been given (the whole batch, the person's name, what is remembered), calls a tool whose name the
//! person writes, and writes compactions that pass the same checks as a real model's.

mod calls;
mod chat;
mod fold;
mod patterns;
mod prompt_text;

use std::time::Duration;

use async_trait::async_trait;

use crate::domain::{Carried, Finish, ModelReply, Output, Prompt, Usage};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::prompt::text::head;
use crate::policy::tokens;
use crate::ports::Model;

/// The name of the model in answers, whatever name was asked for.
pub const NAME: &str = "demo";

/// The stand-in.
#[derive(Debug, Clone, Copy)]
pub struct DemoModel {
    latency: Duration,
}

impl Default for DemoModel {
    /// Answers after 300 ms, so that a timeline looks like one.
    fn default() -> Self {
        Self::new(Duration::from_millis(300))
    }
}

impl DemoModel {
    /// A stand-in that takes `latency` for every answer.
    pub const fn new(latency: Duration) -> Self {
        Self { latency }
    }
}

#[async_trait]
impl Model for DemoModel {
    async fn converse(
        &self,
        _model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        tokio::time::sleep(self.latency.min(timeout)).await;
        if self.latency > timeout {
            return Err(ModelError::new(
                ModelErrorClass::Transient,
                "no answer in time",
            ));
        }
        Ok(answer(prompt))
    }
}

/// The answer to a prompt; the same prompt has the same answer.
pub fn answer(prompt: &Prompt) -> ModelReply {
    let asked = calls::asked(prompt);
    let whole = match prompt.output {
        Output::Text if asked.is_some() => String::new(),
        Output::Text => chat::answer(prompt),
        Output::Json { .. } => fold::answer(prompt),
    };
    let text = head(&whole, prompt.output_tokens_max.max(16));
    let finish = if text == whole {
        Finish::Complete
    } else {
        Finish::Cut
    };
    let usage = Usage {
        input_uncached: u64::from(tokens::prompt(prompt)),
        output: u64::from(tokens::estimate(&text)),
        ..Usage::default()
    };
    ModelReply {
        text,
        calls: asked.into_iter().collect(),
        carried: Carried::none(),
        finish,
        usage,
        model: NAME.to_owned(),
    }
}

#[cfg(test)]
mod tests;
