//! One run's conversation with its models: down the ladder from the first to the fallback, within one budget of attempts
//! and one time, with the breakers that all runs share.

use std::time::Duration;

use super::think::{Task, Watched};
use super::{bill, breakers, watch};
use crate::domain::{
    Agent, Breaker, ChargeKind, Chosen, ModelReply, Prompt, Purpose, State, Step, Timestamp,
};
use crate::error::{ModelError, ModelErrorClass};
use crate::policy::breaker::{self, Gate};
use crate::policy::fallback::{Course, Ladder, Next, Time};
use crate::policy::{spend, tokens};

/// What must be left for commit and send after the model.
const AFTER_THE_MODEL: Duration = Duration::from_secs(10);

/// No call is given less because the patience ends.
const LAST_CALL_MIN: Duration = Duration::from_secs(10);

/// A probe that has not told what came of it this long after its call's end belongs to a dead run.
const PROBE_MARGIN: Duration = Duration::from_secs(5);

/// Where a run stands with its models.
pub struct Conversing {
    course: Course,
    began: Timestamp,
    /// The right to try a model that was left out, and since when this run has it.
    probe: Option<(Breaker, Timestamp)>,
    /// When the person is told as promised, where earlier runs failed.
    patience_ends: Option<Timestamp>,
}

impl Conversing {
    /// The model to ask.
    pub fn model(&self) -> &str {
        self.course.model()
    }

    /// When the run's time with its models began.
    pub const fn began(&self) -> Timestamp {
        self.began
    }

    /// Whether a request that was too long, or whose answer was cut, may be made once more in another form.
    pub fn may_mend(&mut self) -> bool {
        self.course.may_mend()
    }

    fn time(&self, task: Task<'_>, now: Timestamp) -> Time {
        let timing = &task.agent.timing;
        let left_of_run = task.visit.time_left(now).saturating_sub(AFTER_THE_MODEL);
        let left_of_budget = timing.model_budget.saturating_sub(now.since(self.began));
        let patience = self
            .patience_ends
            .map_or(Duration::MAX, |ends| ends.since(now).max(LAST_CALL_MIN));
        Time {
            left: left_of_run.min(left_of_budget),
            budget: timing.model_budget,
            timeout: timing.model_timeout.min(patience),
        }
    }
}

/// The beginning of a run. Where a fallback could answer instead, it is asked whether the first model is left out, and
/// whether this run is the one to try it.
pub async fn begin(task: Task<'_>, ladder: Ladder) -> Conversing {
    let began = task.world.now();
    let mut conversing = Conversing {
        course: Course::begin(ladder.clone(), Gate::Closed),
        began,
        probe: None,
        patience_ends: patience_ends(task.agent, &task.claimed.state, began),
    };
    if ladder.has_fallback() {
        let gate = gate(task, &mut conversing).await;
        conversing.course = Course::begin(ladder, gate);
    }
    conversing
}

async fn gate(task: Task<'_>, conversing: &mut Conversing) -> Gate {
    let (world, model) = (task.world, conversing.course.model());
    let seen = breakers::look(world, model).await;
    let now = world.now();
    let gate = breaker::gate(seen.as_ref(), now);
    let (Gate::Probe, Some(seen)) = (gate, seen) else {
        return gate;
    };
    let call = conversing.course.timeout(conversing.time(task, now));
    let mine = breaker::probing(&seen, now.plus(call + PROBE_MARGIN), world.new_run());
    if !breakers::swap(world, model, Some(&seen), Some(&mine)).await {
        // Another run is the one.
        return Gate::Open(seen.class);
    }
    conversing.probe = Some((mine, now));
    Gate::Probe
}

/// One call within what is left of the run's time, under the watch. `wrote` is for the watch.
pub async fn call(
    task: Task<'_>,
    conversing: &mut Conversing,
    prompt: &Prompt,
    wrote: bool,
) -> Result<Result<ModelReply, ModelError>, Watched> {
    let world = task.world;
    let began = world.now();
    let timeout = conversing.course.timeout(conversing.time(task, began));
    let (model, why) = (conversing.course.model(), conversing.course.why());
    let calling = world.models.converse(model, prompt, timeout);
    let answered = watch::beside(task, wrote, calling).await;
    let times = (world.now().since(began), timeout);
    charge(task, (model, prompt), &answered, times);
    let answered = match answered {
        Ok(answered) => answered,
        Err(end) => {
            hand_back(task, conversing).await;
            return Err(end);
        }
    };
    note(task, model, why, began, &answered);
    let is_there = match &answered {
        Ok(_) => true,
        Err(error) => !breaker::is_of_model(error.class),
    };
    if is_there {
        recovered(task, conversing).await;
    }
    if answered.is_ok() {
        conversing.course.succeeded();
    }
    Ok(answered)
}

