//! The preview in the engine's own words, where the model's answer leaves some of it out.
//!
//! Invariant: whoever is asked for a yes has been sent every value of every call that waits for it, in one message with
//! the question (a value of more than [`VALUE_CHARS_MAX`] its beginning).

use serde_json::Value;

use super::{PREVIEW, spaced};
use crate::domain::{Agent, Call, Effect, ToolResult};
use crate::policy::opt_out::plain;
use crate::policy::prompt::Language;
use crate::policy::sendable::CHARS_MAX;

/// What is shown of one value.
pub const VALUE_CHARS_MAX: usize = 200;
/// What is shown of one call.
const LINE_CHARS_MAX: usize = 1_000;

/// An answer with a line for each call of its turn that waits for a yes and is not wholly in it. The line stands last, or
/// first where the end would be cut off.
pub fn with_previews(agent: &Agent, answer: &str, calls: &[Call]) -> String {
    let said = spaced(&plain(answer));
    let lines: Vec<String> = calls
        .iter()
        .filter(|call| waits(call))
        .filter_map(|call| {
            let values = values(call);
            let is_there = |(_, value): &(String, String)| said.contains(&spaced(&plain(value)));
            let is_whole = values.iter().all(is_there) && !values.is_empty();
            (!is_whole).then(|| line(agent, call, &values))
        })
        .collect();
    if lines.is_empty() {
        return answer.to_owned();
    }
    let lines = lines.join("\n");
    let together = format!("{}\n\n{lines}", answer.trim_end());
    if together.chars().count() <= CHARS_MAX {
        together
    } else {
        format!("{lines}\n\n{answer}")
    }
}

fn waits(call: &Call) -> bool {
    let is_preview =
        |result: &ToolResult| matches!(result, ToolResult::Ok(text) if text.starts_with(PREVIEW));
    call.effect == Effect::Read && call.result.as_ref().is_some_and(is_preview)
}

fn line(agent: &Agent, call: &Call, values: &[(String, String)]) -> String {
    let what = call.call.tool.as_str().replace(['_', '-'], " ");
    let values: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}: {}", cut(value, VALUE_CHARS_MAX)))
        .collect();
    let values = cut(&values.join("; "), LINE_CHARS_MAX);
    Language::of(agent).to_confirm(&what, &values)
}

/// The values of a call, each with the way to it.
fn values(call: &Call) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for (name, value) in call.call.arguments.fields() {
        leaves(&name, &value, &mut values);
    }
    values
}

fn leaves(name: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) => into.push((name.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => into.push((name.to_owned(), value.to_string())),
        Value::Array(items) => items.iter().for_each(|item| leaves(name, item, into)),
        Value::Object(fields) => {
            for (inner, value) in fields {
                leaves(&format!("{name}.{inner}"), value, into);
            }
        }
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{} […]", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agent::sample;
    use crate::domain::{Arguments, CallId, ToolCall, ToolName};
    use crate::policy::confirm::preview;

    fn call(arguments: &str, result: Option<ToolResult>) -> Call {
        let call = ToolCall {
            id: CallId::parse("c1").unwrap(),
            tool: ToolName::parse("cancelar_horario").unwrap(),
            arguments: Arguments::parse(arguments).unwrap(),
        };
        let result = result.or_else(|| Some(preview(&call)));
        Call {
            n: 0,
            effect: Effect::Read,
            call,
            result,
        }
    }

    #[test]
    fn what_the_model_leaves_out_is_added_and_what_it_says_is_not_said_twice() {
        let waiting = r#"{"codigo":"A12","quando":{"dia":"2026-12-04"},"pessoas":2}"#;
        let added = "Para confirmar: cancelar horario (codigo: A12; pessoas: 2; quando.dia: 2026-12-04). Posso fazer?";
        for (label, answer, right) in [
            ("nothing shown", "Um momento!", Some(added)),
            (
                "a value left out",
                "Cancelo A12 em 2026-12-04, ok?",
                Some(added),
            ),
            (
                "part of a word is no value",
                "Cancelo A123 em 2026-12-04 para 2",
                Some(added),
            ),
            (
                "all shown",
                "Cancelo o A12, de 2026-12-04, para 2 pessoas. Pode ser?",
                None,
            ),
        ] {
            let said = with_previews(&sample(), answer, &[call(waiting, None)]);
            let expected = right.map_or(answer.to_owned(), |line| format!("{answer}\n\n{line}"));
            assert_eq!(said, expected, "{label}");
        }
        let none = call("{}", None);
        let said = with_previews(&sample(), "Cancelo?", &[none]);
        assert!(
            said.ends_with("Para confirmar: cancelar horario. Posso fazer?"),
            "{said}"
        );
    }

    #[test]
    fn only_what_waits_is_shown() {
        let done = call(
            r#"{"codigo":"A12"}"#,
            Some(ToolResult::Ok("feito".to_owned())),
        );
        assert_eq!(with_previews(&sample(), "Pronto!", &[done]), "Pronto!");
        assert_eq!(with_previews(&sample(), "Oi!", &[]), "Oi!");
    }

    #[test]
    fn however_long_answer_and_values_are_the_question_is_in_what_is_sent() {
        let long = format!(r#"{{"texto":"{}"}}"#, "palavra ".repeat(1_000));
        let answer = "resposta ".repeat(600);
        let said = with_previews(&sample(), &answer, &[call(&long, None)]);
        let sent = crate::policy::sendable::fit(&said);
        assert!(sent.starts_with("Para confirmar: cancelar horario (texto: palavra"));
        assert!(sent.contains("[…]). Posso fazer?"));
    }
}
