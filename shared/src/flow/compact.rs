//! Old turns become summary and facts: a job of its own, so that it never delays an answer.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures_util::FutureExt;

use super::bill::{self, Bill};
use super::process::Visit;
use super::{FlowError, World, breakers, look};
use crate::domain::{
    Agent, ChargeKind, ConversationId, FactId, Finish, ModelReply, Prompt, Purpose, State, Step,
    Timestamp,
};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::breaker::Gate;
use crate::policy::compaction::{self, Refusal};
use crate::policy::fallback::{Course, Ladder, Next, Time};
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
    let conversation = &visit.conversation;
    let mut asking = Asking {
        world,
        visit,
        agent,
        bill,
        course: course(world, agent).await,
    };
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
        let prompt = compaction::prompt(agent, &memory, &plan, &person);
        let Ok(reply) = asking.until_answered(prompt, &state).await else {
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

/// Who compacts: the model for it, else the main one; the fallback behind it, and first where that one is left out. Whether
/// it is there again is for the turns to try.
async fn course(world: &World, agent: &Agent) -> Course {
    let models = &agent.model;
    let first = models.compaction.as_deref().unwrap_or(&models.main);
    let ladder = Ladder::of(first, models.fallback.as_deref());
    let known = if ladder.has_fallback() {
        breakers::look(world, first).await
    } else {
        None
    };
    let gate = known.map_or(Gate::Closed, |breaker| Gate::Open(breaker.class));
    Course::begin(ladder, gate)
}

/// A job and its models: one budget of attempts for all of its prefixes.
struct Asking<'a> {
    world: &'a World,
    visit: &'a Visit,
    agent: &'a Agent,
    bill: &'a Bill,
    course: Course,
}

impl Asking<'_> {
    /// Asks until one of the models answers, or none of them will.
    async fn until_answered(
        &mut self,
        mut prompt: Prompt,
        state: &State,
    ) -> Result<ModelReply, ModelError> {
        let mut was_cut = false;
        loop {
            let time = self.time();
            let answer = self.call(&prompt, state, self.course.timeout(time)).await;
            if is_cut(&answer) && !was_cut && self.course.may_mend() {
                // The same cap would cut it again, for ever.
                prompt.output_tokens_max = prompt.output_tokens_max.saturating_mul(2);
                was_cut = true;
                continue;
            }
            let error = match answer {
                Ok(reply) => {
                    self.course.succeeded();
                    return Ok(reply);
                }
                Err(error) => error,
            };
            match self.course.next(error, time, self.world.chance.fraction()) {
                Next::End(error) => return Err(error),
                Next::Again(pause) => self.world.clock.sleep(pause).await,
                Next::MoveOn => {}
            }
        }
    }

    fn time(&self) -> Time {
        let left = self.visit.time_left(self.world.now());
        let timing = &self.agent.timing;
        Time {
            left: left.saturating_sub(AFTER_THE_MODEL),
            budget: timing.model_budget,
            timeout: timing.model_timeout,
        }
    }

    async fn call(
        &self,
        prompt: &Prompt,
        state: &State,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        let (world, agent, model) = (self.world, self.agent, self.course.model());
        let started = world.now();
        let answer = world.models.converse(model, prompt, timeout).await;
        match &answer {
            Ok(reply) => {
                let charge = spend::charge(&agent.prices, ChargeKind::Compaction, reply);
                self.bill.add(charge);
            }
            Err(error) => {
                let times = (world.now().since(started), timeout);
                let factor = tokens::factor(state, model);
                bill::failed(agent, self.bill, (error, (model, prompt)), factor, times);
            }
        }
        let step = match &answer {
            Ok(reply) => Step::ModelCalled {
                model: reply.model.clone(),
                purpose: Purpose::Compaction,
                why: self.course.why(),
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
        world.note(&self.visit.conversation, &step);
        answer
    }
}
