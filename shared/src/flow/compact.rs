//! Old turns become summary and facts: a job of its own, so that it never delays an answer.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures_util::FutureExt;

use super::bill::{self, Bill};
use super::process::Visit;
use super::{FlowError, World, look};
use crate::domain::{
    Agent, ChargeKind, Chosen, ConversationId, FactId, Finish, ModelReply, Prompt, Purpose, Step,
    Timestamp,
};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::compaction::{self, Refusal};
use crate::policy::{context, spend, tokens};
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
    /// Refused or failed: nothing changed; a later turn asks again.
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
    let (run, began_at) = (world.new_run(), world.now());
    let visit = Visit {
        conversation: conversation.clone(),
        receipt: None,
        deadline,
    };
    let bill = Bill::default();
    let folding = fold(world, &visit, &agent, &bill);
    let folded = AssertUnwindSafe(folding).catch_unwind().await;
    let when = (spend::today(&agent, began_at), began_at);
    bill::book_as(world, &visit, (run, None), when, &bill).await;
    folded.unwrap_or_else(|panic| resume_unwind(panic))
}

async fn fold(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    bill: &Bill,
) -> Result<Compacted, FlowError> {
    let (conversation, deadline) = (&visit.conversation, visit.deadline);
    for _ in 0..FOLDS_MAX {
        let peek = look::peek(world, conversation, 1).await?;
        let Some(state) = peek.state else {
            return Ok(Compacted::Done);
        };
        let memory = world.store.load(conversation).await?;
        let outgrown = context::outgrown(agent, &memory, &state);
        let Some(plan) = compaction::plan(&memory, &agent.compaction, outgrown) else {
            return Ok(Compacted::Done);
        };
        let person = world.hasher.conversation(conversation);
        let mut prompt = compaction::prompt(agent, &memory, &plan, &person);
        let factor = tokens::factor(&state, compacting_model(agent));
        let caller = (agent, bill, factor);
        let mut answer = call(world, conversation, caller, &prompt, deadline).await;
        if is_cut(&answer) {
            // The same cap would cut it again, for ever.
            prompt.output_tokens_max = prompt.output_tokens_max.saturating_mul(2);
            answer = call(world, conversation, caller, &prompt, deadline).await;
        }
        let Ok(reply) = answer else {
            return Ok(Compacted::NotNow);
        };
        let now = world.now();
        let mut new_id = || FactId::from_parts(now.ms(), world.chance.bits());
        let checked = match reply.finish {
            Finish::Cut => Err(Refusal::Cut),
            Finish::Complete => {
                compaction::check(agent, &memory, &plan, &reply.text, now, &mut new_id)
            }
        };
        let fold = match checked {
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

/// Whether the cap of output tokens ended it, with or without words.
fn is_cut(answer: &Result<ModelReply, ModelError>) -> bool {
    match answer {
        Ok(reply) => reply.finish == Finish::Cut,
        Err(error) => error.class == ModelErrorClass::Cut,
    }
}

fn compacting_model(agent: &Agent) -> &str {
    let own = agent.model.compaction.as_deref();
    own.unwrap_or(&agent.model.main)
}

async fn call(
    world: &World,
    conversation: &ConversationId,
    (agent, bill, factor): (&Agent, &Bill, f64),
    prompt: &Prompt,
    deadline: Timestamp,
) -> Result<ModelReply, ModelError> {
    let model = compacting_model(agent);
    let started = world.now();
    let left = deadline.since(started).saturating_sub(AFTER_THE_MODEL);
    let timeout = left.min(agent.timing.model_timeout);
    let answer = world.models.converse(model, prompt, timeout).await;
    match &answer {
        Ok(reply) => bill.add(spend::charge(&agent.prices, ChargeKind::Compaction, reply)),
        Err(error) => {
            let times = (world.now().since(started), timeout);
            bill::failed(agent, bill, (error, (model, prompt)), factor, times);
        }
    }
    let step = match &answer {
        Ok(reply) => Step::ModelCalled {
            model: reply.model.clone(),
            purpose: Purpose::Compaction,
            why: Chosen::First,
            usage: reply.usage,
            took: world.now().since(started),
        },
        Err(error) => Step::ModelFailed {
            model: model.to_owned(),
            purpose: Purpose::Compaction,
            class: error.class,
            reason: error.reason.clone(),
        },
    };
    world.note(conversation, &step);
    answer
}
