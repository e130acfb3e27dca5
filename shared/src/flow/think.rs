//! The middle of a run: memory, context, the model and its tools, and the watch beside them.

use std::sync::Arc;
use std::time::Duration;

use super::act::{self, Acts};
use super::process::Visit;
use super::run::Claimed;
use super::{FlowError, World, watch};
use crate::domain::{
    Agent, Batch, Call, Exchange, Memory, ModelReply, PastMessage, Prompt, Purpose, ReplyId,
    ReplyKind, Step, Timestamp,
};
use crate::error::{ModelError, ModelErrorClass, StoreError};
use crate::policy::context::{self, Question, Selected};
use crate::policy::prompt::text::is_blank;
use crate::policy::{compaction, prompt, tokens};

/// What must be left for commit and send after the model.
const AFTER_THE_MODEL: Duration = Duration::from_secs(10);

/// What a run works on.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Everything outside.
    pub world: &'a World,
    /// The invocation it works in.
    pub visit: &'a Visit,
    /// Who answers.
    pub agent: &'a Arc<Agent>,
    /// Its right to the conversation.
    pub claimed: &'a Claimed,
    /// What it answers.
    pub batch: &'a Batch,
}

/// What a run will say.
pub struct Thought {
    /// The words.
    pub text: String,
    /// What was called for it, by this run and earlier ones.
    pub calls: Vec<Call>,
    /// Turns up to here stay out of the prompt from now on.
    pub cut_point: Option<ReplyId>,
    /// What was learnt about the model's tokens.
    pub token_factor: Option<(String, f64)>,
    /// Whether old turns have to become memory once this is committed.
    pub compaction_is_due: bool,
}

impl Thought {
    /// A text of the agent's own, for which no model was asked.
    pub fn plain(text: &str, calls: Vec<Call>) -> Self {
        Self {
            text: text.to_owned(),
            calls,
            cut_point: None,
            token_factor: None,
            compaction_is_due: false,
        }
    }
}

/// How thinking ended.
pub enum Watched {
    /// With an answer.
    Thought(Thought),
    /// Without one.
    Failed(ModelError),
    /// A newer message came: the call was dropped.
    Superseded,
    /// The conversation is no longer this run's.
    Lost,
}

/// A text of the agent's own. What earlier runs called belongs to the turn all the same.
pub async fn plain(task: Task<'_>, text: &str) -> Result<Thought, FlowError> {
    let calls = match act::stored(task).await {
        // What cannot be read must not silence the person for good: history goes without it.
        Err(FlowError::Store(StoreError::Undecodable { .. })) => Vec::new(),
        calls => calls?,
    };
    Ok(Thought::plain(text, calls))
}

/// Reads memory, selects the context and converses with the model, until it answers in words. Every second, just before
/// the ceiling, and once more at the end, it is looked whether the answer is still wanted.
pub async fn think(task: Task<'_>) -> Result<Watched, FlowError> {
    let memory = task.world.store.load(&task.visit.conversation).await?;
    // Boxed, for most runs have no calls and need not carry their size.
    let mut acts = match Box::pin(act::take_up(task)).await? {
        Ok(acts) => acts,
        Err(end) => return Ok(end),
    };
    let began = task.world.now();
    let thought = loop {
        let asking = ask(task, &memory, &acts, began);
        let asked = match watch::beside(task, acts.wrote(), asking).await {
            Ok(asked) => asked,
            Err(end) => return Ok(end),
        };
        match asked {
            Ok(Asked::Answer(thought)) => break thought,
            Ok(Asked::Calls(reply)) => {
                let acting = Box::pin(act::perform(task, &mut acts, reply));
                if let Some(end) = acting.await? {
                    return Ok(end);
                }
            }
            Err(error) if error.class == ModelErrorClass::Refusal => {
                break Thought::plain(&task.agent.texts.refusal, acts.calls.clone());
            }
            Err(error) => return Ok(Watched::Failed(error)),
        }
    };
    // A look that fails does not stop an answer: the commit's own conditions keep it right.
    let look = watch::once(task, acts.wrote()).await;
    Ok(look.unwrap_or(Watched::Thought(thought)))
}

/// What the model made of a request.
enum Asked {
    /// Its answer.
    Answer(Thought),
    /// What it wants to be called first.
    Calls(ModelReply),
}

