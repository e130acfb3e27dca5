//! Which model a run begins with, and the note that says why.

use std::time::Duration;

use super::think::Task;
use crate::domain::routing::Route;
use crate::domain::{Agent, Batch, Memory, Step};
use crate::policy::routing::{Written, decide};

/// After a silence of this length what was said before tells nothing about a turn.
const SILENCE: Duration = Duration::from_hours(6);

/// The model that a run on this batch begins with: always the main one where the agent has no light one.
pub fn first_model<'a>(task: Task<'a>, memory: &Memory) -> &'a str {
    let agent: &'a Agent = task.agent;
    let Some(light) = &agent.model.light else {
        return &agent.model.main;
    };
    let routed = decide(&written(agent, task.batch, memory), &agent.routing);
    let model = match routed.route {
        Route::Light => light,
        Route::Main => &agent.model.main,
    };
    let step = Step::Routed {
        model: model.clone(),
        routed,
    };
    task.world.note(&task.visit.conversation, &step);
    model
}

/// The batch, and the turn before it where that was not long ago. The newest turn is never compacted while a prompt can
/// hold it, and whether its answer arrived makes no difference: so a rerun of a sealed batch reads the same.
fn written<'a>(agent: &'a Agent, batch: &'a Batch, memory: &'a Memory) -> Written<'a> {
    let texts = batch.events().iter().filter_map(|event| event.text());
    let began = batch.events().first().map(|event| event.sent_at);
    let before = memory.exchanges.last().filter(|exchange| {
        let last = exchange.messages.last().map(|message| message.sent_at);
        let times = began.zip(last);
        times.is_some_and(|(began, last)| began.since(last) < SILENCE)
    });
    let said = before.iter().flat_map(|exchange| &exchange.messages);
    Written {
        texts: texts.collect(),
        before: said.map(|message| message.text.as_str()).collect(),
        answered: before.and_then(|exchange| exchange.answer.as_deref()),
        language: agent.primary_language(),
    }
}
