//! What a person can see of a text: one notion of blank, for what they write, what is answered, sent and configured.

use std::borrow::Cow;

/// Whether nothing of `text` can be seen. Models and WhatsApp refuse such a text.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_invisible)
}

/// Whether `c` alone shows nothing: white space, controls, what Unicode lets fonts pass over (joiners, directions,
/// variants, fillers, tags), and the empty braille pattern.
pub fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// `text` without NUL, which means nothing to a person and breaks half of what reads texts.
pub fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        text.replace('\0', "").into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_blank() {
        for text in [
            "",
            " \n\t\r",
            "\0",
            "\u{7f}",
            "\u{85}",
            "\u{a0}",
            "\u{ad}",
            "\u{34f}",
            "\u{61c}",
            "\u{115f}\u{1160}",
            "\u{17b4}",
            "\u{180e}",
            "\u{180b}",
            "\u{200b}\u{200d}",
            "\u{200e}\u{200f}",
            "\u{202e}",
            "\u{2028}",
            "\u{2060}",
            "\u{2066}\u{2069}",
            "\u{206f}",
            "\u{2800}",
            "\u{3000}",
            "\u{3164}",
            "\u{fe0f}",
            "\u{feff}",
            "\u{ffa0}",
            "\u{fff9}\u{fffb}",
            "\u{1d173}",
            "\u{e0001}\u{e007f}",
            "\u{e0100}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in [
            ".",
            "oi",
            "\u{200b}a",
            "🛑",
            "❤\u{fe0f}",
            "👩\u{200d}👧",
            "\u{fffd}",
            "あ",
            "\u{301}",
            "ㅤa",
        ] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
