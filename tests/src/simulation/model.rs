//! The model of a schedule: it repeats what it heard, it fails in all the ways, and it checks every prompt.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{
    Agent, Carried, ConversationId, Finish, ModelReply, Output, Prompt, Turn, Usage,
};
use recado::error::{ModelError, ModelErrorClass};
use recado::policy::prompt::validate;
use recado::policy::{retry, tokens};
use recado::ports::Model;
use serde_json::json;

use super::core::Core;
use super::invocation::{here, whose};
use super::plan::{Fault, Plan};
use super::tools;
use super::words::{Canary, canaries};
use crate::fake_store::FakeStore;

/// What the newest turn may cost however small the budget.
const TOKENS_MIN: u32 = 64;

/// See the module.
pub struct SimModel {
    core: Arc<Core>,
    table: Arc<FakeStore>,
    agent: Arc<Agent>,
    usual_ms_max: u64,
    turns_with_tools: u32,
}

impl SimModel {
    /// The model of this plan.
    pub fn new(core: Arc<Core>, table: Arc<FakeStore>, agent: Arc<Agent>, plan: &Plan) -> Self {
        Self {
            core,
            table,
            agent,
            usual_ms_max: plan.model_ms_max,
            turns_with_tools: plan.turns_with_tools,
        }
    }

    /// Whether the main model is down; now and then it goes down for minutes.
    fn is_down(&self, model: &str) -> bool {
        let core = &self.core;
        if model != self.agent.model.main || core.is_calm() {
            return false;
        }
        let now = core.true_ms();
        if core.strikes(Fault::MainDown, 12) {
            let ms = core.pick(5_000..240_000);
            core.main_down_until.store(now + ms, Ordering::Relaxed);
            core.trouble(None, 140_000 + ms);
        }
        core.main_down_until.load(Ordering::Relaxed) > now
    }

    /// What goes wrong with this call, after how long.
    fn fault(&self, model: &str) -> Option<(u64, ModelErrorClass)> {
        let core = &self.core;
        if self.is_down(model) {
            use ModelErrorClass::{Auth, Missing, Quota, Throttled, Transient};
            let classes = [Transient, Transient, Throttled, Quota, Auth, Missing];
            let class = classes[usize::try_from(core.pick(0..6)).unwrap_or(0)];
            core.trouble(None, 140_000);
            return Some((core.pick(50..3_000), class));
        }
        let class = if core.strikes(Fault::ModelThrottled, 4) {
            ModelErrorClass::Throttled
        } else if core.strikes(Fault::ModelFails, 4) {
            ModelErrorClass::Transient
        } else if core.strikes(Fault::ModelDeclines, 6) {
            use ModelErrorClass::{Auth, Cut, Invalid, Missing, Overflow, Quota, Refusal};
            [Overflow, Cut, Refusal, Invalid, Auth, Quota, Missing]
                [usize::try_from(core.pick(0..7)).unwrap_or(0)]
        } else {
            return None;
        };
        core.trouble(None, 140_000);
        Some((core.pick(50..3_000), class))
    }

    /// Whether the message of this canary waits for an answer.
    fn waits(&self, of: &ConversationId, canary: Canary) -> bool {
        self.table.touch(|table| {
            let person = table.people.get(of);
            let stored = person.and_then(|person| person.events.get(&canary.message_id()));
            stored.is_some_and(|stored| stored.answered_by.is_none())
        })
    }

    /// The laws of a prompt that asks for an answer.
    fn check(&self, of: &ConversationId, model: &str, prompt: &Prompt) {
        let core = &self.core;
        if let Err(flaw) = validate(prompt) {
            core.broken(
                "every prompt is one that a provider takes",
                Some(of),
                format!("{flaw:?}"),
            );
        }
        let turns: u32 = prompt.history.iter().map(tokens::turn).sum();
        let memory = prompt.memory.iter().map(|text| tokens::message(text));
        let past = turns + memory.sum::<u32>();
        let last: u32 = prompt.last.iter().map(|text| tokens::message(text)).sum();
        let factor = self.table.touch(|table| {
            let state = table
                .people
                .get(of)
                .and_then(|person| person.state.as_ref());
            state.map_or(1.0, |state| tokens::factor(state, model))
        });
        let floor = tokens::budgeted(TOKENS_MIN, factor);
        let spent = tokens::budgeted(past + last, factor);
        let budget = self.agent.budget.history_tokens_max.max(floor);
        if spent > budget {
            core.broken(
                "a prompt is never over its budget",
                Some(of),
                format!("{spent} of {budget}"),
            );
        }
        let said = prompt.history.iter().filter_map(|turn| match turn {
            Turn::User(blocks) => Some(blocks),
            Turn::Calls(_) | Turn::Assistant(_) => None,
        });
        let mut seen = BTreeSet::new();
        for text in said.flatten().chain(&prompt.last) {
            for canary in canaries(text) {
                if !seen.insert(canary) {
                    core.broken(
                        "no message is twice in a prompt",
                        Some(of),
                        canary.to_string(),
                    );
                }
                if !core.witness(|witness| witness.holds(of, canary)) {
                    core.broken(
                        "no words of others are in a prompt",
                        Some(of),
                        canary.to_string(),
                    );
                }
            }
        }
    }
}

