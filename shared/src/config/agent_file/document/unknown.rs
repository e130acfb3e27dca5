//! Keys and sections that no setting has.

use std::collections::BTreeSet;

use toml::de::DeValue;

use super::{Document, Origin, full_name};
use crate::config::nearest::nearest;

impl Document<'_> {
    /// Notes every key that nobody asked for.
    pub(super) fn refuse_unknown(&mut self) {
        let mut unknown = Vec::new();
        for (key, value) in &self.root {
            let name: &str = key.get_ref();
            let is_section = self.asked.iter().any(|(section, _)| *section == name);
            let message = match value.get_ref() {
                DeValue::Table(table) if is_section => {
                    let inner = table.keys().filter(|key| !self.knows(name, key.get_ref()));
                    unknown.extend(inner.map(|key| {
                        let message = self.unknown_key(name, key.get_ref());
                        (
                            name.to_owned(),
                            key.get_ref().to_string(),
                            key.span().start,
                            message,
                        )
                    }));
                    continue;
                }
                _ if is_section => format!(
                    "must be a section: [{name}] on a line of its own, its settings below it"
                ),
                _ if self.knows("", name) => continue,
                DeValue::Table(_) => self.unknown_section(name),
                _ => self.unknown_key("", name),
            };
            unknown.push((String::new(), name.to_owned(), key.span().start, message));
        }
        for (section, key, offset, message) in unknown {
            self.mistake(&section, &key, Origin::File(offset), message);
        }
    }

    fn knows(&self, section: &str, key: &str) -> bool {
        self.asked.contains(&(section, key))
    }

    fn unknown_key(&self, section: &str, key: &str) -> String {
        let keys_of = |wanted| {
            self.asked
                .iter()
                .filter(move |(section, _)| *section == wanted)
                .map(|(_, key)| *key)
        };
        if let Some((home, _)) = self.asked.iter().find(|(_, known)| *known == key) {
            return if home.is_empty() {
                "belongs at the top of the file, before the first [section]".to_owned()
            } else {
                format!("belongs in the section [{home}]")
            };
        }
        if let Some(meant) = nearest(key, keys_of(section)) {
            return format!("unknown key; did you mean {meant}?");
        }
        if let Some(meant) = nearest(key, self.asked.iter().map(|(_, key)| *key)) {
            let home = self
                .asked
                .iter()
                .find(|(_, key)| *key == meant)
                .map_or("", |(home, _)| home);
            return format!("unknown key; did you mean {}?", full_name(home, meant));
        }
        let known: Vec<&str> = keys_of(section).collect();
        format!("unknown key; known here: {}", known.join(", "))
    }

    fn unknown_section(&self, name: &str) -> String {
        let sections: BTreeSet<&str> = self
            .asked
            .iter()
            .map(|(section, _)| *section)
            .filter(|section| !section.is_empty())
            .collect();
        match nearest(name, sections.iter().copied()) {
            Some(meant) => format!("unknown section; did you mean [{meant}]?"),
            None => format!(
                "unknown section; known are {}",
                sections
                    .iter()
                    .map(|section| format!("[{section}]"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        }
    }
}
