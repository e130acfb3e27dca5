//! Tools: what a model may call, what it called, and what came of it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::conversation::Sealed;
use super::ids::{CallId, ReplyId, RunId, ToolName};
use super::time::Timestamp;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing: it may be run again, and dropped in the middle.
    Read,
    /// Something that must not happen twice.
    Write,
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// What it is for, in words for the model.
    pub description: String,
    /// JSON Schema of its parameters: an object.
    pub parameters: Value,
    /// What it does.
    pub effect: Effect,
    /// Whether two calls with one idempotency key make one effect.
    pub idempotent: bool,
    /// Whether a call is made only once the person has seen it and said yes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
}

/// The arguments of a call: one JSON object as text, keys sorted, so that equal arguments are equal texts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Arguments(String);

impl Arguments {
    /// Longer ones are refused: a call and its result share an item of 400 KB.
    pub const BYTES_MAX: usize = 16 * 1024;

    /// Reads a JSON object; `None` where it is none, or too long.
    pub fn parse(text: &str) -> Option<Self> {
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return None;
        };
        let text = sorted(Value::Object(fields)).to_string();
        (text.len() <= Self::BYTES_MAX).then_some(Self(text))
    }

    /// Whether every number of what a model wrote is kept as it was written: a whole number of twenty digits (a bar code,
    /// an account) is not, and would reach the tool as another one.
    pub fn are_exact(text: &str) -> bool {
        serde_json::from_str(text).is_ok_and(|value: Value| is_exact(&value))
    }

    /// No arguments: `{}`.
    pub fn none() -> Self {
        Self("{}".to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The fields, in the order of their names.
    pub fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// Never the words themselves.
impl std::fmt::Debug for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Arguments({} bytes)", self.0.len())
    }
}

/// Above this a float no longer tells whole numbers apart: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .is_some_and(|number| number.abs() < EXACT_MAX),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        _ => true,
    }
}

/// Keys in order, however deep, whatever the JSON library's own maps do.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|(one, _), (two, _)| one.cmp(two));
            let fields = fields.into_iter().map(|(key, value)| (key, sorted(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// A call as the model wrote it, before anybody has looked at it.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct AskedCall {
    /// The provider's id.
    pub id: CallId,
    /// The name the model gave.
    pub tool: String,
    /// What should be a JSON object.
    pub arguments: String,
}

/// Never the words themselves.
impl std::fmt::Debug for AskedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AskedCall({:?})", self.id)
    }
}

/// A call that can be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// The provider's id.
    pub id: CallId,
    /// Which tool.
    pub tool: ToolName,
    /// With what.
    pub arguments: Arguments,
}

impl ToolCall {
    /// Whether it asks for the same as `other`, whatever their ids.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        self.tool == other.tool && self.arguments == other.arguments
    }
}

/// What came of a call.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResult {
    /// What the tool gave.
    Ok(String),
    /// Nothing was done; why, in words for the model.
    Error(String),
    /// No one knows whether it was done.
    Unknown,
}

impl ToolResult {
    /// Longer ones are cut.
    pub const BYTES_MAX: usize = 64 * 1024;
    /// What a cut result ends with.
    pub const CUT_MARK: &str = " […]";

    /// Cut with a mark where it is too long.
    #[must_use]
    pub fn bounded(self) -> Self {
        match self {
            Self::Ok(text) => Self::Ok(bounded(text)),
            Self::Error(text) => Self::Error(bounded(text)),
            Self::Unknown => Self::Unknown,
        }
    }

    /// What was said, where something was.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Ok(text) | Self::Error(text) => Some(text),
            Self::Unknown => None,
        }
    }

    /// The word stored in the table and told to the operator.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::Error(_) => "error",
            Self::Unknown => "unknown",
        }
    }
}

fn bounded(mut text: String) -> String {
    if text.len() > ToolResult::BYTES_MAX {
        text.truncate(text.floor_char_boundary(ToolResult::BYTES_MAX - ToolResult::CUT_MARK.len()));
        text.push_str(ToolResult::CUT_MARK);
    }
    text
}

