//! JSON as it really comes: numbers where texts are promised, and halves of characters.

use std::borrow::Cow;

use serde_json::Value;

/// Reads a body. One that is refused only for a lone surrogate or for bytes that are not UTF-8 is read again with
/// U+FFFD in their place: one broken character in one message must not sink the others.
pub fn read(raw: &[u8]) -> Option<Value> {
    match serde_json::from_slice(raw) {
        Ok(value) => Some(value),
        Err(_) => serde_json::from_str(&mended(&String::from_utf8_lossy(raw))).ok(),
    }
}

/// The text under `key`; a number counts as one, an empty text as none.
pub fn text<'v>(value: &'v Value, key: &str) -> Option<Cow<'v, str>> {
    match value.get(key)? {
        Value::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// The text at the end of a path of keys, if it is one and not empty.
pub fn text_at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v str> {
    let found = path.iter().try_fold(value, |value, key| value.get(*key));
    found?.as_str().filter(|text| !text.is_empty())
}

/// The same JSON with `\ufffd` in place of every surrogate that has no partner.
fn mended(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        let escape = &rest[at..];
        let taken = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            // The escaped character goes along: in `\\ud800` the second backslash starts nothing.
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..taken]);
        rest = &escape[taken..];
    }
    mended.push_str(rest);
    mended
}

/// The UTF-16 unit that `text` starts with, where it starts with `\uXXXX`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        u16::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_a_character_becomes_a_replacement_and_nothing_else_changes() {
        for (label, raw, expected) in [
            ("whole", r#"["\ud83d\ude00"]"#, "😀"),
            ("high alone", r#"["a\ud83db"]"#, "a\u{fffd}b"),
            ("low alone", r#"["a\ude00b"]"#, "a\u{fffd}b"),
            ("two highs", r#"["\ud83d\ud83d\ude00"]"#, "\u{fffd}😀"),
            ("high, then another escape", r#"["\ud83d\n"]"#, "\u{fffd}\n"),
            ("high at the end", r#"["\ud83d"]"#, "\u{fffd}"),
            (
                "an escaped backslash",
                r#"["\\ud83d \ud83d"]"#,
                "\\ud83d \u{fffd}",
            ),
            (
                "not ASCII after a backslash's text",
                r#"["é\ud83dé"]"#,
                "é\u{fffd}é",
            ),
        ] {
            assert_eq!(read(raw.as_bytes()).unwrap()[0], expected, "{label}");
        }
        assert_eq!(
            read(b"[\"a\xed\xa0\x80\"]").unwrap()[0]
                .as_str()
                .map(|t| t.starts_with('a')),
            Some(true)
        );
    }

    proptest! {
        #[test]
        fn json_that_is_whole_is_left_as_it_is(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(mended(&json), json);
        }

        #[test]
        fn mending_never_panics(json in "[\\\\u0-9a-fDd8é\"]{0,40}") {
            mended(&json);
        }
    }
}
