//! The queues of a local run, and the pollers that are its event source mappings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_sqs::error::DisplayErrorContext;
use aws_sdk_sqs::types::QueueAttributeName as Name;
use recado::adapters::sqs::SqsTicks;
use recado::domain::Hasher;
use recado::flow::World;

use super::error::StartError;
use super::invoke::Processor;
use crate::poller::{Poller, Settings};
use crate::sqs::names::{ACCOUNT, REGION};

/// The FIFO queue of ticks.
pub const TICKS: &str = "ticks.fifo";
/// The standard queue of compactions.
pub const COMPACTIONS: &str = "compactions";
/// As in the template: at least the function's timeout.
const VISIBILITY_S: &str = "150";
/// Conversations worked on at once: on a laptop the handlers are cheap.
const PROCESSORS: usize = 32;
const COMPACTORS: usize = 2;

/// Both queues, made if they are not there.
pub struct Made {
    /// A client of where they are.
    pub client: Client,
    /// The FIFO queue of ticks.
    pub ticks_url: String,
    /// The standard queue of compactions.
    pub compactions_url: String,
}

/// The queues.
pub struct LocalQueues {
    client: Client,
    ticks_url: String,
    compactions_url: String,
    /// The port over them.
    pub ticks: SqsTicks,
}

/// Credentials and region that the local servers take: nothing outside is ever called with them.
pub fn sdk_config() -> SdkConfig {
    let credentials = Credentials::new("local", "local", None, None, "recado");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(REGION))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

/// Makes both queues behind `endpoint`; ticks are delayed by `window`, in whole seconds.
pub async fn make(sdk: &SdkConfig, endpoint: &str, window: Duration) -> Result<Made, StartError> {
    let config = aws_sdk_sqs::config::Builder::from(sdk)
        .endpoint_url(endpoint)
        .build();
    let client = Client::from_conf(config);
    let fifo = HashMap::from([
        (Name::FifoQueue, "true".to_owned()),
        (Name::DelaySeconds, window.as_secs().to_string()),
        (Name::VisibilityTimeout, VISIBILITY_S.to_owned()),
        (Name::DeduplicationScope, "messageGroup".to_owned()),
        (Name::FifoThroughputLimit, "perMessageGroupId".to_owned()),
    ]);
    let standard = HashMap::from([(Name::VisibilityTimeout, VISIBILITY_S.to_owned())]);
    let ticks_url = create(&client, TICKS, fifo).await?;
    let compactions_url = create(&client, COMPACTIONS, standard).await?;
    Ok(Made {
        client,
        ticks_url,
        compactions_url,
    })
}

/// Opens both queues behind `endpoint`.
pub async fn open(
    sdk: &SdkConfig,
    endpoint: &str,
    window: Duration,
    hasher: Arc<Hasher>,
) -> Result<LocalQueues, StartError> {
    let Made {
        client,
        ticks_url,
        compactions_url,
    } = make(sdk, endpoint, window).await?;
    let ticks = SqsTicks::new(client.clone(), &ticks_url, &compactions_url, hasher);
    Ok(LocalQueues {
        client,
        ticks_url,
        compactions_url,
        ticks,
    })
}

async fn create(
    client: &Client,
    queue: &'static str,
    attributes: HashMap<Name, String>,
) -> Result<String, StartError> {
    let created = client
        .create_queue()
        .queue_name(queue)
        .set_attributes(Some(attributes))
        .send()
        .await;
    let url = created
        .map_err(|error| DisplayErrorContext(error).to_string())
        .and_then(|created| {
            created
                .queue_url
                .ok_or_else(|| "no URL came back".to_owned())
        });
    url.map_err(|reason| StartError::Queue { queue, reason })
}

impl LocalQueues {
    /// One poller a queue.
    pub fn pollers(&self, world: &World) -> [Poller; 2] {
        let poller = |name: &str, url: &str, concurrency| {
            let arn = format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}");
            let chance = Arc::clone(&world.chance);
            let mut settings = Settings::new(url, &arn, Arc::new(move || chance.fraction()));
            settings.concurrency = concurrency;
            let invoke = Arc::new(Processor::new(world.clone(), settings.invoke_timeout));
            Poller::new(self.client.clone(), invoke, settings)
        };
        [
            poller(TICKS, &self.ticks_url, PROCESSORS),
            poller(COMPACTIONS, &self.compactions_url, COMPACTORS),
        ]
    }
}
