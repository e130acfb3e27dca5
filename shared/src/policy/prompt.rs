//! The request for an answer: rules, persona, memory, history, the last turn, volatile notes. Stands between
//! `context::select`, which chose what fits, and the model's adapter, which encodes it.
//!
//! Invariant: what comes out passes [`validate`] as long as the agent has a persona, and no words of a person or of
//! the memory can end the block they stand in.

pub mod calendar;
pub mod language;
pub mod memory_block;
pub mod text;
pub mod validate;

use std::time::Duration;

pub use language::Language;
pub use validate::{Flaw, mended, validate};

use super::context::Selected;
use super::spend;
use crate::domain::{
    Agent, AnsweredCall, Batch, Fact, Output, Prompt, Round, State, Timestamp, Tool, ToolResult,
};

const DAY: Duration = Duration::from_hours(24);

/// The request that answers `batch` at `now`. `person_key` is a keyed hash that stands for the conversation.
pub fn answer(
    agent: &Agent,
    selected: &Selected,
    batch: &Batch,
    state: &State,
    now: Timestamp,
    person_key: &str,
) -> Prompt {
    let language = Language::of(agent);
    let facts: Vec<&Fact> = selected.facts.iter().collect();
    let mut last = selected.last.clone();
    if last.is_empty() {
        last.push(language.empty_message().to_owned());
    }
    Prompt {
        tools: Vec::new(),
        rules: language.rules().to_owned(),
        persona: agent.persona.clone(),
        memory: memory_block::print(agent, selected.summary.as_deref(), &facts),
        history: selected.history.clone(),
        last,
        notes: notes(agent, selected, batch, state, now),
        rounds: Vec::new(),
        pause: pause(batch, state),
        words_only: false,
        output: Output::Text,
        output_tokens_max: agent.budget.output_tokens_max,
        person_key: person_key.to_owned(),
    }
}

/// The request with what may be called and what was called for the last turn so far.
pub fn with_tools(prompt: Prompt, tools: &[Tool], rounds: &[Round], words_only: bool) -> Prompt {
    Prompt {
        tools: tools.to_vec(),
        rounds: rounds.iter().map(harmless).collect(),
        words_only,
        ..prompt
    }
}

/// A tool's words are data: they can end no block of ours.
fn harmless(round: &Round) -> Round {
    let neutral = |pair: &AnsweredCall| AnsweredCall {
        call: pair.call.clone(),
        result: match &pair.result {
            ToolResult::Ok(said) => ToolResult::Ok(text::neutralised(said)),
            ToolResult::Error(why) => ToolResult::Error(text::neutralised(why)),
            ToolResult::Unknown => ToolResult::Unknown,
        },
    };
    Round {
        calls: round.calls.iter().map(neutral).collect(),
        carried: round.carried.clone(),
    }
}

/// What changes from one request to the next without anybody having said it.
fn notes(
    agent: &Agent,
    selected: &Selected,
    batch: &Batch,
    state: &State,
    now: Timestamp,
) -> Vec<String> {
    let language = Language::of(agent);
    let moment = language.moment_note(&calendar::moment(agent, now));
    let absence = days_away(batch, state).map(|days| language.absence_note(days));
    let is_long = spend::is_long(&agent.session, state, batch);
    let advice = is_long.then(|| language.long_session_note().to_owned());
    [Some(moment), absence, selected.agenda.clone(), advice]
        .into_iter()
        .flatten()
        .map(|note| format!("<note>{note}</note>"))
        .collect()
}

/// Whole days between the last answered message and the first of this batch, from one on.
fn days_away(batch: &Batch, state: &State) -> Option<u64> {
    let days = pause(batch, state)?.as_secs() / DAY.as_secs();
    (days > 0).then_some(days)
}

/// The time between the last answered message and the first of this batch.
fn pause(batch: &Batch, state: &State) -> Option<Duration> {
    let before = state.last_inbound_at?;
    Some(batch.events().first()?.sent_at.since(before))
}
