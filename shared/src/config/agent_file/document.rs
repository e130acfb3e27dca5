//! Reads single settings out of a TOML text and remembers everything that is wrong on the way.
//!
//! Which keys exist is known from which were asked for: a key that nobody asked for is a mistake.

mod entry;
mod reads;
mod rows;
mod unknown;

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

use super::mistake::{Mistake, Position};
use super::overrides::Overrides;
pub(super) use entry::Entry;

/// Where a value comes from, so that a mistake can point there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The file, at this byte.
    File(usize),
    /// An environment variable.
    Environment(&'static str),
    /// Our own default.
    Default,
    /// Our own default in place of a wrong value; nothing more is said about it.
    Wrong,
}

/// A value and where it comes from.
#[derive(Debug, Clone)]
pub(super) struct Found<T> {
    pub value: T,
    pub origin: Origin,
}

/// A setting's value as written.
enum Raw {
    /// A number in decimal digits.
    Number(String),
    Text(String),
    List(Vec<(usize, Raw)>),
    /// Anything else, named.
    Other(&'static str),
}

impl Raw {
    fn of(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .map_or(Self::Other("a number too long"), |n| {
                    Self::Number(n.to_string())
                }),
            DeValue::Float(number) => Self::Number(number.as_str().to_owned()),
            DeValue::Boolean(_) => Self::Other("true or false"),
            DeValue::Datetime(_) => Self::Other("a date"),
            DeValue::Array(items) => Self::List(
                items
                    .iter()
                    .map(|item| (item.span().start, Self::of(item.get_ref())))
                    .collect(),
            ),
            DeValue::Table(_) => Self::Other("a section"),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Other(kind) => kind,
        }
    }
}

/// A TOML text under reading.
pub(super) struct Document<'i> {
    text: &'i str,
    root: DeTable<'i>,
    overrides: &'i Overrides,
    asked: Vec<(&'static str, &'static str)>,
    mistakes: Vec<Mistake>,
    broken_lines: BTreeSet<usize>,
}

impl<'i> Document<'i> {
    /// Parses the text as far as it can be; syntax errors are mistakes like the others.
    pub fn open(text: &'i str, overrides: &'i Overrides) -> Self {
        let (root, errors) = DeTable::parse_recoverable(text);
        let mistakes: Vec<Mistake> = errors
            .iter()
            .map(|error| Mistake {
                position: Some(Position::of(
                    text,
                    error.span().map_or(0, |span| span.start),
                )),
                setting: "syntax".to_owned(),
                message: error.message().replace('\n', " "),
            })
            .collect();
        let broken_lines = mistakes
            .iter()
            .filter_map(|mistake| mistake.position.map(|position| position.line))
            .collect();
        Self {
            text,
            root: root.into_inner(),
            overrides,
            asked: Vec::new(),
            mistakes,
            broken_lines,
        }
    }

    /// Notes a mistake of this setting, where it comes from `origin`.
    pub fn mistake(
        &mut self,
        section: &str,
        key: &str,
        origin: Origin,
        message: impl Into<String>,
    ) {
        let (position, setting) = match origin {
            Origin::Wrong => return,
            Origin::Environment(variable) => (None, variable.to_owned()),
            Origin::File(offset) => (
                Some(Position::of(self.text, offset)),
                full_name(section, key),
            ),
            Origin::Default => (Some(Position::of(self.text, 0)), full_name(section, key)),
        };
        // What a broken line seems to say is a guess; its syntax error says enough.
        if position.is_some_and(|position| self.broken_lines.contains(&position.line)) {
            return;
        }
        self.mistakes.push(Mistake {
            position,
            setting,
            message: message.into(),
        });
    }

    /// Every mistake in the order of the file; keys that nobody asked for are among them.
    pub fn close(mut self) -> Vec<Mistake> {
        self.refuse_unknown();
        self.mistakes.sort_by_key(|mistake| mistake.position);
        self.mistakes
    }

    /// Whether a part of the file could not be read: what seems to be missing may stand there.
    pub fn is_broken(&self) -> bool {
        !self.broken_lines.is_empty()
    }

    /// Whether this setting is set, rightly or wrongly.
    pub fn has(&self, section: &str, key: &str) -> bool {
        self.overrides.of(section, key).is_some()
            || self
                .section(section)
                .is_some_and(|table| table.contains_key(key))
    }

    fn section(&self, section: &str) -> Option<&DeTable<'i>> {
        if section.is_empty() {
            return Some(&self.root);
        }
        self.root.get(section)?.get_ref().as_table()
    }

    fn raw(&mut self, section: &'static str, key: &'static str) -> Option<(Raw, Origin)> {
        self.asked.push((section, key));
        if let Some((variable, value)) = self.overrides.of(section, key) {
            return Some((Raw::Text(value.to_owned()), Origin::Environment(variable)));
        }
        let value = self.section(section)?.get(key)?;
        Some((Raw::of(value.get_ref()), Origin::File(value.span().start)))
    }
}

fn full_name(section: &str, key: &str) -> String {
    if section.is_empty() {
        key.to_owned()
    } else {
        format!("{section}.{key}")
    }
}
