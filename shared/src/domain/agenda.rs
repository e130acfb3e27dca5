//! The agenda: tasks, memos and appointments that the agent keeps for a person, beside memory.

use std::fmt;

use jiff::civil::{Date, DateTime};
use serde::Serialize;

use super::ids::EntryId;
use super::time::Timestamp;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// Something to do, perhaps by a day.
    Task,
    /// Something to keep as it is.
    Memo,
    /// Something that happens at a moment.
    Appointment,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Task, Self::Memo, Self::Appointment];

    /// The word stored in the table and told to the model.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Memo => "memo",
            Self::Appointment => "appointment",
        }
    }

    /// Reads back what [`EntryKind::as_str`] gave.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// How pressing a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// It can wait.
    Low,
    /// As most are.
    Normal,
    /// It comes first.
    High,
}

impl Priority {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Low, Self::Normal, Self::High];

    /// The word stored in the table and told to the model.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    /// Reads back what [`Priority::as_str`] gave.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|priority| priority.as_str() == word)
    }
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// It stands.
    Open,
    /// It is done.
    Done,
    /// It is off.
    Cancelled,
}

impl EntryStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Cancelled];

    /// The word stored in the table and told to the model.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads back what [`EntryStatus::as_str`] gave.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// A day, or a moment of a day, on the wall where the person lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Day {
    /// A whole day.
    Whole(Date),
    /// A moment of it, to the minute.
    At(DateTime),
}

impl Day {
    /// Reads `2026-12-04`, `2026-12-04T16:00` or the same with a space; seconds are left out. One with an offset or a zone
    /// is none: its hours are those of another wall.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_whole = text.len() == "2026-12-04".len();
        if is_whole {
            return text.parse().ok().map(Self::Whole);
        }
        let time = text.get("2026-12-04".len()..)?;
        if time.contains(['+', '-', '\u{2212}', '[', 'Z', 'z']) {
            return None;
        }
        let moment: DateTime = text.parse().ok()?;
        let time = moment.time().with().second(0).subsec_nanosecond(0);
        Some(Self::At(moment.date().to_datetime(time.build().ok()?)))
    }

    /// The day it is on.
    pub fn date(self) -> Date {
        match self {
            Self::Whole(date) => date,
            Self::At(moment) => moment.date(),
        }
    }
}

/// `2026-12-04` or `2026-12-04T16:00`: what [`Day::parse`] reads.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(date) => write!(f, "{date}"),
            Self::At(moment) => write!(
                f,
                "{}T{:02}:{:02}",
                moment.date(),
                moment.hour(),
                moment.minute()
            ),
        }
    }
}

/// One entry of a person's agenda.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id: of the call that made it, so that a repeat makes no second one.
    pub id: EntryId,
    /// What it is.
    pub kind: EntryKind,
    /// What it is called: at most [`Entry::TITLE_CHARS_MAX`].
    pub title: String,
    /// What else there is to say: at most [`Entry::TEXT_CHARS_MAX`].
    pub text: Option<String>,
    /// When a task is due, or an appointment begins.
    pub day: Option<Day>,
    /// When an appointment ends.
    pub until: Option<Day>,
    /// How pressing a task is.
    pub priority: Priority,
    /// What became of it.
    pub status: EntryStatus,
    /// Raised by every change: a change is conditional on it.
    pub version: u32,
    /// The idempotency key of the call that wrote it last.
    pub written_by: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it was written last.
    pub changed_at: Timestamp,
}

impl Entry {
    /// In characters.
    pub const TITLE_CHARS_MAX: usize = 200;
    /// In characters.
    pub const TEXT_CHARS_MAX: usize = 4_000;
    /// Entries of one person that stand.
    pub const OPEN_MAX: usize = 300;
    /// Entries of one person, those that are done included until they go.
    pub const COUNT_MAX: usize = 900;

    /// Whether it still stands.
    pub fn is_open(&self) -> bool {
        self.status == EntryStatus::Open
    }
}

/// Never the words themselves.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, status) = (self.kind.as_str(), self.status.as_str());
        write!(
            f,
            "Entry({}, {kind}, {status}, version {})",
            self.id, self.version
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_in_the_forms_models_write() {
        for (text, right) in [
            ("2026-12-04", Some("2026-12-04")),
            (" 2026-12-04 ", Some("2026-12-04")),
            ("2026-12-04T16:00", Some("2026-12-04T16:00")),
            ("2026-12-04 16:00", Some("2026-12-04T16:00")),
            ("2026-12-04T16:05:33", Some("2026-12-04T16:05")),
            ("2026-02-30", None),
            ("amanhã", None),
            ("04/12/2026", None),
            ("2026-12-04T25:00", None),
            ("2026-12-04T19:00Z", None),
            ("2026-12-04T19:00+00:00", None),
            ("2026-12-04T16:00-03:00", None),
            ("2026-12-04T16:00[America/Sao_Paulo]", None),
            ("2026-12-04é", None),
            ("", None),
        ] {
            let read = Day::parse(text).map(|day| day.to_string());
            assert_eq!(read.as_deref(), right, "{text:?}");
            if let Some(read) = read {
                assert_eq!(Day::parse(&read).map(|day| day.to_string()), Some(read));
            }
        }
    }

    #[test]
    fn words_read_back() {
        for kind in EntryKind::ALL {
            assert_eq!(EntryKind::parse(kind.as_str()), Some(kind));
        }
        for priority in Priority::ALL {
            assert_eq!(Priority::parse(priority.as_str()), Some(priority));
        }
        for status in EntryStatus::ALL {
            assert_eq!(EntryStatus::parse(status.as_str()), Some(status));
        }
    }
}
