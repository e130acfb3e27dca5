//! The address of a tool, with the arguments that stand in it.

use reqwest::Url;
use serde_json::Value;

use super::super::document::{Document, Entry, Found};
use crate::domain::tool_spec::UrlPiece;

const EXAMPLE: &str = "https://api.example.com/slots/{day}";

/// The pieces of the address, and its host.
pub(super) fn read(
    file: &mut Document<'_>,
    http: &mut Entry<'_>,
    parameters: Option<&Value>,
    private: bool,
) -> Option<(Vec<UrlPiece>, String)> {
    http.require(file, "url", &format!("{EXAMPLE:?}"));
    let Found { value, origin } = http.text(file, "url", 2000, EXAMPLE)?;
    let read = split(&value).and_then(|(texts, names)| {
        let read = address(&texts, &names, private)?;
        let Some(parameters) = parameters else {
            return Ok(read);
        };
        names.iter().try_for_each(|name| placed(parameters, name))?;
        Ok(read)
    });
    match read {
        Ok(read) => Some(read),
        Err(problem) => {
            // The address is not shown: it may hold a password.
            http.mistake(
                file,
                "url",
                origin,
                format!("{problem}; for instance url = {EXAMPLE:?}"),
            );
            None
        }
    }
}

/// The texts around the arguments, and the arguments' names: one less.
fn split(template: &str) -> Result<(Vec<&str>, Vec<&str>), String> {
    let mut parts = template.split('{');
    let mut texts = vec![parts.next().unwrap_or_default()];
    let mut names = Vec::new();
    for part in parts {
        let (name, text) = part.split_once('}').ok_or("has a { without its }")?;
        names.push(name);
        texts.push(text);
    }
    if texts.iter().any(|text| text.contains('}')) {
        return Err("has a } without its {".to_owned());
    }
    Ok((texts, names))
}

/// Stands for an argument while the address is read: letters and digits mean nothing in any part of one.
fn stand_in(number: usize) -> String {
    format!("recadoargument{number}x")
}

fn address(
    texts: &[&str],
    names: &[&str],
    private: bool,
) -> Result<(Vec<UrlPiece>, String), String> {
    let mut whole = String::new();
    for (number, text) in texts.iter().enumerate() {
        if number > 0 {
            whole.push_str(&stand_in(number - 1));
        }
        whole.push_str(text);
    }
    let url = Url::parse(&whole).map_err(|_| "is no address")?;
    match url.scheme() {
        "https" => {}
        "http" if private => {}
        "http" => {
            return Err("must begin with https:// (http:// only beside private = true)".to_owned());
        }
        _ => return Err("must begin with https://".to_owned()),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "must not hold a user or a password; put them into headers, as a secret".to_owned(),
        );
    }
    if url.fragment().is_some() {
        return Err("must not hold a #".to_owned());
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    if host.is_empty() || host.contains("recadoargument") {
        return Err("must have its whole host written out, without an argument in it".to_owned());
    }
    // The address as the parser spells it, so that what is sent is what was checked.
    let mut pieces = Vec::new();
    let mut rest = url.as_str();
    for (number, name) in names.iter().enumerate() {
        let (text, after) = rest
            .split_once(&stand_in(number))
            .ok_or("has an argument where none can stand")?;
        pieces.push(UrlPiece::Text(text.to_owned()));
        pieces.push(UrlPiece::Argument((*name).to_owned()));
        rest = after;
    }
    pieces.push(UrlPiece::Text(rest.to_owned()));
    Ok((pieces, host))
}

/// Whether an argument can stand in an address: it is always there, and one text.
fn placed(parameters: &Value, name: &str) -> Result<(), String> {
    declared(parameters, name)?;
    let required = parameters.get("required").and_then(Value::as_array);
    if !required.is_some_and(|names| names.iter().any(|one| one == name)) {
        return Err(format!(
            "{{{name}}} must be in required of the parameters, for the address needs it"
        ));
    }
    let kind = parameters["properties"][name]
        .get("type")
        .and_then(Value::as_str);
    if matches!(kind, Some("object" | "array")) {
        return Err(format!(
            "{{{name}}} must be a text or a number to stand in an address"
        ));
    }
    Ok(())
}

/// Whether there is an argument of this name.
pub(super) fn declared(parameters: &Value, name: &str) -> Result<(), String> {
    let known = parameters.get("properties").and_then(Value::as_object);
    if known.is_some_and(|known| known.contains_key(name)) {
        return Ok(());
    }
    let known: Vec<&str> = known
        .into_iter()
        .flat_map(|known| known.keys())
        .map(String::as_str)
        .collect();
    let known = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Err(format!(
        "{{{name}}} is no argument of the parameters; there are: {known}"
    ))
}