/// What a call cost, whatever came of it.
fn charge(
    task: Task<'_>,
    (model, prompt): (&str, &Prompt),
    answered: &Result<Result<ModelReply, ModelError>, Watched>,
    times: (Duration, Duration),
) {
    let (agent, claimed) = (task.agent, task.claimed);
    match answered {
        Ok(Ok(reply)) => {
            let charge = spend::charge(&agent.prices, ChargeKind::Answer, reply);
            claimed.bill.add(charge);
        }
        Ok(Err(error)) => {
            let factor = tokens::factor(&claimed.state, model);
            bill::failed(
                agent,
                &claimed.bill,
                (error, (model, prompt)),
                factor,
                times,
            );
        }
        Err(_) => bill::dropped(agent, claimed, (model, prompt), times),
    }
}

/// What follows from a call that failed: waits, or moves on to another model; or gives the error that the run ends with.
pub async fn failed(
    task: Task<'_>,
    conversing: &mut Conversing,
    error: ModelError,
    wrote: bool,
) -> Result<Result<(), ModelError>, Watched> {
    let world = task.world;
    let (model, class) = (conversing.model().to_owned(), error.class);
    let retry_after = error.retry_after;
    let time = conversing.time(task, world.now());
    match conversing.course.next(error, time, world.chance.fraction()) {
        Next::End(error) => Ok(Err(error)),
        Next::Again(pause) => {
            let pausing = world.clock.sleep(pause);
            watch::beside(task, wrote, pausing).await?;
            Ok(Ok(()))
        }
        Next::MoveOn => {
            leave(task, conversing, &model, (class, retry_after)).await;
            Ok(Ok(()))
        }
    }
}

/// A model that this run had to leave is left out by all. The one that is the first to say so tells the operator.
async fn leave(
    task: Task<'_>,
    conversing: &mut Conversing,
    model: &str,
    (class, retry_after): (ModelErrorClass, Option<Duration>),
) {
    let world = task.world;
    let (now, mark) = (world.now(), world.new_run());
    if let Some((mine, began)) = conversing.probe.take() {
        let open = breaker::reopened(&mine, class, retry_after, (began, now), mark);
        breakers::swap(world, model, Some(&mine), Some(&open)).await;
        return;
    }
    let open = breaker::opened(class, retry_after, now, mark);
    if breakers::swap(world, model, None, Some(&open)).await {
        let step = Step::ModelIncident {
            model: model.to_owned(),
            class,
            since: open.since,
        };
        world.note(&task.visit.conversation, &step);
    }
}

/// The model that this run was to try answers.
async fn recovered(task: Task<'_>, conversing: &mut Conversing) {
    let Some((mine, _)) = conversing.probe.take() else {
        return;
    };
    let (model, since) = (conversing.model().to_owned(), mine.since);
    if breakers::swap(task.world, &model, Some(&mine), None).await {
        let step = Step::ModelRecovered { model, since };
        task.world.note(&task.visit.conversation, &step);
    }
}

/// The call was dropped before it told anything: the next run may try.
async fn hand_back(task: Task<'_>, conversing: &mut Conversing) {
    let world = task.world;
    if let Some((mine, _)) = conversing.probe.take() {
        let next = breaker::untried(&mine, world.now(), world.new_run());
        breakers::swap(world, conversing.model(), Some(&mine), Some(&next)).await;
    }
}

fn note(
    task: Task<'_>,
    model: &str,
    why: Chosen,
    began: Timestamp,
    answered: &Result<ModelReply, ModelError>,
) {
    let step = match answered {
        Ok(reply) => Step::ModelCalled {
            model: reply.model.clone(),
            purpose: Purpose::Answer,
            why,
            usage: reply.usage,
            took: task.world.now().since(began),
        },
        Err(error) => Step::ModelFailed {
            model: model.to_owned(),
            purpose: Purpose::Answer,
            class: error.class,
            reason: error.reason.clone(),
        },
    };
    task.world.note(&task.visit.conversation, &step);
}

/// Until when a run may try that follows others which failed: who waits is told as promised, even where a call hangs. No
/// limit for a first run, or after a long stop of the process.
fn patience_ends(agent: &Agent, state: &State, now: Timestamp) -> Option<Timestamp> {
    let first = state.first_attempt_at.unwrap_or(now);
    let give_up_at = first.plus(agent.timing.give_up_after);
    (state.attempts > 1 && give_up_at > now).then_some(give_up_at)
}
