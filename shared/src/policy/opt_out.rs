//! Whether a message is a STOP: the whole message, folded, is one of the agent's words.
//!
//! Invariant: a sentence that merely contains such a word never opts anyone out.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::visible::is_invisible;
use crate::domain::{Event, OptOut};

/// Lower case, plain letters, one space between words, nothing that cannot be seen: how words are compared.
pub fn plain(text: &str) -> String {
    let is_seen = |c: &char| c.is_whitespace() || !(is_invisible(*c) || is_combining_mark(*c));
    let letters = text.nfkd().filter(is_seen);
    let lower: String = letters.flat_map(char::to_lowercase).collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// [`plain`], and without what stands around the words: `" PARÁR!! "` gives `parar`.
pub fn fold(text: &str) -> String {
    plain(text)
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_owned()
}

/// Whether `text` as a whole is one of `words` (which are folded too).
pub fn is_stop(text: &str, words: &[String]) -> bool {
    let folded = fold(text);
    !folded.is_empty() && words.iter().any(|word| fold(word) == folded)
}

/// The newest STOP among `pending` (in order), as its index.
pub fn last_stop(pending: &[Event], words: &[String]) -> Option<usize> {
    pending
        .iter()
        .rposition(|event| event.text().is_some_and(|text| is_stop(text, words)))
}

/// The opt-out that the message `event` asks for.
pub fn opt_out_of(event: &Event) -> OptOut {
    OptOut {
        sent_at: event.sent_at,
    }
}

/// Whether `event` was written before the STOP of `opt_out`, with it, or within the same second (in which WhatsApp tells
/// no order, and in which nobody changes their mind), so that the STOP covers it.
pub fn covers(opt_out: &OptOut, event: &Event) -> bool {
    event.sent_at <= opt_out.sent_at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<String> {
        ["stop", "parar", "pare", "sair"].map(String::from).to_vec()
    }

    #[test]
    fn only_the_whole_message_is_a_stop() {
        for (label, text, right) in [
            ("plain", "parar", true),
            ("capitals and signs", "  PARAR!!! ", true),
            ("accent by mistake", "páre", true),
            ("full-width letters", "ＳＴＯＰ", true),
            ("with an emoji", "stop 🛑", true),
            (
                "inside a sentence",
                "não consigo parar de pensar nisso",
                false,
            ),
            ("two words", "stop it", false),
            ("part of a word", "parara", false),
            ("a zero width space inside", "s\u{200b}top", true),
            ("a soft hyphen inside", "par\u{ad}ar", true),
            ("a word joiner inside", "sa\u{2060}ir", true),
            ("a NUL and a direction", "\u{202e}pa\0re", true),
            ("a variant inside", "st\u{fe0f}op", true),
            ("a space inside", "sto p", false),
            ("nothing to see", "\u{200b}", false),
            ("empty", "", false),
            ("only signs", "!!!", false),
        ] {
            assert_eq!(is_stop(text, &words()), right, "{label}");
        }
    }

    #[test]
    fn a_blank_word_in_the_list_opts_nobody_out() {
        assert!(!is_stop("?!", &[String::new(), "!".to_owned()]));
    }
}
