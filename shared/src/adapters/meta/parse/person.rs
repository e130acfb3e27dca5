//! Who an item is of or for: a phone, a business-scoped user id, or both, from wherever the provider put them.
//!
//! A phone is left out for a person with a username, and once in a while the user id stands where the phone stood.
//! An id is taken from another part of the body only where that part is surely about the same person.

use serde_json::Value;

use super::json;
use crate::domain::{Address, Alias, Bsuid, Phone};
use crate::policy::identity::canonical;

/// The ids of a person.
#[derive(Clone, Default)]
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

    /// The same person with the ids that `row` adds.
    fn completed_by(&self, row: &Self) -> Self {
        Self {
            phone: self.phone.clone().or_else(|| row.phone.clone()),
            bsuid: self.bsuid.clone().or_else(|| row.bsuid.clone()),
            parent: self.parent.clone().or_else(|| row.parent.clone()),
        }
    }

    fn has_an_id(&self) -> bool {
        self.phone.is_some() || self.bsuid.is_some()
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

/// The rows of `contacts`, which belong to a whole change and not to one of its items.
pub struct Contacts {
    /// With whether an item of the change shares an id with the row.
    rows: Vec<(Person, bool)>,
}

impl Contacts {
    /// The rows of a change, and the people its items name by themselves.
    pub fn of(rows: &[Value], named: &[&Person]) -> Self {
        let with_claim = |row| {
            let row = Person::of_contact(row);
            let claimed = named.iter().any(|person| person.shares_an_id_with(&row));
            (row, claimed)
        };
        Self {
            rows: rows.iter().map(with_claim).collect(),
        }
    }

    /// The person with what their row adds: the row that shares an id. An item without any id is of a person whose
    /// items all lack them, so its row is one that no item shares an id with: the only such row, or the one at the
    /// item's own place `index` where there are as many rows as `items`.
    pub fn complete(&self, person: &Person, index: usize, items: usize) -> Person {
        let row = if person.has_an_id() {
            self.rows
                .iter()
                .find(|(row, _)| person.shares_an_id_with(row))
        } else {
            let mut free = self.rows.iter().filter(|(_, claimed)| !claimed);
            match (free.next(), free.next()) {
                (Some(only), None) => Some(only),
                _ if self.rows.len() == items => {
                    self.rows.get(index).filter(|(_, claimed)| !claimed)
                }
                _ => None,
            }
        };
        match row {
            Some((row, _)) => person.completed_by(row),
            None => person.clone(),
        }
    }
}
