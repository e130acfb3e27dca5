//! The tools that come with the engine: the agenda, and the hand-off to a human. What they do is decided by
//! `policy::agenda` and `policy::hand_off`; here it is read and written.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Made, Source};
use crate::domain::{Agent, Tool, ToolResult};
use crate::error::StoreError;
use crate::policy::agenda::{self, Asked, Decided};
use crate::policy::hand_off;
use crate::ports::{Agenda, Clock, Written};

/// Somebody else changed the entry meanwhile: so often it is looked at again.
const TRIES: usize = 3;

/// The built-in tools.
pub struct BuiltInTools {
    agenda: Arc<dyn Agenda>,
    clock: Arc<dyn Clock>,
}

impl BuiltInTools {
    /// Tools over this agenda.
    pub fn new(agenda: Arc<dyn Agenda>, clock: Arc<dyn Clock>) -> Self {
        Self { agenda, clock }
    }

    async fn act(
        &self,
        agent: &Agent,
        Made { of, call, key }: Made<'_>,
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
impl Source for BuiltInTools {
    fn declared(&self, agent: &Agent) -> Vec<Tool> {
        let agenda = agent.agenda.then(agenda::tools::declared);
        let hand_off = agent.hand_off_pause.map(|_| hand_off::declared());
        agenda.into_iter().flatten().chain(hand_off).collect()
    }

    async fn run(&self, agent: &Agent, made: &Made<'_>, _timeout: Duration) -> ToolResult {
        let tool = &made.call.tool;
        if tool.as_str() == hand_off::NAME {
            return hand_off::answer(agent);
        }
        match self.act(agent, *made).await {
            Ok(result) => result,
            Err(error) => {
                tracing::warn!(%tool, %error, "the agenda could not be used");
                // It may have been written; every call of these may be repeated under its key.
                ToolResult::Unknown
            }
        }
    }
}
