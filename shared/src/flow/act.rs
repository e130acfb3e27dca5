//! What a run does with the calls its model asks for.
//!
//! Reads run under the watch and may be dropped. Before the first write ONE transaction seals the batch and stores the
//! call as `running`; then it runs outside the watch, under a key that every run of this turn would give it, and its
//! result is stored. A later run goes on from there: what has a result is not made again.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::think::{Task, Watched};
use super::{FlowError, agreement, watch};
use crate::domain::{
    AnsweredCall, Call, Carried, Effect, Exchange, ModelReply, Round, Sealed, Step, Tool, ToolCall,
    ToolName, ToolResult,
};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::confirm;
use crate::policy::tools::{self, Checked, ROUNDS_MAX};
use crate::ports::{NewCalls, Written};

/// One try of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// What must be left of an invocation for a call: two tries of it, and what comes after them.
const TIME_MIN: Duration = Duration::from_secs(15);

/// What is left for commit and send after the last call.
const AFTER_THE_CALLS: Duration = Duration::from_secs(10);

/// A turn's tools and calls, those of earlier runs included.
pub struct Acts {
    /// What may be called.
    pub tools: Vec<Tool>,
    /// What was called, in order.
    pub calls: Vec<Call>,
    /// The same as the model is told of it, with what was asked and not made.
    pub rounds: Vec<Round>,
    /// Whether the batch is sealed: from then on every call is stored.
    sealed: bool,
}

impl Acts {
    /// Whether a write call is stored under this reply, by any run.
    pub fn wrote(&self) -> bool {
        self.calls.iter().any(|call| call.effect == Effect::Write)
    }

    /// Whether the model has to answer in words now.
    pub fn words_only(&self) -> bool {
        self.tools.is_empty() || self.rounds.len() >= ROUNDS_MAX || self.calls.len() >= Call::MAX
    }
}

/// What earlier runs of a sealed batch have called.
pub async fn stored(task: Task<'_>) -> Result<Vec<Call>, FlowError> {
    if task.claimed.state.sealed.is_none() {
        return Ok(Vec::new());
    }
    let (of, reply) = (&task.visit.conversation, task.claimed.reply);
    Ok(task.world.store.calls(of, reply).await?)
}

/// Takes up what earlier runs have called; a call that still runs is brought to its result first.
pub async fn take_up(task: Task<'_>) -> Result<Result<Acts, Watched>, FlowError> {
    let tools = task.world.tools.declared(task.agent).await;
    let mut calls = stored(task).await?;
    for call in &mut calls {
        if call.result.is_some() {
            continue;
        }
        let again = tools::may_be_repeated(&tools, call);
        if again && !has_time(task) {
            return Ok(Err(out_of_time()));
        }
        let result = if again {
            make_write(task, &call.call, true).await
        } else {
            ToolResult::Unknown
        };
        if !keep(task, call, result).await? {
            return Ok(Err(Watched::Lost));
        }
    }
    let rounds = calls.iter().map(|call| Round {
        calls: vec![call.answered()],
        carried: Carried::none(),
    });
    Ok(Ok(Acts {
        tools,
        rounds: rounds.collect(),
        sealed: task.claimed.state.sealed.is_some(),
        calls,
    }))
}

/// Makes the calls of one answer of the model, in its order. Yields how the run ends, where it does. `past` is what was
/// said before: a call that waits for the person's yes is made only where it holds that yes.
pub async fn perform(
    task: Task<'_>,
    past: &[Exchange],
    acts: &mut Acts,
    reply: ModelReply,
) -> Result<Option<Watched>, FlowError> {
    let mut round = Round {
        calls: Vec::new(),
        carried: reply.carried,
    };
    for asked in &reply.calls {
        let (call, tool) = match tools::check(&acts.tools, &acts.calls, asked) {
            Checked::Make(call, tool) => (call, tool),
            Checked::Answered(answered) => {
                note_refused(task, &acts.tools, &answered);
                round.calls.push(answered);
                continue;
            }
        };
        let (effect, idempotent) = (tool.effect, tool.idempotent);
        let waits = tool.confirm && !agreement::is_given(task, past, &call).await;
        if !has_time(task) {
            return Ok(Some(out_of_time()));
        }
        let made = match effect {
            _ if waits => show(task, acts, call).await?,
            Effect::Read => read(task, acts, call).await?,
            Effect::Write => write(task, acts, call, idempotent).await?,
        };
        match made {
            Ok(answered) => round.calls.push(answered),
            Err(end) => return Ok(Some(end)),
        }
    }
    acts.rounds.push(round);
    Ok(None)
}

