//! SQS's actions: each a JSON object in and one out, over the pure queues. A parameter we do not know is refused, not passed over.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::batch;
use super::message::ranged;
use super::names::{ACCOUNT, arn};
use super::queue::Queue;
use super::queues::Queues;
use super::refusal::{Code, Refusal};
use super::settings::unknown;
use super::wire::{self, SendEntry};

/// Actions of SQS that this server does not serve.
const UNSERVED: [&str; 8] = [
    "AddPermission",
    "CancelMessageMoveTask",
    "ListDeadLetterSourceQueues",
    "ListMessageMoveTasks",
    "ListQueueTags",
    "RemovePermission",
    "TagQueue",
    "UntagQueue",
];

/// Performs any action but `ReceiveMessage`, which waits and is the server's.
pub fn perform(queues: &mut Queues, action: &str, body: &[u8], now: u64) -> Result<Value, Refusal> {
    match action {
        "CreateQueue" => create_queue(queues, &parse(body)?, now),
        "DeleteQueue" => {
            queues.remove(&parse::<OfQueue>(body)?.queue_url)?;
            Ok(json!({}))
        }
        "GetQueueAttributes" => get_queue_attributes(queues, &parse(body)?, now),
        "GetQueueUrl" => get_queue_url(queues, &parse(body)?),
        "ListQueues" => list_queues(queues, &parse(body)?),
        "PurgeQueue" => {
            queues.by_url(&parse::<OfQueue>(body)?.queue_url)?.purge();
            Ok(json!({}))
        }
        "SetQueueAttributes" => {
            let request: SetQueueAttributes = parse(body)?;
            queues.configure(&request.queue_url, &request.attributes, now)?;
            Ok(json!({}))
        }
        "StartMessageMoveTask" => start_message_move_task(queues, &parse(body)?, now),
        "SendMessage" => send_message(queues, parse(body)?, now),
        "DeleteMessage" => {
            let request: DeleteMessage = parse(body)?;
            let queue = queues.by_url(&request.queue_url)?;
            queue.delete(required("ReceiptHandle", &request.receipt_handle)?, now)?;
            Ok(json!({}))
        }
        "ChangeMessageVisibility" => {
            let request: ChangeMessageVisibility = parse(body)?;
            let queue = queues.by_url(&request.queue_url)?;
            let handle = required("ReceiptHandle", &request.receipt_handle)?;
            let seconds = request
                .visibility_timeout
                .ok_or_else(|| Refusal::missing("VisibilityTimeout"))?;
            queue.change_visibility(handle, seconds, now)?;
            Ok(json!({}))
        }
        "SendMessageBatch" => batch::send(queues, parse(body)?, now),
        "DeleteMessageBatch" => batch::delete(queues, parse(body)?, now),
        "ChangeMessageVisibilityBatch" => batch::change_visibility(queues, parse(body)?, now),
        _ if UNSERVED.contains(&action) => {
            Err(Refusal::unsupported(&format!("the action {action}")))
        }
        _ => Err(Refusal::new(
            Code::UnknownOperation,
            format!("The action {action} is not valid for this endpoint."),
        )),
    }
}

/// A request body as the given type; the refusal says what is wrong with it.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(unreadable)
}

/// A body that is not what the action takes.
pub(super) fn unreadable(reason: impl std::fmt::Display) -> Refusal {
    Refusal::new(
        Code::Serialization,
        format!("The request body cannot be read: {reason}."),
    )
}

