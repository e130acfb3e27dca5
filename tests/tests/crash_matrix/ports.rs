//! The ports beside the table, each request of them a step.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{
    Agent, ConversationId, ModelReply, Output, Prompt, ReplyId, Tool, ToolCall, ToolResult,
};
use recado::error::{ModelError, ModelErrorClass, SendError, TicksError};
use recado::ports::{LookUp, Messenger, Model, Outgoing, Receipt, Ticks, Tools};
use recado_tests::fake_messenger::FakeMessenger;
use recado_tests::fake_model::{Behaviour, ScriptedModel};
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_ticks::FakeTicks;
use recado_tests::fake_tools::{BOOK, HOURS};

use crate::steps::Steps;

/// The fakes, with the steps before them.
pub struct Crossing {
    pub steps: Arc<Steps>,
    pub ticks: Arc<FakeTicks>,
    pub model: Arc<ScriptedModel>,
    pub tools: Arc<dyn Tools>,
    pub messenger: Arc<FakeMessenger>,
    /// What the model asks for before it answers a turn.
    pub calls: Mutex<Vec<(&'static str, &'static str)>>,
}

impl Crossing {
    async fn cross<T: Send, F: Future<Output = T> + Send>(
        &self,
        step: &'static str,
        act: impl Fn() -> F + Send + Sync,
        failed: impl Fn() -> T + Send + Sync,
    ) -> T {
        let fault = self.steps.before(step).await;
        if fault == Fault::FailBefore {
            return failed();
        }
        if fault == Fault::Twice {
            act().await;
        }
        let given = act().await;
        self.steps.after(step).await;
        if fault == Fault::FailAfter {
            return failed();
        }
        given
    }
}

fn queue_failed<T>() -> Result<T, TicksError> {
    Err(TicksError {
        operation: "a struck step",
        source: "told to".into(),
    })
}

#[async_trait]
impl Ticks for Crossing {
    async fn tick(&self, conversation: &ConversationId, dedup: &str) -> Result<(), TicksError> {
        let act = || self.ticks.tick(conversation, dedup);
        self.cross("tick", act, queue_failed).await
    }

    async fn hold(&self, receipt: &Receipt, seconds: u32) -> Result<(), TicksError> {
        let act = || self.ticks.hold(receipt, seconds);
        self.cross("hold", act, queue_failed).await
    }

    async fn compact(&self, conversation: &ConversationId) -> Result<(), TicksError> {
        let act = || self.ticks.compact(conversation);
        self.cross("compact", act, queue_failed).await
    }
}

#[async_trait]
impl Model for Crossing {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        let act = || {
            let calls = self.calls.lock().unwrap().clone();
            // The same request is answered alike, however often it comes.
            if !calls.is_empty() && prompt.rounds.is_empty() && prompt.output == Output::Text {
                let call = Behaviour::Call(Duration::from_secs(1), calls);
                self.model.then(call);
            }
            self.model.converse(model, prompt, timeout)
        };
        let failed = || Err(ModelError::new(ModelErrorClass::Transient, "told to"));
        self.cross("converse", act, failed).await
    }
}

#[async_trait]
impl Tools for Crossing {
    async fn declared(&self, agent: &Agent) -> Vec<Tool> {
        let act = || self.tools.declared(agent);
        self.cross("declared", act, Vec::new).await
    }

    async fn run(
        &self,
        of: &ConversationId,
        call: &ToolCall,
        key: &str,
        timeout: Duration,
    ) -> ToolResult {
        let step = match call.tool.as_str() {
            BOOK => "run:book",
            HOURS => "run:hours",
            _ => "run:add",
        };
        let act = || self.tools.run(of, call, key, timeout);
        self.cross(step, act, || ToolResult::Unknown).await
    }
}

#[async_trait]
impl Messenger for Crossing {
    async fn send(&self, outgoing: &Outgoing) -> Result<String, SendError> {
        let act = || self.messenger.send(outgoing);
        let failed = || Err(SendError::OutcomeUnknown("told to".into()));
        self.cross("send", act, failed).await
    }

    async fn look_up(&self, reply: ReplyId) -> LookUp {
        let act = || self.messenger.look_up(reply);
        self.cross("look_up", act, || LookUp::CannotTell).await
    }
}
