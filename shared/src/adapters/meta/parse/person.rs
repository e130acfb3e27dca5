//! Who an item is of or for: a phone, a business-scoped user id, or both, from wherever the provider put them.
//!
//! A phone is left out for a person with a username, and once in a while the user id stands where the phone stood.
//! An id is taken from another part of the body only where that part is surely about the same person.

use serde_json::Value;

use super::json;
use crate::domain::{Address, Alias, Bsuid, Phone};
use crate::policy::identity::canonical;

/// The ids of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    phone: Option<Phone>,
    bsuid: Option<Bsuid>,
    /// The id within a group of businesses: only for want of any other.
    parent: Option<Bsuid>,
}

impl Person {
    /// A row of `contacts`.
    pub fn of_contact(contact: &Value) -> Self {
        Self::read(contact, ["wa_id", "user_id", "parent_user_id"])
    }

    /// The sender of a message, as far as the message itself tells.
    pub fn of_message(message: &Value) -> Self {
        Self::read(message, ["from", "from_user_id", "from_parent_user_id"])
    }

    /// The recipient of a reply, as far as its status tells.
    pub fn of_status(status: &Value) -> Self {
        let names = [
            "recipient_id",
            "recipient_user_id",
            "recipient_parent_user_id",
        ];
        Self::read(status, names)
    }

    /// The first name may hold an id of either form.
    fn read(item: &Value, [either, bsuid, parent]: [&str; 3]) -> Self {
        let id = |name| json::text(item, name);
        let either = id(either).unwrap_or_default();
        let named = id(bsuid).and_then(|id| Bsuid::parse(id).ok());
        Self {
            phone: Phone::parse(either.strip_prefix('+').unwrap_or(&either)).ok(),
            bsuid: named.or_else(|| Bsuid::parse(either).ok()),
            parent: id(parent).and_then(|id| Bsuid::parse(id).ok()),
        }
    }

    /// The same person with what `contacts` add: the row that shares an id; for an item without any id the only row,
    /// or the row at its own place where there are as many rows as items. `peers` are that place and that number.
    pub fn completed(self, contacts: &[Self], peers: (usize, usize)) -> Self {
        let row = if self.phone.is_some() || self.bsuid.is_some() {
            contacts.iter().find(|row| self.shares_an_id_with(row))
        } else {
            let (index, items) = peers;
            match contacts {
                [only] => Some(only),
                _ if contacts.len() == items => contacts.get(index),
                _ => None,
            }
        };
        let Some(row) = row else {
            return self;
        };
        Self {
            phone: self.phone.or_else(|| row.phone.clone()),
            bsuid: self.bsuid.or_else(|| row.bsuid.clone()),
            parent: self.parent.or_else(|| row.parent.clone()),
        }
    }

    fn shares_an_id_with(&self, other: &Self) -> bool {
        let same_phone = match (&self.phone, &other.phone) {
            (Some(one), Some(two)) => one == two || canonical(one) == canonical(two),
            _ => false,
        };
        same_phone || (self.bsuid.is_some() && self.bsuid == other.bsuid)
    }

    /// The ids that memory is found with, phone first; empty where there is none.
    pub fn aliases(&self) -> Vec<Alias> {
        let phone = self
            .phone
            .as_ref()
            .map(|phone| Alias::Phone(canonical(phone)));
        let bsuid = self.bsuid.clone().map(Alias::Bsuid);
        let mut aliases: Vec<Alias> = phone.into_iter().chain(bsuid).collect();
        if aliases.is_empty() {
            aliases.extend(self.parent.clone().map(Alias::Bsuid));
        }
        aliases
    }

    /// Where an answer goes: the phone exactly as it was given, else the user id.
    pub fn address(self) -> Option<Address> {
        let bsuid = self.bsuid.or(self.parent);
        self.phone
            .map(Address::Phone)
            .or_else(|| bsuid.map(Address::Bsuid))
    }
}
