//! The body of a send, as strictly as Meta reads it.

use axum::http::StatusCode;
use recado::domain::{Bsuid, Phone as Number};
use serde_json::{Map, Value, json};

use super::error::GraphError;

/// Most code points of a text.
const TEXT_MAX: usize = 4_096;
/// Most bytes of what is handed back in statuses.
const CALLBACK_DATA_MAX: usize = 512;

/// A send that was understood.
pub(super) struct Send {
    /// The person as the answer names them.
    pub(super) contact: Value,
    /// Whose phone it goes to.
    pub(super) to: Number,
    /// The words.
    pub(super) text: String,
    /// What is handed back in statuses.
    pub(super) callback_data: Option<String>,
}

/// Reads a body; `phone_of` tells whose BSUID it is.
pub(super) fn parse(
    fields: &Map<String, Value>,
    phone_of: impl Fn(&str) -> Option<Number>,
) -> Result<Send, GraphError> {
    only(
        fields,
        "",
        &[
            "messaging_product",
            "recipient_type",
            "to",
            "recipient",
            "type",
            "text",
            "context",
            "biz_opaque_callback_data",
        ],
    )?;
    if fields.get("messaging_product") != Some(&json!("whatsapp")) {
        return Err(GraphError::parameter(
            "messaging_product must be \"whatsapp\"",
        ));
    }
    if !matches!(fields.get("recipient_type"), None | Some(Value::String(_)))
        || fields
            .get("recipient_type")
            .is_some_and(|kind| kind != "individual")
    {
        return Err(GraphError::parameter(
            "recipient_type must be \"individual\"",
        ));
    }
    // Meta takes a missing type for text; a back end that relies on that will meet others that do not.
    if fields.get("type") != Some(&json!("text")) {
        return Err(GraphError::parameter(
            "type must be \"text\": this phone takes texts only",
        ));
    }
    let text = parse_text(fields)?;
    check_context(fields)?;
    let callback_data = parse_callback_data(fields)?;
    let (contact, to) = parse_recipient(fields, phone_of)?;
    Ok(Send {
        contact,
        to,
        text,
        callback_data,
    })
}

fn parse_text(fields: &Map<String, Value>) -> Result<String, GraphError> {
    let text = fields
        .get("text")
        .and_then(Value::as_object)
        .ok_or_else(|| GraphError::parameter("text must be an object with a body"))?;
    only(text, "text.", &["body", "preview_url"])?;
    if !matches!(text.get("preview_url"), None | Some(Value::Bool(_))) {
        return Err(GraphError::parameter(
            "text.preview_url must be true or false",
        ));
    }
    let body = text
        .get("body")
        .and_then(Value::as_str)
        .ok_or_else(|| GraphError::parameter("text.body must be a string"))?;
    if body.trim().is_empty() {
        return Err(GraphError::parameter("text.body must not be empty"));
    }
    if body.chars().count() > TEXT_MAX {
        return Err(GraphError {
            status: StatusCode::BAD_REQUEST,
            code: 100,
            message: format!("Param text['body'] must be at most {TEXT_MAX} characters long."),
            details: None,
        });
    }
    Ok(body.to_owned())
}

fn check_context(fields: &Map<String, Value>) -> Result<(), GraphError> {
    let Some(context) = fields.get("context") else {
        return Ok(());
    };
    match context.as_object() {
        Some(context) if context.get("message_id").is_some_and(Value::is_string) => Ok(()),
        _ => Err(GraphError::parameter(
            "context must be an object with a message_id",
        )),
    }
}

fn parse_callback_data(fields: &Map<String, Value>) -> Result<Option<String>, GraphError> {
    match fields.get("biz_opaque_callback_data") {
        None => Ok(None),
        Some(Value::String(data)) if data.len() <= CALLBACK_DATA_MAX => Ok(Some(data.clone())),
        Some(_) => Err(GraphError::parameter(
            "biz_opaque_callback_data must be a string of at most 512 characters",
        )),
    }
}

