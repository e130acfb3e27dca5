//! Everything the models may call, as one: services of the web, functions of AWS Lambda, and whatever else is a source.
//!
//! The flow decides whether a call is made and keeps its result; a source only makes it. What a source answers is for
//! the model; what the operator has to mend is logged by the tool's name, without an argument or a word of a result.

mod addresses;
pub mod built_in;
pub mod http;
pub mod lambda;
pub mod secrets;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::{Agent, ConversationId, Effect, Tool, ToolCall, ToolResult};
use crate::ports::{Agents, Tools};

/// Where some of an agent's tools come from.
#[async_trait]
pub trait Source: Send + Sync {
    /// Its tools for this agent, in order; the same for all people.
    fn declared(&self, agent: &Agent) -> Vec<Tool>;
    /// Makes a call of a tool that it declares, given up after `timeout`.
    async fn run(&self, agent: &Agent, call: &Made<'_>, timeout: Duration) -> ToolResult;
}

/// A call that is to be made.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    /// For whom.
    pub of: &'a ConversationId,
    /// What.
    pub call: &'a ToolCall,
    /// Of two calls with one key an idempotent tool makes one effect.
    pub key: &'a str,
}

/// All sources joined.
pub struct Toolbox {
    agents: Arc<dyn Agents>,
    sources: Vec<Arc<dyn Source>>,
}

impl Toolbox {
    /// The tools of these sources, those of the first one first. A name belongs to the first source that declares it.
    pub fn new(agents: Arc<dyn Agents>, sources: Vec<Arc<dyn Source>>) -> Self {
        Self { agents, sources }
    }

    /// The names that two sources declare for this agent, one line for each: the second one could never be called.
    pub fn clashes(&self, agent: &Agent) -> Vec<String> {
        let mut names = BTreeSet::new();
        let all = self
            .sources
            .iter()
            .flat_map(|source| source.declared(agent));
        all.filter(|tool| !names.insert(tool.name.clone()))
            .map(|tool| {
                let (agent, name) = (&agent.id, tool.name);
                format!("agent {agent}: tool {name}: there is a built-in tool of this name; give it another")
            })
            .collect()
    }

    fn source_of(&self, agent: &Agent, call: &ToolCall) -> Option<&Arc<dyn Source>> {
        let declares = |source: &&Arc<dyn Source>| {
            let mut tools = source.declared(agent).into_iter();
            tools.any(|tool| tool.name == call.tool)
        };
        self.sources.iter().find(declares)
    }
}

#[async_trait]
impl Tools for Toolbox {
    async fn declared(&self, agent: &Agent) -> Vec<Tool> {
        let mut names = BTreeSet::new();
        let mut tools: Vec<Tool> = Vec::new();
        for source in &self.sources {
            let new = source.declared(agent).into_iter();
            tools.extend(new.filter(|tool| names.insert(tool.name.clone())));
        }
        tools
    }

    async fn run(
        &self,
        of: &ConversationId,
        call: &ToolCall,
        key: &str,
        timeout: Duration,
    ) -> ToolResult {
        let Some(agent) = self.agents.by_id(&of.agent).await else {
            return ToolResult::Error("there is no such tool".to_owned());
        };
        let Some(source) = self.source_of(&agent, call) else {
            return ToolResult::Error("there is no such tool".to_owned());
        };
        let made = Made { of, call, key };
        source.run(&agent, &made, timeout).await
    }
}

/// What is told where an answer never came: of a write nobody knows whether it happened.
fn no_answer(effect: Effect, why: &str) -> ToolResult {
    match effect {
        Effect::Read => ToolResult::Error(why.to_owned()),
        Effect::Write => ToolResult::Unknown,
    }
}
