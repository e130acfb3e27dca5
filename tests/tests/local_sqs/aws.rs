//! Both services behind one port, and what a restart keeps.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
    ScalarAttributeType,
};
use recado_cli::aws::{self, Data};

use crate::{assert_soon, config, now};

async fn create_table(client: &aws_sdk_dynamodb::Client) {
    let key = KeySchemaElement::builder()
        .attribute_name("pk")
        .key_type(KeyType::Hash);
    let kind = AttributeDefinition::builder().attribute_name("pk");
    let kind = kind.attribute_type(ScalarAttributeType::S);
    let request = client
        .create_table()
        .table_name("recado")
        .key_schema(key.build().unwrap());
    let request = request.attribute_definitions(kind.build().unwrap());
    request
        .billing_mode(BillingMode::PayPerRequest)
        .send()
        .await
        .unwrap();
}

async fn create_queue(client: &aws_sdk_sqs::Client) -> String {
    let created = client.create_queue().queue_name("jobs").send().await;
    created.unwrap().queue_url.unwrap()
}

#[tokio::test]
async fn a_restart_keeps_the_table_and_forgets_the_queues() {
    let folder = tempfile::tempdir().unwrap();
    let data = Data::File(folder.path().join("recado.db"));
    let key = || AttributeValue::S("ana".to_owned());

    let first = aws::serve(0, &data, now()).await.unwrap();
    let both = config(first.url()).await;
    let dynamodb = aws_sdk_dynamodb::Client::new(&both);
    create_table(&dynamodb).await;
    let put = || {
        let request = dynamodb.put_item().table_name("recado").item("pk", key());
        request
            .condition_expression("attribute_not_exists(pk)")
            .send()
    };
    put().await.unwrap();
    let refused = put().await.unwrap_err().into_service_error();
    assert!(refused.is_conditional_check_failed_exception());
    let sqs = aws_sdk_sqs::Client::new(&both);
    let queue = create_queue(&sqs).await;
    assert!(queue.starts_with(first.url()), "{queue}");
    sqs.send_message()
        .queue_url(&queue)
        .message_body("x")
        .send()
        .await
        .unwrap();
    first.stop().await.unwrap();

    let second = aws::serve(0, &data, now()).await.unwrap();
    let direct = aws_sdk_dynamodb::Client::new(&config(second.dynamodb_url()).await);
    let item = direct
        .get_item()
        .table_name("recado")
        .key("pk", key())
        .send()
        .await
        .unwrap();
    assert!(item.item.is_some());
    let sqs = aws_sdk_sqs::Client::new(&config(second.sqs_url()).await);
    assert!(
        sqs.list_queues()
            .send()
            .await
            .unwrap()
            .queue_urls()
            .is_empty()
    );
    second.stop().await.unwrap();
}

#[tokio::test]
async fn a_stop_waits_for_no_one_and_a_taken_port_is_told() {
    let aws = aws::serve(0, &Data::Memory, now()).await.unwrap();
    let port = aws.url().rsplit(':').next().unwrap().parse().unwrap();
    let taken = aws::serve(port, &Data::Memory, now()).await.err().unwrap();
    assert!(taken.to_string().contains("choose another port"), "{taken}");

    let sqs = aws_sdk_sqs::Client::new(&config(aws.url()).await);
    let queue = create_queue(&sqs).await;
    let waiting = tokio::spawn(async move {
        sqs.receive_message()
            .queue_url(queue)
            .wait_time_seconds(20)
            .send()
            .await
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    let begun = Instant::now();
    aws.run(async {}).await.unwrap();
    assert!(waiting.await.unwrap().unwrap().messages.is_none());
    assert_soon(begun);
}

/// A browser lets any site's page send such a request to this machine; only its headers tell.
#[tokio::test]
async fn a_page_of_another_site_is_refused_and_cannot_guess_the_tables_own_address() {
    let aws = aws::serve(0, &Data::Memory, now()).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (name, value) in [("origin", "http://evil.example"), ("host", "evil.example")] {
        for target in ["DynamoDB_20120810.ListTables", "AmazonSQS.ListQueues"] {
            let asked = client.post(aws.url()).header(name, value);
            let asked = asked.header("x-amz-target", target).body("{}");
            assert_eq!(asked.send().await.unwrap().status(), 403, "{name} {target}");
        }
    }
    #[cfg(target_os = "linux")]
    assert!(
        !aws.dynamodb_url().contains("127.0.0.1:"),
        "{}",
        aws.dynamodb_url()
    );
    aws.stop().await.unwrap();
}
