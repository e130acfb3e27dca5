//! The processor as a function of this process.

use std::time::Duration;

use async_trait::async_trait;
use recado::flow::World;
use recado_processor::SqsEvent;
use serde_json::Value;

use crate::poller::{Invoke, InvokeError};

/// Takes what the poller delivers.
pub struct Processor {
    world: World,
    timeout: Duration,
}

impl Processor {
    /// A processor whose invocations are cut off after `timeout`.
    pub const fn new(world: World, timeout: Duration) -> Self {
        Self { world, timeout }
    }
}

#[async_trait]
impl Invoke for Processor {
    async fn invoke(&self, event: Value) -> Result<Value, InvokeError> {
        let event: SqsEvent = serde_json::from_value(event)
            .map_err(|error| InvokeError::Function(error.to_string()))?;
        let deadline = self.world.now().plus(self.timeout);
        let answer = recado_processor::handle(&self.world, event, deadline).await;
        serde_json::to_value(answer).map_err(|error| InvokeError::Function(error.to_string()))
    }
}
