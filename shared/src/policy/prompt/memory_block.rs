//! Summary and facts as the model sees them: labelled, delimited, escaped data.

use super::calendar;
use super::language::Language;
use super::text::quoted;
use crate::domain::{Agent, Fact};
use crate::policy::visible::is_blank;

/// The block, or nothing where there is nothing to remember. Facts are printed in the order given.
pub fn print(agent: &Agent, summary: Option<&str>, facts: &[&Fact]) -> Option<String> {
    let summary = summary.filter(|text| !is_blank(text));
    let facts: Vec<&Fact> = facts
        .iter()
        .copied()
        .filter(|fact| !is_blank(&fact.text))
        .collect();
    if summary.is_none() && facts.is_empty() {
        return None;
    }
    let language = Language::of(agent);
    let mut lines = vec!["<memory>".to_owned(), language.memory_heading().to_owned()];
    if let Some(text) = summary {
        lines.push(format!("{}: {}", language.summary_label(), quoted(text)));
    }
    if !facts.is_empty() {
        lines.push(format!("{}:", language.facts_label()));
        lines.extend(facts.iter().map(|fact| {
            let said_on = calendar::date(agent, fact.said_at);
            format!("- {said_on}: {}", quoted(&fact.text))
        }));
    }
    lines.push("</memory>".to_owned());
    Some(lines.join("\n"))
}
