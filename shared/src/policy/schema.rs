//! JSON Schema, as far as the parameters of a tool need it: whether a schema is one that can be checked, and whether
//! arguments fit it. Stands between the agent file, which declares tools, and `tools::check`, which looks at calls.
//!
//! Written here because every crate for it brings an engine of regular expressions and more: 3.8 MB of a function that
//! has 12. What is not checked is refused when the agent file is read, and never passed over in silence.
//!
//! Invariant: for a schema that [`flaws`] finds nothing in, [`problems`] is empty exactly where the standard (draft
//! 2020-12, formats as annotations) says that the value fits.

mod compare;
mod keywords;

use std::cell::Cell;

use serde_json::{Map, Value};

use compare::{is_integer, less, same};
pub use keywords::flaws;

/// Problems told at once: a model mends these first.
const PROBLEMS_MAX: usize = 5;

/// Deeper than any arguments of use; a reference to itself ends here.
const DEPTH_MAX: usize = 32;

/// Looks at one value by one schema: parts that refer to each other could ask for any number of them.
const STEPS_MAX: u32 = 50_000;

/// What is wrong with `value`, each as the path of a field and a sentence; at most five. Empty where it fits `schema`.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let steps = Cell::new(STEPS_MAX);
    let mut check = Check {
        root: schema,
        steps: &steps,
        found: Vec::new(),
    };
    check.value(schema, value, "", 0);
    check.found.truncate(PROBLEMS_MAX);
    check.found
}

/// Whether a value keeps to a bound.
type Fits = fn(&Value, &Value) -> bool;

struct Check<'a> {
    root: &'a Value,
    steps: &'a Cell<u32>,
    found: Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, path: &str, depth: usize) {
        // Each more would print its part of the schema, and be told to nobody.
        if self.found.len() >= PROBLEMS_MAX {
            return;
        }
        let Some(steps) = self.steps.get().checked_sub(1) else {
            return self.note(path, "is too much to check");
        };
        self.steps.set(steps);
        if depth > DEPTH_MAX {
            return self.note(path, "is nested too deep");
        }
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(false) => return self.note(path, "must not be there"),
            _ => return,
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            match keywords::referred(self.root, target) {
                Some(target) => self.value(target, value, path, depth + 1),
                None => self.note(path, "cannot be checked"),
            }
        }
        if let Some(kinds) = schema.get("type")
            && !each(kinds).any(|kind| is_of_type(kind, value))
        {
            let (wanted, kind) = (words(kinds), kind(value));
            return self.note(path, &format!("must be {wanted}, not {kind}"));
        }
        if let Some(one) = schema.get("const")
            && !same(one, value)
        {
            self.note(path, &format!("must be {one}"));
        }
        if let Some(all) = schema.get("enum")
            && !each(all).any(|one| same(one, value))
        {
            self.note(path, &format!("must be one of {all}"));
        }
        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(_) => self.number(schema, value, path),
            Value::Array(items) => self.list(schema, items, path, depth),
            Value::Object(fields) => self.object(schema, fields, path, depth),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(schema, value, path, depth);
    }

    fn text(&mut self, schema: &Map<String, Value>, text: &str, path: &str) {
        let length = text.chars().count();
        self.size(schema, ["minLength", "maxLength"], length, path, "long");
    }

    fn number(&mut self, schema: &Map<String, Value>, value: &Value, path: &str) {
        let bounds: [(&str, &str, Fits); 4] = [
            ("minimum", "at least", |value, bound| !less(value, bound)),
            ("maximum", "at most", |value, bound| !less(bound, value)),
            ("exclusiveMinimum", "more than", |value, bound| {
                less(bound, value)
            }),
            ("exclusiveMaximum", "less than", less),
        ];
        for (keyword, words, fits) in bounds {
            if let Some(bound) = schema.get(keyword)
                && !fits(value, bound)
            {
                self.note(path, &format!("must be {words} {bound}"));
            }
        }
    }

    fn list(&mut self, schema: &Map<String, Value>, items: &[Value], path: &str, depth: usize) {
        let bounds = ["minItems", "maxItems"];
        self.size(schema, bounds, items.len(), path, "items long");
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let twice = |(at, item): (usize, &Value)| items[..at].iter().any(|one| same(one, item));
        if is_unique && items.iter().enumerate().any(twice) {
            self.note(path, "must not hold the same item twice");
        }
        if let Some(schema) = schema.get("items") {
            for (at, item) in items.iter().enumerate() {
                self.value(schema, item, &format!("{path}[{at}]"), depth + 1);
            }
        }
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let bounds = ["minProperties", "maxProperties"];
        self.size(schema, bounds, fields.len(), path, "fields large");
        for name in schema.get("required").into_iter().flat_map(each) {
            let name = name.as_str().unwrap_or_default();
            if !fields.contains_key(name) {
                self.note(&below(path, name), "is missing");
            }
        }
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in fields {
            let path = below(path, name);
            let own = known.and_then(|known| known.get(name));
            match (own, others) {
                (None, Some(Value::Bool(false))) => {
                    let known = known.into_iter().flat_map(Map::keys);
                    let known: Vec<&str> = known.map(String::as_str).collect();
                    let known = known.join(", ");
                    self.note(&path, &format!("is unknown; known here: {known}"));
                }
                (Some(schema), _) | (None, Some(schema)) => {
                    self.value(schema, value, &path, depth + 1);
                }
                (None, None) => {}
            }
        }
    }

    fn combined(&mut self, schema: &Map<String, Value>, value: &Value, path: &str, depth: usize) {
        for part in schema.get("allOf").into_iter().flat_map(each) {
            self.value(part, value, path, depth + 1);
        }
        for (keyword, what) in [("anyOf", "any"), ("oneOf", "exactly one")] {
            let Some(parts) = schema.get(keyword) else {
                continue;
            };
            let fitting = each(parts).filter(|part| self.fits(part, value, depth + 1));
            let count = fitting.count();
            if count == 0 || (keyword == "oneOf" && count > 1) {
                self.note(path, &format!("must fit {what} of {parts}"));
            }
        }
    }

    fn fits(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let mut check = Check {
            root: self.root,
            steps: self.steps,
            found: Vec::new(),
        };
        check.value(schema, value, "", depth);
        check.found.is_empty()
    }

    fn size(
        &mut self,
        schema: &Map<String, Value>,
        [least, most]: [&str; 2],
        size: usize,
        path: &str,
        what: &str,
    ) {
        let bound = |keyword| schema.get(keyword).and_then(keywords::count);
        if let Some(least) = bound(least)
            && size < least
        {
            self.note(path, &format!("must be at least {least} {what}"));
        }
        if let Some(most) = bound(most)
            && size > most
        {
            self.note(path, &format!("must be at most {most} {what}"));
        }
    }

    fn note(&mut self, path: &str, problem: &str) {
        let path = if path.is_empty() {
            "the arguments"
        } else {
            path
        };
        let problem: String = problem.chars().take(300).collect();
        self.found.push(format!("{path}: {problem}"));
    }
}

/// The path of a field of the object at `path`.
fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// The items of a list, or the one thing that stands in its place.
fn each(value: &Value) -> std::slice::Iter<'_, Value> {
    match value {
        Value::Array(all) => all.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

fn is_of_type(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => is_integer(value),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// What a value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What is wanted, in words.
fn words(kinds: &Value) -> String {
    let word = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "string" => "text",
        "number" => "a number",
        "integer" => "a whole number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "null",
    };
    each(kinds).map(word).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests;
