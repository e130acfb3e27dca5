//! Sending, receiving and deleting.

use std::time::{Duration, Instant};

use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{
    MessageAttributeValue, MessageSystemAttributeName, SendMessageBatchRequestEntry,
    SendMessageBatchResultEntry,
};

use crate::{Sqs, assert_soon, bodies};

#[tokio::test]
async fn a_group_keeps_its_order_and_is_closed_while_a_message_is_out() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    sqs.send(&queue, "ana", "1").await;
    sqs.send(&queue, "ana", "2").await;
    let request = sqs.client.receive_message().queue_url(&queue);
    let first = request.send().await.unwrap().messages.unwrap();
    assert_eq!(bodies(&first), ["1"], "one message when no number is named");
    sqs.send(&queue, "ana", "3").await;
    sqs.send(&queue, "bia", "4").await;
    assert_eq!(bodies(&sqs.receive(&queue, 0).await), ["4"]);
    sqs.delete(&queue, &first[0]).await;
    assert_eq!(bodies(&sqs.receive(&queue, 0).await), ["2", "3"]);
}

#[tokio::test]
async fn a_repeated_id_gets_the_first_answer_also_after_the_delete() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    let send = |body: &str| {
        let request = sqs
            .client
            .send_message()
            .queue_url(&queue)
            .message_body(body);
        request
            .message_group_id("ana")
            .message_deduplication_id("d".repeat(128))
            .send()
    };
    let first = send("one").await.unwrap();
    let second = send("two").await.unwrap();
    let received = sqs.receive(&queue, 0).await;
    assert_eq!(bodies(&received), ["one"]);
    sqs.delete(&queue, &received[0]).await;
    let third = send("three").await.unwrap();
    assert!(sqs.receive(&queue, 0).await.is_empty());
    for again in [second, third] {
        assert_eq!(again.message_id, first.message_id);
        assert_eq!(again.sequence_number, first.sequence_number);
    }
}

#[tokio::test]
async fn a_long_poll_ends_when_a_message_comes() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    let begun = Instant::now();
    let (received, ()) = tokio::join!(sqs.receive(&queue, 10), async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        sqs.send(&queue, "ana", "1").await;
    });
    assert_eq!(bodies(&received), ["1"]);
    assert_soon(begun);
}

#[tokio::test]
async fn a_long_poll_ends_when_a_message_is_given_back_or_its_hold_is_over() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[("VisibilityTimeout", "1")]).await;
    sqs.send(&queue, "ana", "1").await;
    sqs.receive(&queue, 0).await;
    let begun = Instant::now();
    let again = sqs.receive(&queue, 10).await;
    assert_eq!(bodies(&again), ["1"]);
    let elapsed = begun.elapsed();
    assert!(
        elapsed > Duration::from_millis(800) && elapsed < Duration::from_secs(4),
        "{elapsed:?}"
    );

    let hold = |seconds| {
        let request = sqs.client.change_message_visibility().queue_url(&queue);
        let handle = again[0].receipt_handle.clone();
        request
            .set_receipt_handle(handle)
            .visibility_timeout(seconds)
            .send()
    };
    hold(600).await.unwrap();
    let begun = Instant::now();
    let (received, given_back) = tokio::join!(sqs.receive(&queue, 10), async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        hold(0).await
    });
    given_back.unwrap();
    assert_eq!(bodies(&received), ["1"]);
    assert_soon(begun);
}

#[tokio::test]
async fn a_client_that_goes_away_takes_no_message_along() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    for _ in 0..5 {
        let waited = tokio::time::timeout(Duration::from_millis(50), sqs.receive(&queue, 20)).await;
        assert!(waited.is_err());
    }
    // Its connection's end has to reach the server first.
    tokio::time::sleep(Duration::from_millis(100)).await;
    sqs.send(&queue, "ana", "1").await;
    assert_eq!(bodies(&sqs.receive(&queue, 2).await), ["1"]);
}

