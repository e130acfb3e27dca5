//! The template, as far as it says who may do what.

use std::collections::BTreeSet;

use saphyr::{LoadableYamlNode as _, Yaml};

use crate::source::root;
use crate::{Right, right};

/// A metric that counts lines of a log.
pub struct Metric {
    pub name: String,
    /// Which lines.
    pub pattern: String,
    /// The fields of a line that it is split by.
    pub fields: Vec<String>,
}

/// The template.
pub struct Template {
    /// As it stands.
    pub text: String,
}

impl Template {
    pub fn read() -> Self {
        let text = std::fs::read_to_string(root().join("template.yaml")).unwrap();
        Self { text }
    }

    fn with<T>(&self, look: impl FnOnce(&Yaml<'_>) -> T) -> T {
        let documents = Yaml::load_from_str(&self.text).unwrap();
        look(bare(&documents[0]["Resources"]))
    }

    /// The names of the functions, in order.
    pub fn functions(&self) -> Vec<String> {
        self.with(|resources| {
            let all = resources.as_mapping().unwrap().iter();
            let mut names: Vec<String> = all
                .filter(|(_, one)| one["Type"].as_str() == Some("AWS::Serverless::Function"))
                .map(|(name, _)| name.as_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        })
    }

    /// The default of a parameter.
    pub fn default_of(&self, parameter: &str) -> Option<String> {
        let documents = Yaml::load_from_str(&self.text).unwrap();
        let default = &documents[0]["Parameters"][parameter]["Default"];
        default.as_str().map(str::to_owned)
    }

    /// What is counted in the logs, in order.
    pub fn metrics(&self) -> Vec<Metric> {
        self.with(|resources| {
            let all = resources.as_mapping().unwrap().values();
            let filters = all.filter(|one| one["Type"].as_str() == Some("AWS::Logs::MetricFilter"));
            let metric = |filter: &Yaml<'_>| {
                let properties = &filter["Properties"];
                let counted = &properties["MetricTransformations"][0];
                let split = counted["Dimensions"].as_sequence().unwrap().iter();
                let field = |one: &Yaml<'_>| one["Value"].as_str().unwrap().replace("$.", "");
                Metric {
                    name: counted["MetricName"].as_str().unwrap().to_owned(),
                    pattern: properties["FilterPattern"].as_str().unwrap().to_owned(),
                    fields: split.map(field).collect(),
                }
            };
            filters.map(metric).collect()
        })
    }

    /// The queues whose messages the function is called with.
    pub fn queues_of(&self, function: &str) -> Vec<String> {
        self.with(|resources| {
            let events = bare(&resources[function]["Properties"]["Events"]);
            let events = events.as_mapping().unwrap().values();
            events
                .filter(|event| event["Type"].as_str() == Some("SQS"))
                .map(|event| resource(&event["Properties"]["Queue"]))
                .collect()
        })
    }

    /// The queues that others give up their messages to, in order.
    pub fn dead_letter_queues(&self) -> Vec<String> {
        self.with(|resources| {
            let all = resources.as_mapping().unwrap().values();
            let policies = all.filter_map(|one| {
                let properties = one.as_mapping_get("Properties")?;
                properties.as_mapping_get("RedrivePolicy")
            });
            let queues = policies.map(|policy| resource(&policy["deadLetterTargetArn"]));
            let mut queues: Vec<String> = queues.collect();
            queues.sort();
            queues
        })
    }

    /// The alarms that go off while a message is in this queue, and that tell an address where there is one.
    pub fn alarms_on(&self, queue: &str) -> Vec<String> {
        self.with(|resources| {
            let all = resources.as_mapping().unwrap().iter();
            let alarms = all.filter(|(_, one)| {
                one["Type"].as_str() == Some("AWS::CloudWatch::Alarm")
                    && watches(&one["Properties"], queue)
            });
            let names = alarms.map(|(name, _)| name.as_str().unwrap().to_owned());
            names.collect()
        })
    }

    /// Under which condition a resource is made.
    pub fn condition_of(&self, name: &str) -> String {
        self.with(|resources| resources[name]["Condition"].as_str().unwrap().to_owned())
    }

    /// What the function's role allows. It has one role of its own, whose policies are written out.
    pub fn allowed(&self, function: &str) -> BTreeSet<Right> {
        self.with(|resources| {
            let properties = &resources[function]["Properties"];
            assert!(
                properties.as_mapping_get("Policies").is_none(),
                "{function} has policies beside its role"
            );
            let role = resource(&properties["Role"]);
            assert_eq!(role, format!("{function}Role"), "the role of {function}");
            let policies = &resources[role.as_str()]["Properties"]["Policies"];
            let mut rights = BTreeSet::new();
            for policy in policies.as_sequence().unwrap() {
                let statements = &policy["PolicyDocument"]["Statement"];
                for statement in statements.as_sequence().unwrap() {
                    let statement = where_it_applies(statement);
                    assert_eq!(statement["Effect"].as_str(), Some("Allow"));
                    for action in one_or_more(&statement["Action"]) {
                        for target in one_or_more(&statement["Resource"]) {
                            let new = right(action.as_str().unwrap(), &resource(target));
                            assert!(rights.insert(new.clone()), "{function}: {new:?} twice");
                        }
                    }
                }
            }
            rights
        })
    }
}

/// Whether an alarm goes off with the first message in this queue.
fn watches(alarm: &Yaml<'_>, queue: &str) -> bool {
    let is = |field: &str, value: &str| alarm[field].as_str() == Some(value);
    is("Namespace", "AWS/SQS")
        && is("MetricName", "ApproximateNumberOfMessagesVisible")
        && is("Statistic", "Maximum")
        && is("ComparisonOperator", "GreaterThanThreshold")
        && is("TreatMissingData", "notBreaching")
        && alarm["Threshold"].as_integer() == Some(0)
        && alarm["EvaluationPeriods"].as_integer() == Some(1)
        && resource(&alarm["Dimensions"][0]["Value"]) == format!("{queue}.QueueName")
        && resource(&bare(&alarm["AlarmActions"])[1][0]) == "Alerts"
}

/// The statement itself, of one that stands under a condition or not at all.
fn where_it_applies<'n, 'y>(node: &'n Yaml<'y>) -> &'n Yaml<'y> {
    let Some([_, then, otherwise]) = bare(node).as_sequence().map(Vec::as_slice) else {
        return node;
    };
    assert_eq!(resource(otherwise), "AWS::NoValue");
    then
}

/// The node without its tag.
fn bare<'n, 'y>(node: &'n Yaml<'y>) -> &'n Yaml<'y> {
    match node {
        Yaml::Tagged(_, node) => node,
        node => node,
    }
}

fn one_or_more<'n, 'y>(node: &'n Yaml<'y>) -> Vec<&'n Yaml<'y>> {
    match node.as_sequence() {
        Some(nodes) => nodes.iter().collect(),
        None => vec![node],
    }
}

/// The name in `!GetAtt Name.Arn`, `!Ref Name` or `!Sub ${Name.Arn}/rest`.
fn resource(node: &Yaml<'_>) -> String {
    let text = match bare(node) {
        Yaml::Representation(text, ..) => text.to_string(),
        node => node.as_str().unwrap().to_owned(),
    };
    let text = text.replace("${", "").replace('}', "");
    text.replacen(".Arn", "", 1)
}
