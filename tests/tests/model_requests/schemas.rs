//! Requests held against the providers' own schemas: `openai.json` and `openrouter.json`, in the folder that
//! `RECADO_MODEL_SPEC_DIR` names.

use jsonschema::Validator;
use recado::domain::Provider;
use serde_json::{Value, json};

use super::MODELS;
use super::shapes::shapes;

/// A schema of a published document. `OpenRouter` describes Anthropic's messages too.
fn validator(file: &str, schema: &str) -> Validator {
    let folder =
        std::env::var("RECADO_MODEL_SPEC_DIR").expect("RECADO_MODEL_SPEC_DIR names a folder");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("the file is there");
    let mut document: Value = serde_json::from_str(&text).unwrap();
    loosen(&mut document);
    document["$ref"] = json!(format!("#/components/schemas/{schema}"));
    jsonschema::validator_for(&document).unwrap()
}

/// As published the schemas refuse messages that fit two of their forms at once.
fn loosen(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(forms) = fields.remove("oneOf") {
                fields.insert("anyOf".to_owned(), forms);
            }
            fields.values_mut().for_each(loosen);
        }
        Value::Array(items) => items.iter_mut().for_each(loosen),
        _ => {}
    }
}

#[test]
#[ignore = "needs the published schemas"]
fn requests_keep_to_the_published_schemas() {
    let openai = validator("openai.json", "CreateResponse");
    let chat = validator("openrouter.json", "ChatRequest");
    let messages = validator("openrouter.json", "MessagesRequest");
    let mut seen = 0;
    for (name, asked) in MODELS {
        let validator = match asked.provider {
            Provider::OpenAi => &openai,
            Provider::OpenRouter | Provider::Compatible => &chat,
            Provider::Anthropic => &messages,
        };
        for (shape, prompt) in shapes(&asked.origin()) {
            let body = asked.encode(&prompt);
            let mistakes: Vec<String> = validator
                .iter_errors(&body)
                .map(|error| error.to_string())
                .collect();
            assert!(mistakes.is_empty(), "{name}: {shape}: {mistakes:?}");
            seen += 1;
        }
    }
    println!("{seen} requests keep to the schemas");
}

#[test]
#[ignore = "needs the published schemas"]
fn the_schemas_do_look() {
    let shape = |at: usize, wanted: &str| {
        let (_, asked) = MODELS[at];
        let shapes = shapes(&asked.origin());
        let found = shapes.into_iter().find(|(shape, _)| *shape == wanted);
        asked.encode(&found.unwrap().1)
    };
    let openai = validator("openai.json", "CreateResponse");
    let wrong = |at: usize, wanted: &str, path: &str, value: Value| {
        let mut body = shape(at, wanted);
        *body.pointer_mut(path).unwrap() = value;
        body
    };
    let first = "the first message ever";
    assert!(!openai.is_valid(&wrong(0, first, "/max_output_tokens", json!(15))));
    assert!(!openai.is_valid(&wrong(0, first, "/input/0/role", json!("narrator"))));
    let mut loose = shape(0, "tools that nobody called");
    loose["tools"][0].as_object_mut().unwrap().remove("strict");
    assert!(!openai.is_valid(&loose), "into the tools");
    let chat = validator("openrouter.json", "ChatRequest");
    assert!(!chat.is_valid(&wrong(2, first, "/messages/0/role", json!("narrator"))));
    let mut loose = shape(2, "a later run goes on");
    let last = loose["messages"]
        .as_array_mut()
        .unwrap()
        .last_mut()
        .unwrap();
    last.as_object_mut().unwrap().remove("tool_call_id");
    assert!(!chat.is_valid(&loose), "into the results");
    let messages = validator("openrouter.json", "MessagesRequest");
    assert!(!messages.is_valid(&wrong(3, first, "/messages/0/role", json!("narrator"))));
    assert!(!messages.is_valid(&wrong(3, first, "/system/0/type", json!("words"))));
}
