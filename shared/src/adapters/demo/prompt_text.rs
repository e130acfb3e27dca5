//! Reads a prompt's own text back: the language of its rules, the lines of its memory and of a compaction's span.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::Prompt;
use crate::policy::prompt::Language;

/// A line of data: what stands before the quoted text, and the text.
pub struct Line {
    /// `m1`, `f2`, or `-` where facts have no alias.
    pub alias: String,
    /// The line's day, `2026-11-30`; empty where it has none.
    pub day: String,
    /// The words.
    pub text: String,
}

/// The facts in a memory block, oldest first.
pub fn facts(memory: &str) -> Vec<Line> {
    let is_fact = |line: &Line| line.alias == "-" || is_alias(&line.alias, 'f');
    memory.lines().filter_map(read).filter(is_fact).collect()
}

/// The summary in a memory block.
pub fn summary(memory: &str) -> Option<String> {
    let is_data = |alias: &str| alias == "-" || is_alias(alias, 'f');
    memory
        .lines()
        .filter_map(read)
        .find(|line| !is_data(&line.alias))
        .map(|line| line.text)
}

/// The person's lines in a compaction's span.
pub fn said(span: &str) -> Vec<Line> {
    span.lines()
        .filter_map(read)
        .filter(|line| is_alias(&line.alias, 'm'))
        .collect()
}

fn is_alias(alias: &str, letter: char) -> bool {
    alias
        .strip_prefix(letter)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// `m1 2026-11-02 (segunda-feira) pessoa: "…"`: everything before the colon, then one JSON string.
fn read(line: &str) -> Option<Line> {
    let (before, quoted) = line.split_once(": \"")?;
    let text = serde_json::from_str::<String>(&format!("\"{quoted}")).ok()?;
    let mut words = before.split_whitespace();
    Some(Line {
        alias: words.next()?.to_owned(),
        day: words.next().unwrap_or_default().to_owned(),
        text,
    })
}

/// The language of the prompt's rules.
pub fn language(prompt: &Prompt) -> Language {
    if prompt.rules.contains("mensagens") {
        Language::Portuguese
    } else if prompt.rules.contains("mensajes") {
        Language::Spanish
    } else {
        Language::English
    }
}

/// The first whole number in a text.
pub fn number(text: &str) -> Option<usize> {
    text.split(|c: char| !c.is_ascii_digit())
        .find_map(|digits| digits.parse().ok())
}

/// Lower-case plain letters of one word, for comparing.
pub fn folded(word: &str) -> String {
    word.nfkd()
        .filter(|c| !is_combining_mark(*c) && c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// All words of a text folded, one space between them and around them.
pub fn folded_all(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(folded)
        .filter(|word| !word.is_empty())
        .collect();
    format!(" {} ", words.join(" "))
}
