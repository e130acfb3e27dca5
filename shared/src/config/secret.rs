//! A text that must never be shown.

use std::fmt;

/// A key, a token or the like. It has no `Display`, and its `Debug` tells nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Any text that is not blank, without the space and line breaks that copying leaves around it.
    /// An error says what is wrong, never the text.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is blank");
        }
        if is_example(text) {
            return Err("is the example as it stands on a page, not a value of yours");
        }
        if text.chars().any(char::is_control) {
            return Err(
                "holds a line break or another control character inside; copy it again as one line",
            );
        }
        Ok(Self(text.to_owned()))
    }

    /// A key or token as providers issue them: one word of plain signs, fit for an HTTP header.
    pub fn parse_token(text: &str) -> Result<Self, &'static str> {
        let token = Self::parse(text)?;
        let text = &token.0;
        if text.contains(char::is_whitespace) {
            return Err("holds a space inside; copy it again as one word");
        }
        if !text.is_ascii() {
            return Err(
                "holds a letter that no key has (an accent, a curved quote); copy it again",
            );
        }
        if text.starts_with(['"', '\'']) || text.ends_with(['"', '\'']) {
            return Err("has quotes around it; give it without them");
        }
        if text.starts_with("Bearer") {
            return Err("starts with the word Bearer; give what follows it");
        }
        Ok(token)
    }

    /// The secret of a Meta app: 32 hexadecimal characters. Any other text would refuse every webhook as forged, long
    /// after the start and without a hint.
    pub fn parse_app_secret(text: &str) -> Result<Self, &'static str> {
        let secret = Self::parse_token(text)?;
        let is_whole = secret.0.len() == 32 && secret.0.bytes().all(|b| b.is_ascii_hexdigit());
        if is_whole {
            Ok(secret)
        } else {
            Err("is not the secret of a Meta app")
        }
    }

    /// The text itself, for the one place that hands it over.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// `...` or `sk-…`, as pages write what the reader has to fill in.
fn is_example(text: &str) -> bool {
    let rest = text.strip_prefix("sk-").unwrap_or(text);
    !rest.is_empty() && rest.chars().all(|sign| matches!(sign, '.' | '…'))
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copying_leaves_around_a_secret_goes() {
        for text in ["abc", " abc", "abc\n", "\tabc\r\n"] {
            assert_eq!(Secret::parse(text).unwrap().reveal(), "abc");
            assert_eq!(Secret::parse_token(text).unwrap().reveal(), "abc");
        }
    }

    #[test]
    fn what_cannot_be_a_token_is_refused_without_being_shown() {
        for (label, text) in [
            ("blank", " \n"),
            ("two lines", "abc\ndef"),
            ("a space", "abc def"),
            ("double quotes", "\"abcdef\""),
            ("single quotes", "'abcdef'"),
            ("curved quotes", "“abcdef”"),
            ("a whole header", "Bearerabcdef"),
        ] {
            let problem = Secret::parse_token(text).unwrap_err();
            assert!(!problem.contains("abc"), "{label}: {problem}");
        }
    }

    #[test]
    fn an_example_that_was_left_as_it_was_is_refused() {
        for (text, is_right) in [
            ("...", false),
            ("…", false),
            ("sk-...", false),
            ("sk-…", false),
            ("sk-.1", true),
            ("none", true),
            ("a...", true),
        ] {
            assert_eq!(Secret::parse(text).is_ok(), is_right, "{text}");
        }
    }

    #[test]
    fn an_app_secret_is_32_hexadecimal_characters() {
        for (label, text, is_right) in [
            ("right", "0123456789abcdef0123456789abcdef\n", true),
            ("in capitals", "0123456789ABCDEF0123456789ABCDEF", true),
            ("the example left as it was", "...", false),
            ("cut", "0123456789abcdef0123456789abcde", false),
            ("too long", "0123456789abcdef0123456789abcdef0", false),
            ("another letter", "0123456789abcdef0123456789abcdeg", false),
            ("a token", "EAAG0123456789abcdef0123456789ab", false),
        ] {
            let read = Secret::parse_app_secret(text);
            assert_eq!(read.is_ok(), is_right, "{label}");
        }
    }

    #[test]
    fn debugging_a_secret_shows_nothing_of_it() {
        let secret = Secret::parse("hunter2").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
