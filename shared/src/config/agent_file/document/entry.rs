//! Entries of a list of tables, such as `[[tools]]`: read key by key, each mistake at its own place.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::{Document, Found, Origin, Raw};
use crate::config::nearest::nearest;
use crate::policy::visible::is_blank;

/// One entry, or a table inside one, under reading.
pub(in crate::config::agent_file) struct Entry<'i> {
    /// What it is called in a mistake, for instance `tools.reservar`.
    pub label: String,
    /// Where it begins.
    pub origin: Origin,
    table: DeTable<'i>,
    asked: Vec<&'static str>,
}

impl<'i> Document<'i> {
    /// The entries of `[[key]]`, in order.
    pub fn entries(&mut self, key: &'static str) -> Vec<Entry<'i>> {
        self.asked.push(("", key));
        let Some(value) = self.root.remove(key) else {
            return Vec::new();
        };
        let origin = Origin::File(value.span().start);
        let message =
            format!("must be [[{key}]] on a line of its own, once for each, its settings below it");
        let DeValue::Array(items) = value.into_inner() else {
            self.mistake("", key, origin, message);
            return Vec::new();
        };
        let mut entries = Vec::new();
        for (number, item) in (1..).zip(items) {
            let origin = Origin::File(item.span().start);
            match item.into_inner() {
                DeValue::Table(table) => entries.push(Entry {
                    label: format!("{key}[{number}]"),
                    origin,
                    table,
                    asked: Vec::new(),
                }),
                _ => self.mistake("", key, origin, message.clone()),
            }
        }
        entries
    }
}

impl<'i> Entry<'i> {
    /// Whether this key is set, and was not read yet.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The names of its keys, each with its place.
    pub fn keys(&self) -> Vec<Found<String>> {
        let keys = self.table.keys().map(|key| Found {
            value: key.get_ref().to_string(),
            origin: Origin::File(key.span().start),
        });
        keys.collect()
    }

    /// Notes a mistake of one of its keys.
    pub fn mistake(
        &self,
        file: &mut Document<'_>,
        key: &str,
        origin: Origin,
        message: impl Into<String>,
    ) {
        file.mistake(&self.label, key, origin, message);
    }

    fn take(&mut self, key: &'static str) -> Option<(DeValue<'i>, Origin)> {
        self.asked.push(key);
        self.take_any(key)
    }

    fn take_any(&mut self, key: &str) -> Option<(DeValue<'i>, Origin)> {
        let value = self.table.remove(key)?;
        let origin = Origin::File(value.span().start);
        Some((value.into_inner(), origin))
    }

    /// Notes that a key is missing which must be there.
    pub fn require(&self, file: &mut Document<'_>, key: &'static str, example: &str) {
        if !self.has(key) && !file.is_broken() {
            let message = format!("is missing; for instance {key} = {example}");
            self.mistake(file, key, self.origin, message);
        }
    }

    /// A text that is not blank and at most `chars_max` characters long.
    pub fn text(
        &mut self,
        file: &mut Document<'_>,
        key: &'static str,
        chars_max: usize,
        example: &str,
    ) -> Option<Found<String>> {
        let (value, origin) = self.take(key)?;
        self.check_text(file, key, (value, origin), chars_max, example)
    }

    /// The text under a key that is no setting of ours, such as a header's name.
    pub fn named_text(&mut self, file: &mut Document<'_>, key: &str) -> Option<Found<String>> {
        let given = self.take_any(key)?;
        self.check_text(file, key, given, 4096, "…")
    }

