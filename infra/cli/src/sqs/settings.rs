//! A queue's attributes: parsed once from SQS's strings, rendered back the same. An attribute we do not honour is refused.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::{arn, check_name, name_in_arn};
use super::refusal::{Code, Refusal};

/// What `DeduplicationScope` says: whether an id is remembered per queue or per group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One memory for the whole queue.
    Queue,
    /// One memory for each message group.
    MessageGroup,
}

/// Where a message goes that has been received too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redrive {
    /// Name of the dead-letter queue.
    pub target: String,
    /// Receives allowed before the next attempt moves the message, 1 to 1000.
    pub receives_max: u32,
}

/// The settable attributes of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Ordered by group and deduplicated.
    pub fifo: bool,
    /// How long a new message stays hidden, 0 to 900 s.
    pub delay_s: u32,
    /// Longest body with attributes, 1 KiB to 1 MiB.
    pub message_bytes_max: u32,
    /// How long a message is kept, 60 s to 14 days.
    pub retention_s: u32,
    /// Long poll when a receive names none, 0 to 20 s.
    pub wait_s: u32,
    /// Visibility timeout when a receive names none, 0 to 43200 s.
    pub visibility_s: u32,
    /// A missing deduplication id is the hash of the body (FIFO only).
    pub content_deduplication: bool,
    /// How far a deduplication id reaches (FIFO only).
    pub scope: Scope,
    /// `FifoThroughputLimit` is `perMessageGroupId`: kept and rendered, for no limit applies here (FIFO only).
    pub throughput_per_group: bool,
    /// The dead-letter policy, where there is one.
    pub redrive: Option<Redrive>,
}

impl Settings {
    /// SQS's defaults with the given attributes over them, for a queue of this name.
    pub fn parse(name: &str, attributes: &BTreeMap<String, String>) -> Result<Self, Refusal> {
        let fifo = match attributes.get("FifoQueue").map(String::as_str) {
            Some("true") => true,
            None => false,
            // SQS, too, knows no "false": a standard queue is one that says nothing.
            Some(_) => return Err(invalid("FifoQueue")),
        };
        check_name(name, fifo)?;
        let mut settings = Self {
            fifo,
            delay_s: 0,
            message_bytes_max: 1_048_576,
            retention_s: 345_600,
            wait_s: 0,
            visibility_s: 30,
            content_deduplication: false,
            scope: Scope::Queue,
            throughput_per_group: false,
            redrive: None,
        };
        settings.apply(attributes)?;
        Ok(settings)
    }

    /// Changes what the given attributes name, all or nothing.
    pub fn apply(&mut self, attributes: &BTreeMap<String, String>) -> Result<(), Refusal> {
        let mut changed = self.clone();
        for (name, value) in attributes {
            changed.apply_one(name, value)?;
        }
        if changed.throughput_per_group && changed.scope == Scope::Queue {
            return Err(Refusal::new(
                Code::InvalidAttributeValue,
                "FifoThroughputLimit can be perMessageGroupId only when DeduplicationScope is messageGroup.",
            ));
        }
        *self = changed;
        Ok(())
    }