/// Builds the prompt and calls the model; one more try where the prompt was too long or the answer all cut away.
async fn ask(
    task: Task<'_>,
    memory: &Memory,
    acts: &Acts,
    began: Timestamp,
) -> Result<Asked, ModelError> {
    let Task {
        world,
        visit,
        claimed,
        batch,
        ..
    } = task;
    let person = world.hasher.conversation(&visit.conversation);
    let mut agent = Agent::clone(task.agent);
    let mut tried_again = false;
    loop {
        let question = Question {
            agent: &agent,
            memory,
            batch,
            state: &claimed.state,
        };
        let selected = context::select(question);
        let prompt = prompt::answer(&agent, &selected, batch, &claimed.state, began, &person);
        let prompt = prompt::with_tools(prompt, &acts.tools, &acts.rounds, acts.words_only());
        let error = match call(world, visit, &agent, &prompt, began).await {
            Ok(reply) if !reply.calls.is_empty() && !acts.words_only() => {
                return Ok(Asked::Calls(reply));
            }
            Ok(reply) if is_blank(&reply.text) => {
                ModelError::new(ModelErrorClass::Invalid, "calls where words were asked for")
            }
            Ok(reply) => {
                return Ok(Asked::Answer(Thought {
                    compaction_is_due: compaction_is_due(task, memory, &selected, &reply.text),
                    token_factor: learnt(&agent, claimed, &prompt, &reply),
                    text: reply.text,
                    calls: acts.calls.clone(),
                    cut_point: selected.cut_point,
                }));
            }
            Err(error) => error,
        };
        match error.class {
            ModelErrorClass::Overflow if !tried_again => agent.budget.history_tokens_max /= 2,
            ModelErrorClass::Cut if !tried_again => agent.budget.output_tokens_max *= 2,
            _ => return Err(error),
        }
        tried_again = true;
    }
}

/// Whether something has to be compacted once `text` is committed as the answer.
fn compaction_is_due(task: Task<'_>, memory: &Memory, selected: &Selected, text: &str) -> bool {
    let agent = task.agent;
    let said = task.batch.events().iter().map(|event| PastMessage {
        id: event.id.clone(),
        sent_at: event.sent_at,
        text: event.text().unwrap_or_default().to_owned(),
    });
    let mut after = memory.clone();
    after.exchanges.push(Exchange {
        reply: task.claimed.reply,
        messages: said.collect(),
        calls: Vec::new(),
        answer: Some(text.to_owned()),
        delivered: true,
        kind: ReplyKind::Answer,
    });
    let mut state = task.claimed.state.clone();
    state.cut_point = selected.cut_point.or(state.cut_point);
    let outgrown = context::outgrown(agent, &after, &state);
    compaction::plan(&after, &agent.compaction, outgrown).is_some()
}

/// What this call taught about the model's tokens; nothing where the provider did not count.
fn learnt(
    agent: &Agent,
    claimed: &Claimed,
    prompt: &Prompt,
    reply: &ModelReply,
) -> Option<(String, f64)> {
    let model = &agent.model.main;
    let actual = reply.usage.input();
    let factor = tokens::factor(&claimed.state, model);
    (actual > 0).then(|| {
        (
            model.clone(),
            tokens::learn(factor, actual, tokens::prompt(prompt)),
        )
    })
}

/// One call within what is left of the run's time.
async fn call(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    prompt: &Prompt,
    run_started: Timestamp,
) -> Result<ModelReply, ModelError> {
    let model = &agent.model.main;
    let now = world.now();
    let left_of_run = visit.time_left(now).saturating_sub(AFTER_THE_MODEL);
    let left_of_budget = agent
        .timing
        .model_budget
        .saturating_sub(now.since(run_started));
    let timeout = agent
        .timing
        .model_timeout
        .min(left_of_run)
        .min(left_of_budget);
    let answered = world.models.converse(model, prompt, timeout).await;
    let step = match &answered {
        Ok(reply) => Step::ModelCalled {
            model: reply.model.clone(),
            purpose: Purpose::Answer,
            usage: reply.usage,
            took: world.now().since(now),
        },
        Err(error) => Step::ModelFailed {
            model: model.clone(),
            purpose: Purpose::Answer,
            class: error.class,
            reason: error.reason.clone(),
        },
    };
    world.note(&visit.conversation, &step);
    answered
}
