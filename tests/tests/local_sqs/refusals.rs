//! What is refused, by the name that a client maps to its own errors.

use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, QueueAttributeName};

use crate::Sqs;

fn code<T: std::fmt::Debug, E: ProvideErrorMetadata>(result: Result<T, E>) -> String {
    result
        .err()
        .and_then(|error| error.code().map(str::to_owned))
        .expect("a refusal with a code")
}

#[tokio::test]
async fn refusals_are_the_clients_own_errors() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;

    let missing = format!("{}/000000000000/missing", sqs.url);
    let error = sqs
        .client
        .receive_message()
        .queue_url(missing)
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_queue_does_not_exist());

    let request = sqs.client.create_queue().queue_name("ticks.fifo");
    let request = request.attributes(QueueAttributeName::FifoQueue, "true");
    let other = request
        .attributes(QueueAttributeName::DelaySeconds, "5")
        .send()
        .await;
    assert!(
        other
            .unwrap_err()
            .into_service_error()
            .is_queue_name_exists()
    );

    let request = sqs.client.delete_message().queue_url(&queue);
    let error = request.receipt_handle("nonsense").send().await.unwrap_err();
    assert!(error.into_service_error().is_receipt_handle_is_invalid());

    let request = sqs.client.delete_message_batch().queue_url(&queue);
    let error = request
        .set_entries(Some(Vec::new()))
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_empty_batch_request());

    let entry = |id: &str| {
        DeleteMessageBatchRequestEntry::builder()
            .id(id)
            .receipt_handle("r")
            .build()
            .unwrap()
    };
    for (label, ids, expected) in [
        ("eleven", "abcdefghijk", "TooManyEntriesInBatchRequest"),
        ("twice", "aba", "BatchEntryIdsNotDistinct"),
        ("odd id", "a!", "InvalidBatchEntryId"),
    ] {
        let entries = ids.chars().map(|id| entry(&id.to_string())).collect();
        let request = sqs.client.delete_message_batch().queue_url(&queue);
        let refused = code(request.set_entries(Some(entries)).send().await);
        assert_eq!(
            refused,
            format!("AWS.SimpleQueueService.{expected}"),
            "{label}"
        );
    }
}

#[tokio::test]
async fn a_message_that_breaks_a_rule_is_refused() {
    let sqs = Sqs::start().await;
    let fifo = sqs.fifo("ticks.fifo", &[]).await;
    let standard = sqs.queue("jobs", &[]).await;
    let send = |queue: &str, body: &str| {
        sqs.client
            .send_message()
            .queue_url(queue)
            .message_body(body)
    };
    let in_group = |body: &str| send(&fifo, body).message_group_id("ana");
    let whole = |body: &str| in_group(body).message_deduplication_id("d");
    for (label, request, expected) in [
        (
            "no group",
            send(&fifo, "x").message_deduplication_id("d"),
            "MissingParameter",
        ),
        (
            "no deduplication id",
            in_group("x"),
            "InvalidParameterValue",
        ),
        (
            "delay of its own",
            whole("x").delay_seconds(1),
            "InvalidParameterValue",
        ),
        (
            "long group id",
            whole("x").message_group_id("g".repeat(129)),
            "InvalidParameterValue",
        ),
        (
            "long id",
            in_group("x").message_deduplication_id("d".repeat(129)),
            "InvalidParameterValue",
        ),
        ("empty body", whole(""), "MissingParameter"),
        (
            "control character",
            whole("\u{b}"),
            "InvalidMessageContents",
        ),
        (
            "too long",
            whole(&"x".repeat(1_048_577)),
            "InvalidParameterValue",
        ),
        (
            "id on a standard queue",
            send(&standard, "x").message_deduplication_id("d"),
            "InvalidParameterValue",
        ),
        (
            "group on a standard queue",
            send(&standard, "x").message_group_id("g"),
            "AWS.SimpleQueueService.UnsupportedOperation",
        ),
    ] {
        assert_eq!(code(request.send().await), expected, "{label}");
    }
    whole(&"x".repeat(1_048_576)).send().await.unwrap();
}

#[tokio::test]
async fn a_receive_out_of_range_is_refused() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    let receive = || sqs.client.receive_message().queue_url(&queue);
    for (label, request) in [
        ("no message", receive().max_number_of_messages(0)),
        ("eleven messages", receive().max_number_of_messages(11)),
        ("long wait", receive().wait_time_seconds(21)),
        ("long hold", receive().visibility_timeout(43_201)),
    ] {
        assert_eq!(
            code(request.send().await),
            "InvalidParameterValue",
            "{label}"
        );
    }
    let request = receive().receive_request_attempt_id("a");
    assert_eq!(
        code(request.send().await),
        "AWS.SimpleQueueService.UnsupportedOperation"
    );
}

#[tokio::test]
async fn bytes_that_are_no_request_get_a_reason() {
    let sqs = Sqs::start().await;
    let client = reqwest::Client::new();
    for (label, target, body) in [
        ("no target", None, "{}"),
        ("no action", Some("AmazonSQS."), "{}"),
        ("unknown action", Some("AmazonSQS.Juggle"), "{}"),
        ("action not served", Some("AmazonSQS.TagQueue"), "{}"),
        (
            "no json",
            Some("AmazonSQS.SendMessage"),
            "Action=SendMessage",
        ),
        (
            "not utf-8",
            Some("AmazonSQS.SendMessage"),
            "{\"MessageBody\":\"\\ud800\"}",
        ),
        (
            "half a second",
            Some("AmazonSQS.ChangeMessageVisibility"),
            "{\"VisibilityTimeout\":0.5}",
        ),
        (
            "unknown parameter",
            Some("AmazonSQS.SendMessage"),
            "{\"Colour\":\"blue\"}",
        ),
        (
            "unknown receive parameter",
            Some("AmazonSQS.ReceiveMessage"),
            "{\"Colour\":1}",
        ),
    ] {
        let mut request = client.post(&sqs.url).body(body);
        if let Some(target) = target {
            request = request.header("X-Amz-Target", target);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 400, "{label}");
        assert!(
            response.headers().contains_key("x-amzn-query-error"),
            "{label}"
        );
        let answer: serde_json::Value = response.json().await.unwrap();
        assert!(
            answer["__type"]
                .as_str()
                .is_some_and(|kind| kind.contains('#')),
            "{label}"
        );
        assert!(
            answer["message"]
                .as_str()
                .is_some_and(|reason| !reason.is_empty()),
            "{label}"
        );
    }
}
