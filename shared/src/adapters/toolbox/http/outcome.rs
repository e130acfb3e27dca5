//! What an answer of a service means for a call.

use reqwest::StatusCode;

use crate::domain::{Effect, ToolResult};
use crate::policy::visible::without_nul;

/// What stands in the place of a secret that a service said back.
const HIDDEN: &str = "[secret]";

/// What came of a call that was answered. `is_whole` is false where the body broke off.
pub fn of(effect: Effect, status: StatusCode, text: String, is_whole: bool) -> ToolResult {
    let number = status.as_u16();
    match number {
        // Done, however little of its words came.
        200..=299 if is_whole || effect == Effect::Write => ToolResult::Ok(text),
        200..=299 => ToolResult::Error("the service's answer broke off".to_owned()),
        // After a write these say where to look at what was done; the others, to ask elsewhere instead.
        301..=303 if effect == Effect::Write => ToolResult::Unknown,
        300..=399 => ToolResult::Error(format!(
            "the service redirects ({number}), which is not followed: nothing was done"
        )),
        400..=499 => ToolResult::Error(format!("the service refused ({number}): {text}")),
        _ => super::super::no_answer(effect, &format!("the service failed ({number})")),
    }
}

/// A body in words, whatever bytes it has; `kind` is its content type in small letters.
pub fn text(kind: &str, body: &[u8]) -> String {
    if kind.contains("charset=iso-8859-1") || kind.contains("charset=windows-1252") {
        let text: String = body.iter().copied().map(char::from).collect();
        return without_nul(&text).into_owned();
    }
    // A text that was cut inside a character is still one.
    let is_text = match std::str::from_utf8(body) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let says_text = kind.is_empty()
        || ["text/", "json", "xml", "urlencoded"]
            .iter()
            .any(|part| kind.contains(part));
    if is_text || says_text {
        let text = String::from_utf8_lossy(body);
        let broken = text
            .chars()
            .filter(|sign| *sign == char::REPLACEMENT_CHARACTER);
        // Words in some other code have a few; what is full of them is no words.
        if is_text || broken.count() * 8 < text.chars().count() * 3 {
            return without_nul(&text).into_owned();
        }
    }
    let kind = kind.split(';').next().unwrap_or_default();
    format!("{} bytes that are no text ({kind})", body.len())
}

/// The text without any of the secrets that were sent for it: some services say back what they got, each in its own
/// spelling. What lies across the end, where the body was cut, goes as well.
pub fn hidden(text: String, secrets: &[&str]) -> String {
    let secrets = secrets.iter().map(|secret| secret.trim());
    secrets
        .filter(|secret| !secret.is_empty())
        .fold(text, |text, secret| without(&text, secret))
}

fn without(text: &str, secret: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        match said(rest, secret) {
            Said::Whole(end) => {
                clean.push_str(HIDDEN);
                rest = &rest[end..];
            }
            Said::Cut => {
                clean.push_str(HIDDEN);
                break;
            }
            Said::Other => {
                clean.push(sign);
                rest = &rest[sign.len_utf8()..];
            }
        }
    }
    clean
}

/// How a text begins.
enum Said {
    /// With the secret, so many bytes long.
    Whole(usize),
    /// With the first of its signs, and there it ends.
    Cut,
    /// With something else.
    Other,
}

/// The shortest beginning of a secret that is taken for one at the end of a text.
const CUT_SIGNS: usize = 4;

/// What a spelling that is not the sign itself begins with.
const ESCAPES: [char; 3] = ['\\', '%', '&'];

fn said(text: &str, secret: &str) -> Said {
    if text.starts_with(secret) {
        return Said::Whole(secret.len());
    }
    let mut rest = text;
    for (count, sign) in secret.chars().enumerate() {
        let Some(length) = spelt(rest, sign) else {
            // The end may lie inside a spelling.
            let is_end = rest.is_empty() || (rest.len() < 6 && rest.starts_with(ESCAPES));
            let is_cut = is_end && count >= CUT_SIGNS;
            return if is_cut { Said::Cut } else { Said::Other };
        };
        rest = &rest[length..];
    }
    Said::Whole(text.len() - rest.len())
}

