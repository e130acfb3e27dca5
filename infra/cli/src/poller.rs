//! What an SQS event source mapping does on AWS: it polls a queue, hands each batch to a function, and deletes what succeeded.
//!
//! Invariant: a message is deleted only after the function has answered for it. Whatever goes wrong in between (a panic, a timeout,
//! an answer that makes no sense) leaves it to its visibility timeout, and it comes back.

mod event;
mod http_invoke;

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::DisplayErrorContext;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName};
use serde_json::Value;
use thiserror::Error;
use tokio::task::JoinSet;

pub use event::{failures, sqs_event};
pub use http_invoke::HttpInvoke;

/// Shortest wait after the queue failed.
const BACKOFF_MIN: Duration = Duration::from_millis(200);
/// Longest wait after the queue failed again and again.
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// How often a delete is tried before the message is left to come back.
const DELETE_TRIES: u32 = 3;

/// A function that takes an event, as Lambda's Invoke does.
#[async_trait]
pub trait Invoke: Send + Sync {
    /// Runs the function on the event and gives what it answered.
    async fn invoke(&self, event: Value) -> Result<Value, InvokeError>;
}

/// Why an invocation gave no answer.
#[derive(Debug, Error)]
pub enum InvokeError {
    /// The function was reached and failed.
    #[error("the function failed: {0}")]
    Function(String),
    /// The function could not be reached, or its answer not be read.
    #[error("the function could not be reached: {0}")]
    Unreachable(String),
    /// The time was up.
    #[error("the function did not answer within {0:?}")]
    Timeout(Duration),
}

/// A number from 0 up to 1, drawn anew at each call: the caller's randomness.
pub type Jitter = Arc<dyn Fn() -> f64 + Send + Sync>;

/// How a queue is polled.
#[derive(Clone)]
pub struct Settings {
    /// URL of the queue.
    pub queue_url: String,
    /// ARN of the queue, as the event's `eventSourceARN`; its region is the event's `awsRegion`.
    pub queue_arn: String,
    /// Messages per invocation, 1 to 10.
    pub batch_size: i32,
    /// Invocations at once, at least 1.
    pub concurrency: usize,
    /// Long poll, 0 to 20 whole seconds.
    pub wait_s: i32,
    /// How long an invocation may take.
    pub invoke_timeout: Duration,
    /// How long running invocations may take to end after a shutdown.
    pub drain: Duration,
    /// Spreads the waits after errors.
    pub jitter: Jitter,
}

impl Settings {
    /// What the template's mapping has: one message per invocation, five at once, 120 s each.
    pub fn new(queue_url: &str, queue_arn: &str, jitter: Jitter) -> Self {
        Self {
            queue_url: queue_url.to_owned(),
            queue_arn: queue_arn.to_owned(),
            batch_size: 1,
            concurrency: 5,
            wait_s: 20,
            invoke_timeout: Duration::from_mins(2),
            drain: Duration::from_secs(20),
            jitter,
        }
    }
}

/// Polls one queue for one function.
pub struct Poller {
    source: Arc<Source>,
    settings: Settings,
}

/// What each invocation shares.
struct Source {
    sqs: Client,
    invoke: Arc<dyn Invoke>,
    queue_url: String,
    queue_arn: String,
    invoke_timeout: Duration,
}

impl Poller {
    /// A poller that has not begun.
    pub fn new(sqs: Client, invoke: Arc<dyn Invoke>, settings: Settings) -> Self {
        let source = Source {
            sqs,
            invoke,
            queue_url: settings.queue_url.clone(),
            queue_arn: settings.queue_arn.clone(),
            invoke_timeout: settings.invoke_timeout,
        };
        Self {
            source: Arc::new(source),
            settings,
        }
    }

    /// Polls until the future resolves, then lets running invocations end within the drain time.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        tokio::pin!(shutdown);
        let mut running = JoinSet::new();
        let mut errors = 0;
        loop {
            while let Some(ended) = running.try_join_next() {
                note(&ended);
            }
            if running.len() >= self.settings.concurrency.max(1) {
                tokio::select! {
                    () = &mut shutdown => break,
                    Some(ended) = running.join_next() => note(&ended),
                }
                continue;
            }
            let received = tokio::select! {
                () = &mut shutdown => break,
                received = self.receive() => received,
            };
            match received {
                Ok(messages) if messages.is_empty() => errors = 0,
                Ok(messages) => {
                    errors = 0;
                    let source = Arc::clone(&self.source);
                    running.spawn(async move { source.process(&messages).await });
                }
                Err(error) => {
                    let wait = backoff(errors, (self.settings.jitter)());
                    errors += 1;
                    let wait_ms = wait.as_millis();
                    tracing::warn!(%error, wait_ms, "queue not polled, trying again");
                    tokio::select! {
                        () = &mut shutdown => break,
                        () = tokio::time::sleep(wait) => {}
                    }
                }
            }
        }
        drain(running, self.settings.drain).await;
    }

    async fn receive(&self) -> Result<Vec<Message>, String> {
        let request = self.source.sqs.receive_message();
        let received = request
            .queue_url(&self.settings.queue_url)
            .max_number_of_messages(self.settings.batch_size)
            .wait_time_seconds(self.settings.wait_s)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .message_attribute_names("All")
            .send()
            .await
            .map_err(|error| DisplayErrorContext(error).to_string())?;
        Ok(received.messages.unwrap_or_default())
    }
}

