//! The queues: ticks in a FIFO queue grouped by conversation, compactions in a standard one.
//!
//! A body names the conversation and nothing else. Group and dedup ids are keyed hashes: SQS takes 128 characters,
//! ids can be longer, and they hold phones.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use serde::{Deserialize, Serialize};

use crate::domain::{AgentId, ContactId, ConversationId, Hasher};
use crate::error::{Source, TicksError};
use crate::ports::{Receipt, Ticks};

/// The newest format of a queue body that this program reads and writes.
pub const BODY_VERSION: u32 = 1;

/// What a queue body asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Look at this conversation.
    Tick,
    /// Compact this conversation.
    Compaction,
}

#[derive(Serialize, Deserialize)]
struct Body {
    v: u32,
    job: Job,
    agent: AgentId,
    contact: ContactId,
}

/// Why a queue body cannot be acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// A newer version of the program wrote it: it waits for the rollout.
    #[error("queue body has format version {0}, newer than this program's {BODY_VERSION}")]
    FutureVersion(u32),
    /// It is not one of ours.
    #[error("queue body cannot be decoded")]
    Undecodable,
}

/// Writes a body.
pub fn encode(job: Job, conversation: &ConversationId) -> String {
    let ConversationId { agent, contact } = conversation.clone();
    // Four plain fields: there is nothing in them that JSON cannot hold.
    serde_json::to_string(&Body {
        v: BODY_VERSION,
        job,
        agent,
        contact,
    })
    .unwrap_or_default()
}

/// Reads a body.
pub fn decode(body: &str) -> Result<(Job, ConversationId), BodyError> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    let versioned: Versioned = serde_json::from_str(body).map_err(|_| BodyError::Undecodable)?;
    if versioned.v > BODY_VERSION {
        return Err(BodyError::FutureVersion(versioned.v));
    }
    let body: Body = serde_json::from_str(body).map_err(|_| BodyError::Undecodable)?;
    Ok((
        body.job,
        ConversationId {
            agent: body.agent,
            contact: body.contact,
        },
    ))
}

/// The queues of an installation.
#[derive(Debug, Clone)]
pub struct SqsTicks {
    client: Client,
    ticks_url: String,
    compactions_url: String,
    hasher: Arc<Hasher>,
}

impl SqsTicks {
    /// Over the FIFO queue `ticks_url` (its delay is the smallest window in use) and the standard queue
    /// `compactions_url`.
    pub fn new(
        client: Client,
        ticks_url: impl Into<String>,
        compactions_url: impl Into<String>,
        hasher: Arc<Hasher>,
    ) -> Self {
        Self {
            client,
            ticks_url: ticks_url.into(),
            compactions_url: compactions_url.into(),
            hasher,
        }
    }
}

#[async_trait]
impl Ticks for SqsTicks {
    async fn tick(&self, conversation: &ConversationId, dedup: &str) -> Result<(), TicksError> {
        self.client
            .send_message()
            .queue_url(&self.ticks_url)
            .message_group_id(self.hasher.conversation(conversation))
            .message_deduplication_id(dedup)
            .message_body(encode(Job::Tick, conversation))
            .send()
            .await
            .map_err(|error| failed(&SENDING_A_TICK, &error))?;
        Ok(())
    }

    async fn hold(&self, receipt: &Receipt, seconds: u32) -> Result<(), TicksError> {
        self.client
            .change_message_visibility()
            .queue_url(&self.ticks_url)
            .receipt_handle(&receipt.0)
            .visibility_timeout(i32::try_from(seconds.min(43_200)).unwrap_or(43_200))
            .send()
            .await
            .map_err(|error| failed(&HOLDING_A_TICK, &error))?;
        Ok(())
    }

    async fn compact(&self, conversation: &ConversationId) -> Result<(), TicksError> {
        self.client
            .send_message()
            .queue_url(&self.compactions_url)
            .message_body(encode(Job::Compaction, conversation))
            .send()
            .await
            .map_err(|error| failed(&ASKING_FOR_A_COMPACTION, &error))?;
        Ok(())
    }
}

/// A request to SQS, for its errors.
struct Call {
    operation: &'static str,
    /// In the words of a role's policy.
    action: &'static str,
    /// Names the queue.
    setting: &'static str,
}

const SENDING_A_TICK: Call = Call {
    operation: "sending a tick",
    action: "sqs:SendMessage",
    setting: "RECADO_TICKS_QUEUE_URL",
};
const HOLDING_A_TICK: Call = Call {
    operation: "holding a tick",
    action: "sqs:ChangeMessageVisibility",
    setting: "RECADO_TICKS_QUEUE_URL",
};
const ASKING_FOR_A_COMPACTION: Call = Call {
    operation: "asking for a compaction",
    action: "sqs:SendMessage",
    setting: "RECADO_COMPACTIONS_QUEUE_URL",
};

/// Keeps the error's kind and code, and says what to do; the request (its body names a person) stays out.
fn failed<E, R>(call: &Call, error: &SdkError<E, R>) -> TicksError
where
    E: ProvideErrorMetadata,
{
    let Call {
        operation,
        action,
        setting,
    } = *call;
    let source: Source = match error {
        SdkError::ServiceError(service) => {
            let code = service.err().code().unwrap_or("without a code");
            let advice = if code.contains("NonExistentQueue") || code.contains("DoesNotExist") {
                format!(": no such queue; check {setting}")
            } else if code.contains("AccessDenied") {
                format!(": the role needs {action} on the queue of {setting}")
            } else {
                String::new()
            };
            format!("{code}{advice}").into()
        }
        SdkError::TimeoutError(_) => "no answer in time".into(),
        SdkError::DispatchFailure(failure) if failure.is_timeout() => "no answer in time".into(),
        SdkError::DispatchFailure(_) => format!("no connection; check {setting}").into(),
        SdkError::ConstructionFailure(_) => {
            format!("request could not be built; check {setting}").into()
        }
        _ => "an answer that could not be read".into(),
    };
    TicksError { operation, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> ConversationId {
        ConversationId::parse("recepcao#5511900000001").unwrap()
    }

    #[test]
    fn a_body_reads_back_as_it_was_written() {
        for job in [Job::Tick, Job::Compaction] {
            assert_eq!(
                decode(&encode(job, &conversation())),
                Ok((job, conversation()))
            );
        }
    }

    #[test]
    fn version_1_is_read_for_ever() {
        let body = r#"{"v":1,"job":"tick","agent":"recepcao","contact":"5511900000001"}"#;
        assert_eq!(decode(body), Ok((Job::Tick, conversation())));
    }

    #[test]
    fn a_newer_body_is_told_from_a_broken_one() {
        assert_eq!(
            decode(r#"{"v":2,"what":"ever"}"#),
            Err(BodyError::FutureVersion(2))
        );
        for broken in [
            "",
            "{}",
            "[]",
            r#"{"v":1}"#,
            r#"{"v":1,"job":"tick","agent":"A#"}"#,
        ] {
            assert_eq!(decode(broken), Err(BodyError::Undecodable), "{broken}");
        }
    }
}
