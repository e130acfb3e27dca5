//! Whether a schema can be checked: only keywords that are known, each with a value of its kind.

use serde_json::{Map, Value};

use super::{DEPTH_MAX, below, each};

/// Nothing is checked by these; they tell the model something.
const ANNOTATIONS: [&str; 11] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "format",
    "readOnly",
    "writeOnly",
];
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];
/// What hangs on the bytes of a schema must end somewhere: it goes to the model with every request.
const BYTES_MAX: usize = 16 * 1024;

/// What is wrong with a schema of parameters, each with its place inside it. Empty where it is an object's schema that
/// can be checked whole.
pub fn flaws(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if !schema.is_object() {
        return vec!["must be a JSON Schema: an object".to_owned()];
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        found.push("must have \"type\": \"object\": arguments are one object".to_owned());
    }
    if schema.to_string().len() > BYTES_MAX {
        found.push(format!("is over {BYTES_MAX} bytes"));
    }
    look(schema, schema, "", 0, &mut found);
    found
}

/// The target of a reference: only what stands under `$defs` of the same schema.
pub(super) fn referred<'s>(root: &'s Value, target: &str) -> Option<&'s Value> {
    let name = target.strip_prefix("#/$defs/")?;
    let name = name.replace("~1", "/").replace("~0", "~");
    root.get("$defs")?.get(name)
}

/// A number of letters, items or fields.
pub(super) fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn look(root: &Value, schema: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
    let mut flaw = |keyword: &str, problem: &str| {
        found.push(format!("{}: {problem}", below(path, keyword)));
    };
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(_) => return,
        _ => return flaw("", "must be a schema: an object, true or false"),
    };
    if depth > DEPTH_MAX {
        return flaw("", "is nested too deep");
    }
    let mut inner: Vec<(String, &Value)> = Vec::new();
    for (keyword, value) in schema {
        let place = below(path, keyword);
        match keyword.as_str() {
            "properties" | "$defs" => match value {
                Value::Object(all) => {
                    inner.extend(all.iter().map(|(name, one)| (below(&place, name), one)));
                }
                _ => flaw(keyword, "must be an object of schemas"),
            },
            "items" | "additionalProperties" => inner.push((place, value)),
            "anyOf" | "oneOf" | "allOf" => match value {
                Value::Array(all) if !all.is_empty() => {
                    let parts = all.iter().enumerate();
                    inner.extend(parts.map(|(at, one)| (format!("{place}[{at}]"), one)));
                }
                _ => flaw(keyword, "must be a list of schemas"),
            },
            "$ref" if value.as_str().and_then(|to| referred(root, to)).is_none() => {
                flaw(keyword, "must name a schema under $defs: \"#/$defs/name\"");
            }
            _ => {
                if let Some(problem) = wrong(schema, keyword, value) {
                    flaw(keyword, &problem);
                }
            }
        }
    }
    for (path, schema) in inner {
        look(root, schema, &path, depth + 1, found);
    }
}

/// What is wrong with a keyword that holds no schema.
fn wrong(schema: &Map<String, Value>, keyword: &str, value: &Value) -> Option<String> {
    let is_text = |one: &Value| one.is_string();
    let is_type = |one: &Value| one.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let (is_right, wanted) = match keyword {
        "type" => {
            let is_right = each(value).len() > 0 && each(value).all(is_type);
            (is_right, format!("one of {}", TYPES.join(", ")))
        }
        "enum" => (
            value.as_array().is_some_and(|all| !all.is_empty()),
            "a list of values".to_owned(),
        ),
        "required" => (
            value.as_array().is_some_and(|all| all.iter().all(is_text)),
            "a list of names".to_owned(),
        ),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            (count(value).is_some(), "a whole number from 0".to_owned())
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            (value.is_number(), "a number".to_owned())
        }
        "uniqueItems" => (value.is_boolean(), "true or false".to_owned()),
        "const" | "$ref" => return None,
        "pattern" | "patternProperties" => {
            return Some(
                "is not checked here, for there is no engine of regular expressions; say it in the description, and \
                 let the service refuse what does not fit"
                    .to_owned(),
            );
        }
        known if ANNOTATIONS.contains(&known) => return None,
        _ => return Some(unknown(schema)),
    };
    (!is_right).then(|| format!("must be {wanted}"))
}

/// A property's name where a keyword should stand is the likeliest slip.
fn unknown(schema: &Map<String, Value>) -> String {
    if schema.contains_key("properties") || schema.contains_key("type") {
        "is no keyword that can be checked".to_owned()
    } else {
        "is no keyword that can be checked; fields stand under \"properties\"".to_owned()
    }
}
