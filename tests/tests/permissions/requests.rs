//! Which requests to AWS a part of the flow can reach: from its functions to the ports it calls, and from each port's
//! method to the requests of its adapter.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{self, Doings};
use crate::{Right, right};

/// Requests that a client makes, as methods of the SDK, and the action that a policy allows for each.
const REQUESTS: [(&str, &str); 14] = [
    ("batch_get_item", "dynamodb:BatchGetItem"),
    ("batch_write_item", "dynamodb:BatchWriteItem"),
    ("delete_item", "dynamodb:DeleteItem"),
    ("get_item", "dynamodb:GetItem"),
    ("put_item", "dynamodb:PutItem"),
    ("query", "dynamodb:Query"),
    ("scan", "dynamodb:Scan"),
    ("transact_get_items", "dynamodb:GetItem"),
    ("update_item", "dynamodb:UpdateItem"),
    ("change_message_visibility", "sqs:ChangeMessageVisibility"),
    ("send_message", "sqs:SendMessage"),
    ("send_message_batch", "sqs:SendMessage"),
    ("get_secret_value", "secretsmanager:GetSecretValue"),
    ("invoke", "lambda:InvokeFunction"),
];

/// Requests that set up a table for local use and tests: no function makes them.
const SETTING_UP: [&str; 2] = ["create_table", "update_time_to_live"];

/// A statement of a write or a transaction, and its action.
const STATEMENTS: [(&str, &str); 4] = [
    ("put", "dynamodb:PutItem"),
    ("update", "dynamodb:UpdateItem"),
    ("delete", "dynamodb:DeleteItem"),
    ("check", "dynamodb:ConditionCheckItem"),
];

/// Where statements are sent: a write sends one of the three single requests, by the statement's verb.
const SENDERS: [&str; 2] = ["write", "transact"];

/// The ports that ask AWS; all but the queues are the table's.
const PORTS: [&str; 4] = ["store", "ticks", "breakers", "ledger"];

type Functions = BTreeMap<(String, String), Doings>;

/// Everything that these functions of the flow, by module and name, can come to ask AWS for.
pub fn of_flow(roots: &[(&str, &str)]) -> BTreeSet<Right> {
    let flow = source::functions(&source::files("shared/src/flow"));
    let mut seen = BTreeSet::new();
    let mut next: Vec<(String, String)> = roots
        .iter()
        .map(|(module, name)| ((*module).to_owned(), (*name).to_owned()))
        .collect();
    let mut rights = BTreeSet::new();
    while let Some(key) = next.pop() {
        let Some(doings) = flow.get(&key) else {
            assert!(!seen.is_empty(), "no function {key:?} in the flow");
            continue;
        };
        if !seen.insert(key.clone()) {
            continue;
        }
        for (module, name) in &doings.calls {
            let module = if module.is_empty() { &key.0 } else { module };
            next.push((module.clone(), name.clone()));
        }
        for (field, method) in &doings.on_fields {
            if PORTS.contains(&field.as_str()) {
                rights.extend(of_port(field, method));
            }
        }
    }
    rights
}

/// What one method of a port asks AWS for.
pub fn of_port(port: &str, method: &str) -> BTreeSet<Right> {
    let place = match port {
        "ticks" => "shared/src/adapters/sqs.rs",
        _ => "shared/src/adapters/dynamo",
    };
    let mut files = source::files(place);
    if port == "ticks" {
        return of_queue(&source::functions(&files), method);
    }
    let parent = source::files("shared/src/adapters/dynamo.rs");
    files.extend(parent);
    let module = if port == "store" { "dynamo" } else { port };
    // What the port itself makes of another method.
    let method = if method == "spent_on" {
        "of_day"
    } else {
        method
    };
    of_table(&source::functions(&files), (module, method))
}

/// What the tools that are functions ask AWS for.
pub fn of_tools() -> BTreeSet<Right> {
    let files = source::files("shared/src/adapters/toolbox/lambda.rs");
    let functions = source::functions(&files);
    let asked = functions.values().flat_map(requests);
    asked.map(|action| right(action, "ToolFunctions")).collect()
}

fn of_queue(functions: &Functions, method: &str) -> BTreeSet<Right> {
    let doings = functions
        .get(&("sqs".to_owned(), method.to_owned()))
        .unwrap_or_else(|| panic!("the queues have no {method}"));
    let queue = if doings.fields.iter().any(|field| field == "compactions_url") {
        "Compactions"
    } else {
        "Ticks"
    };
    requests(doings)
        .map(|action| right(action, queue))
        .collect()
}

fn of_table(functions: &Functions, (module, method): (&str, &str)) -> BTreeSet<Right> {
    let root = (module.to_owned(), method.to_owned());
    assert!(functions.contains_key(&root), "the table has no {method}");
    let mut seen = BTreeSet::new();
    let mut next = vec![root];
    let mut rights = BTreeSet::new();
    while let Some(key) = next.pop() {
        if !seen.insert(key.clone()) {
            continue;
        }
        let doings = &functions[&key];
        rights.extend(of_statements(doings));
        rights.extend(of_requests(doings));
        let called = doings.calls.iter().map(|(_, name)| name);
        let called: BTreeSet<_> = called.chain(&doings.own).collect();
        for (module, name) in functions.keys() {
            // The port's own methods only hand on, and are not called from inside.
            if called.contains(name) && module != "dynamo" && !SENDERS.contains(&name.as_str()) {
                next.push((module.clone(), name.clone()));
            }
        }
    }
    rights
}

fn of_statements(doings: &Doings) -> BTreeSet<Right> {
    let made = doings
        .calls
        .iter()
        .filter(|(module, _)| module == "Statement");
    made.filter_map(|(_, verb)| STATEMENTS.iter().find(|(known, _)| known == verb))
        .map(|(_, action)| right(action, "Table"))
        .collect()
}

/// A query goes to an index where it names one.
fn of_requests(doings: &Doings) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for action in requests(doings) {
        if action == "dynamodb:Query" && !doings.indexes.is_empty() {
            for index in &doings.indexes {
                let index = format!("Table/index/{}", index.to_lowercase());
                rights.insert(right(action, &index));
            }
        } else {
            rights.insert(right(action, "Table"));
        }
    }
    rights
}

fn requests(doings: &Doings) -> impl Iterator<Item = &'static str> {
    REQUESTS
        .into_iter()
        .filter(|(method, _)| doings.methods.iter().any(|called| called == method))
        .map(|(_, action)| action)
}

/// Every file of the library and the functions that makes a request, with the requests. Where a local run or a test
/// sets up a table is left out.
pub fn everywhere() -> Vec<(String, Vec<String>)> {
    let mut files = source::files("shared/src");
    files.extend(source::files("functions"));
    let mut found = Vec::new();
    for (name, file) in files {
        if name.ends_with("dynamo/schema.rs") {
            continue;
        }
        let functions = source::functions(&[(name.clone(), file)]);
        let methods = functions.into_values().flat_map(|doings| doings.methods);
        let made: BTreeSet<String> = methods
            .filter(|method| {
                let is_request = REQUESTS.iter().any(|(known, _)| known == method);
                is_request && method != "query" || SETTING_UP.contains(&method.as_str())
            })
            .collect();
        if !made.is_empty() {
            found.push((name, made.into_iter().collect()));
        }
    }
    assert!(found.len() >= 4, "only {found:?}");
    found
}
