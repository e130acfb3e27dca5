//! What a failure prints: the law, how to play it again, and the story of the conversation concerned.

use std::fmt::Write as _;

use super::plan::Fault;
use super::{Line, Outcome};

/// Longest story.
const LINES_MAX: usize = 140;

/// The report of a schedule that broke a law. `outcome` is of a run that kept its story.
pub fn failure(outcome: &Outcome) -> String {
    let Some(violation) = &outcome.violation else {
        return format!("seed {}: no law was broken", outcome.seed);
    };
    let mut text = String::new();
    let seed = outcome.seed;
    let _ = writeln!(
        text,
        "seed {seed}: \"{}\" is broken: {}",
        violation.law, violation.detail
    );
    let _ = writeln!(
        text,
        "again: SIM_FROM={seed} SIM_SEEDS=1 cargo test --profile sim -p recado-tests --test simulation -- --nocapture"
    );
    let _ = writeln!(text, "faults: {}", faults(&outcome.faults));
    let whose = violation.conversation.as_ref();
    let of_it = |line: &&Line| {
        line.conversation.is_none() || whose.is_none() || line.conversation.as_ref() == whose
    };
    let lines: Vec<&Line> = outcome.log.iter().filter(of_it).collect();
    let hidden = lines.len().saturating_sub(LINES_MAX);
    if hidden > 0 {
        let _ = writeln!(text, "  ... {hidden} lines before");
    }
    for line in &lines[hidden..] {
        let seconds = line.at_ms / 1000;
        let ms = line.at_ms % 1000;
        let who = line
            .conversation
            .as_ref()
            .map_or("-", |of| of.contact.as_str());
        let _ = writeln!(
            text,
            "  {seconds:>6}.{ms:03} #{:<4} {who:<15} {}",
            line.invocation, line.text
        );
    }
    text
}

/// Faults by kind, those that happened.
pub fn faults(counts: &[u64]) -> String {
    let happened = Fault::ALL
        .iter()
        .zip(counts)
        .filter(|(_, count)| **count > 0);
    let words: Vec<String> = happened
        .map(|(fault, count)| format!("{} {count}", fault.label()))
        .collect();
    words.join(", ")
}
