//! The local AWS through the real AWS clients: what the processor and the sweeper will see of it.
//!
//! Waits are short; the rules of time are tested beside the code, with a clock that is moved by hand.

mod administration;
mod aws;
mod poller;
mod queues;
mod refusals;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::Credentials;
use aws_sdk_sqs::types::{Message, QueueAttributeName};
use recado_cli::sqs::{Now, SqsServer};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// An SQS server on a free port, and a client of it.
struct Sqs {
    client: Client,
    url: String,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Sqs {
    async fn start() -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = SqsServer::bind(address, now()).await.unwrap();
        let url = server.url().to_owned();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(async move {
            let shutdown = async move {
                let _ = stopped.await;
            };
            server.serve(shutdown).await.unwrap();
        });
        let client = Client::new(&config(&url).await);
        Self {
            client,
            url,
            stop,
            ended,
        }
    }

    /// A FIFO queue of this name with these attributes; gives its URL.
    async fn fifo(&self, name: &str, attributes: &[(&str, &str)]) -> String {
        let mut all = vec![("FifoQueue", "true")];
        all.extend(attributes);
        self.queue(name, &all).await
    }

    async fn queue(&self, name: &str, attributes: &[(&str, &str)]) -> String {
        let mut request = self.client.create_queue().queue_name(name);
        for (name, value) in attributes {
            request = request.attributes(QueueAttributeName::from(*name), *value);
        }
        request.send().await.unwrap().queue_url.unwrap()
    }

    async fn send(&self, queue: &str, group: &str, body: &str) {
        let request = self
            .client
            .send_message()
            .queue_url(queue)
            .message_body(body);
        let request = request
            .message_group_id(group)
            .message_deduplication_id(body);
        request.send().await.unwrap();
    }

    /// What can be received within a wait of whole seconds.
    async fn receive(&self, queue: &str, wait_s: i32) -> Vec<Message> {
        let request = self
            .client
            .receive_message()
            .queue_url(queue)
            .max_number_of_messages(10);
        request
            .wait_time_seconds(wait_s)
            .send()
            .await
            .unwrap()
            .messages
            .unwrap_or_default()
    }

    async fn delete(&self, queue: &str, message: &Message) {
        let request = self.client.delete_message().queue_url(queue);
        request
            .set_receipt_handle(message.receipt_handle.clone())
            .send()
            .await
            .unwrap();
    }
}

fn bodies(messages: &[Message]) -> Vec<&str> {
    messages.iter().filter_map(Message::body).collect()
}

/// Well before the end of any long poll of these tests.
fn assert_soon(begun: Instant) {
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// The wall clock in milliseconds.
fn now() -> Now {
    Arc::new(|| {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        u64::try_from(elapsed.as_millis()).unwrap()
    })
}

async fn config(url: &str) -> SdkConfig {
    aws_config::defaults(BehaviorVersion::latest())
        .endpoint_url(url)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "tests"))
        .load()
        .await
}
