//! What DynamoDB and SQS answer on a bad day, as it stands on the wire.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::proxy::Service;

/// An answer before it is bytes.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A refusal; SQS also tells its code in the older protocol's header.
    fn of(status: u16, body: &Value, query_error: Option<&str>) -> Self {
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.0"),
            (
                "x-amzn-requestid",
                "4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG",
            ),
        ];
        headers.extend(query_error.map(|code| ("x-amzn-query-error", code)));
        Self {
            status,
            headers: headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: body.to_string().into_bytes(),
        }
    }

    /// As HTTP/1.1.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Told", self.status);
        let length = ("content-length".to_owned(), self.body.len().to_string());
        for (name, value) in self.headers.iter().chain([&length]) {
            // Writing to a text cannot fail.
            let _ = write!(head, "\r\n{name}: {value}");
        }
        head.push_str("\r\n\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(&self.body);
        bytes
    }
}

/// Refused for now; `which` chooses among the forms.
pub fn throttled(service: Service, which: usize) -> Answer {
    if service == Service::Sqs {
        let body = json!({
            "__type": "com.amazonaws.sqs#RequestThrottled",
            "message": "The request was denied due to request throttling.",
        });
        return Answer::of(400, &body, Some("RequestThrottled;Sender"));
    }
    let forms = [
        (
            "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
            "The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
             provisioning level with the UpdateTable API.",
        ),
        (
            "com.amazon.coral.availability#ThrottlingException",
            "Throughput exceeds the current capacity of your table or index.",
        ),
        (
            "com.amazonaws.dynamodb.v20120810#RequestLimitExceeded",
            "Throughput exceeds the current throughput limit for your account.",
        ),
    ];
    let (kind, message) = forms[which % forms.len()];
    Answer::of(400, &json!({ "__type": kind, "message": message }), None)
}

/// A transaction of which one item was refused; `which` chooses the item and the reason.
pub fn cancelled(request: &[u8], which: usize) -> Answer {
    let request: Value = serde_json::from_slice(request).unwrap();
    let items = request["TransactItems"].as_array().unwrap().len();
    let forms = [
        (
            "ThrottlingError",
            "Throughput exceeds the current capacity for one or more global secondary indexes.",
        ),
        ("TransactionConflict", "Transaction is ongoing for the item"),
        (
            "ProvisionedThroughputExceeded",
            "The level of configured provisioned throughput for the table was exceeded.",
        ),
    ];
    let (code, message) = forms[which % forms.len()];
    let refused = which / forms.len() % items;
    let mut reasons = vec![json!({ "Code": "None" }); items];
    reasons[refused] = json!({ "Code": code, "Message": message });
    let mut codes = vec!["None"; items];
    codes[refused] = code;
    let codes = codes.join(", ");
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"),
        "CancellationReasons": reasons,
    });
    Answer::of(400, &body, None)
}

/// The service's own fault.
pub fn failed(service: Service) -> Answer {
    let body = match service {
        Service::DynamoDb => json!({
            "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
            "message": "Internal server error",
        }),
        Service::Sqs => json!({
            "__type": "com.amazonaws.sqs#InternalFailure",
            "message": "The request processing has failed because of an unknown error, exception or failure.",
        }),
    };
    Answer::of(
        500,
        &body,
        (service == Service::Sqs).then_some("InternalFailure;Receiver"),
    )
}
