//! Webhooks as Meta writes them: the same envelope, the same fields, the same escapes. What is signed are the bytes
//! written here.

use std::fmt::Write as _;

use recado::domain::{Phone, Timestamp};
use serde_json::{Value, json};

use super::book::{ChatMessage, Progress};
use super::people;
use super::provider::Settings;

/// The webhook for a text a person wrote.
pub fn message(settings: &Settings, message: &ChatMessage) -> String {
    let phone = &message.phone;
    wrap(
        settings,
        json!({
            "contacts": contacts(phone),
            "messages": [{
                "from": phone,
                "from_user_id": people::bsuid(phone),
                "id": message.id,
                "timestamp": seconds(message.at),
                "text": { "body": message.text },
                "type": "text",
            }],
        }),
    )
}

/// The webhook for what became of an answer.
pub fn status(
    settings: &Settings,
    message: &ChatMessage,
    progress: Progress,
    at: Timestamp,
) -> String {
    let phone = &message.phone;
    let mut status = json!({
        "id": message.id,
        "status": progress.as_str(),
        "timestamp": seconds(at),
        "recipient_id": phone,
        "recipient_user_id": people::bsuid(phone),
    });
    if let (Some(reply), Some(fields)) = (&message.reply, status.as_object_mut()) {
        fields.insert("biz_opaque_callback_data".to_owned(), json!(reply));
    }
    wrap(
        settings,
        json!({
            "contacts": contacts(phone),
            "statuses": [status],
        }),
    )
}

fn contacts(phone: &Phone) -> Value {
    json!([{
        "profile": { "name": people::name(phone) },
        "wa_id": phone,
        "user_id": people::bsuid(phone),
    }])
}

/// Puts `value` into Meta's envelope and writes it as Meta does.
fn wrap(settings: &Settings, mut value: Value) -> String {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("messaging_product".to_owned(), json!("whatsapp"));
        fields.insert(
            "metadata".to_owned(),
            json!({
                "display_phone_number": settings.display_number,
                "phone_number_id": settings.number,
            }),
        );
    }
    let body = json!({
        "object": "whatsapp_business_account",
        "entry": [{
            "id": settings.business_account,
            "changes": [{ "value": value, "field": "messages" }],
        }],
    });
    escape(&body.to_string())
}

/// Meta counts in seconds and writes them as a string.
fn seconds(at: Timestamp) -> String {
    at.seconds().to_string()
}

/// Escapes what Meta escapes: everything beyond ASCII and the slash. In JSON both occur inside strings only.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    let mut units = [0_u16; 2];
    for character in json.chars() {
        match character {
            '/' => escaped.push_str("\\/"),
            _ if character.is_ascii() => escaped.push(character),
            _ => {
                for unit in character.encode_utf16(&mut units) {
                    // Writing to a String cannot fail.
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use recado::domain::{BusinessNumber, Phone};

    use super::super::book::Side;
    use super::*;

    fn settings() -> Settings {
        Settings {
            webhook_url: "http://127.0.0.1/webhook/meta".to_owned(),
            app_secret: "secret".to_owned(),
            access_token: "token".to_owned(),
            number: BusinessNumber::parse("100000000000001").unwrap(),
            display_number: "551130000000".to_owned(),
            business_account: "200000000000001".to_owned(),
        }
    }

    fn chat(side: Side, text: &str) -> ChatMessage {
        ChatMessage {
            id: "wamid.x/y".to_owned(),
            phone: Phone::parse("5511900000001").unwrap(),
            side,
            text: text.to_owned(),
            at: Timestamp::from_ms(1_790_000_000_999),
            status: Progress::Waiting,
            status_at: Timestamp::from_ms(0),
            reply: Some("01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned()),
            failures: 0,
            problem: None,
        }
    }

    #[test]
    fn a_body_is_ascii_with_escapes_and_reads_back_as_it_was() {
        let body = message(&settings(), &chat(Side::Person, "olá/você 😀"));
        assert!(body.is_ascii());
        assert!(body.contains(r"ol\u00e1\/voc\u00ea \ud83d\ude00"));
        let value: Value = serde_json::from_str(&body).unwrap();
        let message = &value["entry"][0]["changes"][0]["value"]["messages"][0];
        assert_eq!(message["text"]["body"], "olá/você 😀");
        assert_eq!(message["timestamp"], "1790000000");
        assert_eq!(message["from"], "5511900000001");
        let contact = &value["entry"][0]["changes"][0]["value"]["contacts"][0];
        assert_eq!(contact["user_id"], message["from_user_id"]);
    }

    #[test]
    fn a_status_hands_back_the_reply() {
        let body = status(
            &settings(),
            &chat(Side::Agent, "x"),
            Progress::Sent,
            Timestamp::from_ms(1000),
        );
        let value: Value = serde_json::from_str(&body).unwrap();
        let status = &value["entry"][0]["changes"][0]["value"]["statuses"][0];
        assert_eq!(status["status"], "sent");
        assert_eq!(
            status["biz_opaque_callback_data"],
            "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        );
        assert_eq!(status["recipient_id"], "5511900000001");
        assert!(
            status["recipient_user_id"]
                .as_str()
                .unwrap()
                .starts_with("BR.")
        );
    }
}
