//! What the kind and the settings of a queue ask of a message that is sent to it.

use super::message::Draft;
use super::refusal::{Code, Refusal};

/// A message for a FIFO queue: no delay of its own, a group, and a deduplication id, which is given back: the message's own or,
/// where the queue is so set, one made of its content.
pub fn deduplication_id(draft: &Draft, content_deduplication: bool) -> Result<String, Refusal> {
    if let Some(seconds) = draft.delay_s() {
        return Err(wrong_kind("DelaySeconds", seconds));
    }
    if draft.group().is_none() {
        return Err(Refusal::missing("MessageGroupId"));
    }
    match draft.deduplication() {
        Some(id) => Ok(id.to_owned()),
        None if content_deduplication => Ok(draft.content_hash()),
        None => Err(Refusal::new(
            Code::InvalidParameterValue,
            "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
             provided explicitly",
        )),
    }
}

/// A message for a standard queue: without what only a FIFO queue has.
pub fn check_standard(draft: &Draft) -> Result<(), Refusal> {
    if let Some(id) = draft.deduplication() {
        return Err(wrong_kind("MessageDeduplicationId", id));
    }
    if draft.group().is_some() {
        return Err(Refusal::unsupported(
            "MessageGroupId on a standard queue (fair queues)",
        ));
    }
    Ok(())
}

/// A message within the queue's size limit.
pub fn check_size(draft: &Draft, bytes_max: u32) -> Result<(), Refusal> {
    if draft.bytes() <= bytes_max as usize {
        return Ok(());
    }
    Err(Refusal::new(
        Code::InvalidParameterValue,
        format!(
            "One or more parameters are invalid. Reason: Message must be shorter than {bytes_max} bytes."
        ),
    ))
}

/// A receipt whose hold is over.
pub fn expired(handle: &str) -> Refusal {
    Refusal::value("ReceiptHandle", handle, "The receipt handle has expired.")
}

fn wrong_kind(parameter: &str, value: impl std::fmt::Display) -> Refusal {
    let reason = "The request include parameter that is not valid for this queue type.";
    Refusal::value(parameter, value, reason)
}
