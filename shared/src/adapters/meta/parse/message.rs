//! One message of a person: text and pressed buttons are answered, everything else is kept under its kind and not
//! answered.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::person::Person;
use super::{json, pressed};
use crate::domain::{BusinessNumber, Content, Inbound, Kind, MessageId, Timestamp};
use crate::policy::visible::{is_blank, without_nul};

/// A longer text is cut: an item of the table and its index entries share 400 KB.
const TEXT_BYTES_MAX: usize = 32 * 1024;
/// What a cut text ends with.
const CUT_MARK: &str = " […]";
/// The longest id that the table's key takes.
const ID_BYTES_MAX: usize = 512;
/// Timestamps from here on are milliseconds: as seconds they would lie 30,000 years ahead.
const MILLISECONDS_FROM: u64 = 1_000_000_000_000;

/// Reads one message. `arrival` is when its body came, and when the message itself counts as arrived.
pub fn read(
    message: &Value,
    sender: Person,
    number: &BusinessNumber,
    arrival: (Timestamp, Timestamp),
) -> Result<Inbound, &'static str> {
    if !message.is_object() {
        return Err("a message is not an object");
    }
    let id = json::text(message, "id").ok_or("a message without an id")?;
    let aliases = sender.aliases();
    let reply_to = sender.address().ok_or("a message without a sender")?;
    Ok(Inbound {
        id: message_id(&id)?,
        aliases,
        reply_to,
        number: number.clone(),
        sent_at: sent_at(message, arrival.0),
        arrived_at: arrival.1,
        content: content(message)?,
    })
}

/// The id as the table takes it. One that is too long keeps its start and a hash of the whole, so that two long ids
/// stay two.
pub fn message_id(id: &str) -> Result<MessageId, &'static str> {
    MessageId::parse(id)
        .or_else(|_| {
            let digest = hex::encode(&Sha256::digest(id.as_bytes())[..16]);
            let start = id.replace('\0', "");
            let start = cut(&start, ID_BYTES_MAX - digest.len() - 1);
            MessageId::parse(format!("{start}~{digest}"))
        })
        .map_err(|_| "an id that cannot be kept")
}

/// When the person sent it: seconds or milliseconds, as text or number. Nothing is sent after it arrived, and what
/// cannot be read counts as sent on arrival.
fn sent_at(message: &Value, arrived_at: Timestamp) -> Timestamp {
    let given = json::text(message, "timestamp").and_then(|text| text.trim().parse::<u64>().ok());
    match given {
        None | Some(0) => arrived_at,
        Some(ms @ MILLISECONDS_FROM..) => Timestamp::from_ms(ms).min(arrived_at),
        Some(seconds) => Timestamp::from_ms(seconds * 1000).min(arrived_at),
    }
}

/// A message to a group is not answered: its answer would carry the group's talk into a private chat.
fn content(message: &Value) -> Result<Content, &'static str> {
    if message.get("group_id").is_some_and(|id| !id.is_null()) {
        return unsupported("group");
    }
    match json::text(message, "type").as_deref() {
        Some("text") => text(json::text_at(message, &["text", "body"]).unwrap_or_default()),
        Some(kind) => pressed::words(kind, message).map_or_else(|| unsupported(kind), text),
        None => unsupported("unknown"),
    }
}

fn text(body: &str) -> Result<Content, &'static str> {
    let body = without_nul(body);
    if is_blank(&body) {
        return unsupported("blank");
    }
    if body.len() <= TEXT_BYTES_MAX {
        return Ok(Content::Text(body.into_owned()));
    }
    let kept = cut(&body, TEXT_BYTES_MAX - CUT_MARK.len());
    if is_blank(kept) {
        return unsupported("blank");
    }
    Ok(Content::Text(format!("{kept}{CUT_MARK}")))
}

fn unsupported(kind: &str) -> Result<Content, &'static str> {
    Kind::parse(kind)
        .or_else(|_| Kind::parse("unknown"))
        .map(Content::Unsupported)
        .map_err(|_| "a kind that cannot be kept")
}

