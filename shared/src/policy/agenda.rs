//! What a call of an agenda tool does: which entry it means, what becomes of it, and what the model is told.
//!
//! Invariant: a call writes at most one entry, and a repeat of it under its key writes nothing more; a title that fits
//! several entries is either the newest of one name or a question back, never a guess between names.

mod find;
pub mod note;
mod told;
pub mod tools;
mod words;

use super::prompt::text::quoted;
use super::visible::is_blank;
use crate::domain::{
    Agent, Day, Entry, EntryId, EntryKind, EntryStatus, Priority, Timestamp, ToolCall,
};
use find::{Named, find, same_title};
use told::{described, told};
use words::{Words, apply, given};

/// A call, and what it is decided by.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Whose language and zone.
    pub agent: &'a Agent,
    /// The person's entries, oldest first.
    pub entries: &'a [Entry],
    /// The call.
    pub call: &'a ToolCall,
    /// Its idempotency key.
    pub key: &'a str,
    /// The moment.
    pub now: Timestamp,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// Write the entry (a new one has version 1, else the stored one is of the version before), then say this.
    Write(Box<Entry>, String),
    /// Only say this.
    Say(String),
    /// It cannot be done, for this reason.
    Refuse(String),
}

/// Decides a call of one of [`tools::declared`].
pub fn decide(asked: Asked<'_>) -> Decided {
    let done = asked.entries.iter().find(|one| one.written_by == asked.key);
    if let Some(entry) = done {
        return Decided::Say(told(asked.agent, "saved", entry));
    }
    let words: Words = match serde_json::from_str(asked.call.arguments.as_str()) {
        Ok(words) => words,
        Err(_) => return Decided::Refuse("each argument must be a text".to_owned()),
    };
    let decided = match asked.call.tool.as_str() {
        tools::CREATE_TASK => create(asked, EntryKind::Task, &words),
        tools::CREATE_MEMO => create(asked, EntryKind::Memo, &words),
        tools::CREATE_EVENT => create(asked, EntryKind::Appointment, &words),
        tools::UPDATE_TASK => change(asked, EntryKind::Task, &words),
        tools::UPDATE_MEMO => change(asked, EntryKind::Memo, &words),
        tools::UPDATE_EVENT => change(asked, EntryKind::Appointment, &words),
        tools::LIST_TASKS => list(asked, &words),
        tools::ASK_CLARIFICATION => Ok(Decided::Say(tools::ASK_NOW.to_owned())),
        tools::END_CONVERSATION => Ok(Decided::Say(tools::SAY_GOODBYE.to_owned())),
        _ => Err("the agenda has no such tool".to_owned()),
    };
    decided.unwrap_or_else(Decided::Refuse)
}

fn create(asked: Asked<'_>, kind: EntryKind, words: &Words) -> Result<Decided, String> {
    let title = words.title.as_deref().map(str::trim).unwrap_or_default();
    let mut entry = Entry {
        id: EntryId::parse(asked.key).map_err(|error| error.to_string())?,
        kind,
        title: String::new(),
        text: None,
        day: None,
        until: None,
        priority: Priority::Normal,
        status: EntryStatus::Open,
        version: 1,
        written_by: asked.key.to_owned(),
        made_at: asked.now,
        changed_at: asked.now,
    };
    if is_blank(title) {
        return Err("title is missing: a few words that the person would know it by".to_owned());
    }
    apply(&mut entry, words)?;
    if kind == EntryKind::Appointment && entry.day.is_none() {
        return Err("start is missing: the day and time it begins, as 2026-01-31T16:00".to_owned());
    }
    let open = asked.entries.iter().filter(|one| one.is_open());
    let twin = open
        .filter(|one| one.kind == kind && one.day == entry.day && one.text == entry.text)
        .find(|one| same_title(&one.title, &entry.title));
    if let Some(twin) = twin {
        let told = told(asked.agent, "there is one already", twin);
        return Ok(Decided::Say(format!(
            "{told}. Nothing new was made: a second one needs another title"
        )));
    }
    let open = asked.entries.iter().filter(|one| one.is_open());
    if open.count() >= Entry::OPEN_MAX {
        return Err("the agenda is full: something has to be done or cancelled first".to_owned());
    }
    if asked.entries.len() >= Entry::COUNT_MAX {
        return Err(
            "the agenda is full of what is done or cancelled, which goes by itself after thirty days".to_owned(),
        );
    }
    let said = told(asked.agent, "created", &entry);
    Ok(Decided::Write(Box::new(entry), said))
}

fn change(asked: Asked<'_>, kind: EntryKind, words: &Words) -> Result<Decided, String> {
    let name = match kind {
        EntryKind::Task => &words.task,
        EntryKind::Memo => &words.memo,
        EntryKind::Appointment => &words.event,
    };
    let found = match find(asked.entries, kind, name.as_deref().unwrap_or_default()) {
        Named::One(found) => found,
        Named::Several(some) => {
            return Err(format!(
                "several fit, ask the person which: {}",
                titles(&some)
            ));
        }
        Named::None(there) if there.is_empty() => {
            return Err(format!("there is no {} yet", kind.as_str()));
        }
        Named::None(there) => {
            return Err(format!(
                "nothing is called so; there are: {}",
                titles(&there)
            ));
        }
    };
    let mut entry = found.clone();
    apply(&mut entry, words)?;
    if kind == EntryKind::Appointment && entry.day.is_none() {
        return Err(
            "an appointment keeps its start: give another one, or the status cancelled".to_owned(),
        );
    }
    if entry == *found {
        let told = told(asked.agent, "it is so already", found);
        return Ok(Decided::Say(told));
    }
    entry.version = found.version.saturating_add(1);
    asked.key.clone_into(&mut entry.written_by);
    entry.changed_at = asked.now;
    let said = told(asked.agent, "changed", &entry);
    Ok(Decided::Write(Box::new(entry), said))
}

fn titles(entries: &[&Entry]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = entries
        .iter()
        .rev()
        .take(SHOWN)
        .map(|entry| quoted(&entry.title))
        .collect();
    shown.join(", ")
}

fn list(asked: Asked<'_>, words: &Words) -> Result<Decided, String> {
    const SHOWN_MAX: usize = 50;
    let kind = match given(words.kind.as_deref()) {
        None => Some(EntryKind::Task),
        Some("all") => None,
        Some("event") => Some(EntryKind::Appointment),
        Some(word) => Some(EntryKind::parse(word).ok_or("kind must be task, memo, event or all")?),
    };
    let status = match given(words.status.as_deref()) {
        None => Some(EntryStatus::Open),
        Some("all") => None,
        Some(word) => {
            Some(EntryStatus::parse(word).ok_or("status must be open, done, cancelled or all")?)
        }
    };
    let mut fitting: Vec<&Entry> = asked
        .entries
        .iter()
        .filter(|entry| kind.is_none_or(|kind| entry.kind == kind))
        .filter(|entry| status.is_none_or(|status| entry.status == status))
        .collect();
    fitting.sort_by_key(|entry| {
        let pressing = std::cmp::Reverse(entry.priority);
        (
            entry.day.is_none(),
            entry.day.map(Day::date),
            pressing,
            entry.made_at,
        )
    });
    if fitting.is_empty() {
        return Ok(Decided::Say("nothing there".to_owned()));
    }
    let more = fitting.len().saturating_sub(SHOWN_MAX);
    let mut lines: Vec<String> = fitting
        .iter()
        .take(SHOWN_MAX)
        .map(|entry| described(asked.agent, entry))
        .collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    Ok(Decided::Say(lines.join("\n")))
}

#[cfg(test)]
mod tests;
