//! Messages in the JSON form of the protocol, both ways: what a send says, what a receive answers.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::actions::unreadable;
use super::message::{
    Attribute, AttributeValue, Attributes, Draft, md5_of, md5_of_attributes, ranged,
};
use super::names::{ACCOUNT, arn};
use super::queue::Queue;
use super::refusal::{Code, Refusal};
use super::settings::unknown;
use super::stored::Delivery;

/// Longest long poll, in seconds.
const WAIT_S_MAX: u32 = 20;
/// The system attributes a receive can ask for.
const SYSTEM_ATTRIBUTES: [&str; 8] = [
    "SenderId",
    "SentTimestamp",
    "ApproximateReceiveCount",
    "ApproximateFirstReceiveTimestamp",
    "SequenceNumber",
    "MessageDeduplicationId",
    "MessageGroupId",
    "DeadLetterQueueSourceArn",
];

/// What is sent: alone, or as an entry of a batch.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
pub(super) struct SendEntry {
    message_body: String,
    delay_seconds: Option<i64>,
    message_attributes: BTreeMap<String, WireAttribute>,
    message_system_attributes: BTreeMap<String, Value>,
    message_deduplication_id: Option<String>,
    message_group_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct WireAttribute {
    #[serde(default)]
    data_type: String,
    string_value: Option<String>,
    binary_value: Option<String>,
    #[serde(default)]
    string_list_values: Vec<String>,
    #[serde(default)]
    binary_list_values: Vec<String>,
}

impl SendEntry {
    /// Takes the one field that does not belong to the message (the queue's URL, the entry's id) apart from those that do.
    /// By hand, for serde's `flatten` would pass over fields it does not know.
    pub fn split(mut fields: Map<String, Value>, apart: &str) -> Result<(String, Self), Refusal> {
        let taken = match fields.remove(apart) {
            Some(Value::String(text)) => text,
            None => String::new(),
            Some(_) => return Err(unreadable(format!("{apart} is not a string"))),
        };
        let entry = serde_json::from_value(fields.into()).map_err(unreadable)?;
        Ok((taken, entry))
    }

