//! Other people's words made safe to stand in a prompt: our delimiters taken out, long ones cut.
//!
//! Invariant: no text that went through [`neutralised`] or [`quoted`] holds one of our delimiters.

use crate::policy::tokens;
use crate::policy::visible::is_invisible;

/// The names of our delimiters; `<memory>` and the like belong to the engine alone.
pub const TAGS: [&str; 3] = ["memory", "note", "conversation"];

/// Stands where words were left out.
pub const MARK: &str = "[…]";

/// `text` with every delimiter of ours made harmless (`<memory>` becomes `‹memory>`); other text stays as it is.
pub fn neutralised(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if c == '<' && opens_tag(&text[at + 1..]) {
            safe.push('‹');
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Whether what follows a `<` reads like one of our tags, whatever its case, slashes and spaces.
fn opens_tag(rest: &str) -> bool {
    let name: String = rest
        .chars()
        .filter(|c| !is_invisible(*c))
        .skip_while(|c| *c == '/')
        .take_while(char::is_ascii_alphabetic)
        .take(12)
        .collect::<String>()
        .to_ascii_lowercase();
    TAGS.iter().any(|tag| name.starts_with(tag))
}

/// `text` as one JSON string on one line, angle brackets escaped: data that cannot end its block.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The newest words of `text` behind a mark that says something is missing before them, at most `estimate` tokens.
pub fn marked_tail(text: &str, estimate: u32) -> String {
    let room = estimate.saturating_sub(tokens::estimate(MARK));
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let first = starts.partition_point(|at| tokens::estimate(&text[*at..]) > room);
    let rest = starts.get(first).map_or("", |at| &text[*at..]);
    // From the next word on, where one begins soon; else at least not inside a composed sign.
    let soon = rest
        .char_indices()
        .take(40)
        .find(|(_, c)| c.is_whitespace());
    let whole = match soon {
        _ if first == 0 => rest,
        Some((at, _)) => &rest[at..],
        None => rest.trim_start_matches(is_attached),
    };
    format!("{MARK} {}", whole.trim_start())
        .trim_end()
        .to_owned()
}

/// The first words of `text` that cost at most `estimate` tokens, before a mark; the text itself where it fits.
pub fn head(text: &str, estimate: u32) -> String {
    if tokens::estimate(text) <= estimate {
        return text.to_owned();
    }
    let room = estimate.saturating_sub(tokens::estimate(MARK));
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let count = ends.partition_point(|at| tokens::estimate(&text[..*at]) <= room);
    let mut end = ends.get(count.saturating_sub(1)).copied().unwrap_or(0);
    while text[end..].starts_with(is_attached) && end > 0 {
        end = text[..end]
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at);
    }
    let kept = &text[..end];
    let near = kept
        .char_indices()
        .rev()
        .take(40)
        .find(|(_, c)| c.is_whitespace());
    let whole = match near {
        Some((at, _)) if !text[end..].starts_with(char::is_whitespace) => &kept[..at],
        _ => kept,
    };
    format!("{} {MARK}", whole.trim_end())
        .trim_start()
        .to_owned()
}

/// Signs that continue the one before them.
fn is_attached(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delimiters_of_ours_are_made_harmless() {
        for (label, text, safe) in [
            ("plain words", "a < b > c", "a < b > c"),
            ("other tags stay", "<b>oi</b>", "<b>oi</b>"),
            ("an opening", "<memory>", "‹memory>"),
            ("a closing", "x</memory>", "x‹/memory>"),
            ("capitals and spaces", "< / MeMory >", "‹ / MeMory >"),
            ("hidden letters", "<\u{200b}note>", "‹\u{200b}note>"),
            ("with attributes", "<note kind=\"x\">", "‹note kind=\"x\">"),
            ("doubled", "<<conversation>", "<‹conversation>"),
        ] {
            assert_eq!(neutralised(text), safe, "{label}");
        }
    }

    #[test]
    fn a_cut_falls_between_words() {
        let text = "um dois tres quatro cinco seis sete oito nove dez";
        assert_eq!(marked_tail(text, 8), "[…] sete oito nove dez");
        assert_eq!(head(text, 8), "um dois tres quatro […]");
        assert_eq!(marked_tail(text, 100), format!("[…] {text}"));
        assert_eq!(head(text, 100), text);
    }

    proptest! {
        #[test]
        fn a_cut_text_keeps_its_price(text in "\\PC{0,400}", estimate in 4_u32..60) {
            prop_assert!(tokens::estimate(&marked_tail(&text, estimate)) <= estimate);
            prop_assert!(tokens::estimate(&head(&text, estimate)) <= estimate);
        }

        #[test]
        fn a_quoted_text_is_one_line_without_brackets(text in any::<String>()) {
            let line = quoted(&text);
            prop_assert!(!line.contains(['<', '>', '\n', '\r']));
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
