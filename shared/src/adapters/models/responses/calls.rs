//! The calls in an answer, and the items that have to go back with their results.
//!
//! Invariant: every call has an id of its own, and what goes back is nothing that the provider would refuse: a call
//! keeps its thoughts, or all thoughts are left out.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::calls::{asked_call, name_sent};
use crate::domain::{Arguments, AskedCall, CallId};

/// The calls of an answer's output, in order, and the output as it goes back; empty where the calls alone say it all.
pub(super) fn read(output: Vec<Value>) -> (Vec<AskedCall>, Vec<Value>) {
    let (mut calls, mut carried) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    for mut item in output {
        if item["type"] == "function_call" {
            let call = call(&item, calls.len(), &mut taken);
            mend(&mut item, &call);
            calls.push(call);
        } else if item["type"] == "reasoning" && !item["summary"].is_array() {
            item["summary"] = json!([]);
        }
        carried.push(item);
    }
    if calls.is_empty() || !goes_back(&carried) {
        carried.clear();
    }
    (calls, carried)
}

/// Thoughts that are not kept by the provider can only go back encrypted, and with what followed them. Without thoughts
/// there is nothing to carry.
fn goes_back(items: &[Value]) -> bool {
    let is_thought = |item: &&Value| item["type"] == "reasoning";
    let mut thoughts = items.iter().filter(is_thought).peekable();
    thoughts.peek().is_some()
        && thoughts.all(|thought| thought["encrypted_content"].is_string())
        && !items.last().is_some_and(|last| is_thought(&last))
}

fn call(item: &Value, n: usize, taken: &mut BTreeSet<CallId>) -> AskedCall {
    asked_call(
        &item["call_id"],
        &item["name"],
        &item["arguments"],
        n,
        taken,
    )
}

/// A call that was not well made goes back as one that is.
fn mend(item: &mut Value, call: &AskedCall) {
    item["call_id"] = json!(call.id);
    let given = item["arguments"].as_str().and_then(Arguments::parse);
    if given.is_none() {
        let arguments = Arguments::parse(&call.arguments).unwrap_or_else(Arguments::none);
        item["arguments"] = json!(arguments);
    }
    item["name"] = json!(name_sent(call));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought(encrypted: bool) -> Value {
        let mut thought = json!({"type": "reasoning", "id": "rs_1", "summary": []});
        if encrypted {
            thought["encrypted_content"] = json!("gAAA");
        }
        thought
    }

    fn called(id: &Value, name: &str, arguments: &Value) -> Value {
        json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": arguments})
    }

    #[test]
    fn thoughts_go_back_with_their_calls_or_not_at_all() {
        let call = called(&json!("c1"), "book", &json!("{\"a\":1}"));
        let (calls, carried) = read(vec![thought(true), call.clone()]);
        assert_eq!(carried, [thought(true), call.clone()], "as they came");
        assert_eq!(
            (calls[0].tool.as_str(), calls[0].id.as_str()),
            ("book", "c1")
        );
        for output in [vec![thought(false), call.clone()], vec![call]] {
            let (calls, carried) = read(output);
            assert!(calls.len() == 1 && carried.is_empty());
        }
        assert_eq!(read(vec![thought(true)]), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_call_that_is_not_well_made_goes_back_as_one_that_is() {
        let output = vec![
            thought(true),
            called(&json!("c1"), "book", &json!("{\"a\":")),
            called(&json!("c1"), "a b", &json!({"a": 1})),
            called(&json!(null), "book", &json!(7)),
        ];
        let (calls, carried) = read(output);
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["c1", "call_1", "call_2"], "each has its own");
        assert_eq!(
            calls[0].arguments, "{\"a\":",
            "the flow tells the model what was wrong"
        );
        let sent: Vec<_> = carried[1..]
            .iter()
            .map(|item| {
                (
                    item["call_id"].as_str(),
                    item["name"].as_str(),
                    item["arguments"].as_str(),
                )
            })
            .collect();
        assert_eq!(
            sent,
            [
                (Some("c1"), Some("book"), Some("{}")),
                (Some("call_1"), Some("unnamed"), Some("{\"a\":1}")),
                (Some("call_2"), Some("book"), Some("{}")),
            ]
        );
    }
}
