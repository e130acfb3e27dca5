//! The middle of a run: memory, context, the model, and the watch beside it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::process::{PENDING_MAX, Visit};
use super::run::Claimed;
use super::{FlowError, World};
use crate::domain::{Agent, Batch, Memory, ModelReply, Prompt, Purpose, ReplyId, Step, Timestamp};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::context::{self, Question};
use crate::policy::supersede::{self, Watch};
use crate::policy::{prompt, tokens};

/// What must be left for commit and send after the model.
const AFTER_THE_MODEL: Duration = Duration::from_secs(10);

/// What a run will say.
pub struct Thought {
    /// The words.
    pub text: String,
    /// Turns up to here stay out of the prompt from now on.
    pub cut_point: Option<ReplyId>,
    /// What was learnt about the model's tokens.
    pub token_factor: Option<(String, f64)>,
    /// Live messages of either side once this is committed; zero where memory was not read.
    pub live_items: usize,
}

impl Thought {
    /// A text of the agent's own, for which no model was asked.
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cut_point: None,
            token_factor: None,
            live_items: 0,
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

/// Reads memory, selects the context and asks the model, looking every second (and just before the ceiling) whether the
/// answer is still wanted, and once more at the end.
pub async fn think(
    world: &World,
    visit: &Visit,
    agent: &Arc<Agent>,
    claimed: &Claimed,
    batch: &Batch,
) -> Result<Watched, FlowError> {
    let memory = world.store.load(&visit.conversation).await?;
    let asked = {
        let asking = pin!(ask(world, visit, agent, claimed, batch, &memory));
        let watching = pin!(watch(world, visit, agent, claimed, batch));
        match select(asking, watching).await {
            Either::Left((asked, _)) => asked,
            Either::Right((watched, _)) => return Ok(watched),
        }
    };
    let thought = match asked {
        Ok(thought) => thought,
        Err(error) if error.class == ModelErrorClass::Refusal => {
            Thought::plain(&agent.texts.refusal)
        }
        Err(error) => return Ok(Watched::Failed(error)),
    };
    // A look that fails does not stop an answer: the commit's own conditions keep it right.
    let look = look(world, visit, agent, claimed, batch).await;
    Ok(look.unwrap_or(Watched::Thought(thought)))
}

/// Looks when the policy says; ends only where the run is no longer wanted.
async fn watch(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    claimed: &Claimed,
    batch: &Batch,
) -> Watched {
    loop {
        let now = world.now();
        let next = supersede::next_look(batch, agent, now);
        world.clock.sleep(next.since(now)).await;
        if let Some(end) = look(world, visit, agent, claimed, batch).await {
            return end;
        }
    }
}

/// One look; `None` where the run may go on.
async fn look(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    claimed: &Claimed,
    batch: &Batch,
) -> Option<Watched> {
    let peek = world
        .store
        .peek(&visit.conversation, PENDING_MAX)
        .await
        .ok()?;
    match supersede::decide(&peek, claimed.run, batch, false, agent, world.now()) {
        Watch::GoOn => None,
        Watch::Superseded => Some(Watched::Superseded),
        Watch::Lost => Some(Watched::Lost),
    }
}

/// Builds the prompt and calls the model; one more try where the prompt was too long or the answer all cut away.
async fn ask(
    world: &World,
    visit: &Visit,
    agent: &Agent,
    claimed: &Claimed,
    batch: &Batch,
    memory: &Memory,
) -> Result<Thought, ModelError> {
    let started = world.now();
    let person = world.hasher.conversation(&visit.conversation);
    let mut agent = agent.clone();
    let mut tried_again = false;
    loop {
        let question = Question {
            agent: &agent,
            memory,
            batch,
            state: &claimed.state,
        };
        let selected = context::select(question);
        let prompt = prompt::answer(&agent, &selected, batch, &claimed.state, started, &person);
        let error = match call(world, visit, &agent, &prompt, started).await {
            Ok(reply) => {
                return Ok(Thought {
                    token_factor: learnt(&agent, claimed, &prompt, &reply),
                    text: reply.text,
                    cut_point: selected.cut_point,
                    live_items: memory.items() + batch.events().len() + 1,
                });
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
