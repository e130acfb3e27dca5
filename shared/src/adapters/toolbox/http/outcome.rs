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
        return without_nul(&String::from_utf8_lossy(body)).into_owned();
    }
    let kind = kind.split(';').next().unwrap_or_default();
    format!("{} bytes that are no text ({kind})", body.len())
}

/// The text without any of the secrets that were sent for it: some services say back what they got.
pub fn hidden(mut text: String, secrets: &[&str]) -> String {
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, HIDDEN);
        let quoted = serde_json::Value::from(*secret).to_string();
        text = text.replace(quoted.trim_matches('"'), HIDDEN);
    }
    text
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
}
