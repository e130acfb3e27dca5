//! Queues as such: their attributes, their list, their end.

use aws_sdk_sqs::types::QueueAttributeName;

use crate::Sqs;

#[tokio::test]
async fn a_queue_says_what_it_holds_and_can_be_emptied() {
    let sqs = Sqs::start().await;
    let queue = sqs.fifo("ticks.fifo", &[("VisibilityTimeout", "7")]).await;
    sqs.send(&queue, "ana", "1").await;
    sqs.send(&queue, "bia", "2").await;
    sqs.client
        .receive_message()
        .queue_url(&queue)
        .send()
        .await
        .unwrap();
    let attributes = || async {
        let request = sqs.client.get_queue_attributes().queue_url(&queue);
        let answer = request
            .attribute_names(QueueAttributeName::All)
            .send()
            .await
            .unwrap();
        answer.attributes.unwrap()
    };
    let before = attributes().await;
    for (name, value) in [
        (
            QueueAttributeName::QueueArn,
            "arn:aws:sqs:us-east-1:000000000000:ticks.fifo",
        ),
        (QueueAttributeName::VisibilityTimeout, "7"),
        (QueueAttributeName::FifoQueue, "true"),
        (QueueAttributeName::ApproximateNumberOfMessages, "1"),
        (
            QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
            "1",
        ),
        (QueueAttributeName::ApproximateNumberOfMessagesDelayed, "0"),
    ] {
        assert_eq!(before[&name], value, "{name}");
    }
    sqs.client
        .purge_queue()
        .queue_url(&queue)
        .send()
        .await
        .unwrap();
    let after = attributes().await;
    assert_eq!(
        after[&QueueAttributeName::ApproximateNumberOfMessagesNotVisible],
        "0"
    );
}

#[tokio::test]
async fn queues_are_listed_by_page_found_by_name_and_deleted() {
    let sqs = Sqs::start().await;
    let mut urls = Vec::new();
    for name in ["a-1", "a-2", "a-3", "b-1"] {
        urls.push(sqs.queue(name, &[]).await);
    }
    let list = || {
        sqs.client
            .list_queues()
            .queue_name_prefix("a-")
            .max_results(2)
    };
    let first = list().send().await.unwrap();
    assert_eq!(first.queue_urls(), &urls[..2]);
    let rest = list()
        .set_next_token(first.next_token)
        .send()
        .await
        .unwrap();
    assert_eq!((rest.queue_urls(), rest.next_token()), (&urls[2..3], None));

    let found = sqs
        .client
        .get_queue_url()
        .queue_name("a-1")
        .send()
        .await
        .unwrap();
    assert_eq!(found.queue_url(), Some(urls[0].as_str()));
    sqs.client
        .delete_queue()
        .queue_url(&urls[0])
        .send()
        .await
        .unwrap();
    let found = sqs
        .client
        .get_queue_url()
        .queue_name("a-1")
        .send()
        .await
        .unwrap_err();
    assert!(found.into_service_error().is_queue_does_not_exist());
}
