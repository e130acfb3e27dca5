//! A message at the border: what may be sent, checked once, and the MD5 sums by which clients verify what they get.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::refusal::{Code, Refusal};

/// Longest body with its attributes, and longest batch of them.
pub const BYTES_MAX: usize = 1_048_576;
/// Longest group id and deduplication id, in characters.
pub const ID_CHARACTERS_MAX: usize = 128;

/// The value of a message attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// A `String` or a `Number`.
    Text(String),
    /// A `Binary`.
    Bytes(Vec<u8>),
}

/// A message attribute: its data type, with any custom label, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// `String`, `Number` or `Binary`, perhaps with `.label`.
    pub data_type: String,
    /// The value, of the kind the type names.
    pub value: AttributeValue,
}

/// Message attributes by name.
pub type Attributes = BTreeMap<String, Attribute>;

/// A message that obeys SQS's rules and has not been sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    body: String,
    attributes: Attributes,
    group: Option<String>,
    deduplication: Option<String>,
    delay_s: Option<u32>,
}

impl Draft {
    /// A message of this body. Refused when empty or with characters that XML 1.0 does not have.
    pub fn parse(body: String) -> Result<Self, Refusal> {
        if body.is_empty() {
            return Err(Refusal::missing("MessageBody"));
        }
        check_characters(&body)?;
        Ok(Self {
            body,
            attributes: Attributes::new(),
            group: None,
            deduplication: None,
            delay_s: None,
        })
    }

    /// With a message group id of at most 128 characters.
    pub fn in_group(mut self, group: &str) -> Result<Self, Refusal> {
        self.group = Some(parse_id("MessageGroupId", group)?);
        Ok(self)
    }

    /// With a deduplication id of at most 128 characters.
    pub fn deduplicated_by(mut self, id: &str) -> Result<Self, Refusal> {
        self.deduplication = Some(parse_id("MessageDeduplicationId", id)?);
        Ok(self)
    }

    /// With a delay of its own, 0 to 900 seconds.
    pub fn delayed(mut self, seconds: i64) -> Result<Self, Refusal> {
        self.delay_s = Some(ranged("DelaySeconds", seconds, 0, 900)?);
        Ok(self)
    }

    /// With message attributes: at most ten, each of a legal name, type and value.
    pub fn with_attributes(mut self, attributes: Attributes) -> Result<Self, Refusal> {
        if attributes.len() > 10 {
            return Err(attribute_refused(
                "Number of message attributes exceeds the limit of 10.",
            ));
        }
        for (name, attribute) in &attributes {
            check_attribute(name, attribute)?;
        }
        self.attributes = attributes;
        Ok(self)
    }

    /// The text of the message.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The message attributes.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The message group.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// The deduplication id as given.
    pub fn deduplication(&self) -> Option<&str> {
        self.deduplication.as_deref()
    }

    /// The message's own delay, in seconds.
    pub fn delay_s(&self) -> Option<u32> {
        self.delay_s
    }

    /// The id that content-based deduplication gives: the SHA-256 of the body alone, in hex.
    pub fn content_hash(&self) -> String {
        hex::encode(Sha256::digest(self.body.as_bytes()))
    }

    /// What counts against the size limit: body, and each attribute's name, type and value.
    pub fn bytes(&self) -> usize {
        let attribute_bytes = |(name, attribute): (&String, &Attribute)| {
            let value = match &attribute.value {
                AttributeValue::Text(text) => text.len(),
                AttributeValue::Bytes(bytes) => bytes.len(),
            };
            name.len() + attribute.data_type.len() + value
        };
        self.body.len() + self.attributes.iter().map(attribute_bytes).sum::<usize>()
    }
}

/// A whole number within its range, or SQS's sentence about it.
pub fn ranged(parameter: &str, value: i64, least: u32, most: u32) -> Result<u32, Refusal> {
    u32::try_from(value)
        .ok()
        .filter(|parsed| (least..=most).contains(parsed))
        .ok_or_else(|| {
            let reason = format!("Must be between {least} and {most}, if provided.");
            Refusal::value(parameter, value, &reason)
        })
}

/// MD5 of a text in hex, as in `MD5OfMessageBody`.
pub fn md5_of(text: &str) -> String {
    hex::encode(md5::compute(text).0)
}

/// MD5 over attributes in name order, as in `MD5OfMessageAttributes`; none for none.
pub fn md5_of_attributes<'a>(
    attributes: impl IntoIterator<Item = (&'a String, &'a Attribute)>,
) -> Option<String> {
    let mut input = Vec::new();
    for (name, attribute) in attributes {
        put_sized(&mut input, name.as_bytes());
        put_sized(&mut input, attribute.data_type.as_bytes());
        let (kind, value) = match &attribute.value {
            AttributeValue::Text(text) => (1, text.as_bytes()),
            AttributeValue::Bytes(bytes) => (2, bytes.as_slice()),
        };
        input.push(kind);
        put_sized(&mut input, value);
    }
    (!input.is_empty()).then(|| hex::encode(md5::compute(input).0))
}

fn put_sized(input: &mut Vec<u8>, bytes: &[u8]) {
    // Nothing near 4 GiB passes the size limit.
    input.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    input.extend(bytes);
}

fn parse_id(parameter: &str, id: &str) -> Result<String, Refusal> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte.is_ascii_punctuation();
    if (1..=ID_CHARACTERS_MAX).contains(&id.len()) && id.bytes().all(legal) {
        return Ok(id.to_owned());
    }
    let reason = format!(
        "{parameter} can only include alphanumeric and punctuation characters. 1 to {ID_CHARACTERS_MAX} in length."
    );
    Err(Refusal::value(parameter, id, &reason))
}