/// The length of `sign` at the beginning of a text, as itself or as JSON, an address or HTML may spell it.
fn spelt(text: &str, sign: char) -> Option<usize> {
    let itself = || text.starts_with(sign).then(|| sign.len_utf8());
    if !text.starts_with(ESCAPES) {
        return itself();
    }
    let code = u32::from(sign);
    let name = match sign {
        '&' => "&amp;",
        '"' => "&quot;",
        '<' => "&lt;",
        '>' => "&gt;",
        _ => "",
    };
    let spellings = [
        format!("\\{sign}"),
        format!("\\u{code:04x}"),
        format!("%{code:02x}"),
        format!("&#{code};"),
        format!("&#x{code:x};"),
        name.to_owned(),
    ];
    let begins = |spelling: &&String| {
        let start = text.get(..spelling.len()).unwrap_or_default();
        !spelling.is_empty() && start.eq_ignore_ascii_case(spelling)
    };
    let spelling = spellings.iter().find(begins).map(String::len);
    spelling.or_else(itself)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_means_what_was_done() {
        let ok = || ToolResult::Ok("t".to_owned());
        let refused = |number| ToolResult::Error(format!("the service refused ({number}): t"));
        let failed = ToolResult::Error("the service failed (500)".to_owned());
        let moved = |number| {
            ToolResult::Error(format!(
                "the service redirects ({number}), which is not followed: nothing was done"
            ))
        };
        for (status, whole, read, write) in [
            (200, true, ok(), ok()),
            (201, true, ok(), ok()),
            (
                200,
                false,
                ToolResult::Error("the service's answer broke off".to_owned()),
                ok(),
            ),
            (302, true, moved(302), ToolResult::Unknown),
            (303, true, moved(303), ToolResult::Unknown),
            (307, true, moved(307), moved(307)),
            (404, true, refused(404), refused(404)),
            (409, true, refused(409), refused(409)),
            (429, true, refused(429), refused(429)),
            (500, true, failed.clone(), ToolResult::Unknown),
        ] {
            let given = |effect| {
                of(
                    effect,
                    StatusCode::from_u16(status).unwrap(),
                    "t".to_owned(),
                    whole,
                )
            };
            assert!(given(Effect::Read) == read, "{status}");
            assert!(given(Effect::Write) == write, "{status}");
        }
    }

    #[test]
    fn any_bytes_become_words() {
        for (kind, body, right) in [
            ("application/json", &b"{\"a\":1}"[..], "{\"a\":1}"),
            ("text/plain; charset=iso-8859-1", b"hor\xe1rio", "horário"),
            ("text/plain", b"a\xffb", "a\u{fffd}b"),
            ("text/plain", b"a\0b", "ab"),
            ("", b"", ""),
            ("application/octet-stream", b"plain", "plain"),
            (
                "image/png",
                b"\x89PNG\xff\xff",
                "6 bytes that are no text (image/png)",
            ),
            (
                "application/json",
                b"{\xff\xfe\x01\xf0}",
                "6 bytes that are no text (application/json)",
            ),
        ] {
            assert_eq!(text(kind, body), right, "{kind}");
        }
    }

    #[test]
    fn a_secret_that_is_said_back_is_hidden() {
        let said = r#"you sent Bearer abc"def and "abc\"def""#;
        let right = r#"you sent Bearer [secret] and "[secret]""#;
        assert_eq!(hidden(said.to_owned(), &[r#"abc"def"#, ""]), right);
    }

    #[test]
    fn a_secret_is_hidden_in_any_spelling_and_where_the_body_was_cut() {
        for (label, secret, said, right) in [
            (
                "a slash in JSON",
                "k/9+z=",
                r#"{"t":"k\/9+z="}"#,
                r#"{"t":"[secret]"}"#,
            ),
            (
                "code points",
                "k/9+z=",
                r#""k/9\u002Bz\u003d""#,
                r#""[secret]""#,
            ),
            (
                "in an address",
                "k/9+z=",
                "?t=k%2F9%2bz%3D&x=1",
                "?t=[secret]&x=1",
            ),
            (
                "in HTML",
                r#"a&b"c"#,
                "<p>a&amp;b&#34;c</p>",
                "<p>[secret]</p>",
            ),
            (
                "a backslash",
                r"a\b",
                r#"a\b and "a\\b""#,
                r#"[secret] and "[secret]""#,
            ),
            (
                "with spaces around it",
                " abc1 ",
                "Bearer abc1",
                "Bearer [secret]",
            ),
            ("cut", "abcdefgh", "xabcde", "x[secret]"),
            ("as good as nothing of it", "abcdefgh", "xabc", "xabc"),
            ("cut inside a spelling", "abcd/efgh", "xabcd%2", "x[secret]"),
            ("two backslashes", r"a\\b", r"a\\b", "[secret]"),
            ("twice", "abcd", "abcdabcd", "[secret][secret]"),
            ("another", "abcd", "abce é\u{1f600}%", "abce é\u{1f600}%"),
        ] {
            assert_eq!(hidden(said.to_owned(), &[secret]), right, "{label}");
        }
    }
}
