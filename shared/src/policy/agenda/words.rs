//! What a model writes, taken over into an entry; what is wrong with it is told with a right value.

use serde::Deserialize;

use crate::domain::{Day, Entry, EntryStatus, Priority};
use crate::policy::visible::is_blank;

/// What a model writes for any of the tools; what it leaves out stays as it is.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Words {
    pub title: Option<String>,
    pub task: Option<String>,
    pub memo: Option<String>,
    pub event: Option<String>,
    pub due: Option<String>,
    pub start: Option<String>,
    pub end: Option<String>,
    pub priority: Option<String>,
    pub status: Option<String>,
    pub notes: Option<String>,
    pub text: Option<String>,
    pub append: Option<String>,
    pub kind: Option<String>,
}

/// Takes over what the words say.
pub(super) fn apply(entry: &mut Entry, words: &Words) -> Result<(), String> {
    if let Some(title) = given(words.title.as_deref()) {
        entry.title = within("title", title, Entry::TITLE_CHARS_MAX)?;
    }
    // Some models fill in what they leave out with an empty text.
    let (due, start) = (given(words.due.as_deref()), given(words.start.as_deref()));
    let end = given(words.end.as_deref());
    if let Some(day) = due.or(start) {
        entry.day = day_of(if due.is_some() { "due" } else { "start" }, day)?;
    }
    if let Some(end) = end {
        entry.until = day_of("end", end)?;
    }
    if let (Some(from), Some(until)) = (entry.day, entry.until)
        && is_over_before(until, from)
    {
        if end.is_some() {
            return Err("end must be after start".to_owned());
        }
        // An appointment that moved: its old end says nothing any more.
        entry.until = None;
    }
    if let Some(word) = given(words.priority.as_deref()) {
        entry.priority =
            Priority::parse(&word.to_lowercase()).ok_or("priority must be low, normal or high")?;
    }
    if let Some(word) = given(words.status.as_deref()) {
        entry.status = EntryStatus::parse(&word.to_lowercase())
            .ok_or("status must be open, done or cancelled")?;
    }
    if let Some(text) = words.notes.as_deref().or(words.text.as_deref()) {
        let text = within("text", text.trim(), Entry::TEXT_CHARS_MAX)?;
        entry.text = (!is_blank(&text)).then_some(text);
    }
    if let Some(more) = given(words.append.as_deref()) {
        let before = entry
            .text
            .take()
            .map_or_else(String::new, |text| text + "\n");
        entry.text = Some(within("text", &(before + more), Entry::TEXT_CHARS_MAX)?);
    }
    Ok(())
}

/// Whether an end is not after its beginning; of a whole day, not before its day.
fn is_over_before(until: Day, from: Day) -> bool {
    match (from, until) {
        (Day::At(from), Day::At(until)) => until <= from,
        (from, until) => until.date() < from.date(),
    }
}

/// What was really said.
pub(super) fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !is_blank(text))
}

fn within(what: &str, text: &str, chars_max: usize) -> Result<String, String> {
    let chars = text.chars().count();
    if chars > chars_max {
        return Err(format!(
            "{what} is too long: {chars} characters of at most {chars_max}"
        ));
    }
    Ok(text.to_owned())
}

/// A day, or nothing where it is to be taken away.
fn day_of(what: &str, text: &str) -> Result<Option<Day>, String> {
    if matches!(text.trim().to_lowercase().as_str(), "none" | "null") {
        return Ok(None);
    }
    let right = "a day as 2026-01-31 or a moment as 2026-01-31T16:00, in the person's own time";
    Day::parse(text)
        .map(Some)
        .ok_or_else(|| format!("{what} must be {right} (or none)"))
}