    /// The message, checked.
    pub fn parse(self) -> Result<Draft, Refusal> {
        if !self.message_system_attributes.is_empty() {
            return Err(Refusal::unsupported("MessageSystemAttributes"));
        }
        let mut attributes = Attributes::new();
        for (name, attribute) in self.message_attributes {
            let parsed = attribute.parse(&name)?;
            attributes.insert(name, parsed);
        }
        let mut draft = Draft::parse(self.message_body)?.with_attributes(attributes)?;
        if let Some(seconds) = self.delay_seconds {
            draft = draft.delayed(seconds)?;
        }
        if let Some(group) = self.message_group_id {
            draft = draft.in_group(&group)?;
        }
        if let Some(id) = self.message_deduplication_id {
            draft = draft.deduplicated_by(&id)?;
        }
        Ok(draft)
    }
}

/// Sends the message, and gives the result in its JSON form.
pub(super) fn send(draft: Draft, queue: &mut Queue, now: u64) -> Result<Value, Refusal> {
    let mut result = Map::new();
    result.insert("MD5OfMessageBody".to_owned(), md5_of(draft.body()).into());
    if let Some(sum) = md5_of_attributes(draft.attributes()) {
        result.insert("MD5OfMessageAttributes".to_owned(), sum.into());
    }
    let sent = queue.send(draft, now)?;
    result.insert("MessageId".to_owned(), sent.id.into());
    if let Some(sequence) = sent.sequence {
        result.insert("SequenceNumber".to_owned(), sequence.to_string().into());
    }
    Ok(result.into())
}

impl WireAttribute {
    fn parse(self, name: &str) -> Result<Attribute, Refusal> {
        let wrong = |reason: &str| {
            let message = format!("The message attribute '{name}' is invalid: {reason}");
            Refusal::new(Code::InvalidParameterValue, message)
        };
        if !self.string_list_values.is_empty() || !self.binary_list_values.is_empty() {
            return Err(Refusal::unsupported("list values of message attributes"));
        }
        let value = match (self.string_value, self.binary_value) {
            (Some(text), None) => AttributeValue::Text(text),
            (None, Some(encoded)) => AttributeValue::Bytes(
                STANDARD
                    .decode(encoded)
                    .map_err(|_| wrong("its value is not base64."))?,
            ),
            _ => {
                return Err(wrong(
                    "it must have one value, a StringValue or a BinaryValue.",
                ));
            }
        };
        Ok(Attribute {
            data_type: self.data_type,
            value,
        })
    }
}

/// What a receive asks for.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase", default)]
pub(super) struct ReceiveRequest {
    pub queue_url: String,
    pub max_number_of_messages: Option<i64>,
    pub visibility_timeout: Option<i64>,
    wait_time_seconds: Option<i64>,
    attribute_names: Vec<String>,
    message_system_attribute_names: Vec<String>,
    message_attribute_names: Vec<String>,
    #[serde(rename = "ReceiveRequestAttemptId")]
    attempt_id: Option<String>,
}

impl ReceiveRequest {
    /// Refuses what SQS would refuse before it looks for messages.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.attempt_id.is_some() {
            return Err(Refusal::unsupported("ReceiveRequestAttemptId"));
        }
        let mut names = self
            .attribute_names
            .iter()
            .chain(&self.message_system_attribute_names);
        let known = |name: &str| {
            matches!(name, "All" | "AWSTraceHeader") || SYSTEM_ATTRIBUTES.contains(&name)
        };
        match names.find(|name| !known(name)) {
            Some(name) => Err(unknown(name)),
            None => Ok(()),
        }
    }

    /// How long to wait for a message, in seconds: what the request says, else the queue.
    pub fn wait_s(&self, queue: &Queue) -> Result<u32, Refusal> {
        match self.wait_time_seconds {
            Some(seconds) => ranged("WaitTimeSeconds", seconds, 0, WAIT_S_MAX),
            None => Ok(queue.settings().wait_s),
        }
    }

    /// The answer with these messages.
    pub fn answer(&self, deliveries: &[Delivery]) -> Value {
        if deliveries.is_empty() {
            return json!({});
        }
        let messages: Vec<Value> = deliveries
            .iter()
            .map(|delivery| self.render(delivery))
            .collect();
        json!({ "Messages": messages })
    }

    fn render(&self, delivery: &Delivery) -> Value {
        let mut message = Map::new();
        message.insert("MessageId".to_owned(), delivery.id.clone().into());
        message.insert("ReceiptHandle".to_owned(), delivery.receipt.clone().into());
        message.insert("MD5OfBody".to_owned(), md5_of(delivery.draft.body()).into());
        message.insert("Body".to_owned(), delivery.draft.body().into());
        let system: Map<String, Value> = system_attributes(delivery)
            .into_iter()
            .filter(|(name, _)| self.wants_system(name))
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        if !system.is_empty() {
            message.insert("Attributes".to_owned(), system.into());
        }
        let wanted: Vec<(&String, &Attribute)> = delivery
            .draft
            .attributes()
            .iter()
            .filter(|(name, _)| self.wants(name))
            .collect();
        // The sum is over what is given here, so that the client can verify it.
        if let Some(sum) = md5_of_attributes(wanted.iter().copied()) {
            message.insert("MD5OfMessageAttributes".to_owned(), sum.into());
            let attributes: Map<String, Value> = wanted
                .into_iter()
                .map(|(name, attribute)| (name.clone(), render_attribute(attribute)))
                .collect();
            message.insert("MessageAttributes".to_owned(), attributes.into());
        }
        message.into()
    }

    fn wants_system(&self, name: &str) -> bool {
        let mut asked = self
            .attribute_names
            .iter()
            .chain(&self.message_system_attribute_names);
        asked.any(|asked| asked == "All" || asked == name)
    }

    fn wants(&self, name: &str) -> bool {
        self.message_attribute_names
            .iter()
            .any(|asked| match asked.strip_suffix(".*") {
                Some(prefix) => name.starts_with(prefix),
                None => asked == "All" || asked == name,
            })
    }
}

fn system_attributes(delivery: &Delivery) -> Vec<(&'static str, String)> {
    let mut attributes = vec![
        ("SenderId", ACCOUNT.to_owned()),
        ("SentTimestamp", delivery.sent_at.to_string()),
        ("ApproximateReceiveCount", delivery.receives.to_string()),
        (
            "ApproximateFirstReceiveTimestamp",
            delivery.first_received_at.to_string(),
        ),
    ];
    if let Some(id) = &delivery.deduplication {
        attributes.push(("SequenceNumber", delivery.sequence.to_string()));
        attributes.push(("MessageDeduplicationId", id.clone()));
    }
    if let Some(group) = delivery.draft.group() {
        attributes.push(("MessageGroupId", group.to_owned()));
    }
    if let Some(source) = &delivery.dead_letter_source {
        attributes.push(("DeadLetterQueueSourceArn", arn(source)));
    }
    attributes
}

fn render_attribute(attribute: &Attribute) -> Value {
    match &attribute.value {
        AttributeValue::Text(text) => {
            json!({ "DataType": attribute.data_type, "StringValue": text })
        }
        AttributeValue::Bytes(bytes) => {
            json!({ "DataType": attribute.data_type, "BinaryValue": STANDARD.encode(bytes) })
        }
    }
}
