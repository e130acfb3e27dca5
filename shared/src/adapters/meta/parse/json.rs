//! JSON as it really comes: numbers where texts are promised, and halves of characters.

use std::borrow::Cow;

use serde_json::Value;

/// Reads a body, with a byte order mark or without. One that is refused only for a lone surrogate, for bytes that are not
/// UTF-8 or for a number beyond all measure is read again with U+FFFD or null in their place: one of them in one message
/// must not sink the others.
pub fn read(raw: &[u8]) -> Option<Value> {
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    match serde_json::from_slice(raw) {
        Ok(value) => Some(value),
        Err(_) => serde_json::from_str(&tamed(&mended(&String::from_utf8_lossy(raw)))).ok(),
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

/// The same JSON with `null` in place of every number that no f64 holds.
fn tamed(json: &str) -> String {
    let mut tamed = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' => string_length(rest),
            '-' | '0'..='9' => {
                let is_of_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                rest.find(|c| !is_of_number(c)).unwrap_or(rest.len())
            }
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_endless = next != '"' && token.parse::<f64>().is_ok_and(f64::is_infinite);
        tamed.push_str(if is_endless { "null" } else { token });
        rest = after;
    }
    tamed
}

/// The bytes of the string that `json` starts with, its quotes included; all of `json` where it does not end.
fn string_length(json: &str) -> usize {
    let mut is_escaped = true; // the opening quote ends nothing
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    json.len()
}

/// The UTF-16 unit that `text` starts with, where it starts with `\u` and four hexadecimal digits.
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

    #[test]
    fn a_number_beyond_all_measure_becomes_null_and_a_mark_is_passed_over() {
        let long = "9".repeat(400);
        for (label, raw, expected) in [
            ("a mark", "\u{feff}[1]".to_owned(), "[1]"),
            ("too large", "[1e999999,2]".to_owned(), "[null,2]"),
            ("too small", "[-1E+999999,2]".to_owned(), "[null,2]"),
            (
                "too many digits",
                format!("[{long},-{long}.5,2]"),
                "[null,null,2]",
            ),
            (
                "next to nothing",
                "[1e-999999,1e999]".to_owned(),
                "[0.0,null]",
            ),
            (
                "in a text",
                r#"["1e999 \"1e999",1e999]"#.to_owned(),
                r#"["1e999 \"1e999",null]"#,
            ),
            (
                "after a backslash",
                r#"["\\",1e999]"#.to_owned(),
                r#"["\\",null]"#,
            ),
            (
                "with half a character",
                r#"["\ud83d",1e999]"#.to_owned(),
                "[\"\u{fffd}\",null]",
            ),
        ] {
            assert_eq!(
                read(raw.as_bytes()).unwrap().to_string(),
                expected,
                "{label}"
            );
        }
        for raw in [
            "\u{feff}",
            "[1e999",
            "[\"1e999",
            "[1e999e]",
            "\u{feff}\u{feff}[]",
        ] {
            assert_eq!(read(raw.as_bytes()), None, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn json_that_is_whole_is_left_as_it_is(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(mended(&json), json.as_str());
            prop_assert_eq!(tamed(&json), json);
        }

        #[test]
        fn mending_never_panics(json in "[\\\\u0-9a-fDd8é\"]{0,40}") {
            tamed(&mended(&json));
        }
    }
}
