//! Batches: up to ten entries, each of which succeeds or fails by itself.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::actions::required;
use super::message::{BYTES_MAX, Draft};
use super::queues::Queues;
use super::refusal::{Code, Refusal};
use super::wire::{self, SendEntry};

/// Most entries in one batch.
const ENTRIES_MAX: usize = 10;

/// A batch request: a queue and its entries.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Batch<Entry> {
    #[serde(default)]
    queue_url: String,
    #[serde(default = "Vec::new")]
    entries: Vec<Entry>,
}

/// A message to delete.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Delete {
    #[serde(default)]
    id: String,
    #[serde(default)]
    receipt_handle: String,
}

/// A message whose visibility changes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct ChangeVisibility {
    #[serde(default)]
    id: String,
    #[serde(default)]
    receipt_handle: String,
    visibility_timeout: Option<i64>,
}

/// `SendMessageBatch`.
pub(super) fn send(
    queues: &mut Queues,
    batch: Batch<Map<String, Value>>,
    now: u64,
) -> Result<Value, Refusal> {
    let queue = queues.by_url(&batch.queue_url)?;
    let entries: Vec<(String, SendEntry)> = batch
        .entries
        .into_iter()
        .map(|fields| SendEntry::split(fields, "Id"))
        .collect::<Result<_, _>>()?;
    check_ids(
        entries.iter().map(|(id, _)| id.as_str()),
        "SendMessageBatchRequestEntry",
    )?;
    let drafts: Vec<(String, Result<Draft, Refusal>)> = entries
        .into_iter()
        .map(|(id, entry)| (id, entry.parse()))
        .collect();
    let bytes: usize = drafts
        .iter()
        .flat_map(|(_, draft)| draft)
        .map(Draft::bytes)
        .sum();
    if bytes > BYTES_MAX {
        return Err(Refusal::new(
            Code::BatchRequestTooLong,
            format!(
                "Batch requests cannot be longer than {BYTES_MAX} bytes. You have sent {bytes} bytes."
            ),
        ));
    }
    Ok(results(drafts.into_iter().map(|(id, draft)| {
        let sent = draft.and_then(|draft| wire::send(draft, queue, now));
        (id, sent)
    })))
}

/// `DeleteMessageBatch`.
pub(super) fn delete(
    queues: &mut Queues,
    batch: Batch<Delete>,
    now: u64,
) -> Result<Value, Refusal> {
    let queue = queues.by_url(&batch.queue_url)?;
    check_ids(
        batch.entries.iter().map(|entry| entry.id.as_str()),
        "DeleteMessageBatchRequestEntry",
    )?;
    Ok(results(batch.entries.into_iter().map(|entry| {
        let deleted = required("ReceiptHandle", &entry.receipt_handle)
            .and_then(|handle| queue.delete(handle, now));
        (entry.id, deleted.map(|()| json!({})))
    })))
}

/// `ChangeMessageVisibilityBatch`.
pub(super) fn change_visibility(
    queues: &mut Queues,
    batch: Batch<ChangeVisibility>,
    now: u64,
) -> Result<Value, Refusal> {
    let queue = queues.by_url(&batch.queue_url)?;
    check_ids(
        batch.entries.iter().map(|entry| entry.id.as_str()),
        "ChangeMessageVisibilityBatchRequestEntry",
    )?;
    Ok(results(batch.entries.into_iter().map(|entry| {
        let changed = required("ReceiptHandle", &entry.receipt_handle).and_then(|handle| {
            let seconds = entry
                .visibility_timeout
                .ok_or_else(|| Refusal::missing("VisibilityTimeout"))?;
            queue.change_visibility(handle, seconds, now)
        });
        (entry.id, changed.map(|()| json!({})))
    })))
}

/// What makes a whole batch unacceptable: no entry, too many, an id that is malformed or there twice.
fn check_ids<'a>(ids: impl ExactSizeIterator<Item = &'a str>, kind: &str) -> Result<(), Refusal> {
    let count = ids.len();
    if count == 0 {
        let reason = format!("There should be at least one {kind} in the request.");
        return Err(Refusal::new(Code::EmptyBatchRequest, reason));
    }
    if count > ENTRIES_MAX {
        let reason = format!(
            "Maximum number of entries per request are {ENTRIES_MAX}. You have sent {count}."
        );
        return Err(Refusal::new(Code::TooManyEntriesInBatchRequest, reason));
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let mut seen = BTreeSet::new();
    for id in ids {
        if id.is_empty() || id.len() > 80 || !id.bytes().all(legal) {
            return Err(Refusal::new(
                Code::InvalidBatchEntryId,
                "A batch entry id can only contain alphanumeric characters, hyphens and underscores. \
                 It can be at most 80 letters long.",
            ));
        }
        if !seen.insert(id) {
            return Err(Refusal::new(
                Code::BatchEntryIdsNotDistinct,
                format!("Id {id} repeated."),
            ));
        }
    }
    Ok(())
}

fn results(entries: impl Iterator<Item = (String, Result<Value, Refusal>)>) -> Value {
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for (id, result) in entries {
        match result {
            Ok(value) => {
                let mut entry = Map::from_iter([("Id".to_owned(), id.into())]);
                if let Value::Object(fields) = value {
                    entry.extend(fields);
                }
                successful.push(Value::Object(entry));
            }
            Err(refusal) => failed.push(json!({
                "Id": id,
                "SenderFault": true,
                "Code": refusal.code.query_code(),
                "Message": refusal.message,
            })),
        }
    }
    json!({ "Successful": successful, "Failed": failed })
}