impl Source {
    /// One invocation from its event to the deletes.
    async fn process(&self, messages: &[Message]) {
        let event = sqs_event(messages, &self.queue_arn);
        let invocation = tokio::time::timeout(self.invoke_timeout, self.invoke.invoke(event));
        let answer = match invocation.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                tracing::warn!(%error, messages = messages.len(), "batch left to come back");
                return;
            }
            Err(_) => {
                let error = InvokeError::Timeout(self.invoke_timeout);
                tracing::warn!(%error, messages = messages.len(), "batch left to come back");
                return;
            }
        };
        let ids = messages.iter().filter_map(Message::message_id).collect();
        let failed = failures(&answer, &ids);
        self.delete(messages, &failed).await;
    }

    async fn delete(&self, messages: &[Message], failed: &BTreeSet<String>) {
        let succeeded =
            |message: &&Message| message.message_id().is_some_and(|id| !failed.contains(id));
        let mut left: Vec<DeleteMessageBatchRequestEntry> = Vec::new();
        for (place, message) in messages.iter().filter(succeeded).enumerate() {
            let entry = DeleteMessageBatchRequestEntry::builder()
                .id(place.to_string())
                .set_receipt_handle(message.receipt_handle.clone());
            left.extend(entry.build());
        }
        for _ in 0..DELETE_TRIES {
            if left.is_empty() {
                return;
            }
            let request = self.sqs.delete_message_batch().queue_url(&self.queue_url);
            match request.set_entries(Some(left.clone())).send().await {
                Ok(output) => {
                    for refused in output.failed() {
                        let reason = refused.message().unwrap_or_default();
                        tracing::warn!(code = refused.code(), reason, "message not deleted");
                    }
                    // The sender's fault (a receipt that has expired) stays one however often it is tried.
                    let again = |entry: &DeleteMessageBatchRequestEntry| {
                        output
                            .failed()
                            .iter()
                            .any(|failed| failed.id() == entry.id() && !failed.sender_fault())
                    };
                    left.retain(again);
                }
                Err(error) => {
                    let error = DisplayErrorContext(error).to_string();
                    tracing::warn!(%error, "messages not deleted");
                }
            }
        }
    }
}

/// Waits for what runs, and gives up on the rest when the time is over: it comes back by its visibility.
async fn drain(mut running: JoinSet<()>, limit: Duration) {
    let all = async {
        while let Some(ended) = running.join_next().await {
            note(&ended);
        }
    };
    if tokio::time::timeout(limit, all).await.is_err() {
        tracing::warn!(
            invocations = running.len(),
            "invocations cut off by the shutdown"
        );
        running.shutdown().await;
    }
}

fn note(ended: &Result<(), tokio::task::JoinError>) {
    if ended.as_ref().is_err_and(tokio::task::JoinError::is_panic) {
        // The payload may quote a message: only that it happened is said.
        tracing::error!("an invocation panicked; its batch is left to come back");
    }
}

/// The wait after so many errors in a row: doubling to a bound, of which the jitter (0 to 1) takes up to half.
fn backoff(errors: u32, jitter: f64) -> Duration {
    let full = BACKOFF_MIN
        .saturating_mul(2_u32.saturating_pow(errors))
        .min(BACKOFF_MAX);
    full.mul_f64(1.0 - 0.5 * jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_to_its_bound_and_jitter_takes_up_to_half() {
        for (errors, jitter, wait_ms) in [
            (0, 0.0, 200),
            (0, 1.0, 100),
            (1, 0.0, 400),
            (5, 0.5, 4800),
            (6, 0.0, 10_000),
            (u32::MAX, 0.0, 10_000),
            (u32::MAX, 1.0, 5_000),
        ] {
            let wait = backoff(errors, jitter);
            assert_eq!(
                wait.as_millis(),
                wait_ms,
                "{errors} errors, jitter {jitter}"
            );
        }
    }
}
