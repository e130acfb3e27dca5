//! The tools that come with the engine: the agenda, and the hand-off to a human. What they do is decided by
//! `policy::agenda` and `policy::hand_off`; here it is read and written.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::{Agent, ConversationId, Tool, ToolCall, ToolResult};
use crate::error::StoreError;
use crate::policy::agenda::{self, Asked, Decided};
use crate::policy::hand_off;
use crate::ports::{Agenda, Agents, Clock, Tools, Written};

/// Somebody else changed the entry meanwhile: so often it is looked at again.
const TRIES: usize = 3;

/// The built-in tools.
pub struct BuiltInTools {
    agenda: Arc<dyn Agenda>,
    agents: Arc<dyn Agents>,
    clock: Arc<dyn Clock>,
}

impl BuiltInTools {
    /// Tools over this agenda. The agents tell which tools an agent has, and its language and zone.
    pub fn new(agenda: Arc<dyn Agenda>, agents: Arc<dyn Agents>, clock: Arc<dyn Clock>) -> Self {
        Self {
            agenda,
            agents,
            clock,
        }
    }

    async fn act(
        &self,
        of: &ConversationId,
        agent: &Agent,
        call: &ToolCall,
        key: &str,
    ) -> Result<ToolResult, StoreError> {
        for _ in 0..TRIES {
            let entries = self.agenda.entries(of).await?;
            let decided = agenda::decide(Asked {
                agent,
                entries: &entries,
                call,
                key,
                now: self.clock.now(),
            });
            let (entry, said) = match decided {
                Decided::Write(entry, said) => (entry, said),
                Decided::Say(said) => return Ok(ToolResult::Ok(said)),
                Decided::Refuse(why) => return Ok(ToolResult::Error(why)),
            };
            if self.agenda.write(of, &entry).await? == Written::Done {
                return Ok(ToolResult::Ok(said));
            }
        }
        let why = "the agenda is being changed by somebody else: nothing was done";
        Ok(ToolResult::Error(why.to_owned()))
    }
}

#[async_trait]
impl Tools for BuiltInTools {
    async fn declared(&self, agent: &Agent) -> Vec<Tool> {
        let agenda = agent.agenda.then(agenda::tools::declared);
        let hand_off = agent.hand_off_pause.map(|_| hand_off::declared());
        agenda.into_iter().flatten().chain(hand_off).collect()
    }

    async fn run(
        &self,
        of: &ConversationId,
        call: &ToolCall,
        key: &str,
        _timeout: Duration,
    ) -> ToolResult {
        let Some(agent) = self.agents.by_id(&of.agent).await else {
            return ToolResult::Error("the agent is gone".to_owned());
        };
        if call.tool.as_str() == hand_off::NAME {
            return hand_off::answer(&agent);
        }
        match self.act(of, &agent, call, key).await {
            Ok(result) => result,
            Err(error) => {
                tracing::warn!(tool = %call.tool, %error, "the agenda could not be used");
                // It may have been written; every call of these may be repeated under its key.
                ToolResult::Unknown
            }
        }
    }
}
