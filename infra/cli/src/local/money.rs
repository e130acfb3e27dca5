//! The ledger as the operator asks for it: an agent's day, or what one person has cost.

use jiff::civil::Date;
use recado::config::roster::Roster;
use recado::domain::{AgentId, Line};
use recado::flow::{FlowError, World};
use recado::policy::spend;
use recado::ports::Agents as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::channel::ChannelName;
use super::people::{self, ForgetError, Whom};

/// What is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Asked {
    /// Only of this agent.
    pub agent: Option<String>,
    /// Of this day, `2026-11-30`; today at the agent's place where absent, and every day of a contact.
    pub day: Option<String>,
    /// Only of this person: a phone, or a BSUID.
    pub contact: Option<String>,
    /// Only of this model.
    pub model: Option<String>,
}

/// Why it cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Whom it is about.
    #[error(transparent)]
    Whom(#[from] ForgetError),
    /// The day.
    #[error("{0:?} is not a day; write it as 2026-11-30")]
    Day(String),
    /// The table.
    #[error(transparent)]
    Table(#[from] FlowError),
}

/// The lines that are asked for, with their agent, as JSON objects: days in order, then models and kinds.
pub async fn lines(
    world: &World,
    agents: &Roster,
    channel: ChannelName,
    asked: &Asked,
) -> Result<Vec<Value>, LedgerError> {
    let day: Option<Date> = match &asked.day {
        None => None,
        Some(text) => match text.parse() {
            Ok(day) => Some(day),
            Err(_) => return Err(LedgerError::Day(text.clone())),
        },
    };
    let mut told = Vec::new();
    match &asked.contact {
        Some(id) => {
            let whom = Whom::parse(id, asked.agent.as_deref(), channel)?;
            for of in people::conversations_of(world, agents, &whom).await? {
                let lines = world.ledger.of_conversation(&of).await;
                let lines = lines.map_err(FlowError::from)?;
                let on = lines.into_iter();
                let on = on.filter(|line| day.is_none_or(|day| line.day == day));
                told.extend(on.map(|line| (of.agent.clone(), line)));
            }
        }
        None => {
            for id in people::meant(agents, asked.agent.as_deref()).await? {
                let Some(agent) = agents.by_id(&id).await else {
                    continue;
                };
                let day = day.unwrap_or_else(|| spend::today(&agent, world.now()));
                let lines = world.ledger.of_day(&id, day).await;
                let lines = lines.map_err(FlowError::from)?;
                told.extend(lines.into_iter().map(|line| (id.clone(), line)));
            }
        }
    }
    let model = asked.model.as_deref();
    let meant = told
        .iter()
        .filter(|(_, line)| model.is_none_or(|model| line.model == model));
    Ok(meant.map(|(agent, line)| as_json(agent, line)).collect())
}

fn as_json(agent: &AgentId, line: &Line) -> Value {
    let mut fields = Map::new();
    fields.insert("agent".to_owned(), json!(agent));
    fields.insert("day".to_owned(), json!(line.day.to_string()));
    fields.insert("model".to_owned(), json!(line.model));
    fields.insert("kind".to_owned(), json!(line.kind));
    for (name, count) in line.counters.fields() {
        fields.insert(name.to_owned(), json!(count));
    }
    Value::Object(fields)
}
