//! Our look at arguments, held against a whole implementation of JSON Schema.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use recado::policy::schema;
use serde_json::{Map, Value, json};

/// Fields and values are few, so that they meet.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..5).prop_map(Value::from),
        prop_oneof![Just(-1.5), Just(0.0), Just(2.0), Just(2.5), Just(1e20)].prop_map(Value::from),
        prop_oneof![Just(""), Just("a"), Just("ab"), Just("ação"), Just("👍")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map("[abc]", inner, 0..3).prop_map(|fields| json!(fields)),
        ]
    })
}

fn kind() -> impl Strategy<Value = Value> {
    let kinds = [
        "string", "number", "integer", "boolean", "array", "object", "null",
    ];
    prop_oneof![
        3 => prop::sample::select(kinds.to_vec()).prop_map(Value::from),
        1 => prop::sample::subsequence(kinds.to_vec(), 1..4).prop_map(|kinds| json!(kinds)),
    ]
}

/// One keyword that holds no schema.
fn keyword() -> impl Strategy<Value = (&'static str, Value)> {
    let counts = vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ];
    let bounds = vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let bound = prop_oneof![
        (-1_i64..4).prop_map(Value::from),
        prop_oneof![Just(2.0), Just(2.5)].prop_map(Value::from)
    ];
    prop_oneof![
        3 => kind().prop_map(|kind| ("type", kind)),
        1 => vec(value(), 1..4).prop_map(|all| ("enum", Value::from(all))),
        1 => value().prop_map(|one| ("const", one)),
        2 => (prop::sample::select(counts), 0_u64..3).prop_map(|(name, count)| (name, count.into())),
        2 => (prop::sample::select(bounds), bound),
        1 => prop::sample::subsequence(vec!["a", "b", "c"], 0..3).prop_map(|all| ("required", json!(all))),
        1 => any::<bool>().prop_map(|flag| ("uniqueItems", flag.into())),
        1 => Just(("description", json!("nothing to check"))),
    ]
}

fn of(keywords: Vec<(&'static str, Value)>) -> Value {
    let keywords = keywords
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    Value::Object(keywords.collect::<Map<_, _>>())
}

fn schema_of(leaf: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(3, 20, 3, |inner| {
        let all = || vec(inner.clone(), 1..3).prop_map(Value::from);
        let combined = prop_oneof![
            btree_map("[abc]", inner.clone(), 1..3).prop_map(|all| ("properties", json!(all))),
            inner.clone().prop_map(|one| ("items", one)),
            inner.clone().prop_map(|one| ("additionalProperties", one)),
            all().prop_map(|all| ("anyOf", all)),
            all().prop_map(|all| ("oneOf", all)),
            all().prop_map(|all| ("allOf", all)),
        ];
        (vec(keyword(), 0..2), vec(combined, 1..3)).prop_map(|(mut plain, combined)| {
            plain.extend(combined);
            of(plain)
        })
    })
}

/// A schema of parameters: something about the field `x`, and something it may refer to.
fn parameters() -> impl Strategy<Value = Value> {
    let plain = vec(keyword(), 0..3).prop_map(of).boxed();
    let leaf = prop_oneof![
        6 => plain.clone(),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({"$ref": "#/$defs/d"})),
    ];
    (schema_of(leaf.boxed()), schema_of(plain))
        .prop_map(|(x, d)| json!({"type": "object", "properties": {"x": x}, "$defs": {"d": d}}))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn arguments_fit_exactly_where_the_standard_says_so(schema in parameters(), x in value()) {
        prop_assert_eq!(schema::flaws(&schema), Vec::<String>::new());
        let arguments = json!({ "x": x });
        let whole = jsonschema::validator_for(&schema).unwrap();
        let problems = schema::problems(&schema, &arguments);
        prop_assert_eq!(problems.is_empty(), whole.is_valid(&arguments), "{:?}", problems);
    }

    #[test]
    fn no_schema_and_no_value_is_a_surprise(schema in value(), x in value()) {
        let _ = schema::flaws(&schema);
        let _ = schema::problems(&schema, &x);
    }
}