    fn check_text(
        &self,
        file: &mut Document<'_>,
        key: &str,
        (value, origin): (DeValue<'i>, Origin),
        chars_max: usize,
        example: &str,
    ) -> Option<Found<String>> {
        let problem = match Raw::of(&value) {
            Raw::Text(text) if is_blank(&text) => "is blank".to_owned(),
            Raw::Text(text) if text.chars().count() > chars_max => {
                format!(
                    "is {} characters long; at most {chars_max} fit",
                    text.chars().count()
                )
            }
            Raw::Text(text) if text.chars().any(|c| c.is_control() && !c.is_whitespace()) => {
                "holds a control character; take it out".to_owned()
            }
            Raw::Text(value) => return Some(Found { value, origin }),
            other => format!("must be text in quotes, not {}", other.kind()),
        };
        let message = format!("{problem}; for instance {key} = {example:?}");
        self.mistake(file, key, origin, message);
        None
    }

    /// One of some words.
    pub fn choice<T: Copy>(
        &mut self,
        file: &mut Document<'_>,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Option<Found<T>> {
        let (value, origin) = self.take(key)?;
        let chosen = choices
            .iter()
            .find(|(word, _)| value.as_str() == Some(word));
        if let Some((_, value)) = chosen {
            return Some(Found {
                value: *value,
                origin,
            });
        }
        let words: Vec<String> = choices
            .iter()
            .map(|(word, _)| format!("{word:?}"))
            .collect();
        let message = format!(
            "must be one of {}; for instance {key} = {}",
            words.join(", "),
            words[0]
        );
        self.mistake(file, key, origin, message);
        None
    }

    /// True or false; false where it is not set.
    pub fn flag(&mut self, file: &mut Document<'_>, key: &'static str) -> bool {
        let Some((value, origin)) = self.take(key) else {
            return false;
        };
        if let DeValue::Boolean(flag) = value {
            return flag;
        }
        let message = format!("must be true or false, without quotes; for instance {key} = true");
        self.mistake(file, key, origin, message);
        false
    }

    /// A number of whole seconds, or the default.
    pub fn seconds(
        &mut self,
        file: &mut Document<'_>,
        key: &'static str,
        default: u64,
        range: &RangeInclusive<u64>,
    ) -> Duration {
        let Some((value, origin)) = self.take(key) else {
            return Duration::from_secs(default);
        };
        let seconds = match Raw::of(&value) {
            Raw::Number(digits) => digits.parse().ok().filter(|number| range.contains(number)),
            _ => None,
        };
        if seconds.is_none() {
            let (low, high) = (range.start(), range.end());
            let message =
                format!("must be {low} to {high} whole seconds; for instance {key} = {default}");
            self.mistake(file, key, origin, message);
        }
        Duration::from_secs(seconds.unwrap_or(default))
    }

    /// A list of texts, each with its own place.
    pub fn texts(
        &mut self,
        file: &mut Document<'_>,
        key: &'static str,
        example: &str,
    ) -> Option<Found<Vec<Found<String>>>> {
        let (value, origin) = self.take(key)?;
        let mut texts = Vec::new();
        let message =
            format!("must be a list of texts in quotes; for instance {key} = [{example:?}]");
        let Raw::List(items) = Raw::of(&value) else {
            self.mistake(file, key, origin, message);
            return None;
        };
        for (offset, item) in items {
            let origin = Origin::File(offset);
            match item {
                Raw::Text(value) => texts.push(Found { value, origin }),
                _ => self.mistake(file, key, origin, message.clone()),
            }
        }
        Some(Found {
            value: texts,
            origin,
        })
    }

    /// A table inside it.
    pub fn table(
        &mut self,
        file: &mut Document<'_>,
        key: &'static str,
        example: &str,
    ) -> Option<Self> {
        let (value, origin) = self.take(key)?;
        if let DeValue::Table(table) = value {
            return Some(Self {
                label: format!("{}.{key}", self.label),
                origin,
                table,
                asked: Vec::new(),
            });
        }
        let message = format!("must be a table; for instance {key} = {example}");
        self.mistake(file, key, origin, message);
        None
    }

    /// A JSON value, written as TOML or as a JSON text.
    pub fn json(&mut self, file: &mut Document<'_>, key: &'static str) -> Option<Found<Value>> {
        let (value, origin) = self.take(key)?;
        let read = match &value {
            DeValue::String(text) => serde_json::from_str(text).map_err(|error| {
                // The parser's own words may hold a piece of the text.
                let (line, column) = (error.line(), error.column());
                format!("the JSON breaks at line {line} column {column} of the text")
            }),
            value => json(value),
        };
        match read {
            Ok(value) => Some(Found { value, origin }),
            Err(problem) => {
                self.mistake(file, key, origin, problem);
                None
            }
        }
    }

    /// Notes every key that nobody asked for.
    pub fn close(self, file: &mut Document<'_>) {
        for Found { value: key, origin } in self.keys() {
            let message = match nearest(&key, self.asked.iter().copied()) {
                Some(meant) => format!("unknown key; did you mean {meant}?"),
                None => format!("unknown key; known here: {}", self.asked.join(", ")),
            };
            self.mistake(file, &key, origin, message);
        }
    }
}

/// A TOML value as JSON.
fn json(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            Value::from(whole.map_err(|_| "holds a number too long".to_owned())?)
        }
        DeValue::Float(number) => {
            let number: f64 = number
                .as_str()
                .parse()
                .map_err(|_| "holds a number that is none")?;
            Value::from(number)
        }
        DeValue::Datetime(_) => {
            return Err("holds a date; JSON has none: write it in quotes".to_owned());
        }
        DeValue::Array(items) => {
            let items = items.iter().map(|item| json(item.get_ref()));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let fields = table
                .iter()
                .map(|(key, value)| Ok((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(fields.collect::<Result<Map<_, _>, String>>()?)
        }
    })
}
