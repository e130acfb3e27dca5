//! Reads the attributes of a stored item; what cannot be read is named by its field, never by its content.

use std::collections::BTreeMap;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;

use super::request::Item;
use super::schema::{FORMAT, FORMAT_VERSION};
use crate::domain::ids::IdError;
use crate::domain::{Counters, Timestamp};
use crate::error::StoreError;

/// An item of a format this program reads.
pub(super) struct Fields<'a> {
    kind: &'static str,
    item: &'a Item,
}

impl<'a> Fields<'a> {
    /// Looks at the format version first: a newer one is not to be guessed at.
    pub(super) fn open(kind: &'static str, item: &'a Item) -> Result<Self, StoreError> {
        let fields = Self { kind, item };
        let found: u32 = fields.number(FORMAT)?;
        if found > FORMAT_VERSION {
            return Err(StoreError::FutureVersion {
                item: kind,
                found,
                known: FORMAT_VERSION,
            });
        }
        Ok(fields)
    }

    /// The field holds something else than `expected`.
    pub(super) fn wrong(&self, field: &str, expected: &str) -> StoreError {
        StoreError::Undecodable {
            item: self.kind,
            reason: format!("`{field}`: expected {expected}"),
        }
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.item.contains_key(field)
    }

    pub(super) fn text_maybe(&self, field: &str) -> Result<Option<&'a str>, StoreError> {
        match self.item.get(field) {
            None => Ok(None),
            Some(AttributeValue::S(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "a text")),
        }
    }

    pub(super) fn text(&self, field: &str) -> Result<&'a str, StoreError> {
        self.text_maybe(field)?
            .ok_or_else(|| self.wrong(field, "a text, found nothing"))
    }

    pub(super) fn parsed_maybe<T>(
        &self,
        field: &str,
        parse: impl Fn(&str) -> Result<T, IdError>,
    ) -> Result<Option<T>, StoreError> {
        self.text_maybe(field)?
            .map(|text| parse(text).map_err(|error| self.wrong(field, error.what)))
            .transpose()
    }

    pub(super) fn parsed<T>(
        &self,
        field: &str,
        parse: impl Fn(&str) -> Result<T, IdError>,
    ) -> Result<T, StoreError> {
        parse(self.text(field)?).map_err(|error| self.wrong(field, error.what))
    }

    pub(super) fn parsed_list<T>(
        &self,
        field: &str,
        parse: impl Fn(&str) -> Result<T, IdError>,
    ) -> Result<Vec<T>, StoreError> {
        let Some(AttributeValue::L(values)) = self.item.get(field) else {
            return Err(self.wrong(field, "a list"));
        };
        values
            .iter()
            .map(|value| match value {
                AttributeValue::S(text) => {
                    parse(text).map_err(|error| self.wrong(field, error.what))
                }
                _ => Err(self.wrong(field, "a list of texts")),
            })
            .collect()
    }

    pub(super) fn number_maybe<T: FromStr>(&self, field: &str) -> Result<Option<T>, StoreError> {
        match self.item.get(field) {
            None => Ok(None),
            Some(AttributeValue::N(digits)) => digits
                .parse()
                .map(Some)
                .map_err(|_| self.wrong(field, "a number in range")),
            Some(_) => Err(self.wrong(field, "a number")),
        }
    }

    pub(super) fn number<T: FromStr>(&self, field: &str) -> Result<T, StoreError> {
        self.number_maybe(field)?
            .ok_or_else(|| self.wrong(field, "a number, found nothing"))
    }

    pub(super) fn time_maybe(&self, field: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.number_maybe(field)?.map(Timestamp::from_ms))
    }

    pub(super) fn time(&self, field: &str) -> Result<Timestamp, StoreError> {
        self.number(field).map(Timestamp::from_ms)
    }

    pub(super) fn factors(&self, field: &str) -> Result<BTreeMap<String, f64>, StoreError> {
        let Some(AttributeValue::M(values)) = self.item.get(field) else {
            return Err(self.wrong(field, "a map"));
        };
        values
            .iter()
            .map(|(model, value)| {
                let factor = value.as_n().ok().and_then(|digits| digits.parse().ok());
                let factor = factor.ok_or_else(|| self.wrong(field, "a map of numbers"))?;
                Ok((model.clone(), factor))
            })
            .collect()
    }

    /// A map of counters by their names; what is missing is zero.
    pub(super) fn counters_maybe(&self, field: &str) -> Result<Option<Counters>, StoreError> {
        let Some(value) = self.item.get(field) else {
            return Ok(None);
        };
        let AttributeValue::M(values) = value else {
            return Err(self.wrong(field, "a map"));
        };
        counters_of(values)
            .map(Some)
            .ok_or_else(|| self.wrong(field, "a map of counters"))
    }

    /// Whether a yes stands there.
    pub(super) fn is_true(&self, field: &str) -> bool {
        matches!(self.item.get(field), Some(AttributeValue::Bool(true)))
    }

    /// Counters among an item's own attributes.
    pub(super) fn counters(&self) -> Result<Counters, StoreError> {
        counters_of(self.item).ok_or_else(|| self.wrong("calls", "a counter"))
    }

    pub(super) fn names(&self, field: &str) -> Result<Vec<String>, StoreError> {
        match self.item.get(field) {
            None => Ok(Vec::new()),
            Some(AttributeValue::Ss(names)) => {
                let mut names = names.clone();
                names.sort();
                Ok(names)
            }
            Some(_) => Err(self.wrong(field, "a set of texts")),
        }
    }
}

fn counters_of(values: &Item) -> Option<Counters> {
    let mut counters = Counters::default();
    for (name, counter) in counters.fields_mut() {
        if let Some(value) = values.get(name) {
            *counter = value.as_n().ok()?.parse().ok()?;
        }
    }
    Some(counters)
}

/// A stored item as it is built: attributes that are absent are left out.
pub(super) struct Build(Item);

impl Build {
    /// Starts from the key, with our format version.
    pub(super) fn new(key: Item) -> Self {
        Self(key).set(FORMAT, super::request::number(FORMAT_VERSION))
    }

    /// Goes on with an item that was built before.
    pub(super) fn of(item: Item) -> Self {
        Self(item)
    }

    pub(super) fn set(mut self, field: &str, value: AttributeValue) -> Self {
        self.0.insert(field.to_owned(), value);
        self
    }

    pub(super) fn text(self, field: &str, value: impl ToString) -> Self {
        self.set(field, super::request::text(value))
    }

    pub(super) fn text_maybe(self, field: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.text(field, value),
            None => self,
        }
    }

    pub(super) fn number(self, field: &str, value: impl ToString) -> Self {
        self.set(field, super::request::number(value))
    }

    pub(super) fn number_maybe(self, field: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.number(field, value),
            None => self,
        }
    }

    /// Counters as a map, those of zero left out.
    pub(super) fn counters_maybe(self, field: &str, counters: Option<&Counters>) -> Self {
        let Some(counters) = counters else {
            return self;
        };
        let counted = counters
            .fields()
            .into_iter()
            .filter(|(_, count)| *count > 0);
        let values = counted.map(|(name, count)| (name.to_owned(), super::request::number(count)));
        self.set(field, AttributeValue::M(values.collect()))
    }

    pub(super) fn done(self) -> Item {
        self.0
    }
}