#[tokio::test]
async fn a_server_that_stops_lets_no_one_wait() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    let begun = Instant::now();
    let client = sqs.client.clone();
    let waiting = tokio::spawn(async move {
        client
            .receive_message()
            .queue_url(queue)
            .wait_time_seconds(20)
            .send()
            .await
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    sqs.stop.send(()).unwrap();
    sqs.ended.await.unwrap();
    assert!(waiting.await.unwrap().unwrap().messages.is_none());
    assert_soon(begun);
}

#[tokio::test]
async fn a_batch_answers_for_each_entry() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    let entry = |id: &str, group: &str| {
        let entry = SendMessageBatchRequestEntry::builder()
            .id(id)
            .message_body(id);
        entry
            .message_group_id(group)
            .message_deduplication_id(id)
            .build()
            .unwrap()
    };
    let request = sqs.client.send_message_batch().queue_url(&queue);
    let request = request
        .entries(entry("good", "ana"))
        .entries(entry("bad", "two words"));
    let answer = request.entries(entry("late", "ana")).send().await.unwrap();
    let sent: Vec<&str> = answer
        .successful()
        .iter()
        .map(SendMessageBatchResultEntry::id)
        .collect();
    assert_eq!(sent, ["good", "late"]);
    let failed = &answer.failed()[0];
    assert_eq!(
        (failed.id(), failed.code()),
        ("bad", "InvalidParameterValue")
    );
    assert!(failed.sender_fault());
    assert_eq!(bodies(&sqs.receive(&queue, 0).await), ["good", "late"]);
}

#[tokio::test]
async fn what_is_sent_arrives_whole() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[]).await;
    let attribute = |kind: &str| MessageAttributeValue::builder().data_type(kind);
    let text = attribute("String.place")
        .string_value("São Luís")
        .build()
        .unwrap();
    let number = attribute("Number").string_value("-1.5").build().unwrap();
    let bytes = attribute("Binary")
        .binary_value(Blob::new([0, 255]))
        .build()
        .unwrap();
    let request = sqs
        .client
        .send_message()
        .queue_url(&queue)
        .message_body("olá 👋\n<&>");
    let request = request
        .message_group_id("ana")
        .message_deduplication_id("d");
    let request = request.message_attributes("text", text.clone());
    let request = request.message_attributes("list.number", number.clone());
    let sent = request
        .message_attributes("list.bytes", bytes.clone())
        .send()
        .await
        .unwrap();

    let receive = |names: &str| {
        let request = sqs
            .client
            .receive_message()
            .queue_url(&queue)
            .visibility_timeout(0);
        let request = request.message_system_attribute_names(MessageSystemAttributeName::All);
        request.message_attribute_names(names).send()
    };
    let all = receive("All").await.unwrap().messages.unwrap().remove(0);
    assert_eq!(all.body(), Some("olá 👋\n<&>"));
    assert_eq!(all.message_id, sent.message_id);
    assert_eq!(all.md5_of_body, sent.md5_of_message_body);
    assert_eq!(
        all.md5_of_message_attributes,
        sent.md5_of_message_attributes
    );
    let carried = all.message_attributes().unwrap();
    assert_eq!((&carried["text"], carried.len()), (&text, 3));
    let system = all.attributes().unwrap();
    for (name, value) in [
        (MessageSystemAttributeName::MessageGroupId, "ana"),
        (MessageSystemAttributeName::MessageDeduplicationId, "d"),
        (MessageSystemAttributeName::ApproximateReceiveCount, "1"),
        (
            MessageSystemAttributeName::SequenceNumber,
            sent.sequence_number().unwrap(),
        ),
    ] {
        assert_eq!(system[&name], value, "{name}");
    }
    let some = receive("list.*").await.unwrap().messages.unwrap().remove(0);
    let carried = some.message_attributes().unwrap();
    assert_eq!(
        (&carried["list.bytes"], &carried["list.number"]),
        (&bytes, &number)
    );
    assert_eq!(carried.len(), 2);
}

#[tokio::test]
async fn a_dead_letter_reaches_who_waits_for_it() {
    let sqs = Sqs::start().await;
    let dead = sqs.fifo("dead.fifo", &[]).await;
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead.fifo","maxReceiveCount":1}"#;
    let attributes = [("VisibilityTimeout", "0"), ("RedrivePolicy", policy)];
    let queue = sqs.fifo("ticks.fifo", &attributes).await;
    sqs.send(&queue, "ana", "1").await;
    let begun = Instant::now();
    let (letters, ()) = tokio::join!(sqs.receive(&dead, 10), async {
        assert_eq!(bodies(&sqs.receive(&queue, 0).await), ["1"]);
        assert!(sqs.receive(&queue, 0).await.is_empty());
    });
    assert_eq!(bodies(&letters), ["1"]);
    assert_soon(begun);
}
