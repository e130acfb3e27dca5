//! A text as the provider takes it: at most 4,096 code points. A longer one is refused as a whole there, and the
//! person would get nothing; so it ends early, at a place where a reader may stop, with `…`.
//!
//! Invariant: what fits is left as it is, so what was fitted when it was stored is sent as it was stored.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

/// The provider counts code points.
pub const CHARS_MAX: usize = 4096;
const MARK: char = '…';

/// The text, or its beginning: up to a paragraph's end in the last half, else a sentence's, else a word's, else
/// between two characters as a reader sees them.
pub fn fit(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    if text.chars().count() <= CHARS_MAX {
        return Cow::Borrowed(text);
    }
    let limit = text
        .char_indices()
        .nth(CHARS_MAX - 1)
        .map_or(text.len(), |(at, _)| at);
    // A break that stands exactly at the limit counts too, so the character after it is looked at.
    let half = start_of(text, CHARS_MAX / 2);
    let at = paragraph_end(text, half, limit)
        .or_else(|| sentence_end(text, half, limit))
        .or_else(|| word_end(text, half, limit))
        .unwrap_or_else(|| character_end(text, limit));
    Cow::Owned(marked(&text[..at]))
}

/// A text that its writer was stopped in, up to the end of its last sentence in the last half, else of its last whole
/// word; never a number that may go on. Where it is one word it stays whole. Fits.
pub fn broken_off(text: &str) -> String {
    let text = text.trim_end();
    let text = &text[..start_of(text, CHARS_MAX - 1)];
    let half = start_of(text, text.chars().count() / 2);
    let at = sentence_end(text, half, text.len())
        .or_else(|| word_end(text, half, text.len()))
        .unwrap_or_else(|| character_end(text, text.len()));
    marked(&text[..at])
}

/// One mark, also where one stands there already.
fn marked(text: &str) -> String {
    format!("{}{MARK}", text.trim_end().trim_end_matches(MARK))
}

/// The byte that the code point `number` starts at; the length where there are not so many.
fn start_of(text: &str, number: usize) -> usize {
    text.char_indices()
        .nth(number)
        .map_or(text.len(), |(at, _)| at)
}

fn paragraph_end(text: &str, half: usize, limit: usize) -> Option<usize> {
    text[half..limit].rfind("\n\n").map(|at| half + at)
}

fn sentence_end(text: &str, half: usize, limit: usize) -> Option<usize> {
    let ends = |at: usize, c: char| {
        let end = at + c.len_utf8();
        let next = text[end..].chars().next();
        let before_space = next.is_some_and(char::is_whitespace);
        match c {
            '!' | '?' | '…' if next.is_none() => Some(end),
            '.' | '!' | '?' | '…' | ':' | ';' => before_space.then_some(end),
            '。' | '！' | '？' => Some(end),
            '\n' => Some(at),
            _ => None,
        }
    };
    let part = text[half..limit].char_indices().rev();
    part.map(|(at, c)| (half + at, c))
        .find_map(|(at, c)| ends(at, c))
}

fn word_end(text: &str, half: usize, limit: usize) -> Option<usize> {
    if text[limit..].starts_with(char::is_whitespace) {
        return Some(limit);
    }
    text[half..limit]
        .rfind(char::is_whitespace)
        .map(|at| half + at)
}

/// Steps back while the next code point belongs to the one before it: accents, joined emoji, skin tones. A tower of
/// more than 64 is no character of any script.
fn character_end(text: &str, limit: usize) -> usize {
    let mut at = limit;
    for _ in 0..64 {
        let next = text[at..].chars().next();
        let before = text[..at].chars().next_back();
        let joined = next.is_some_and(continues) || before == Some('\u{200d}');
        let Some(before) = before.filter(|_| joined) else {
            return at;
        };
        at -= before.len_utf8();
    }
    limit
}