/// A text parameter that must not be empty.
pub(super) fn required<'a>(parameter: &str, value: &'a str) -> Result<&'a str, Refusal> {
    if value.is_empty() {
        Err(Refusal::missing(parameter))
    } else {
        Ok(value)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct OfQueue {
    queue_url: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct CreateQueue {
    queue_name: String,
    attributes: BTreeMap<String, String>,
    #[serde(rename = "tags")]
    tags: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct SetQueueAttributes {
    queue_url: String,
    attributes: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct GetQueueAttributes {
    queue_url: String,
    attribute_names: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct GetQueueUrl {
    queue_name: String,
    #[serde(rename = "QueueOwnerAWSAccountId")]
    owner: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct ListQueues {
    queue_name_prefix: String,
    next_token: Option<String>,
    max_results: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct StartMessageMoveTask {
    source_arn: String,
    destination_arn: Option<String>,
    max_number_of_messages_per_second: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct DeleteMessage {
    queue_url: String,
    receipt_handle: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
struct ChangeMessageVisibility {
    queue_url: String,
    receipt_handle: String,
    visibility_timeout: Option<i64>,
}

fn create_queue(queues: &mut Queues, request: &CreateQueue, now: u64) -> Result<Value, Refusal> {
    if !request.tags.is_empty() {
        return Err(Refusal::unsupported("tags on queues"));
    }
    let name = required("QueueName", &request.queue_name)?;
    queues.create(name, &request.attributes, now)?;
    Ok(json!({ "QueueUrl": queues.url_of(name) }))
}

fn get_queue_url(queues: &mut Queues, request: &GetQueueUrl) -> Result<Value, Refusal> {
    let name = required("QueueName", &request.queue_name)?;
    if request.owner.as_ref().is_some_and(|owner| owner != ACCOUNT) {
        let reason = format!(
            "The specified queue does not exist: every queue here is of account {ACCOUNT}."
        );
        return Err(Refusal::new(Code::QueueDoesNotExist, reason));
    }
    queues.by_name(name)?;
    Ok(json!({ "QueueUrl": queues.url_of(name) }))
}

fn list_queues(queues: &Queues, request: &ListQueues) -> Result<Value, Refusal> {
    let page = match request.max_results {
        Some(results) => Some(ranged("MaxResults", results, 1, 1000)? as usize),
        None => None,
    };
    // The token is the last name of the page before: names come in order.
    let after = request.next_token.as_deref().unwrap_or_default();
    let mut names = queues
        .names(&request.queue_name_prefix)
        .filter(|name| *name > after);
    let names_of_page: Vec<&str> = names.by_ref().take(page.unwrap_or(1000)).collect();
    let urls: Vec<String> = names_of_page
        .iter()
        .map(|name| queues.url_of(name))
        .collect();
    let token = names.next().and(names_of_page.last());
    Ok(match token {
        Some(last) => json!({ "QueueUrls": urls, "NextToken": last }),
        None => json!({ "QueueUrls": urls }),
    })
}

fn get_queue_attributes(
    queues: &mut Queues,
    request: &GetQueueAttributes,
    now: u64,
) -> Result<Value, Refusal> {
    let queue = queues.by_url(&request.queue_url)?;
    let known = attributes_of(queue, now);
    let mut wanted = Map::new();
    for name in &request.attribute_names {
        if name == "All" {
            wanted.extend(
                known
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone().into())),
            );
        } else if let Some(value) = known.get(name) {
            wanted.insert(name.clone(), value.clone().into());
        } else if !UNSET.contains(&name.as_str()) {
            return Err(unknown(name));
        }
    }
    Ok(json!({ "Attributes": wanted }))
}

/// Attributes that exist in SQS and here never have a value: asking for them gives nothing.
const UNSET: [&str; 10] = [
    "Policy",
    "RedrivePolicy",
    "RedriveAllowPolicy",
    "KmsMasterKeyId",
    "KmsDataKeyReusePeriodSeconds",
    "SqsManagedSseEnabled",
    "FifoQueue",
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "FifoThroughputLimit",
];

fn attributes_of(queue: &mut Queue, now: u64) -> BTreeMap<String, String> {
    let counts = queue.counts(now);
    let (created_at, modified_at) = queue.dates();
    let mut attributes = queue.settings().render();
    attributes.insert("QueueArn", arn(queue.name()));
    attributes.insert("CreatedTimestamp", (created_at / 1000).to_string());
    attributes.insert("LastModifiedTimestamp", (modified_at / 1000).to_string());
    attributes.insert("ApproximateNumberOfMessages", counts.visible.to_string());
    attributes.insert(
        "ApproximateNumberOfMessagesNotVisible",
        counts.in_flight.to_string(),
    );
    attributes.insert(
        "ApproximateNumberOfMessagesDelayed",
        counts.delayed.to_string(),
    );
    attributes
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn start_message_move_task(
    queues: &mut Queues,
    request: &StartMessageMoveTask,
    now: u64,
) -> Result<Value, Refusal> {
    if request.max_number_of_messages_per_second.is_some() {
        return Err(Refusal::unsupported("MaxNumberOfMessagesPerSecond"));
    }
    let source = required("SourceArn", &request.source_arn)?;
    let moved = queues.redrive(source, request.destination_arn.as_deref(), now)?;
    Ok(json!({ "TaskHandle": format!("{source}/{now}/{moved}") }))
}

fn send_message(
    queues: &mut Queues,
    fields: Map<String, Value>,
    now: u64,
) -> Result<Value, Refusal> {
    let (queue_url, entry) = SendEntry::split(fields, "QueueUrl")?;
    let queue = queues.by_url(&queue_url)?;
    wire::send(entry.parse()?, queue, now)
}
