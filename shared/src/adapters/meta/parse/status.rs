//! One status of a message the business sent. It concerns us only where it hands back a reply id of ours.

use serde_json::Value;

use super::person::Person;
use super::{json, message};
use crate::domain::{BusinessNumber, DeliveryStatus, ReplyId, StatusUpdate};

/// Longer codes than this are not codes.
const CODE_CHARS_MAX: usize = 40;

/// Reads one status.
pub fn read(
    status: &Value,
    recipient: &Person,
    number: &BusinessNumber,
) -> Result<StatusUpdate, &'static str> {
    let reply = json::text(status, "biz_opaque_callback_data")
        .and_then(|data| ReplyId::parse(&data).ok())
        .ok_or("a status of no reply of ours")?;
    let id = json::text(status, "id").ok_or("a status without an id")?;
    let aliases = recipient.aliases();
    if aliases.is_empty() {
        return Err("a status without a recipient");
    }
    Ok(StatusUpdate {
        reply,
        aliases,
        number: number.clone(),
        message: message::message_id(&id)?,
        status: delivery(status)?,
    })
}

fn delivery(status: &Value) -> Result<DeliveryStatus, &'static str> {
    match json::text(status, "status").as_deref() {
        // `played` is what a voice note gets in place of `read`.
        Some("sent" | "delivered" | "read" | "played") => Ok(DeliveryStatus::Sent),
        Some("failed") => Ok(DeliveryStatus::Failed(code(status))),
        _ => Err("a status of an unknown kind"),
    }
}

/// The first error's code, in letters, digits and `_` only: it is logged and shown.
fn code(status: &Value) -> String {
    let code = status
        .get("errors")
        .and_then(|errors| errors.get(0))
        .and_then(|error| json::text(error, "code"));
    let code: String = code
        .iter()
        .flat_map(|code| code.chars())
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .take(CODE_CHARS_MAX)
        .collect();
    if code.is_empty() {
        "unknown".to_owned()
    } else {
        code
    }
}
