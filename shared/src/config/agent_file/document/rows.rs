//! Tables that come several times: `[[name]]`, each one row.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::{Document, Origin, Raw};

/// One of them.
pub struct Row {
    /// Where it stands.
    pub origin: Origin,
    fields: BTreeMap<&'static str, Raw>,
}

impl Row {
    /// Whether the row has this column.
    pub fn has(&self, column: &str) -> bool {
        self.fields.contains_key(column)
    }

    /// A text of it.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.fields.get(column)? {
            Raw::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number of it.
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.fields.get(column)? {
            Raw::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

impl Document<'_> {
    /// The rows of `[[key]]`, with these columns and no others.
    pub fn rows(&mut self, key: &'static str, columns: &[&'static str]) -> Vec<Row> {
        self.asked.push(("", key));
        let Some(value) = self.root.get(key) else {
            return Vec::new();
        };
        let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
        let is_several =
            format!("must come as [[{key}]] on a line of its own, its settings below it");
        let DeValue::Array(items) = value.get_ref() else {
            let origin = Origin::File(value.span().start);
            self.mistake("", key, origin, is_several);
            return rows;
        };
        for item in items {
            let origin = Origin::File(item.span().start);
            let Some(table) = item.get_ref().as_table() else {
                mistakes.push((origin, is_several.clone()));
                continue;
            };
            let mut fields = BTreeMap::new();
            for (name, value) in table {
                let known = columns.iter().find(|column| **column == name.get_ref());
                match known {
                    Some(column) => drop(fields.insert(*column, Raw::of(value.get_ref()))),
                    None => mistakes.push((
                        Origin::File(name.span().start),
                        format!("unknown key; known here: {}", columns.join(", ")),
                    )),
                }
            }
            rows.push(Row { origin, fields });
        }
        for (origin, message) in mistakes {
            self.mistake("", key, origin, message);
        }
        rows
    }
}