/// Never the words themselves.
impl std::fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.text().map_or(0, str::len);
        write!(f, "{}({bytes} bytes)", self.as_str())
    }
}

/// A call and its result: one unit, so that neither is ever sent without the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnsweredCall {
    /// The call.
    pub call: ToolCall,
    /// What came of it.
    pub result: ToolResult,
}

/// A call as it is stored under a reply, with its result once there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Which call of the turn it is, from 0.
    pub n: u16,
    /// What its tool does.
    pub effect: Effect,
    /// What is asked.
    pub call: ToolCall,
    /// What came of it; absent while it runs.
    pub result: Option<ToolResult>,
}

impl Call {
    /// Calls made in one turn: a commit is one transaction of at most 100 items, which holds a full batch besides.
    pub const MAX: usize = 12;

    /// As history keeps it: with a result in any case.
    #[must_use]
    pub fn at_rest(&self) -> Self {
        Self {
            result: Some(self.answered().result),
            ..self.clone()
        }
    }

    /// With its result; one that never came is unknown.
    pub fn answered(&self) -> AnsweredCall {
        AnsweredCall {
            call: self.call.clone(),
            result: self.result.clone().unwrap_or(ToolResult::Unknown),
        }
    }
}

/// Calls to store under a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCalls {
    /// Whose lease it is.
    pub run: RunId,
    /// Which claim.
    pub epoch: u64,
    /// The reply they are made for.
    pub reply: ReplyId,
    /// The batch to seal with them: before the first write.
    pub seal: Option<Sealed>,
    /// The calls, in order; the last one may be running.
    pub calls: Vec<Call>,
    /// The moment.
    pub now: Timestamp,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_arguments_are_equal_texts() {
        let canonical = |text: &str| Arguments::parse(text).map(|arguments| arguments.0);
        let expected = Some(r#"{"a":{"x":[{"c":3,"d":4}],"y":1},"b":2}"#.to_owned());
        for text in [
            r#"{"a":{"x":[{"c":3,"d":4}],"y":1},"b":2}"#,
            r#" {"b" : 2, "a":{"y":1,"x":[{"d":4,"c":3}]} } "#,
        ] {
            assert_eq!(canonical(text), expected);
        }
        assert_eq!(canonical("{}"), Some("{}".to_owned()));
    }

    #[test]
    fn what_is_no_object_is_no_arguments() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(Arguments::BYTES_MAX));
        for text in ["", "[]", "null", "\"a\"", "{", r#"{"a":1} x"#, &long] {
            assert_eq!(Arguments::parse(text), None);
        }
    }

    #[test]
    fn a_number_that_would_become_another_one_is_not_exact() {
        for (text, right) in [
            (r#"{"a":18446744073709551615}"#, true),
            (r#"{"a":18446744073709551616}"#, false),
            (r#"{"a":[{"b":-9223372036854775809}]}"#, false),
            (r#"{"a":9007199254740993.5}"#, false),
            (r#"{"a":1e300}"#, false),
            (r#"{"a":0.1,"b":-2.5,"c":"18446744073709551616"}"#, true),
        ] {
            assert_eq!(Arguments::are_exact(text), right, "{text}");
        }
    }

    #[test]
    fn a_long_result_is_cut_between_characters_with_a_mark() {
        let fits = "é".repeat(ToolResult::BYTES_MAX / 2);
        assert!(ToolResult::Ok(fits.clone()).bounded() == ToolResult::Ok(fits.clone()));
        let ToolResult::Ok(cut) = ToolResult::Ok(format!("{fits}é")).bounded() else {
            panic!("it stays what it is");
        };
        assert!(cut.len() <= ToolResult::BYTES_MAX && cut.ends_with("é […]"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_reads_back(text in "[{}a-c\\[\\]:,\"0-9 ]{0,40}") {
            if let Some(arguments) = Arguments::parse(&text) {
                prop_assert_eq!(Arguments::parse(arguments.as_str()), Some(arguments));
            }
        }
    }
}
