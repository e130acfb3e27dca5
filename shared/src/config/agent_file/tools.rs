//! The tools of an agent file: what its model may call outside.

mod target;
mod url;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::document::{Document, Entry, Found};
use crate::domain::{Effect, Target, Tool, ToolName, ToolSpec};
use crate::policy::schema;

/// More of them confuse every model, and all of them are in every request.
const TOOLS_MAX: usize = 40;
/// What OpenAI takes.
const DESCRIPTION_CHARS_MAX: usize = 1024;
/// One call, in seconds; a run makes several.
const TIMEOUT_S: std::ops::RangeInclusive<u64> = 1..=20;
const PARAMETERS: &str =
    r#"{ type = "object", properties = { day = { type = "string" } }, required = ["day"] }"#;

/// The tools of `[[tools]]`, in order.
pub(super) fn read(file: &mut Document<'_>) -> Vec<ToolSpec> {
    let mut names = BTreeSet::new();
    let mut specs = Vec::new();
    for (number, mut entry) in (1..).zip(file.entries("tools")) {
        if number == TOOLS_MAX + 1 {
            let message = format!("is one tool too many; at most {TOOLS_MAX} fit");
            entry.mistake(file, "name", entry.origin, message);
        }
        let name = read_name(file, &mut entry);
        if let Some(Found { value, origin }) = &name
            && !names.insert(value.clone())
        {
            let message = format!("{value} is the name of another tool above; give each its own");
            entry.mistake(file, "name", *origin, message);
        }
        if let Some(Found { value, .. }) = &name {
            entry.label = format!("tools.{value}");
        }
        let spec = read_spec(file, &mut entry, name.map(|name| name.value));
        specs.extend(spec);
        entry.close(file);
    }
    specs
}

fn read_name(file: &mut Document<'_>, entry: &mut Entry<'_>) -> Option<Found<ToolName>> {
    entry.require(file, "name", "\"consultar_agenda\"");
    let Found { value, origin } = entry.text(file, "name", usize::MAX, "consultar_agenda")?;
    match ToolName::parse(value) {
        Ok(value) => Some(Found { value, origin }),
        Err(error) => {
            let message = format!(
                "{}; for instance name = \"consultar_agenda\"",
                error.problem
            );
            entry.mistake(file, "name", origin, message);
            None
        }
    }
}

fn read_spec(
    file: &mut Document<'_>,
    entry: &mut Entry<'_>,
    name: Option<ToolName>,
) -> Option<ToolSpec> {
    let example = "Diz os horários livres de um dia.";
    entry.require(file, "description", &format!("{example:?}"));
    let description = entry.text(file, "description", DESCRIPTION_CHARS_MAX, example);
    let parameters = read_parameters(file, entry);
    entry.require(file, "effect", "\"read\"");
    let effects = [("read", Effect::Read), ("write", Effect::Write)];
    let effect = entry.choice(file, "effect", &effects);
    let idempotent = entry.flag(file, "idempotent");
    let timeout = entry.seconds(file, "timeout_s", 10, &TIMEOUT_S);
    let confirm = entry.choice(file, "confirm", &[("person", ())]);
    if let (Some(confirm), Some(effect)) = (&confirm, &effect)
        && effect.value == Effect::Read
    {
        let message =
            "asks for a yes to what changes nothing; take it out, or set effect = \"write\"";
        entry.mistake(file, "confirm", confirm.origin, message);
    }
    let target = read_target(file, entry, parameters.as_ref());
    Some(ToolSpec {
        tool: Tool {
            name: name?,
            description: description?.value,
            parameters: parameters?,
            effect: effect?.value,
            idempotent,
            confirm: confirm.is_some(),
        },
        timeout,
        target: target?,
    })
}

/// The schema; a tool without one takes no arguments.
fn read_parameters(file: &mut Document<'_>, entry: &mut Entry<'_>) -> Option<Value> {
    if !entry.has("parameters") {
        // Asked for all the same, so that a mistyped key is told.
        let _ = entry.json(file, "parameters");
        return Some(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    }
    let Found { value, origin } = entry.json(file, "parameters")?;
    let flaws = schema::flaws(&value);
    for flaw in &flaws {
        let message = format!("{flaw}; a right one: parameters = {PARAMETERS}");
        entry.mistake(file, "parameters", origin, message);
    }
    flaws.is_empty().then_some(value)
}

fn read_target(
    file: &mut Document<'_>,
    entry: &mut Entry<'_>,
    parameters: Option<&Value>,
) -> Option<Target> {
    if entry.has("http") == entry.has("lambda") && !file.is_broken() {
        let message = "must have one of http and lambda; for instance http = { method = \"GET\", url = \
                       \"https://api.example.com/slots/{day}\" }";
        entry.mistake(file, "http", entry.origin, message);
    }
    let lambda = target::lambda(file, entry);
    let http = target::http(file, entry, parameters);
    http.map(Target::Http).or(lambda.map(Target::Lambda))
}