    fn apply_one(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        match name {
            "DelaySeconds" => self.delay_s = number(name, value, 0, 900)?,
            "MaximumMessageSize" => {
                self.message_bytes_max = number(name, value, 1024, 1_048_576)?;
            }
            "MessageRetentionPeriod" => self.retention_s = number(name, value, 60, 1_209_600)?,
            "ReceiveMessageWaitTimeSeconds" => self.wait_s = number(name, value, 0, 20)?,
            "VisibilityTimeout" => self.visibility_s = number(name, value, 0, 43_200)?,
            "RedrivePolicy" => self.redrive = redrive(value)?,
            "FifoQueue" if self.fifo && value == "true" => {}
            "FifoQueue" => return Err(invalid(name)),
            "ContentBasedDeduplication" if self.fifo => {
                self.content_deduplication = choice(name, value, "false", "true")?;
            }
            "DeduplicationScope" if self.fifo => {
                let per_group = choice(name, value, "queue", "messageGroup")?;
                self.scope = if per_group {
                    Scope::MessageGroup
                } else {
                    Scope::Queue
                };
            }
            "FifoThroughputLimit" if self.fifo => {
                self.throughput_per_group = choice(name, value, "perQueue", "perMessageGroupId")?;
            }
            "Policy"
            | "KmsMasterKeyId"
            | "KmsDataKeyReusePeriodSeconds"
            | "SqsManagedSseEnabled"
            | "RedriveAllowPolicy" => {
                return Err(Refusal::unsupported(&format!("the queue attribute {name}")));
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// The attributes as SQS renders them, without those that are counted or dated.
    pub fn render(&self) -> BTreeMap<&'static str, String> {
        let mut rendered = BTreeMap::from([
            ("DelaySeconds", self.delay_s.to_string()),
            ("MaximumMessageSize", self.message_bytes_max.to_string()),
            ("MessageRetentionPeriod", self.retention_s.to_string()),
            ("ReceiveMessageWaitTimeSeconds", self.wait_s.to_string()),
            ("VisibilityTimeout", self.visibility_s.to_string()),
        ]);
        if self.fifo {
            let scope = if self.scope == Scope::Queue {
                "queue"
            } else {
                "messageGroup"
            };
            let limit = if self.throughput_per_group {
                "perMessageGroupId"
            } else {
                "perQueue"
            };
            rendered.insert("FifoQueue", "true".to_owned());
            rendered.insert(
                "ContentBasedDeduplication",
                self.content_deduplication.to_string(),
            );
            rendered.insert("DeduplicationScope", scope.to_owned());
            rendered.insert("FifoThroughputLimit", limit.to_owned());
        }
        if let Some(redrive) = &self.redrive {
            let policy = json!({
                "deadLetterTargetArn": arn(&redrive.target),
                "maxReceiveCount": redrive.receives_max,
            });
            rendered.insert("RedrivePolicy", policy.to_string());
        }
        rendered
    }
}

/// An attribute that this queue does not have.
pub fn unknown(name: &str) -> Refusal {
    Refusal::new(
        Code::InvalidAttributeName,
        format!("Unknown Attribute {name}."),
    )
}

fn invalid(name: &str) -> Refusal {
    Refusal::new(
        Code::InvalidAttributeValue,
        format!("Invalid value for the parameter {name}."),
    )
}

fn number(name: &str, value: &str, least: u32, most: u32) -> Result<u32, Refusal> {
    value
        .parse()
        .ok()
        .filter(|parsed| (least..=most).contains(parsed))
        .ok_or_else(|| invalid(name))
}

/// Whether the value is the second of the two allowed.
fn choice(name: &str, value: &str, first: &str, second: &str) -> Result<bool, Refusal> {
    match value {
        _ if value == first => Ok(false),
        _ if value == second => Ok(true),
        _ => Err(invalid(name)),
    }
}

fn redrive(policy: &str) -> Result<Option<Redrive>, Refusal> {
    if policy.is_empty() {
        return Ok(None);
    }
    let refused = |reason: &str| Refusal::value("RedrivePolicy", policy, reason);
    let parsed: BTreeMap<String, Value> =
        serde_json::from_str(policy).map_err(|_| refused("Redrive policy is not valid JSON."))?;
    let mut target = None;
    let mut receives_max = None;
    for (key, value) in &parsed {
        match key.as_str() {
            "deadLetterTargetArn" => target = value.as_str().and_then(name_in_arn),
            // SQS takes the number as a string as well, and its own console writes it so.
            "maxReceiveCount" => {
                receives_max = value
                    .as_u64()
                    .or_else(|| value.as_str()?.parse().ok())
                    .and_then(|count| u32::try_from(count).ok())
                    .filter(|count| (1..=1000).contains(count));
            }
            _ => {
                return Err(refused(
                    "Only deadLetterTargetArn and maxReceiveCount are allowed.",
                ));
            }
        }
    }
    let target = target.ok_or_else(|| refused("Invalid value for deadLetterTargetArn."))?;
    let receives_max =
        receives_max.ok_or_else(|| refused("Invalid value for maxReceiveCount: 1 to 1000."))?;
    Ok(Some(Redrive {
        target: target.to_owned(),
        receives_max,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn every_number_is_taken_at_its_bounds_and_refused_beyond() {
        for (name, least, most) in [
            ("DelaySeconds", 0, 900),
            ("MaximumMessageSize", 1024, 1_048_576),
            ("MessageRetentionPeriod", 60, 1_209_600),
            ("ReceiveMessageWaitTimeSeconds", 0, 20),
            ("VisibilityTimeout", 0, 43_200),
        ] {
            for (value, taken) in [
                (least - 1, false),
                (least, true),
                (most, true),
                (most + 1, false),
            ] {
                let parsed = Settings::parse("q", &attributes(&[(name, &value.to_string())]));
                assert_eq!(parsed.is_ok(), taken, "{name} = {value}");
            }
            assert!(
                Settings::parse("q", &attributes(&[(name, "1.5")])).is_err(),
                "{name} = 1.5"
            );
        }
    }

    #[test]
    fn names_and_kinds_go_together() {
        let fifo = [("FifoQueue", "true")];
        for (name, attributes_given, taken) in [
            ("ticks.fifo", &fifo[..], true),
            ("ticks.fifo", &[], false),
            ("ticks", &fifo[..], false),
            ("ticks", &[], true),
            (".fifo", &fifo[..], false),
            ("a b", &[], false),
            ("", &[], false),
            (&"a".repeat(80), &[], true),
            (&"a".repeat(81), &[], false),
        ] {
            let parsed = Settings::parse(name, &attributes(attributes_given));
            assert_eq!(parsed.is_ok(), taken, "{name}");
        }
    }

    #[test]
    fn what_is_not_honoured_is_refused() {
        for (name, code) in [
            ("KmsMasterKeyId", Code::UnsupportedOperation),
            ("Policy", Code::UnsupportedOperation),
            ("ContentBasedDeduplication", Code::InvalidAttributeName),
            ("Colour", Code::InvalidAttributeName),
        ] {
            let refusal = Settings::parse("q", &attributes(&[(name, "true")])).unwrap_err();
            assert_eq!(refusal.code, code, "{name}");
        }
    }

    #[test]
    fn rendered_attributes_parse_back_to_the_same_settings() {
        let policy = format!(
            r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":"3"}}"#,
            arn("d.fifo")
        );
        let given = attributes(&[
            ("FifoQueue", "true"),
            ("DeduplicationScope", "messageGroup"),
            ("FifoThroughputLimit", "perMessageGroupId"),
            ("RedrivePolicy", &policy),
            ("DelaySeconds", "5"),
        ]);
        let settings = Settings::parse("q.fifo", &given).unwrap();
        let rendered = settings
            .render()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        assert_eq!(Settings::parse("q.fifo", &rendered).unwrap(), settings);
    }
}