/// `to` holds a phone, `recipient` a BSUID; where both are given the phone counts.
fn parse_recipient(
    fields: &Map<String, Value>,
    phone_of: impl Fn(&str) -> Option<Number>,
) -> Result<(Value, Number), GraphError> {
    if let Some(to) = fields.get("to") {
        let digits = to
            .as_str()
            .map(|text| text.strip_prefix('+').unwrap_or(text));
        let phone = digits
            .and_then(|digits| Number::parse(digits).ok())
            .ok_or_else(|| {
                GraphError::parameter(
                    "to must be a phone with its country code; a BSUID goes in recipient",
                )
            })?;
        return Ok((json!({ "input": to, "wa_id": phone }), phone));
    }
    let bsuid = fields
        .get("recipient")
        .ok_or_else(|| GraphError::parameter("one of to and recipient is required"))?
        .as_str()
        .filter(|text| Bsuid::parse(*text).is_ok())
        .ok_or_else(|| GraphError::parameter("recipient must be a BSUID; a phone goes in to"))?;
    let phone = phone_of(bsuid).ok_or_else(|| GraphError {
        status: StatusCode::BAD_REQUEST,
        code: 131_026,
        message: "(#131026) Message undeliverable".to_owned(),
        details: Some("nobody with this BSUID has written to this number".to_owned()),
    })?;
    Ok((json!({ "input": bsuid, "user_id": bsuid }), phone))
}

fn only(fields: &Map<String, Value>, place: &str, known: &[&str]) -> Result<(), GraphError> {
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(GraphError::parameter(format!(
            "{place}{key} is not a parameter of a text message"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_value(value: &Value) -> Result<Send, GraphError> {
        let phone = Number::parse("5511900000001").unwrap();
        let bsuid = crate::phone::people::bsuid(&phone);
        parse(value.as_object().unwrap(), |asked| {
            (asked == bsuid).then(|| phone.clone())
        })
    }

    fn good() -> Value {
        json!({
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": "5511900000001",
            "type": "text",
            "text": { "body": "oi", "preview_url": false },
            "biz_opaque_callback_data": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        })
    }

    #[test]
    fn a_send_to_a_phone_or_to_a_bsuid_is_understood() {
        let send = parse_value(&good()).ok().unwrap();
        assert_eq!(send.to.as_str(), "5511900000001");
        assert_eq!(
            send.callback_data.as_deref(),
            Some("01ARZ3NDEKTSV4RRFFQ69G5FAV")
        );
        assert_eq!(send.contact["wa_id"], "5511900000001");
        let mut by_bsuid = good();
        let fields = by_bsuid.as_object_mut().unwrap();
        fields.remove("to");
        fields.insert(
            "recipient".to_owned(),
            json!(crate::phone::people::bsuid(&send.to)),
        );
        let send = parse_value(&by_bsuid).ok().unwrap();
        assert_eq!(send.to.as_str(), "5511900000001");
        assert!(send.contact["user_id"].is_string());
    }

    #[test]
    fn what_meta_refuses_is_refused() {
        let long = "é".repeat(TEXT_MAX);
        for (label, field, value, refused) in [
            ("4,096 code points", "text", json!({ "body": long }), None),
            (
                "one more",
                "text",
                json!({ "body": format!("{long}a") }),
                Some(100),
            ),
            ("blank text", "text", json!({ "body": " \n" }), Some(100)),
            ("text as a string", "text", json!("oi"), Some(100)),
            (
                "unknown key in text",
                "text",
                json!({ "body": "oi", "x": 1 }),
                Some(100),
            ),
            (
                "another product",
                "messaging_product",
                json!("sms"),
                Some(100),
            ),
            ("a group", "recipient_type", json!("group"), Some(100)),
            ("an image", "type", json!("image"), Some(100)),
            (
                "a BSUID in to",
                "to",
                json!("BR.1502576394655843"),
                Some(100),
            ),
            (
                "a phone as a number",
                "to",
                json!(5_511_900_000_001_u64),
                Some(100),
            ),
            ("a plus", "to", json!("+5511900000001"), None),
            ("an unknown key", "idempotency_key", json!("x"), Some(100)),
            (
                "callback data of 513",
                "biz_opaque_callback_data",
                json!("x".repeat(513)),
                Some(100),
            ),
            ("a context without id", "context", json!({}), Some(100)),
        ] {
            let mut body = good();
            body.as_object_mut()
                .unwrap()
                .insert(field.to_owned(), value);
            assert_eq!(
                parse_value(&body).err().map(|error| error.code),
                refused,
                "{label}"
            );
        }
    }

    #[test]
    fn a_stranger_by_bsuid_is_undeliverable_and_no_recipient_is_an_error() {
        let mut body = good();
        body.as_object_mut().unwrap().remove("to");
        assert_eq!(parse_value(&body).err().unwrap().code, 100);
        body["recipient"] = json!("BR.1");
        assert_eq!(parse_value(&body).err().unwrap().code, 131_026);
    }
}
