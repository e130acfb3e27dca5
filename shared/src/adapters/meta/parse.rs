//! What a verified body says: people's messages and our replies' statuses, each item by itself.
//!
//! Stands between `signature` and the ingest flow. It never fails on an item: what cannot be used is counted in
//! `rejected` and the items beside it go on. Nothing is assumed to be there, for the provider leaves fields out that
//! its own description requires.

mod json;
mod message;
mod person;
mod pressed;
mod status;

use serde_json::Value;

use super::signature::VerifiedBody;
use crate::domain::{BusinessNumber, ProviderEvent, Timestamp};
use person::{Contacts, Person};

/// What a body holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// In the order they stood in the body.
    pub events: Vec<ProviderEvent>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
}

/// A part of a body that gives no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    /// Why; never the content.
    pub reason: &'static str,
}

/// Why a body as a whole cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is not JSON, or nested deeper than 128 levels.
    #[error("the body is not JSON, or nested too deeply")]
    NotJson,
    /// It is JSON, but a list, a text or a number.
    #[error("the body must be a JSON object")]
    NotAnObject,
}

/// Reads all entries, changes, messages and statuses of a body.
///
/// Messages of one body that carry the same second keep their order: each arrives one millisecond after the one
/// before it.
pub fn parse(body: VerifiedBody<'_>, arrived_at: Timestamp) -> Result<Parsed, BodyError> {
    let body = json::read(body.bytes()).ok_or(BodyError::NotJson)?;
    if !body.is_object() {
        return Err(BodyError::NotAnObject);
    }
    let mut reader = Reader {
        arrived_at,
        messages: 0,
        parsed: Parsed::default(),
    };
    reader.body(&body);
    Ok(reader.parsed)
}

struct Reader {
    arrived_at: Timestamp,
    messages: u64,
    parsed: Parsed,
}

impl Reader {
    fn body(&mut self, body: &Value) {
        let object = json::text(body, "object");
        if object.is_some_and(|object| object != "whatsapp_business_account") {
            return self.reject("the object is not a whatsapp_business_account");
        }
        // Left out and not refused, like all that a later version of the API may send: a refused one comes for days.
        if body.get("entry").is_none_or(Value::is_null) {
            return self.reject("a body without entry");
        }
        for entry in self.list(body, "entry", "entry is not a list") {
            for change in self.list(entry, "changes", "changes is not a list") {
                self.change(change);
            }
        }
    }

    /// Only the field `messages` holds what people write to us. `smb_message_echoes` and `history` look alike, but
    /// hold what the business wrote from its own phone.
    fn change(&mut self, change: &Value) {
        if json::text(change, "field").as_deref() != Some("messages") {
            return self.reject("the field is not messages");
        }
        let Some(value) = change.get("value").filter(|value| value.is_object()) else {
            return self.reject("a change without a value");
        };
        let number = value
            .get("metadata")
            .and_then(|metadata| json::text(metadata, "phone_number_id"))
            .and_then(|id| BusinessNumber::parse(id).ok());
        let Some(number) = number else {
            return self.reject("a change without a phone_number_id");
        };
        let rows = self.list(value, "contacts", "contacts is not a list");
        let messages = self.list(value, "messages", "messages is not a list");
        let statuses = self.list(value, "statuses", "statuses is not a list");
        let senders: Vec<Person> = messages.iter().map(Person::of_message).collect();
        let recipients: Vec<Person> = statuses.iter().map(Person::of_status).collect();
        let contacts = Contacts::of(rows, &senders.iter().chain(&recipients).collect::<Vec<_>>());
        for (index, (message, sender)) in messages.iter().zip(&senders).enumerate() {
            let sender = contacts.complete(sender, index, messages.len());
            let arrived_at = Timestamp::from_ms(self.arrived_at.ms().saturating_add(self.messages));
            match message::read(message, sender, &number, (self.arrived_at, arrived_at)) {
                Ok(inbound) => {
                    self.messages += 1;
                    self.parsed.events.push(ProviderEvent::Message(inbound));
                }
                Err(reason) => self.reject(reason),
            }
        }
        for (index, (status, recipient)) in statuses.iter().zip(&recipients).enumerate() {
            let recipient = contacts.complete(recipient, index, statuses.len());
            match status::read(status, &recipient, &number) {
                Ok(update) => self.parsed.events.push(ProviderEvent::Status(update)),
                Err(reason) => self.reject(reason),
            }
        }
        for _ in self.list(value, "errors", "errors is not a list") {
            self.reject("the provider reports an error of the account");
        }
    }

    /// The list under `key`; an absent one is empty.
    fn list<'v>(&mut self, value: &'v Value, key: &str, otherwise: &'static str) -> &'v [Value] {
        match value.get(key) {
            Some(Value::Array(items)) => items,
            None | Some(Value::Null) => &[],
            Some(_) => {
                self.reject(otherwise);
                &[]
            }
        }
    }

    fn reject(&mut self, reason: &'static str) {
        self.parsed.rejected.push(Rejected { reason });
    }
}

#[cfg(test)]
mod tests;
