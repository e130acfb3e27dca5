//! The event a function gets for a batch, and how its answer is read: in Lambda's forms, so that one handler serves both.

use std::collections::BTreeSet;

use aws_sdk_sqs::types::{Message, MessageAttributeValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// The Lambda event of a batch from the queue of this ARN.
pub fn sqs_event(messages: &[Message], queue_arn: &str) -> Value {
    let records: Vec<Value> = messages
        .iter()
        .map(|message| record(message, queue_arn))
        .collect();
    json!({ "Records": records })
}

fn record(message: &Message, queue_arn: &str) -> Value {
    let region = queue_arn.split(':').nth(3).unwrap_or_default();
    // Sorted by serde_json's map: the same message gives the same event.
    let attributes: Map<String, Value> = message
        .attributes
        .iter()
        .flatten()
        .map(|(name, value)| (name.as_str().to_owned(), value.clone().into()))
        .collect();
    let message_attributes: Map<String, Value> = message
        .message_attributes
        .iter()
        .flatten()
        .map(|(name, value)| (name.clone(), message_attribute(value)))
        .collect();
    let mut record = json!({
        "messageId": message.message_id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": attributes,
        "messageAttributes": message_attributes,
        "md5OfBody": message.md5_of_body,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": region,
    });
    if let Some(sum) = &message.md5_of_message_attributes {
        record["md5OfMessageAttributes"] = sum.clone().into();
    }
    record
}

fn message_attribute(attribute: &MessageAttributeValue) -> Value {
    let mut value = json!({
        "dataType": attribute.data_type,
        "stringListValues": [],
        "binaryListValues": [],
    });
    if let Some(text) = &attribute.string_value {
        value["stringValue"] = text.clone().into();
    }
    if let Some(bytes) = &attribute.binary_value {
        value["binaryValue"] = STANDARD.encode(bytes.as_ref()).into();
    }
    value
}

/// The ids that failed by the function's answer: those in `batchItemFailures`; every one when that list cannot be trusted.
///
/// As Lambda reads it: no answer, or no list, or an empty one is success. An item without an identifier, with an empty one or
/// one that is not of the batch fails the whole batch, and so does an answer that is no object.
pub fn failures(answer: &Value, ids: &BTreeSet<&str>) -> BTreeSet<String> {
    let every = || ids.iter().map(|id| (*id).to_owned()).collect();
    let items = match answer {
        Value::Null => return BTreeSet::new(),
        Value::Object(fields) => match fields.get("batchItemFailures") {
            None | Some(Value::Null) => return BTreeSet::new(),
            Some(Value::Array(items)) => items,
            Some(_) => return every(),
        },
        _ => return every(),
    };
    let mut failed = BTreeSet::new();
    for item in items {
        match item.get("itemIdentifier").and_then(Value::as_str) {
            Some(id) if ids.contains(id) => failed.insert(id.to_owned()),
            _ => return every(),
        };
    }
    failed
}

#[cfg(test)]
mod tests {
    use aws_sdk_sqs::primitives::Blob;
    use aws_sdk_sqs::types::MessageSystemAttributeName;

    use super::*;

    #[test]
    fn an_answer_is_read_as_lambda_reads_it() {
        let all = &["a", "b"][..];
        for (label, answer, expected) in [
            ("null", json!(null), &[][..]),
            ("empty object", json!({}), &[]),
            ("null list", json!({ "batchItemFailures": null }), &[]),
            ("empty list", json!({ "batchItemFailures": [] }), &[]),
            (
                "one",
                json!({ "batchItemFailures": [{ "itemIdentifier": "b" }] }),
                &["b"],
            ),
            (
                "unknown",
                json!({ "batchItemFailures": [{ "itemIdentifier": "c" }] }),
                all,
            ),
            (
                "empty id",
                json!({ "batchItemFailures": [{ "itemIdentifier": "" }] }),
                all,
            ),
            (
                "null id",
                json!({ "batchItemFailures": [{ "itemIdentifier": null }] }),
                all,
            ),
            (
                "wrong key",
                json!({ "batchItemFailures": [{ "id": "a" }] }),
                all,
            ),
            ("no list", json!({ "batchItemFailures": "a" }), all),
            ("no object", json!("done"), all),
        ] {
            let expected: BTreeSet<String> = expected.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(
                failures(&answer, &BTreeSet::from(["a", "b"])),
                expected,
                "{label}"
            );
        }
    }

    #[test]
    fn a_record_has_every_field_lambda_gives() {
        let attribute = MessageAttributeValue::builder()
            .data_type("Binary")
            .binary_value(Blob::new("v"))
            .build()
            .unwrap();
        let message = Message::builder()
            .message_id("id")
            .receipt_handle("handle")
            .body("body")
            .md5_of_body("sum")
            .attributes(MessageSystemAttributeName::MessageGroupId, "group")
            .message_attributes("k", attribute)
            .build();
        let event = sqs_event(&[message], "arn:aws:sqs:us-east-1:000000000000:ticks.fifo");
        let expected = json!({ "Records": [{
            "messageId": "id",
            "receiptHandle": "handle",
            "body": "body",
            "attributes": { "MessageGroupId": "group" },
            "messageAttributes": { "k": {
                "dataType": "Binary",
                "binaryValue": "dg==",
                "stringListValues": [],
                "binaryListValues": [],
            } },
            "md5OfBody": "sum",
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:ticks.fifo",
            "awsRegion": "us-east-1",
        }] });
        assert_eq!(event, expected);
    }
}
