//! The processor: what a queue delivers, one conversation at a time.
//!
//! A tick that has to wait is reported as failed with its visibility set to the moment it is due: it stays at the
//! head of its group, so the order holds and nothing is sent to our own queue.

pub mod invocation;

use std::collections::BTreeSet;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use recado::adapters::sqs::{self, BodyError, Job};
use recado::domain::{ConversationId, Timestamp};
use recado::flow::process::{self, Outcome, Visit};
use recado::flow::{FlowError, World, compact};
use recado::ports::Receipt;
use serde::{Deserialize, Serialize};

/// After a failure of table or queue the tick comes back within this many seconds, spread by chance.
const FAILURE_HOLD_MAX_S: f64 = 10.0;

/// What panics where nothing can be counted is tried again this slowly, until the queue's `maxReceiveCount` ends it.
const PANIC_HOLD_S: u32 = 60;

/// A body of a newer version waits for the rollout this long at a time.
const FUTURE_VERSION_HOLD_S: u32 = 30;

/// No tick is out of sight for longer: one that has to wait on is looked at and held again. The clock may have stepped back
/// since it was decided until when, and the queue would keep it for as long as the step was.
const HOLD_MAX_S: u32 = 150;

/// A tick that could not be held is held again after each of these.
const HOLD_PAUSES: [Duration; 2] = [Duration::ZERO, Duration::from_millis(500)];

/// A batch as the event source mapping delivers it.
#[derive(Debug, Deserialize)]
pub struct SqsEvent {
    /// Its messages, in order within each group.
    #[serde(rename = "Records", default)]
    pub records: Vec<SqsRecord>,
}

/// One delivered message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsRecord {
    /// Names it in the answer.
    pub message_id: String,
    /// The right to hold or delete it.
    pub receipt_handle: String,
    /// Names a conversation.
    pub body: String,
    /// Its group, where it has one.
    #[serde(default)]
    pub attributes: SqsAttributes,
}

impl std::fmt::Debug for SqsRecord {
    /// Not the body, which holds a phone.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SqsRecord({})", self.message_id)
    }
}

/// What SQS tells of a message.
#[derive(Debug, Default, Deserialize)]
pub struct SqsAttributes {
    /// The FIFO group.
    #[serde(rename = "MessageGroupId")]
    pub group: Option<String>,
}

/// The answer: which messages stay in the queue.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchResponse {
    /// Those that stay.
    pub batch_item_failures: Vec<BatchItemFailure>,
}

/// A message that stays in the queue.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItemFailure {
    /// Its message id.
    pub item_identifier: String,
}

/// Whether a message is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Goes,
    Stays,
}

/// Works through a batch; `deadline` is when the invocation is cut off. Never fails as a whole: what cannot be done
/// now stays in the queue.
pub async fn handle(world: &World, event: SqsEvent, deadline: Timestamp) -> BatchResponse {
    let mut response = BatchResponse::default();
    let mut blocked = BTreeSet::new();
    for record in event.records {
        // Order within a group: what follows a message that stays, stays too.
        let is_blocked = record
            .attributes
            .group
            .as_ref()
            .is_some_and(|g| blocked.contains(g));
        if is_blocked || handle_record(world, &record, deadline).await == Fate::Stays {
            blocked.extend(record.attributes.group);
            let item_identifier = record.message_id;
            response
                .batch_item_failures
                .push(BatchItemFailure { item_identifier });
        }
    }
    response
}

async fn handle_record(world: &World, record: &SqsRecord, deadline: Timestamp) -> Fate {
    let receipt = Receipt(record.receipt_handle.clone());
    match sqs::decode(&record.body) {
        Ok((Job::Tick, conversation)) => tick(world, conversation, receipt, deadline).await,
        Ok((Job::Compaction, conversation)) => compaction(world, &conversation, deadline).await,
        Err(error @ BodyError::FutureVersion(_)) => {
            tracing::warn!(%error, "a message of a newer version waits");
            hold(world, &receipt, FUTURE_VERSION_HOLD_S).await;
            Fate::Stays
        }
        Err(error) => {
            // A tick is only a hint: what it was about is in the table, where the sweeper finds it.
            tracing::error!(%error, message.id = record.message_id, "a message is set aside");
            Fate::Goes
        }
    }
}

async fn tick(
    world: &World,
    conversation: ConversationId,
    receipt: Receipt,
    deadline: Timestamp,
) -> Fate {
    let hash = world.hasher.conversation(&conversation);
    let visit = Visit {
        conversation,
        receipt: Some(receipt.clone()),
        deadline,
    };
    // A panic concerns one conversation, not the function.
    match AssertUnwindSafe(process::process(world, &visit))
        .catch_unwind()
        .await
    {
        Ok(Ok(Outcome::Done)) => Fate::Goes,
        Ok(Ok(Outcome::HoldUntil(until, _))) => {
            let seconds = until.since(world.now()).as_secs();
            let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
            hold(world, &receipt, seconds.min(HOLD_MAX_S)).await;
            Fate::Stays
        }
        Ok(Err(error)) => {
            log_failure(&hash, &error);
            hold_for_a_while(world, &receipt).await;
            Fate::Stays
        }
        Err(_panic) => {
            tracing::error!(
                conversation.hash = hash,
                "a panic was caught where it cannot be counted; the tick is tried again until the queue gives it up"
            );
            hold(world, &receipt, PANIC_HOLD_S).await;
            Fate::Stays
        }
    }
}

/// A compaction that fails changes nothing: a later turn asks for it again.
async fn compaction(world: &World, conversation: &ConversationId, deadline: Timestamp) -> Fate {
    let hash = world.hasher.conversation(conversation);
    match AssertUnwindSafe(compact::compact(world, conversation, deadline))
        .catch_unwind()
        .await
    {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => log_failure(&hash, &error),
        Err(_panic) => {
            tracing::error!(
                conversation.hash = hash,
                "a panic was caught in a compaction"
            );
        }
    }
    Fate::Goes
}

async fn hold_for_a_while(world: &World, receipt: &Receipt) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "1 to 10"
    )]
    let seconds = world
        .chance
        .fraction()
        .mul_add(FAILURE_HOLD_MAX_S - 1.0, 1.0) as u32;
    hold(world, receipt, seconds).await;
}

/// Tried again where it fails: a run has put its tick off until its own end, and there it would stay. Where that fails
/// too, it comes back then.
async fn hold(world: &World, receipt: &Receipt, seconds: u32) {
    let mut held = world.ticks.hold(receipt, seconds).await;
    for pause in HOLD_PAUSES {
        if held.is_ok() {
            break;
        }
        world.clock.sleep(pause).await;
        held = world.ticks.hold(receipt, seconds).await;
    }
    if let Err(error) = held {
        tracing::warn!(%error, reason = ?error.source(), "a tick could not be held");
    }
}

fn log_failure(hash: &str, error: &FlowError) {
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        chain = format!("{chain}: {cause}");
        source = cause.source();
    }
    tracing::error!(
        conversation.hash = hash,
        error = chain,
        "a conversation waits"
    );
}
