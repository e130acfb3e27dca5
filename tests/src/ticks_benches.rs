//! Queues to run the contract on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_sqs::types::{MessageSystemAttributeName, QueueAttributeName};
use recado::adapters::clock::SystemClock;
use recado::adapters::sqs::SqsTicks;
use recado::domain::Hasher;
use recado::ports::{Clock as _, Ticks};
use recado_cli::sqs::SqsServer;
use tokio::task::JoinSet;

use crate::fake_clock::MovedClock;
use crate::fake_ticks::{self, FakeTicks};
use crate::ticks_contract::{Bench, DELAY, Queue, Received};

fn hasher() -> Arc<Hasher> {
    Arc::new(Hasher::new(&[7; 32]))
}

/// The fake queues. Use it under `#[tokio::test(start_paused = true)]`.
pub struct FakeTicksBench {
    ticks: FakeTicks,
    hasher: Arc<Hasher>,
}

impl Default for FakeTicksBench {
    fn default() -> Self {
        let hasher = hasher();
        let delay_s = u32::try_from(DELAY.as_secs()).unwrap();
        let clock = Arc::new(MovedClock::start());
        Self {
            ticks: FakeTicks::new(clock, Arc::clone(&hasher), delay_s),
            hasher,
        }
    }
}

const fn fake_name(queue: Queue) -> &'static str {
    match queue {
        Queue::Ticks => fake_ticks::TICKS,
        Queue::Compactions => fake_ticks::COMPACTIONS,
    }
}

#[async_trait]
impl Bench for FakeTicksBench {
    fn ticks(&self) -> &dyn Ticks {
        &self.ticks
    }

    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn visibility(&self) -> Duration {
        Duration::from_secs(150)
    }

    async fn receive(&self, queue: Queue) -> Option<Received> {
        let record = self.ticks.receive(fake_name(queue))?;
        Some(Received {
            id: record.message_id,
            receipt: record.receipt_handle,
            body: record.body,
            group: record.attributes.group,
        })
    }

    async fn delete(&self, queue: Queue, receipt: &str) {
        self.ticks.delete(fake_name(queue), receipt);
    }
}

/// Queues behind an SQS endpoint, through the real client. Waits are real, so they are short.
pub struct SqsBench {
    client: Client,
    ticks: SqsTicks,
    ticks_url: String,
    compactions_url: String,
    hasher: Arc<Hasher>,
    /// Our own server, where it is ours.
    _server: JoinSet<()>,
}

/// Long enough for a client's request, short enough to wait for.
const VISIBILITY: Duration = Duration::from_secs(3);

impl SqsBench {
    /// On a server of our own.
    pub async fn local() -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let now = Arc::new(|| SystemClock.now().ms());
        let server = SqsServer::bind(address, now).await.unwrap();
        let url = server.url().to_owned();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            server.serve(std::future::pending()).await.unwrap();
        });
        Self::over(&url, "contract", serving).await
    }

    /// On the endpoint at `url`, with queues whose names begin with `prefix`.
    pub async fn at(url: &str, prefix: &str) -> Self {
        Self::over(url, prefix, JoinSet::new()).await
    }

    async fn over(url: &str, prefix: &str, server: JoinSet<()>) -> Self {
        let credentials = Credentials::new("local", "local", None, None, "tests");
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(url)
            .region(Region::new("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .build();
        let client = Client::new(&config);
        let visibility = VISIBILITY.as_secs().to_string();
        let delay = DELAY.as_secs().to_string();
        let fifo = [
            ("FifoQueue", "true"),
            ("DelaySeconds", &delay),
            ("VisibilityTimeout", &visibility),
            ("DeduplicationScope", "messageGroup"),
            ("FifoThroughputLimit", "perMessageGroupId"),
        ];
        let ticks_url = create(&client, &format!("{prefix}-ticks.fifo"), &fifo).await;
        let standard = [("VisibilityTimeout", visibility.as_str())];
        let compactions_url = create(&client, &format!("{prefix}-compactions"), &standard).await;
        let hasher = hasher();
        let ticks = SqsTicks::new(
            client.clone(),
            &ticks_url,
            &compactions_url,
            Arc::clone(&hasher),
        );
        Self {
            client,
            ticks,
            ticks_url,
            compactions_url,
            hasher,
            _server: server,
        }
    }

    fn url(&self, queue: Queue) -> &str {
        match queue {
            Queue::Ticks => &self.ticks_url,
            Queue::Compactions => &self.compactions_url,
        }
    }
}

async fn create(client: &Client, name: &str, attributes: &[(&str, &str)]) -> String {
    let mut request = client.create_queue().queue_name(name);
    for (name, value) in attributes {
        request = request.attributes(QueueAttributeName::from(*name), *value);
    }
    request.send().await.unwrap().queue_url.unwrap()
}

#[async_trait]
impl Bench for SqsBench {
    fn ticks(&self) -> &dyn Ticks {
        &self.ticks
    }

    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn visibility(&self) -> Duration {
        VISIBILITY
    }

    async fn receive(&self, queue: Queue) -> Option<Received> {
        let request = self.client.receive_message().queue_url(self.url(queue));
        let received = request
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
            .await
            .unwrap();
        let message = received.messages.unwrap_or_default().pop()?;
        let group = message
            .attributes()
            .and_then(|all| all.get(&MessageSystemAttributeName::MessageGroupId));
        Some(Received {
            group: group.cloned(),
            id: message.message_id.unwrap(),
            receipt: message.receipt_handle.unwrap(),
            body: message.body.unwrap(),
        })
    }

    async fn delete(&self, queue: Queue, receipt: &str) {
        let request = self.client.delete_message().queue_url(self.url(queue));
        // A receipt that has gone stale deletes nothing; whether that is an error differs.
        let _ = request.receipt_handle(receipt).send().await;
    }
}
