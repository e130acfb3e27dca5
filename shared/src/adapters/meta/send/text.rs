//! A text as the provider takes it: at most 4,096 code points. A longer one is refused as a whole there, and the
//! person would get nothing; so it ends early, at a place where a reader may stop, with `…`.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

/// The provider counts code points.
const CHARS_MAX: usize = 4096;
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
    let half = text
        .char_indices()
        .nth(CHARS_MAX / 2)
        .map_or(0, |(at, _)| at);
    let at = paragraph_end(text, half, limit)
        .or_else(|| sentence_end(text, half, limit))
        .or_else(|| word_end(text, half, limit))
        .unwrap_or_else(|| character_end(text, limit));
    Cow::Owned(format!("{}{MARK}", text[..at].trim_end()))
}

fn paragraph_end(text: &str, half: usize, limit: usize) -> Option<usize> {
    text[half..limit].rfind("\n\n").map(|at| half + at)
}

fn sentence_end(text: &str, half: usize, limit: usize) -> Option<usize> {
    let ends = |at: usize, c: char| {
        let end = at + c.len_utf8();
        let before_space = text[end..].chars().next().is_some_and(char::is_whitespace);
        match c {
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

    proptest! {
        #[test]
        fn never_over_the_limit_and_always_a_beginning(
            parts in proptest::collection::vec("[a-zé😀\u{301}\u{200d} .\n]{0,60}", 0..120),
        ) {
            let text = parts.concat();
            let fitted = fit(&text);
            prop_assert!(fitted.chars().count() <= CHARS_MAX);
            prop_assert!(text.starts_with(fitted.strip_suffix(MARK).unwrap_or(&fitted)));
        }
    }
}
