//! The form of a compaction's answer: what the model is held to, and the types it is read into.

use serde::Deserialize;
use serde_json::{Value, json};

/// The schema's name, as providers show it.
pub const NAME: &str = "memory_update";

/// What the model answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub summary: String,
    pub facts: Vec<Operation>,
}

/// One change of the facts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    pub op: Op,
    pub id: Option<String>,
    pub text: Option<String>,
    pub source_ids: Vec<String>,
}

/// What kind of change.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    Add,
    Update,
    Retire,
}

/// The JSON Schema of [`Answer`], in the strict subset: every property required, nothing additional.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "facts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {"type": "string", "enum": ["add", "update", "retire"]},
                        "id": {"type": ["string", "null"]},
                        "text": {"type": ["string", "null"]},
                        "source_ids": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["op", "id", "text", "source_ids"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["summary", "facts"],
        "additionalProperties": false,
    })
}