/// Tells of a call that was not made: its arguments do not fit, or nothing is called so. What the model wrote stays untold.
fn note_refused(task: Task<'_>, declared: &[Tool], answered: &AnsweredCall) {
    if !matches!(answered.result, ToolResult::Error(_)) {
        return;
    }
    let name = &answered.call.tool;
    let is_declared = declared.iter().any(|tool| tool.name == *name);
    // A name that the model made up may be anything, even somebody's.
    let tool = if is_declared {
        name.clone()
    } else {
        tools::unnamed()
    };
    note_unmade(task, tool, "refused");
}

/// A read runs under the watch.
async fn read(
    task: Task<'_>,
    acts: &mut Acts,
    call: ToolCall,
) -> Result<Result<AnsweredCall, Watched>, FlowError> {
    let result = match kept(task, acts, &call) {
        Some(result) => result,
        None => match watch::beside(task, acts.wrote(), make(task, &call, Effect::Read)).await {
            Ok(ToolResult::Unknown) => ToolResult::Error("no answer in time".to_owned()),
            Ok(result) => result,
            Err(end) => return Ok(Err(end)),
        },
    };
    note_read(task, acts, call, result).await
}

/// A call that waits for the person's yes is not made. Its preview is a result that was only read: it seals nothing, and
/// becomes history with its turn, where the next turn finds it.
async fn show(
    task: Task<'_>,
    acts: &mut Acts,
    call: ToolCall,
) -> Result<Result<AnsweredCall, Watched>, FlowError> {
    note_unmade(task, call.tool.clone(), "preview");
    let result = confirm::preview(&call);
    note_read(task, acts, call, result).await
}

/// Notes a call that nothing was done for.
fn note_unmade(task: Task<'_>, tool: ToolName, outcome: &'static str) {
    let step = Step::ToolCalled {
        reply: task.claimed.reply,
        tool,
        effect: Effect::Read,
        outcome,
        took: Duration::ZERO,
    };
    task.world.note(&task.visit.conversation, &step);
}

/// Notes what came of a call that changed nothing; stored only where the batch is sealed already.
async fn note_read(
    task: Task<'_>,
    acts: &mut Acts,
    call: ToolCall,
    result: ToolResult,
) -> Result<Result<AnsweredCall, Watched>, FlowError> {
    let call = next(acts, Effect::Read, call, Some(result));
    if acts.sealed && !store(task, None, vec![call.clone()]).await? {
        return Ok(Err(Watched::Lost));
    }
    let answered = call.answered();
    acts.calls.push(call);
    Ok(Ok(answered))
}

/// What the same read gave to the run before, which was dropped. Not after a write: that may have changed it.
fn kept(task: Task<'_>, acts: &Acts, call: &ToolCall) -> Option<ToolResult> {
    if acts.wrote() {
        return None;
    }
    let (world, of) = (task.world, &task.visit.conversation);
    let result = world.kept_reads.find(of, call, world.now())?;
    note_unmade(task, call.tool.clone(), "kept");
    Some(result)
}

