//! The tools that come with the engine, and what a hand-off means.

use std::time::Duration;

use super::document::Document;
use crate::config::nearest::nearest;

const AGENDA: &str = "agenda";
const HAND_OFF: &str = "hand_off";
const KNOWN: [&str; 2] = [AGENDA, HAND_OFF];

/// Two hours, and at most a week, in seconds.
const PAUSE: (u32, std::ops::RangeInclusive<u32>) = (2 * 60 * 60, 60..=7 * 24 * 60 * 60);

/// Which of them an agent has.
pub(super) struct BuiltIn {
    /// Whether it keeps an agenda.
    pub agenda: bool,
    /// How long it keeps quiet after a hand-off, where it can hand over.
    pub hand_off_pause: Option<Duration>,
}

/// Reads `built_in_tools` and `[hand_off]`.
pub(super) fn read(file: &mut Document<'_>) -> BuiltIn {
    let mut names: Vec<String> = Vec::new();
    let found = file.list("", "built_in_tools", AGENDA);
    for item in found.map(|list| list.value).unwrap_or_default() {
        let name = item.value.trim();
        let problem = if !KNOWN.contains(&name) {
            let meant = nearest(name, KNOWN);
            let meant =
                meant.map_or_else(String::new, |meant| format!("; did you mean {meant:?}?"));
            format!(
                "{name:?} is none of the built-in tools, which are {AGENDA:?} and {HAND_OFF:?}{meant}"
            )
        } else if names.iter().any(|known| known == name) {
            format!("{name:?} is listed twice")
        } else {
            names.push(name.to_owned());
            continue;
        };
        file.mistake("", "built_in_tools", item.origin, problem);
    }
    let (default, range) = PAUSE;
    let pause = file.seconds("hand_off", "pause_s", default, range).value;
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    BuiltIn {
        agenda: has(AGENDA),
        hand_off_pause: has(HAND_OFF).then_some(pause),
    }
}
