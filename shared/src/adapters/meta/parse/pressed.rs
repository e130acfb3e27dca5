//! Buttons and list rows: who presses one says what is on it.

use serde_json::Value;

use super::json;

/// What templates put into the payload of a button that opts out, whatever its label says.
const STOP_PAYLOADS: [&str; 2] = ["stop", "unsubscribe"];

/// The words of a pressed button or a chosen row; `None` for every other kind, and for a form.
pub fn words<'v>(kind: &str, message: &'v Value) -> Option<&'v str> {
    match kind {
        "button" => {
            let payload = json::text_at(message, &["button", "payload"]);
            let is_stop = |payload: &&str| STOP_PAYLOADS.contains(&&*payload.to_ascii_lowercase());
            payload
                .filter(is_stop)
                .or_else(|| json::text_at(message, &["button", "text"]))
        }
        "interactive" => ["button_reply", "list_reply"]
            .into_iter()
            .find_map(|reply| json::text_at(message, &["interactive", reply, "title"])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_presses_a_button_says_what_is_on_it() {
        let template =
            |text: Value, payload: Value| json!({ "button": { "text": text, "payload": payload } });
        for (label, kind, message, expected) in [
            (
                "a template's button",
                "button",
                template(json!("Sim"), json!("YES-1")),
                Some("Sim"),
            ),
            (
                "one that opts out under any label",
                "button",
                template(json!("Não quero mais"), json!("STOP")),
                Some("STOP"),
            ),
            (
                "one that opts out, in the other word",
                "button",
                template(json!("Sair"), json!("Unsubscribe")),
                Some("Unsubscribe"),
            ),
            (
                "without a label",
                "button",
                template(json!(null), json!("YES-1")),
                None,
            ),
            (
                "a reply button",
                "interactive",
                json!({ "interactive": { "button_reply": { "id": "1", "title": "Amanhã" } } }),
                Some("Amanhã"),
            ),
            (
                "a row of a list",
                "interactive",
                json!({ "interactive": { "list_reply": { "id": "2", "title": "10h" } } }),
                Some("10h"),
            ),
            (
                "a form",
                "interactive",
                json!({ "interactive": { "nfm_reply": { "response_json": "{}" } } }),
                None,
            ),
            (
                "a label that is no text",
                "button",
                template(json!(["Sim"]), json!(7)),
                None,
            ),
            ("another kind", "image", json!({ "image": {} }), None),
        ] {
            assert_eq!(words(kind, &message), expected, "{label}");
        }
    }
}