/// At most `bytes` bytes of `text`, never half a character.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ARRIVED: Timestamp = Timestamp::from_ms(1_780_000_000_500);

    #[test]
    fn a_timestamp_is_read_in_either_unit_and_never_lies_ahead() {
        for (label, given, expected) in [
            ("seconds as text", json!("1780000000"), 1_780_000_000_000),
            (
                "seconds as a number",
                json!(1_780_000_000),
                1_780_000_000_000,
            ),
            ("milliseconds", json!("1780000000123"), 1_780_000_000_123),
            ("the last second", json!("999999999999"), ARRIVED.ms()),
            (
                "the first millisecond",
                json!("1000000000000"),
                1_000_000_000_000,
            ),
            ("a second ahead", json!("1780000001"), ARRIVED.ms()),
            ("the end of time", json!(u64::MAX), ARRIVED.ms()),
            ("zero", json!("0"), ARRIVED.ms()),
            ("negative", json!(-5), ARRIVED.ms()),
            ("with a fraction", json!(1.5), ARRIVED.ms()),
            ("words", json!("yesterday"), ARRIVED.ms()),
            ("absent", json!(null), ARRIVED.ms()),
        ] {
            let message = json!({ "timestamp": given });
            assert_eq!(sent_at(&message, ARRIVED).ms(), expected, "{label}");
        }
    }

    #[test]
    fn a_long_id_is_cut_and_stays_itself() {
        let long = "w".repeat(513);
        let other = format!("{long}x");
        let id = message_id(&long).unwrap();
        assert_eq!(id.as_str().len(), 512);
        assert_eq!(id, message_id(&long).unwrap());
        assert_ne!(id, message_id(&other).unwrap());
        assert_eq!(message_id(&long[..512]).unwrap().as_str(), &long[..512]);
        assert!(message_id(&"é".repeat(400)).is_ok());
        assert_ne!(message_id("a\0b").unwrap(), message_id("ab").unwrap());
    }

    #[test]
    fn a_text_is_words_or_it_is_blank() {
        let at_limit = "a".repeat(TEXT_BYTES_MAX);
        for (label, body, expected) in [
            ("words", json!("oi"), Some("oi".to_owned())),
            (
                "spaces around are kept",
                json!(" oi "),
                Some(" oi ".to_owned()),
            ),
            ("NUL inside", json!("o\0i"), Some("oi".to_owned())),
            ("at the limit", json!(at_limit), Some(at_limit.clone())),
            ("empty", json!(""), None),
            ("spaces", json!(" \n\t"), None),
            ("NUL alone", json!("\0"), None),
            ("zero width", json!("\u{200b}\u{feff}"), None),
            ("a filler", json!("\u{3164}"), None),
            ("a direction", json!("\u{2066} \u{2069}"), None),
            ("a variant of nothing", json!("\u{fe0f}"), None),
            ("absent", json!(null), None),
            ("not a text", json!({ "a": 1 }), None),
        ] {
            let message = json!({ "type": "text", "text": { "body": body } });
            let expected = match expected {
                Some(text) => Content::Text(text),
                None => Content::Unsupported(Kind::parse("blank").unwrap()),
            };
            assert_eq!(content(&message).unwrap(), expected, "{label}");
        }
    }

    #[test]
    fn a_text_over_the_limit_is_cut_between_characters_with_a_mark() {
        for body in [
            "a".repeat(TEXT_BYTES_MAX + 1),
            "é".repeat(20_000),
            "😀".repeat(9_000),
        ] {
            let message = json!({ "type": "text", "text": { "body": body } });
            let Content::Text(text) = content(&message).unwrap() else {
                panic!("text");
            };
            assert!(text.len() <= TEXT_BYTES_MAX && text.len() > TEXT_BYTES_MAX - 8);
            assert!(body.starts_with(text.strip_suffix(CUT_MARK).unwrap()));
        }
    }

    #[test]
    fn a_kind_that_is_none_is_unknown() {
        for (kind, expected) in [
            (json!("image"), "image"),
            (json!("something_new"), "something_new"),
            (json!("with space"), "unknown"),
            (json!("k".repeat(41)), "unknown"),
            (json!("a#b"), "unknown"),
            (json!(""), "unknown"),
            (json!(null), "unknown"),
        ] {
            let expected = Content::Unsupported(Kind::parse(expected).unwrap());
            assert_eq!(content(&json!({ "type": kind })).unwrap(), expected);
        }
    }
}
