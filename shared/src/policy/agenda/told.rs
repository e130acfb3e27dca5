//! An entry in words for the model.

use std::fmt::Write as _;

use crate::domain::{Agent, Day, Entry, EntryKind, Priority};
use crate::policy::prompt::calendar;
use crate::policy::prompt::text::quoted;

/// What was done to an entry, for the model.
pub(super) fn told(agent: &Agent, what: &str, entry: &Entry) -> String {
    format!("{what}: {}", described(agent, entry))
}

/// One entry on one line, for the model.
pub(super) fn described(agent: &Agent, entry: &Entry) -> String {
    // Writing to a text cannot fail.
    let mut line = format!("{} {}", entry.kind.as_str(), quoted(&entry.title));
    let on = |day: Day| {
        let weekday = calendar::weekday_of(agent, day.date());
        format!("{day} ({weekday})")
    };
    if let Some(day) = entry.day {
        let word = if entry.kind == EntryKind::Task {
            "due"
        } else {
            "at"
        };
        let _ = write!(line, ", {word} {}", on(day));
    }
    if let Some(until) = entry.until {
        let _ = write!(line, ", until {until}");
    }
    if entry.priority != Priority::Normal {
        let _ = write!(line, ", {} priority", entry.priority.as_str());
    }
    if !entry.is_open() {
        let _ = write!(line, ", {}", entry.status.as_str());
    }
    if let Some(text) = &entry.text {
        let _ = write!(line, ": {}", quoted(text));
    }
    line
}
