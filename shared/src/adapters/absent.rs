//! Ports of a function that has no use for them: one that only takes in asks no model and sends nothing.
//!
//! What such a function does not hold it can neither misuse nor load: no HTTP client, no key, no right to them.

use std::time::Duration;

use async_trait::async_trait;

use crate::domain::{
    Agent, ConversationId, ModelReply, Prompt, ReplyId, Tool, ToolCall, ToolResult,
};
use crate::error::{ModelError, ModelErrorClass, SendError};
use crate::ports::{LookUp, Messenger, Model, Outgoing, Tools};

const WHY: &str = "this function has no part in answering";

/// No model.
#[derive(Debug, Clone, Copy)]
pub struct NoModel;

#[async_trait]
impl Model for NoModel {
    async fn converse(&self, _: &str, _: &Prompt, _: Duration) -> Result<ModelReply, ModelError> {
        Err(ModelError::new(ModelErrorClass::Invalid, WHY))
    }
}

/// No way back to the person.
#[derive(Debug, Clone, Copy)]
pub struct NoMessenger;

#[async_trait]
impl Messenger for NoMessenger {
    async fn send(&self, _: &Outgoing) -> Result<String, SendError> {
        Err(SendError::NotConnected(WHY.into()))
    }

    async fn look_up(&self, _: ReplyId) -> LookUp {
        LookUp::CannotTell
    }
}

/// No tools: nothing is told of, so nothing is called.
#[derive(Debug, Clone, Copy)]
pub struct NoTools;

#[async_trait]
impl Tools for NoTools {
    async fn declared(&self, _: &Agent) -> Vec<Tool> {
        Vec::new()
    }

    async fn run(&self, _: &ConversationId, _: &ToolCall, _: &str, _: Duration) -> ToolResult {
        ToolResult::Error("there are no tools".to_owned())
    }
}
