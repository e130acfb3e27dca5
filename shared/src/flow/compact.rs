//! Old turns become summary and facts: a job of its own, so that it never delays an answer.

use std::time::Duration;

use super::{FlowError, World, look};
use crate::domain::{ConversationId, FactId, Prompt, Purpose, Step, Timestamp};
use crate::error::ModelError;
use crate::policy::{compaction, context};
use crate::ports::Written;

/// What must be left for the transaction after the model.
const AFTER_THE_MODEL: Duration = Duration::from_secs(10);

/// Prefixes compacted in one job; a longer backlog asks for another job.
const FOLDS_MAX: usize = 4;

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compacted {
    /// Nothing (more) to compact.
    Done,
    /// Refused or failed: nothing changed; the next turn asks again.
    NotNow,
}

/// Compacts a conversation while there is enough to compact: each prefix with one call and one transaction.
pub async fn compact(
    world: &World,
    conversation: &ConversationId,
    deadline: Timestamp,
) -> Result<Compacted, FlowError> {
    let Some(agent) = world.agents.by_id(&conversation.agent).await else {
        return Ok(Compacted::Done);
    };
    for _ in 0..FOLDS_MAX {
        let peek = look::peek(world, conversation, 1).await?;
        let Some(state) = peek.state else {
            return Ok(Compacted::Done);
        };
        let memory = world.store.load(conversation).await?;
        let outgrown = context::outgrown(&agent, &memory, &state);
        let Some(plan) = compaction::plan(&memory, &agent.compaction, outgrown) else {
            return Ok(Compacted::Done);
        };
        let person = world.hasher.conversation(conversation);
        let prompt = compaction::prompt(&agent, &memory, &plan, &person);
        let model = agent.model.compaction.as_ref().unwrap_or(&agent.model.main);
        let timeout = deadline.since(world.now()).saturating_sub(AFTER_THE_MODEL);
        let timeout = timeout.min(agent.timing.model_timeout);
        let Ok(text) = call(world, conversation, model, &prompt, timeout).await else {
            return Ok(Compacted::NotNow);
        };
        let now = world.now();
        let mut new_id = || FactId::from_parts(now.ms(), world.chance.bits());
        let fold = match compaction::check(&agent, &memory, &plan, &text, now, &mut new_id) {
            Ok(fold) => fold,
            Err(refusal) => {
                let reason = refusal.as_str();
                world.note(conversation, &Step::CompactionRefused { reason });
                return Ok(Compacted::NotNow);
            }
        };
        let (items, facts) = (fold.messages.len() + fold.replies.len(), fold.facts.len());
        if world.store.fold(conversation, &fold, now).await? == Written::Lost {
            // Another compaction was quicker, or the person is forgotten: either way this one is void.
            return Ok(Compacted::Done);
        }
        world.note(conversation, &Step::Compacted { items, facts });
    }
    // More than one job should take: another one goes on.
    world.ticks.compact(conversation).await?;
    Ok(Compacted::Done)
}

async fn call(
    world: &World,
    conversation: &ConversationId,
    model: &str,
    prompt: &Prompt,
    timeout: Duration,
) -> Result<String, ModelError> {
    let started = world.now();
    match world.models.converse(model, prompt, timeout).await {
        Ok(reply) => {
            let step = Step::ModelCalled {
                model: reply.model,
                purpose: Purpose::Compaction,
                usage: reply.usage,
                took: world.now().since(started),
            };
            world.note(conversation, &step);
            Ok(reply.text)
        }
        Err(error) => {
            let step = Step::ModelFailed {
                model: model.to_owned(),
                purpose: Purpose::Compaction,
                class: error.class,
                reason: error.reason.clone(),
            };
            world.note(conversation, &step);
            Err(error)
        }
    }
}
