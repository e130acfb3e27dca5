//! Feeds functions that `cargo lambda watch` serves: it answers HTTP and Invoke, but polls no queue and knows no
//! schedule. Here are both, in front of the local AWS.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::ports::{Chance as _, Clock as _};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::aws::LocalAws;
use crate::client;
use crate::commands::Failure;
use crate::local::queues::{self, COMPACTIONS, Made, TICKS};
use crate::local::{table, until};
use crate::poller::{HttpInvoke, Invoke as _, Poller, Settings};
use crate::sqs::names::{ACCOUNT, REGION};

/// As in the template.
const SWEEP_EVERY: Duration = Duration::from_mins(1);

/// What the functions get for secrets. Everything is on loopback, and the hash key has to be the same at every start:
/// the table may be kept in a file.
const SECRETS: [(&str, &str); 4] = [
    (
        "hash_key",
        "for local use only, never on AWS, never for people",
    ),
    ("meta_app_secret", "00000000000000000000000000000000"),
    ("meta_verify_token", "local"),
    ("meta_access_token", "local"),
];

/// Running pollers and schedule.
pub struct Watch {
    made: Made,
    window: Duration,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Watch {
    /// Makes table and queues (ticks delayed by `window`) and starts to call the functions at `endpoint`.
    pub async fn start(aws: &LocalAws, endpoint: &str, window: Duration) -> Result<Self, Failure> {
        let sdk = queues::sdk_config();
        table::make(&sdk, aws.dynamodb_url()).await?;
        let made = queues::make(&sdk, aws.sqs_url(), window).await?;
        let function = |name| Ok::<_, Failure>(HttpInvoke::new(client::client()?, endpoint, name));
        let processor = Arc::new(function("processor")?);
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for (name, url, concurrency) in [
            (TICKS, &made.ticks_url, 5),
            (COMPACTIONS, &made.compactions_url, 2),
        ] {
            let arn = format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}");
            let mut settings = Settings::new(url, &arn, Arc::new(|| SystemChance.fraction()));
            settings.concurrency = concurrency;
            let poller = Poller::new(made.client.clone(), processor.clone(), settings);
            tasks.spawn(poller.run(until(stopped.clone())));
        }
        tasks.spawn(sweep_for_ever(function("sweeper")?, stopped));
        Ok(Self {
            made,
            window,
            stop,
            tasks,
        })
    }

    /// What to export where `cargo lambda watch` is started, a line each.
    pub fn environment(&self) -> Vec<String> {
        let secrets: serde_json::Map<_, _> = SECRETS
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        vec![
            format!(
                "RECADO_TABLE={} RECADO_TICKS_DELAY_S={}",
                table::TABLE,
                self.window.as_secs()
            ),
            format!("RECADO_TICKS_QUEUE_URL={}", self.made.ticks_url),
            format!("RECADO_COMPACTIONS_QUEUE_URL={}", self.made.compactions_url),
            format!("RECADO_SECRET_JSON='{}'", json!(secrets)),
            "RECADO_MODEL=demo".to_owned(),
        ]
    }

    /// Lets running invocations end.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

/// What the schedule does on AWS.
async fn sweep_for_ever(sweeper: HttpInvoke, stopped: watch::Receiver<bool>) {
    let mut stop = std::pin::pin!(until(stopped));
    loop {
        tokio::select! {
            () = &mut stop => return,
            () = SystemClock.sleep(SWEEP_EVERY) => {}
        }
        let event = json!({ "detail-type": "Scheduled Event", "source": "aws.events" });
        if let Err(error) = sweeper.invoke(event).await {
            tracing::warn!(%error, "a sweep failed; the next one is in a minute");
        }
    }
}
