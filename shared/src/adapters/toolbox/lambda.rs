//! Tools that are functions of AWS Lambda, invoked by IAM: the function's role says who may call it.

mod outcome;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_lambda::Client;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvocationType;
use serde_json::{Value, json};

use super::{Made, Source};
use crate::domain::{Agent, Hasher, Target, Tool, ToolResult};

/// For a connection to stand; before it does nothing was done.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Calls functions of AWS Lambda.
pub struct LambdaTools {
    client: Client,
    hasher: Arc<Hasher>,
    told: AtomicBool,
}

impl LambdaTools {
    /// With the credentials and the region of `sdk`. `hasher` makes what stands for a conversation.
    pub fn new(sdk: &SdkConfig, hasher: Arc<Hasher>) -> Self {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A call has its own time; the SDK's would be too short for it.
            .disable_operation_timeout()
            .disable_operation_attempt_timeout()
            .disable_read_timeout()
            .build();
        let config = aws_sdk_lambda::config::Builder::from(sdk)
            .timeout_config(timeouts)
            // Nothing is invoked twice unless the flow decides so.
            .retry_config(RetryConfig::disabled())
            .build();
        Self {
            client: Client::from_conf(config),
            hasher,
            told: AtomicBool::new(false),
        }
    }

    /// What the function is given. The key is the same whichever run makes the call; the conversation is a keyed hash.
    fn payload(&self, made: &Made<'_>) -> Value {
        json!({
            "tool": made.call.tool,
            "arguments": made.call.arguments.fields(),
            "idempotency_key": made.key,
            "agent": made.of.agent,
            "conversation": self.hasher.conversation(made.of),
        })
    }

    /// Without credentials every call fails alike: the operator is told once.
    fn tell_of_credentials(&self) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::error!(
                "tools that are Lambda functions need AWS credentials and a region: set AWS_PROFILE or AWS_ACCESS_KEY_ID, \
                 AWS_SECRET_ACCESS_KEY and AWS_REGION"
            );
        }
    }
}

#[async_trait]
impl Source for LambdaTools {
    fn declared(&self, agent: &Agent) -> Vec<Tool> {
        let specs = agent.tools.iter();
        let functions = specs.filter(|spec| matches!(spec.target, Target::Lambda(_)));
        functions.map(|spec| spec.tool.clone()).collect()
    }

    async fn run(&self, agent: &Agent, made: &Made<'_>, timeout: Duration) -> ToolResult {
        let found = agent.tools.iter().find_map(|spec| match &spec.target {
            Target::Lambda(function) if spec.tool.name == made.call.tool => Some((spec, function)),
            _ => None,
        });
        let Some((spec, function)) = found else {
            return ToolResult::Error("there is no such tool".to_owned());
        };
        let effect = spec.tool.effect;
        let request = self
            .client
            .invoke()
            .function_name(function)
            .invocation_type(InvocationType::RequestResponse)
            .payload(Blob::new(self.payload(made).to_string()))
            .send();
        let Ok(answer) = tokio::time::timeout(timeout.min(spec.timeout), request).await else {
            return super::no_answer(effect, "the function did not answer in time");
        };
        match answer {
            Ok(answer) => {
                let payload = answer.payload.map(Blob::into_inner).unwrap_or_default();
                outcome::of_answer(effect, answer.function_error.is_some(), &payload).bounded()
            }
            Err(error) if outcome::is_of_credentials(&error) => {
                self.tell_of_credentials();
                ToolResult::Error("the tool is not set up: nothing was done".to_owned())
            }
            Err(error) => outcome::of_failure(effect, &spec.tool.name, &error),
        }
    }
}
