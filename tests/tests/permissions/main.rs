//! Each function may do what its code does, and nothing else: the requests that a function can reach in the source,
//! held against the statements of its role in the template. And what the template tells of what nobody could do.

mod alarms;
mod requests;
mod source;
mod template;

use std::collections::BTreeSet;

use template::Template;

/// An action and what it is allowed on, for instance `dynamodb:Query` on `Table/index/live`.
type Right = (String, String);

fn right(action: &str, resource: &str) -> Right {
    (action.to_owned(), resource.to_owned())
}

/// What the code of a function asks AWS for.
fn needed(function: &str, template: &Template) -> BTreeSet<Right> {
    let roots: &[(&str, &str)] = match function {
        "Ingest" => &[("ingest", "ingest")],
        "Processor" => &[("process", "process"), ("compact", "compact")],
        "Sweeper" => &[("sweep", "sweep")],
        other => panic!("a function that this test does not know: {other}"),
    };
    let mut needed = requests::of_flow(roots);
    if function == "Processor" {
        // A tick that cannot be answered for want of a key is held by the shell of the function.
        needed.extend(requests::of_port("ticks", "hold"));
        // The flow runs tools by their port; which of them are functions is the agent files' matter.
        needed.extend(requests::of_tools());
    }
    needed.insert(right("secretsmanager:GetSecretValue", "Secrets"));
    for action in ["logs:CreateLogStream", "logs:PutLogEvents"] {
        needed.insert(right(action, &format!("{function}Logs")));
    }
    // What an event source mapping asks in the function's name.
    for queue in template.queues_of(function) {
        for action in ["DeleteMessage", "GetQueueAttributes", "ReceiveMessage"] {
            needed.insert(right(&format!("sqs:{action}"), &queue));
        }
    }
    needed
}

#[test]
fn every_role_allows_exactly_what_its_function_does() {
    let template = Template::read();
    let functions = template.functions();
    assert_eq!(functions, ["Ingest", "Processor", "Sweeper"]);
    for function in functions {
        let (needed, allowed) = (needed(&function, &template), template.allowed(&function));
        let missing: Vec<_> = needed.difference(&allowed).collect();
        let extra: Vec<_> = allowed.difference(&needed).collect();
        assert!(missing.is_empty(), "{function} lacks {missing:?}");
        assert!(extra.is_empty(), "{function} does not need {extra:?}");
    }
}

#[test]
fn no_role_has_a_wildcard_or_a_policy_of_somebody_else() {
    let template = Template::read();
    for function in template.functions() {
        for (action, resource) in template.allowed(&function) {
            assert!(!action.contains('*'), "{function}: {action}");
            assert!(
                !resource.contains('*'),
                "{function}: {action} on {resource}"
            );
        }
    }
    for word in [
        "ManagedPolicyArns",
        "AWS::IAM::Policy",
        "AdministratorAccess",
    ] {
        assert!(!template.text.contains(word), "the template names {word}");
    }
}

/// Whoever declares no tool that is a function gives no right to one.
#[test]
fn functions_are_invoked_only_where_the_parameter_names_them() {
    let template = Template::read();
    let invoke = right("lambda:InvokeFunction", "ToolFunctions");
    for function in template.functions() {
        let may = template.allowed(&function).contains(&invoke);
        assert_eq!(may, function == "Processor", "{function}");
    }
    assert_eq!(template.default_of("ToolFunctions").as_deref(), Some(""));
    let condition = "HasToolFunctions: !Not [!Equals [!Join [\"\", !Ref ToolFunctions], \"\"]]";
    assert!(template.text.contains(condition));
    assert_eq!(template.text.matches("lambda:InvokeFunction").count(), 1);
}

/// Where a request is made in a way that the scan does not know, it must not pass unseen.
#[test]
fn every_request_to_aws_is_made_where_the_scan_looks() {
    for (file, requests) in requests::everywhere() {
        let known = [
            "shared/src/adapters/dynamo",
            "shared/src/adapters/sqs.rs",
            "shared/src/adapters/secrets.rs",
            "shared/src/adapters/toolbox/lambda.rs",
        ];
        assert!(
            known.iter().any(|place| file.starts_with(place)),
            "{file} asks AWS for {requests:?}"
        );
    }
}

#[test]
fn the_scan_sees_what_is_known_to_be_there() {
    let ingest = requests::of_flow(&[("ingest", "ingest")]);
    for (action, resource) in [
        ("dynamodb:GetItem", "Table"),
        ("dynamodb:PutItem", "Table"),
        ("sqs:SendMessage", "Ticks"),
    ] {
        assert!(ingest.contains(&right(action, resource)), "{action}");
    }
    let booking = requests::of_port("ledger", "book");
    assert!(booking.contains(&right("dynamodb:UpdateItem", "Table")));
    let reading = requests::of_port("ledger", "spent_on");
    assert!(reading.contains(&right("dynamodb:Query", "Table")));
    let processor = requests::of_flow(&[("process", "process")]);
    assert!(processor.is_superset(&booking) && processor.is_superset(&reading));
    let sweeper = requests::of_flow(&[("sweep", "sweep")]);
    assert!(sweeper.contains(&right("dynamodb:Query", "Table/index/unrest")));
    assert!(sweeper.contains(&right("dynamodb:BatchWriteItem", "Table")));
}