#[async_trait]
impl Model for SimModel {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        let core = &self.core;
        let answers = prompt.output == Output::Text;
        if let Some(of) = whose().filter(|_| answers) {
            self.check(&of, model, prompt);
            core.witness(|witness| witness.asked(&of, here()));
        }
        let mut takes_ms = core.pick(200..self.usual_ms_max);
        if core.strikes(Fault::ModelPanics, 6) {
            core.witness(|witness| witness.panicked(core.true_ms()));
            // Without the panic hook: this one is on purpose.
            resume_unwind(Box::new("told to"));
        }
        let fault = self.fault(model);
        if let Some((after_ms, _)) = fault {
            takes_ms = after_ms;
        } else if core.strikes(Fault::ModelTimeout, 8) {
            takes_ms = 90_000;
            core.trouble(None, 220_000);
        } else if core.strikes(Fault::ModelSlow, 3) {
            takes_ms = core.pick(10_000..45_000);
            core.trouble(None, 2 * takes_ms);
        }
        let takes = Duration::from_millis(takes_ms);
        core.elsewhere(u64::try_from(takes.min(timeout).as_millis()).unwrap_or(0))
            .await;
        core.trace("converse", takes_ms);
        if let Some(of) = whose().filter(|_| answers && (takes > timeout || fault.is_some())) {
            core.witness(|witness| witness.asked_and_failed(&of, here()));
        }
        if takes > timeout {
            return Err(ModelError::new(ModelErrorClass::Transient, "timeout"));
        }
        if let Some((_, class)) = fault {
            if let Some(of) = whose().filter(|_| answers && retry::is_in_vain(class)) {
                core.witness(|witness| witness.asked_in_vain(&of, core.true_ms()));
            }
            let mut error = ModelError::new(class, "told to");
            error.retry_after =
                (class == ModelErrorClass::Throttled).then(|| Duration::from_secs(7));
            return Err(error);
        }
        let of = whose().filter(|_| answers);
        let calls = of.map_or_else(Vec::new, |of| {
            let waits = |canary| self.waits(&of, canary);
            tools::asks(core, prompt, self.turns_with_tools, waits)
        });
        let text = match (calls.is_empty(), answers) {
            (false, _) => String::new(),
            (true, true) => answer(prompt),
            (true, false) => compaction(prompt),
        };
        let input = u64::from(tokens::prompt(prompt));
        let usage = Usage {
            input_uncached: input * core.pick(8..14) / 10,
            output: 20,
            ..Usage::default()
        };
        core.witness(|witness| witness.reported(here(), &usage));
        Ok(ModelReply {
            text,
            calls,
            carried: Carried::new(model, vec![json!({ "of": model })]),
            finish: Finish::Complete,
            usage,
            model: model.to_owned(),
        })
    }
}

/// An answer that holds the person's words, so that what becomes of them can be followed.
fn answer(prompt: &Prompt) -> String {
    let heard: Vec<String> = prompt
        .last
        .iter()
        .flat_map(|text| canaries(text))
        .map(|n| n.to_string())
        .collect();
    format!("ouvi {}", heard.join(" "))
}

/// A summary and a fact that hold the person's words.
fn compaction(prompt: &Prompt) -> String {
    let words: Vec<String> = prompt
        .last
        .iter()
        .flat_map(|text| canaries(text))
        .map(|n| n.to_string())
        .collect();
    let first = words.first().cloned().unwrap_or_default();
    format!(
        r#"{{"summary":"A pessoa falou de {first}.","facts":[{{"op":"add","id":null,"text":"Gosta de {first}","source_ids":["m1"]}}]}}"#
    )
}
