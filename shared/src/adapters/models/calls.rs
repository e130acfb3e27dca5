//! A call as any dialect reads it from an answer, and the name it goes back under.
//!
//! Invariant: every call has an id of its own, whatever the provider gave.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::{AskedCall, CallId, ToolName};

/// The `n`th call of an answer; `taken` are the ids of those before it.
pub(super) fn asked_call(
    id: &Value,
    name: &Value,
    arguments: &Value,
    n: usize,
    taken: &mut BTreeSet<CallId>,
) -> AskedCall {
    let given = id.as_str().and_then(|id| CallId::parse(id).ok());
    let id = given.filter(|id| !taken.contains(id));
    let id = id.unwrap_or_else(|| own_id(n, taken));
    taken.insert(id.clone());
    let arguments = match arguments {
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        // Some dialects, and servers that imitate the others, give the object itself.
        other => other.to_string(),
    };
    AskedCall {
        id,
        tool: name.as_str().unwrap_or_default().to_owned(),
        arguments,
    }
}

/// For a call that came without an id, or with another one's.
fn own_id(n: usize, taken: &BTreeSet<CallId>) -> CallId {
    let mut ids = (n..).filter_map(|n| CallId::parse(format!("call_{n}")).ok());
    ids.find(|id| !taken.contains(id))
        .unwrap_or_else(|| unreachable!("there are enough numbers"))
}

/// The name under which a call goes back: providers refuse one that no tool can have.
pub(super) fn name_sent(call: &AskedCall) -> &str {
    ToolName::parse(call.tool.as_str()).map_or("unnamed", |_| call.tool.as_str())
}
