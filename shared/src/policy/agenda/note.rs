//! The open entries as the last turn's note tells them: what "the task we just made" can mean, whatever has become of
//! the turn in which it was made.
//!
//! Invariant: at most [`TOKENS_MAX`] by estimate; the entries written last are in.

use super::told::described;
use crate::domain::{Agent, Entry, EntryKind};
use crate::policy::prompt::Language;
use crate::policy::prompt::text::head;
use crate::policy::tokens;

/// What the note may cost, before the learnt factor.
pub const TOKENS_MAX: u32 = 400;
/// What one entry may cost.
const ENTRY_TOKENS_MAX: u32 = 60;

/// The note, or nothing where nothing is open. Newest first; what does not fit is counted.
pub fn print(agent: &Agent, entries: &[Entry]) -> Option<String> {
    let mut open: Vec<&Entry> = entries.iter().filter(|entry| entry.is_open()).collect();
    if open.is_empty() {
        return None;
    }
    open.sort_by_key(|entry| std::cmp::Reverse((entry.changed_at, entry.made_at)));
    let language = Language::of(agent);
    let mut note = language.agenda_heading().to_owned();
    // Room for the line that counts the rest.
    let mut room = TOKENS_MAX.saturating_sub(tokens::message(&note) + 12);
    let mut shown = 0;
    for entry in &open {
        let mut brief = (*entry).clone();
        // A memo's words may be long, and are had by its title.
        brief.text = entry
            .text
            .as_deref()
            .map(|text| head(text, ENTRY_TOKENS_MAX / 2));
        if entry.kind == EntryKind::Memo {
            brief.text = None;
        }
        let line = head(&described(agent, &brief), ENTRY_TOKENS_MAX);
        let price = tokens::message(&line);
        if price > room {
            break;
        }
        room -= price;
        shown += 1;
        note.push_str("\n- ");
        note.push_str(&line);
    }
    let rest = open.len() - shown;
    if rest > 0 {
        note.push_str("\n- ");
        note.push_str(&language.more_entries(rest));
    }
    Some(note)
}
