//! The middle of a run: memory, context, the model and its tools, and the watch beside them.

use std::sync::Arc;

use super::act::{self, Acts};
use super::converse::{self, Conversing};
use super::lease::Claimed;
use super::process::Visit;
use super::{FlowError, World, choose, watch};
use crate::domain::agent::ModelChoice;
use crate::domain::{
    Agent, Batch, Call, Exchange, Finish, Memory, ModelReply, PastMessage, Prompt, ReplyId,
    ReplyKind, State,
};
use crate::error::{ModelError, ModelErrorClass, StoreError};
use crate::policy::context::{self, Question, Selected};
use crate::policy::fallback::Ladder;
use crate::policy::visible::{is_blank, without_nul};
use crate::policy::{compaction, prompt, retry, sendable, tokens};

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
    /// Whether a job that turns old turns into memory has to be asked for once this is committed.
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
    /// Without one, and no other run would have one: the honest line, with what was called so far.
    InVain(Thought),
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
    let ended = Box::pin(converse(task, &memory, &mut acts)).await?;
    if matches!(ended, Watched::Superseded) {
        let (of, now) = (&task.visit.conversation, task.world.now());
        task.world.kept_reads.keep(of, &acts.calls, now);
    }
    Ok(ended)
}

/// The conversation with the model and its tools.
async fn converse(task: Task<'_>, memory: &Memory, acts: &mut Acts) -> Result<Watched, FlowError> {
    let first = choose::first_model(task, memory);
    let ladder = Ladder::of(first, behind(&task.agent.model, first));
    let mut conversing = converse::begin(task, ladder).await;
    let ended = loop {
        let asked = match ask(task, memory, acts, &mut conversing).await {
            Ok(asked) => asked,
            Err(end) => return Ok(end),
        };
        match asked {
            Ok(Asked::Answer(thought)) => break Watched::Thought(thought),
            Ok(Asked::Calls(reply)) => {
                let past = &memory.exchanges;
                let acting = Box::pin(act::perform(task, past, acts, reply));
                if let Some(end) = acting.await? {
                    return Ok(end);
                }
            }
            Err(error) if error.class == ModelErrorClass::Refusal => {
                let refusal = &task.agent.texts.refusal;
                break Watched::Thought(Thought::plain(refusal, acts.calls.clone()));
            }
            Err(error) if retry::is_in_vain(error.class) => {
                let apology = &task.agent.texts.apology;
                break Watched::InVain(Thought::plain(apology, acts.calls.clone()));
            }
            Err(error) => return Ok(Watched::Failed(error)),
        }
    };
    // A look that fails does not stop an answer: the commit's own conditions keep it right.
    let look = watch::once(task, acts.wrote()).await;
    Ok(look.unwrap_or(ended))
}

/// Who answers where `first` cannot be had: the fallback, else the main model behind the light one.
fn behind<'m>(models: &'m ModelChoice, first: &str) -> Option<&'m str> {
    let main = Some(models.main.as_str()).filter(|main| *main != first);
    models.fallback.as_deref().or(main)
}

/// What the model made of a request.
enum Asked {
    /// Its answer.
    Answer(Thought),
    /// What it wants to be called first.
    Calls(ModelReply),
}

/// Builds the prompt and calls the model at hand; one more try where the prompt was too long or the answer all cut away,
/// and what the ladder gives where a model cannot be had. What was called for this turn goes along to every model.
async fn ask(
    task: Task<'_>,
    memory: &Memory,
    acts: &Acts,
    conversing: &mut Conversing,
) -> Result<Result<Asked, ModelError>, Watched> {
    let Task { claimed, batch, .. } = task;
    let mut agent = Agent::clone(task.agent);
    let mut mended: Option<(Prompt, ModelError)> = None;
    loop {
        // Whose tokens are counted.
        conversing.model().clone_into(&mut agent.model.main);
        let question = Question {
            agent: &agent,
            memory,
            batch,
            state: &claimed.state,
        };
        let selected = context::select(question);
        let prompt = prompt_of(task, &agent, &selected, acts, conversing);
        // The same request would fail again: where there is no history, nothing of it can be left out.
        if let Some((_, error)) = mended.take_if(|(before, _)| *before == prompt) {
            return Ok(Err(error));
        }
        let error = match converse::call(task, conversing, &prompt, acts.wrote()).await? {
            Ok(reply) if !reply.calls.is_empty() && !acts.words_only() => {
                return Ok(Ok(Asked::Calls(reply)));
            }
            Ok(reply) if is_blank(&reply.text) => {
                ModelError::new(ModelErrorClass::Invalid, "calls where words were asked for")
            }
            Ok(reply) => {
                let text = spoken(&reply);
                return Ok(Ok(Asked::Answer(Thought {
                    compaction_is_due: compaction_is_due(task, memory, &selected, &text),
                    token_factor: learnt(&agent, claimed, &prompt, &reply),
                    text,
                    calls: acts.calls.clone(),
                    cut_point: selected.cut_point,
                })));
            }
            Err(error) => error,
        };
        let budget = &mut agent.budget;
        match error.class {
            ModelErrorClass::Overflow if mended.is_none() => budget.history_tokens_max /= 2,
            ModelErrorClass::Cut if mended.is_none() => budget.output_tokens_max *= 2,
            _ => {
                if let Err(error) = converse::failed(task, conversing, error, acts.wrote()).await? {
                    return Ok(Err(error));
                }
                continue;
            }
        }
        if !conversing.may_mend() {
            return Ok(Err(error));
        }
        mended = Some((prompt, error));
    }
}

/// The request, with what was called so far.
fn prompt_of(
    task: Task<'_>,
    agent: &Agent,
    selected: &Selected,
    acts: &Acts,
    conversing: &Conversing,
) -> Prompt {
    let Task { world, visit, .. } = task;
    let (state, began) = (&task.claimed.state, conversing.began());
    let person = world.hasher.conversation(&visit.conversation);
    let prompt = prompt::answer(agent, selected, task.batch, state, began, &person);
    prompt::with_tools(prompt, &acts.tools, &acts.rounds, acts.words_only())
}

/// The words of an answer as the person gets them and history keeps them.
fn spoken(reply: &ModelReply) -> String {
    let text = without_nul(&reply.text);
    match reply.finish {
        Finish::Complete => sendable::fit(&text).into_owned(),
        Finish::Cut => sendable::broken_off(&text),
    }
}

/// Whether a compaction has to be asked for once `text` is committed as the answer.
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
        known_sent: true,
        kind: ReplyKind::Answer,
    });
    let before = &task.claimed.state;
    let mut state = before.clone();
    state.cut_point = selected.cut_point.or(state.cut_point);
    let is_due = |memory: &Memory, state: &State| {
        let outgrown = context::outgrown(agent, memory, state);
        compaction::plan(memory, &agent.compaction, outgrown).is_some()
    };
    is_due(&after, &state)
        && compaction::is_asked_for(after.exchanges.len(), is_due(memory, before))
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
