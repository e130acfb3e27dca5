//! Recognisable personal data, and a search for them in whatever form a log may have turned them into.

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// In which forms `canary` is found in `text`; empty where it did not leak.
pub fn leaks(text: &str, canary: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lower = text.to_lowercase();
    let bytes = canary.as_bytes();
    let mut look = |form: String, needle: &str| {
        // Log lines may be wrapped in quotes and escapes, never in letters that change case.
        if lower.contains(&needle.to_lowercase()) {
            found.push(form);
        }
    };
    look("plain".to_owned(), canary);
    let hexed: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    look("hex".to_owned(), &hexed.concat());
    let percent = format!("%{}", hexed.join("%"));
    look("percent-encoded throughout".to_owned(), &percent);
    let usual: String = bytes.iter().map(|byte| percent_encoded(*byte)).collect();
    look("percent-encoded".to_owned(), &usual);
    look("as a form".to_owned(), &usual.replace("%20", "+"));
    let list: Vec<String> = bytes.iter().map(ToString::to_string).collect();
    look("a list of bytes".to_owned(), &list.join(", "));
    look("escaped".to_owned(), &canary.escape_default().to_string());
    let json = serde_json::to_string(canary).unwrap_or_default();
    look("JSON".to_owned(), json.trim_matches('"'));
    for alignment in 0..3 {
        for (name, needle) in [
            ("base64", aligned(&STANDARD_NO_PAD, bytes, alignment)),
            (
                "URL-safe base64",
                aligned(&URL_SAFE_NO_PAD, bytes, alignment),
            ),
        ] {
            // Case matters in base64.
            if text.contains(&needle) {
                found.push(format!("{name} at {alignment}"));
            }
        }
    }
    found
}

fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02x}")
    }
}

/// The letters that encode `bytes` wherever they stand behind `alignment` other bytes: those that the neighbours
/// on both sides have no part in.
fn aligned(engine: &impl base64::Engine, bytes: &[u8], alignment: usize) -> String {
    let padded: Vec<u8> = std::iter::repeat_n(0, alignment)
        .chain(bytes.iter().copied())
        .collect();
    let encoded = engine.encode(&padded);
    let first = (alignment * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    encoded[first..last].to_owned()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    const CANARY: &str = "canário azul 42";

    #[test]
    fn each_form_is_found_wherever_it_stands() {
        for before in ["", "a", "ab", "abc"] {
            let whole = format!("{before}{CANARY}|and more");
            let bytes = whole.as_bytes();
            for (label, text) in [
                ("plain", whole.clone()),
                ("upper case", whole.to_uppercase()),
                ("standard", STANDARD_NO_PAD.encode(bytes)),
                ("URL-safe", URL_SAFE_NO_PAD.encode(bytes)),
                ("hex", hex::encode(bytes)),
                ("debugged bytes", format!("{bytes:?}")),
                ("escaped text", whole.escape_default().to_string()),
                (
                    "percent",
                    bytes.iter().map(|b| percent_encoded(*b)).collect(),
                ),
            ] {
                assert!(
                    !leaks(&text, CANARY).is_empty(),
                    "{label} behind {before:?}"
                );
            }
        }
    }

    #[test]
    fn other_words_are_no_leak() {
        assert!(leaks("a canary of another colour, 42 times", CANARY).is_empty());
    }
}
