//! What fits, what does not, and what is said of it.

use serde_json::json;

use super::*;

fn booking() -> Value {
    json!({
        "type": "object",
        "properties": {
            "day": {"type": "string", "minLength": 10, "maxLength": 10, "format": "date"},
            "people": {"type": "integer", "minimum": 1, "maximum": 8},
            "service": {"enum": ["corte", "barba"]},
            "extras": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
            "who": {"$ref": "#/$defs/person"},
            "note": {"type": ["string", "null"]},
        },
        "required": ["day", "service"],
        "additionalProperties": false,
        "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    })
}

#[test]
fn each_problem_names_its_field() {
    let right = json!({"day": "2026-12-01", "service": "corte"});
    for (label, field, value, expected) in [
        ("right", "people", json!(2), None),
        ("a whole number with a point", "people", json!(2.0), None),
        ("null where it may be", "note", json!(null), None),
        (
            "another type",
            "people",
            json!("2"),
            Some("people: must be a whole number, not text"),
        ),
        (
            "a part",
            "people",
            json!(2.5),
            Some("people: must be a whole number, not a number"),
        ),
        (
            "too small",
            "people",
            json!(0),
            Some("people: must be at least 1"),
        ),
        (
            "too large",
            "people",
            json!(9),
            Some("people: must be at most 8"),
        ),
        (
            "not in the list",
            "service",
            json!("unha"),
            Some("service: must be one of [\"corte\",\"barba\"]"),
        ),
        (
            "too short",
            "day",
            json!("amanhã"),
            Some("day: must be at least 10 long"),
        ),
        (
            "inside a list",
            "extras",
            json!(["a", 1]),
            Some("extras[1]: must be text, not a number"),
        ),
        (
            "twice",
            "extras",
            json!(["a", "a"]),
            Some("extras: must not hold the same item twice"),
        ),
        (
            "inside an object, by reference",
            "who",
            json!({}),
            Some("who.name: is missing"),
        ),
        (
            "two types",
            "note",
            json!(1),
            Some("note: must be text or null, not a number"),
        ),
        (
            "a field too many",
            "dia",
            json!(1),
            Some("dia: is unknown; known here: day, extras, note, people, service, who"),
        ),
    ] {
        let mut value_of = right.clone();
        value_of[field] = value;
        let found = problems(&booking(), &value_of);
        assert_eq!(found.first().map(String::as_str), expected, "{label}");
        assert!(found.len() <= 1, "{label}: {found:?}");
    }
    let none = problems(&booking(), &json!({}));
    assert_eq!(none, ["day: is missing", "service: is missing"]);
    assert_eq!(
        problems(&booking(), &json!([])),
        ["the arguments: must be an object, not a list"]
    );
}

#[test]
fn parts_are_combined() {
    let schema = json!({
        "type": "object",
        "anyOf": [{"required": ["phone"]}, {"required": ["email"]}],
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        "allOf": [{"properties": {"c": {"const": 1}}}],
    });
    assert!(problems(&schema, &json!({"phone": "1", "a": 1, "c": 1.0})).is_empty());
    for wrong in [
        json!({"a": 1}),
        json!({"phone": "1", "a": 1, "b": 1}),
        json!({"phone": "1", "a": 1, "c": 2}),
    ] {
        assert_eq!(problems(&schema, &wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn a_schema_that_turns_in_circles_ends() {
    let schema =
        json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(flaws(&schema), Vec::<String>::new());
    assert_eq!(problems(&schema, &json!({})).len(), 1);
}

#[test]
fn what_cannot_be_checked_is_refused_by_its_place() {
    assert_eq!(flaws(&booking()), Vec::<String>::new());
    for (label, schema, expected) in [
        ("no object", json!([]), "must be a JSON Schema: an object"),
        (
            "no type",
            json!({"properties": {}}),
            "must have \"type\": \"object\": arguments are one object",
        ),
        (
            "an unknown type",
            json!({"type": "object", "properties": {"a": {"type": "text"}}}),
            "properties.a.type: must be one of string, number, integer, boolean, array, object, null",
        ),
        (
            "a field in the place of a keyword",
            json!({"type": "object", "day": {"type": "string"}}),
            "day: is no keyword that can be checked",
        ),
        (
            "a bound that is no number",
            json!({"type": "object", "properties": {"a": {"minimum": "1"}}}),
            "properties.a.minimum: must be a number",
        ),
        (
            "required as a word",
            json!({"type": "object", "required": "a"}),
            "required: must be a list of names",
        ),
        (
            "a reference to nothing",
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}),
            "properties.a.$ref: must name a schema under $defs: \"#/$defs/name\"",
        ),
        (
            "an empty choice",
            json!({"type": "object", "anyOf": []}),
            "anyOf: must be a list of schemas",
        ),
    ] {
        assert_eq!(flaws(&schema), [expected], "{label}");
    }
    let pattern = flaws(&json!({"type": "object", "properties": {"a": {"pattern": "^a$"}}}));
    assert!(
        pattern[0].starts_with("properties.a.pattern: is not checked here"),
        "{pattern:?}"
    );
}

/// Each problem prints its part of the schema: thousands of them would cost seconds, and only the first are told.
#[test]
fn no_more_problems_are_looked_for_than_are_told() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "array", "items": {"enum": ["a"]}}});
    let arguments = json!({"a": vec![0; 3_000], "b": vec![0; 3_000]});
    let steps = Cell::new(STEPS_MAX);
    let mut check = Check {
        root: &schema,
        steps: &steps,
        found: Vec::new(),
    };
    check.value(&schema, &arguments, "", 0);
    assert_eq!(check.found.len(), PROBLEMS_MAX);
}