/// A write is stored before it runs, with the seal where it is the first.
async fn write(
    task: Task<'_>,
    acts: &mut Acts,
    call: ToolCall,
    idempotent: bool,
) -> Result<Result<AnsweredCall, Watched>, FlowError> {
    if let Some(end) = watch::once(task, acts.wrote()).await {
        return Ok(Err(end));
    }
    let mut call = next(acts, Effect::Write, call, None);
    let stored = if acts.sealed {
        store(task, None, vec![call.clone()]).await?
    } else {
        let seal = Sealed {
            reply: task.claimed.reply,
            events: task.batch.ids(),
        };
        let calls = acts.calls.iter().chain([&call]).cloned().collect();
        store(task, Some(seal), calls).await?
    };
    if !stored {
        return Ok(Err(Watched::Lost));
    }
    acts.sealed = true;
    let result = make_write(task, &call.call, idempotent).await;
    if !keep(task, &mut call, result).await? {
        return Ok(Err(Watched::Lost));
    }
    let answered = call.answered();
    acts.calls.push(call);
    Ok(Ok(answered))
}

fn next(acts: &Acts, effect: Effect, call: ToolCall, result: Option<ToolResult>) -> Call {
    Call {
        n: u16::try_from(acts.calls.len()).unwrap_or(u16::MAX),
        effect,
        call,
        result,
    }
}

/// A write of unknown outcome is made once more where its key makes one effect of both.
async fn make_write(task: Task<'_>, call: &ToolCall, idempotent: bool) -> ToolResult {
    let result = make(task, call, Effect::Write).await;
    if result == ToolResult::Unknown && idempotent && has_time(task) {
        return make(task, call, Effect::Write).await;
    }
    result
}

/// One try of a call, within its time.
async fn make(task: Task<'_>, call: &ToolCall, effect: Effect) -> ToolResult {
    let (world, of) = (task.world, &task.visit.conversation);
    let began = world.now();
    let left = task.visit.time_left(began).saturating_sub(AFTER_THE_CALLS);
    let timeout = CALL_TIMEOUT.min(left);
    let key = world.hasher.call(task.claimed.reply, call);
    let running = pin!(world.tools.run(of, call, &key, timeout));
    let result = match select(running, pin!(world.clock.sleep(timeout))).await {
        Either::Left((result, _)) => result.bounded(),
        Either::Right(((), _)) => ToolResult::Unknown,
    };
    let step = Step::ToolCalled {
        reply: task.claimed.reply,
        tool: call.tool.clone(),
        effect,
        outcome: result.as_str(),
        took: world.now().since(began),
    };
    world.note(of, &step);
    result
}

/// Stores new calls; once more where it fails, for nobody may act on a call that is not there. Yields whether they are.
async fn store(task: Task<'_>, seal: Option<Sealed>, calls: Vec<Call>) -> Result<bool, FlowError> {
    let new = NewCalls {
        run: task.claimed.run,
        epoch: task.claimed.state.epoch,
        reply: task.claimed.reply,
        seal,
        calls,
        now: task.world.now(),
    };
    let of = &task.visit.conversation;
    let written = match task.world.store.store_calls(of, &new).await {
        Ok(written) => written,
        Err(_) => task.world.store.store_calls(of, &new).await?,
    };
    Ok(written == Written::Done)
}

/// Stores a result; once more where it fails, for the effect is there. Yields whether it is the one that stays.
async fn keep(task: Task<'_>, call: &mut Call, result: ToolResult) -> Result<bool, FlowError> {
    let (of, place) = (&task.visit.conversation, (task.claimed.reply, call.n));
    let written = match task.world.store.store_result(of, place, &result).await {
        Ok(written) => written,
        Err(_) => task.world.store.store_result(of, place, &result).await?,
    };
    call.result = Some(result);
    Ok(written == Written::Done)
}

fn has_time(task: Task<'_>) -> bool {
    let left = task.visit.time_left(task.world.now());
    left >= TIME_MIN + AFTER_THE_CALLS
}

/// A later run, with all its time, goes on from the stored calls.
fn out_of_time() -> Watched {
    let reason = "no time left for the calls of this turn";
    Watched::Failed(ModelError::new(ModelErrorClass::Transient, reason))
}
