//! Compactions: the summary so far, what the span said, and the plain facts found in it.

use serde_json::{Value, json};

use super::patterns::{self, Kind};
use super::prompt_text::{Line, facts, folded_all, language, number, said, summary};
use crate::domain::Prompt;
use crate::policy::prompt::Language;

/// The cap where the task names none.
const WORDS_MAX: usize = 200;
/// Words of one message that go into the summary.
const QUOTE_WORDS_MAX: usize = 12;
/// Operations that are worth proposing; more are not kept.
const OPERATIONS_MAX: usize = 8;

/// The answer as JSON text.
pub fn answer(prompt: &Prompt) -> String {
    let language = language(prompt);
    let memory = prompt.memory.as_deref().unwrap_or_default();
    let span: Vec<Line> = prompt.last.iter().flat_map(|block| said(block)).collect();
    let words_max = number(&prompt.persona).unwrap_or(WORDS_MAX);
    let text = summarised(language, summary(memory).as_deref(), &span, words_max);
    json!({"summary": text, "facts": operations(language, &facts(memory), &span)}).to_string()
}

/// The old summary's beginning, where names and early facts stand, then one sentence for each day of the span.
fn summarised(language: Language, old: Option<&str>, span: &[Line], words_max: usize) -> String {
    let mut words: Vec<String> = old
        .unwrap_or_default()
        .split_whitespace()
        .take(words_max * 6 / 10)
        .map(str::to_owned)
        .collect();
    let mut day = "";
    for line in span {
        let quote: Vec<&str> = line.text.split_whitespace().take(QUOTE_WORDS_MAX).collect();
        let opening = if line.day == day {
            Vec::new()
        } else {
            opening(language, &line.day)
        };
        if words.len() + opening.len() + quote.len() > words_max {
            break;
        }
        words.extend(opening);
        day = &line.day;
        words.push(format!("{};", quote.join(" ")));
    }
    let text = words.join(" ");
    if text.is_empty() {
        nothing_said(language).to_owned()
    } else {
        format!("{}.", text.trim_end_matches([';', '.', ' ']))
    }
}

fn opening(language: Language, day: &str) -> Vec<String> {
    let text = match language {
        Language::Portuguese => format!("Em {day} a pessoa disse:"),
        Language::Spanish => format!("El {day} la persona dijo:"),
        Language::English => format!("On {day} the person said:"),
    };
    text.split_whitespace().map(str::to_owned).collect()
}

const fn nothing_said(language: Language) -> &'static str {
    match language {
        Language::Portuguese => "A pessoa ainda não disse nada.",
        Language::Spanish => "La persona todavía no dijo nada.",
        Language::English => "The person has said nothing yet.",
    }
}

/// What is new, and what replaces something known.
fn operations(language: Language, known: &[Line], span: &[Line]) -> Vec<Value> {
    let mut operations: Vec<(Kind, String, Value)> = Vec::new();
    for line in span {
        for found in patterns::find(&line.text) {
            let text = patterns::sentence(language, &found);
            let is_known = known
                .iter()
                .any(|fact| folded_all(&fact.text) == folded_all(&text));
            // Of single things the newest counts; of others each is proposed once.
            operations.retain(|(kind, earlier, _)| {
                *earlier != text && !(patterns::is_single(*kind) && *kind == found.kind)
            });
            if is_known {
                continue;
            }
            let replaced = known.iter().find(|fact| {
                patterns::is_single(found.kind)
                    && patterns::find(&fact.text)
                        .iter()
                        .any(|old| old.kind == found.kind)
            });
            let operation = json!({
                "op": if replaced.is_some() { "update" } else { "add" },
                "id": replaced.map(|fact| &fact.alias),
                "text": text,
                "source_ids": [line.alias],
            });
            operations.push((found.kind, text, operation));
        }
    }
    // Names and allergies matter most where not all fit.
    operations.sort_by_key(|(kind, _, _)| !matches!(kind, Kind::Name | Kind::Allergy));
    operations
        .into_iter()
        .take(OPERATIONS_MAX)
        .map(|(_, _, operation)| operation)
        .collect()
}