fn continues(c: char) -> bool {
    is_combining_mark(c)
        || matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_ends_where_a_reader_may_stop() {
        let a = |n: usize| "a".repeat(n);
        for (label, text, expected) in [
            ("short", "oi".to_owned(), "oi".to_owned()),
            ("at the limit", a(4096), a(4096)),
            (
                "at the limit in code points",
                "é".repeat(4096),
                "é".repeat(4096),
            ),
            ("only spaces over it", format!("{}   ", a(4096)), a(4096)),
            ("one over, no break", a(4097), format!("{}…", a(4095))),
            (
                "a paragraph",
                format!("{}\n\n{}. {} {}", a(3000), a(500), a(500), a(500)),
                format!("{}…", a(3000)),
            ),
            (
                "a sentence",
                format!("{}. {} {}", a(3000), a(500), a(2000)),
                format!("{}.…", a(3000)),
            ),
            (
                "a line",
                format!("{}\n{} {}", a(3000), a(500), a(2000)),
                format!("{}…", a(3000)),
            ),
            (
                "a word",
                format!("{} {}", a(3000), a(2000)),
                format!("{}…", a(3000)),
            ),
            (
                "a word that ends at the limit",
                format!("{} {}", a(4095), a(9)),
                format!("{}…", a(4095)),
            ),
            (
                "a number's point is no end",
                format!("{} 1.5{}", a(3000), a(2000)),
                format!("{}…", a(3000)),
            ),
            (
                "a paragraph in the first half is too early",
                format!("{}\n\n{} {}", a(9), a(3500), a(2000)),
                format!("{}\n\n{}…", a(9), a(3500)),
            ),
            (
                "an accent stays with its letter",
                format!("{}e\u{301}{}", a(4094), a(9)),
                format!("{}…", a(4094)),
            ),
            (
                "a family stays together",
                format!("{}👩\u{200d}👧{}", a(4094), a(9)),
                format!("{}…", a(4094)),
            ),
        ] {
            assert_eq!(fit(&text), expected, "{label}");
        }
    }

    #[test]
    fn what_was_broken_off_ends_where_a_reader_may_stop() {
        for (label, text, expected) in [
            (
                "a sentence",
                "Abrimos às 9h. Fechamos às 18h. Aos sáb",
                "Abrimos às 9h. Fechamos às 18h.…",
            ),
            (
                "early sentences say too little",
                "Oi! O corte com a Júlia cus",
                "Oi! O corte com a Júlia…",
            ),
            (
                "a price is not halved",
                "O corte sai por R$ 1.2",
                "O corte sai por R$…",
            ),
            (
                "a point may belong to a number",
                "O corte custa 1.",
                "O corte custa…",
            ),
            (
                "it may have been whole",
                "Abrimos às 9h. Até já!",
                "Abrimos às 9h. Até já!…",
            ),
            ("marked already", "Abrimos às 9h… ", "Abrimos às 9h…"),
            ("one word", "Abri", "Abri…"),
            ("nothing", "", "…"),
        ] {
            assert_eq!(broken_off(text), expected, "{label}");
        }
        let long = "a ".repeat(5_000);
        assert_eq!(broken_off(&long).chars().count(), 4_094);
    }

    proptest! {
        #[test]
        fn never_over_the_limit_and_always_a_beginning(
            parts in proptest::collection::vec("[a-zé😀\u{301}\u{200d} .\n]{0,60}", 0..120),
        ) {
            let text = parts.concat();
            let fitted = fit(&text);
            prop_assert!(fitted.chars().count() <= CHARS_MAX);
            prop_assert!(text.starts_with(fitted.strip_suffix(MARK).unwrap_or(&fitted)));
            prop_assert_eq!(&fit(&fitted), &fitted, "what was stored is what is sent");
            let broken = broken_off(&text);
            prop_assert!(broken.chars().count() <= CHARS_MAX && broken.ends_with(MARK));
            prop_assert!(text.starts_with(broken.trim_end_matches(MARK)));
        }
    }
}