fn check_characters(text: &str) -> Result<(), Refusal> {
    let legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
    if text.chars().all(legal) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::InvalidMessageContents,
        "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | \
         #xE000 to #xFFFD | #x10000 to #x10FFFF",
    ))
}

fn attribute_refused(reason: &str) -> Refusal {
    Refusal::new(Code::InvalidParameterValue, reason)
}

fn check_attribute(name: &str, attribute: &Attribute) -> Result<(), Refusal> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || name.len() > 256 || !name.bytes().all(legal) {
        return Err(attribute_refused(&format!(
            "Message (user) attribute name '{name}' is invalid: 1 to 256 of A-Z, a-z, 0-9, '_', '-' and '.'."
        )));
    }
    if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        return Err(attribute_refused(&format!(
            "Message (user) attribute name '{name}' can not start or end with a '.', nor have two in a row."
        )));
    }
    if lower.starts_with("aws.") || lower.starts_with("amazon.") {
        return Err(attribute_refused(&format!(
            "Message (user) attribute name '{name}' has a reserved prefix."
        )));
    }
    let kind = attribute.data_type.split('.').next().unwrap_or_default();
    let wrong = |reason: &str| {
        attribute_refused(&format!(
            "The message attribute '{name}' is invalid: {reason}"
        ))
    };
    if attribute.data_type.len() > 256 {
        return Err(wrong("its type is longer than 256 characters."));
    }
    match (kind, &attribute.value) {
        ("String" | "Number", AttributeValue::Text(text)) if text.is_empty() => {
            Err(wrong("a value must not be empty."))
        }
        ("String", AttributeValue::Text(text)) => check_characters(text),
        ("Number", AttributeValue::Text(text)) if !is_number(text) => {
            Err(wrong("its value is not a number."))
        }
        ("Binary", AttributeValue::Bytes(bytes)) if bytes.is_empty() => {
            Err(wrong("a value must not be empty."))
        }
        ("Number", AttributeValue::Text(_)) | ("Binary", AttributeValue::Bytes(_)) => Ok(()),
        ("String" | "Number" | "Binary", _) => Err(wrong("its value is not of its type.")),
        _ => Err(wrong("its type must begin with String, Number or Binary.")),
    }
}

fn is_number(text: &str) -> bool {
    // `parse` alone would also take "inf" and "nan".
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_taken_up_to_128_printable_ascii_characters() {
        let every_allowed: String = ('!'..='~').collect();
        for (id, taken) in [
            ("a", true),
            (every_allowed.as_str(), true),
            (&"a".repeat(128), true),
            (&"a".repeat(129), false),
            ("", false),
            ("a b", false),
            ("é", false),
        ] {
            let draft = Draft::parse("x".to_owned()).unwrap();
            assert_eq!(draft.clone().in_group(id).is_ok(), taken, "group {id}");
            assert_eq!(
                draft.deduplicated_by(id).is_ok(),
                taken,
                "deduplication {id}"
            );
        }
    }

    #[test]
    fn a_body_holds_only_what_xml_can_carry() {
        for (body, taken) in [
            ("olá\t\r\n👋", true),
            ("\u{D7FF}\u{E000}\u{FFFD}\u{10FFFF}", true),
            ("\u{0}", false),
            ("\u{B}", false),
            ("\u{FFFE}", false),
            ("\u{FFFF}", false),
            ("", false),
        ] {
            assert_eq!(Draft::parse(body.to_owned()).is_ok(), taken, "{body:?}");
        }
    }

    #[test]
    fn sums_are_the_ones_sqs_documents() {
        assert_eq!(md5_of("hello"), "5d41402abc4b2a76b9719d911017c592");
        assert_eq!(md5_of_attributes(&Attributes::new()), None);
        let attribute = Attribute {
            data_type: "String".to_owned(),
            value: AttributeValue::Text("v".to_owned()),
        };
        let mut bytes = vec![0, 0, 0, 1, b'k', 0, 0, 0, 6];
        bytes.extend(b"String\x01\0\0\0\x01v");
        let expected = hex::encode(md5::compute(bytes).0);
        let attributes = Attributes::from([("k".to_owned(), attribute)]);
        assert_eq!(md5_of_attributes(&attributes), Some(expected));
    }

    #[test]
    fn attributes_keep_to_the_rules() {
        let text = |data_type: &str, value: &str| Attribute {
            data_type: data_type.to_owned(),
            value: AttributeValue::Text(value.to_owned()),
        };
        for (name, attribute, taken) in [
            ("k", text("String", "v"), true),
            ("k", text("String.label", "v"), true),
            ("k", text("Number", "-1.5e3"), true),
            ("k", text("Number", "inf"), false),
            ("k", text("Binary", "v"), false),
            ("k", text("Colour", "v"), false),
            ("k", text("String", ""), false),
            ("AWS.k", text("String", "v"), false),
            ("k..k", text("String", "v"), false),
            ("k ", text("String", "v"), false),
        ] {
            let label = format!("{name:?} {attribute:?}");
            let draft = Draft::parse("x".to_owned()).unwrap();
            let attributes = Attributes::from([(name.to_owned(), attribute)]);
            assert_eq!(draft.with_attributes(attributes).is_ok(), taken, "{label}");
        }
    }
}
