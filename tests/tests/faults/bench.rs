//! The real handlers on the real adapters, with a proxy that breaks things before the local AWS, a model and a
//! provider that the test knows, and people whose webhooks Meta repeats until they are taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{Region, SdkConfig};
use aws_sdk_sqs::Client;
use recado::adapters::log_journal::LogJournal;
use recado::adapters::meta::signature;
use recado::adapters::sqs::SqsTicks;
use recado::config::agent_file::Overrides;
use recado::config::roster::Roster;
use recado::domain::Hasher;
use recado::flow::{DeadRuns, KeptReads, World};
use recado::ports::Clock;
use recado_cli::aws::{self, Data, LocalAws};
use recado_cli::local::invoke::Processor;
use recado_cli::local::{queues, table};
use recado_cli::poller::{Poller, Settings};
use recado_ingest::{Channels, Ingest, MetaSecrets, Request};
use recado_tests::fake_chance::SeededChance;
use recado_tests::fake_messenger::FakeMessenger;
use recado_tests::fake_model::ScriptedModel;
use recado_tests::kept_log::KeptLog;
use recado_tests::local_run::envelope;
use recado_tests::store_benches::DynamoBench;
use recado_tests::store_mutants::Mutator;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::{FASTER, FastClock};
use crate::log;
use crate::proxy::Proxy;

const SECRET: &str = "app secret for tests";
const NUMBER: &str = "100000000000001";
const AGENT: &str = "id = \"recepcao\"\npersona = \"Você é uma recepcionista de exemplo.\"\n";
/// What every phone begins with. Fictitious.
pub const PHONE_START: &str = "551190006";
/// What every text begins with.
pub const TEXT_START: &str = "recadinho";
/// What every message id begins with.
pub const ID_START: &str = "wamid.STORM";
/// One in so many webhooks comes again although it was taken.
const DOUBLED_EVERY: u64 = 12;
/// One try of a request, as the Lambdas have it, and less than the proxy hangs. It is real time.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
const OPERATION_TIMEOUT: Duration = Duration::from_secs(7);
/// What the SDK begins its waits with; real time, too.
const SDK_BACKOFF: Duration = Duration::from_secs(1);
/// The agent's, which it does not set.
const CEILING: Duration = Duration::from_secs(20);
/// Real time until everything is at rest after the last fault.
const PATIENCE: Duration = Duration::from_mins(2);

/// The installation.
pub struct Bench {
    pub world: World,
    pub model: Arc<ScriptedModel>,
    pub messenger: Arc<FakeMessenger>,
    pub proxy: Proxy,
    ingest: Ingest,
    table: DynamoBench,
    taken: Mutex<Vec<Taken>>,
    written: AtomicU64,
    /// Tries that got no 2xx.
    pub refused: AtomicU64,
    workers: Mutex<JoinSet<()>>,
    _stop: watch::Sender<bool>,
    aws: LocalAws,
}

/// A message whose webhook got a 2xx.
#[derive(Debug, Clone)]
pub struct Taken {
    pub id: String,
    pub word: String,
}

fn ingest(world: &World) -> Ingest {
    let secrets = MetaSecrets {
        app_secrets: vec![SECRET.to_owned()],
        verify_token: "word".to_owned(),
    };
    Ingest {
        world: world.clone(),
        channels: Channels {
            meta: Arc::new(secrets),
        },
    }
}

impl Bench {
    pub async fn start(seed: u64) -> Arc<Self> {
        KeptLog::of_process();
        let clock: Arc<dyn Clock> = Arc::new(FastClock::start());
        let queue_clock = Arc::clone(&clock);
        let aws = aws::serve(0, &Data::Memory, Arc::new(move || queue_clock.now().ms()));
        let aws = aws.await.unwrap();
        let proxy = Proxy::start(aws.url(), seed).await;
        let sdk = sdk(seed);
        let hasher = Arc::new(Hasher::new(b"a key for tests only, 32 bytes!!"));
        let agents = Roster::of_texts(&[("agent.toml", AGENT)], &Overrides::none()).unwrap();
        let opened = table::open(&sdk, &proxy.url, Arc::clone(&hasher)).await;
        let store = Arc::new(opened.unwrap());
        let delay = agents.window_min();
        let made = queues::make(&sdk, &proxy.url, delay).await.unwrap();
        let (ticks_url, compactions_url) = (&made.ticks_url, &made.compactions_url);
        let ticks = SqsTicks::new(made.client, ticks_url, compactions_url, Arc::clone(&hasher));
        let model = Arc::new(ScriptedModel::new(Arc::clone(&clock)));
        let messenger = Arc::new(FakeMessenger::new(Arc::clone(&clock)));
        let world = World {
            breakers: store.clone(),
            ledger: store.clone(),
            store,
            ticks: Arc::new(ticks),
            models: model.clone(),
            messenger: messenger.clone(),
            clock,
            chance: Arc::new(SeededChance::new(seed)),
            agents: Arc::new(agents),
            journal: Arc::new(LogJournal::new(Arc::clone(&hasher))),
            hasher,
            tools: Arc::new(recado::adapters::absent::NoTools),
            dead_runs: DeadRuns::default(),
            kept_reads: KeptReads::default(),
        };
        let (stop, stopped) = watch::channel(false);
        let bench = Arc::new(Self {
            ingest: ingest(&world),
            world,
            model,
            messenger,
            proxy,
            table: DynamoBench::at(aws.dynamodb_url(), table::TABLE, Mutator::default()).await,
            taken: Mutex::default(),
            written: AtomicU64::default(),
            refused: AtomicU64::default(),
            workers: Mutex::default(),
            _stop: stop,
            aws,
        });
        // The mapping waits at the queue for longer than a function waits for an answer.
        let polling = queues::make(&region(seed), &bench.proxy.url, delay).await;
        let polling = polling.unwrap();
        bench.poll(&polling.client, &polling.ticks_url, &stopped);
        bench.poll(&polling.client, &polling.compactions_url, &stopped);
        bench.sweep();
        let direct = queues::make(&region(seed), bench.aws.url(), delay)
            .await
            .unwrap();
        bench.nudge(direct);
        bench
    }

    /// Hands what is in a queue to the processor, as a mapping does.
    fn poll(&self, client: &Client, url: &str, stopped: &watch::Receiver<bool>) {
        let arn = "arn:aws:sqs:us-east-1:000000000000:queue";
        let chance = Arc::clone(&self.world.chance);
        let mut settings = Settings::new(url, arn, Arc::new(move || chance.fraction()));
        settings.concurrency = 16;
        settings.wait_s = 1;
        let processor = Processor::new(self.world.clone(), settings.invoke_timeout);
        let poller = Poller::new(client.clone(), Arc::new(processor), settings);
        let mut stopped = stopped.clone();
        self.workers.lock().unwrap().spawn(poller.run(async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
        }));
    }

    fn sweep(&self) {
        let world = self.world.clone();
        let grace = recado_sweeper::grace(CEILING);
        self.workers.lock().unwrap().spawn(async move {
            loop {
                world.clock.sleep(Duration::from_mins(1)).await;
                let _ = recado_sweeper::handle(&world, grace).await;
            }
        });
    }

    /// The server waits in real time for what becomes due; whatever happens at a queue makes it look again.
    fn nudge(&self, direct: queues::Made) {
        self.workers.lock().unwrap().spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(25)).await;
                let ask = direct.client.get_queue_attributes();
                let _ = ask.queue_url(&direct.ticks_url).send().await;
            }
        });
    }

    /// Somebody writes these many texts, `gap` apart by the fast clock; each webhook is repeated until it is taken.
    pub async fn write(self: &Arc<Self>, person: usize, texts: usize, gap: Duration) {
        let mut deliveries = JoinSet::new();
        for n in 0..texts {
            if n > 0 {
                self.world.clock.sleep(gap).await;
            }
            deliveries.spawn(Arc::clone(self).deliver(person));
        }
        deliveries.join_all().await;
    }

    async fn deliver(self: Arc<Self>, person: usize) {
        let n = self.written.fetch_add(1, Ordering::SeqCst);
        let phone = format!("{PHONE_START}{person:04}");
        let (id, word) = (format!("{ID_START}{n:08}"), format!("n{n:08}"));
        let message = json!({
            "from": phone, "id": id, "timestamp": self.world.now().seconds().to_string(), "type": "text",
            "text": { "body": format!("{TEXT_START} {word}") },
        });
        let contact = json!({ "profile": { "name": "Ana" }, "wa_id": phone });
        let value = json!({ "contacts": [contact], "messages": [message] });
        let body = envelope(NUMBER, value).into_bytes();
        self.post_until_taken(&body).await;
        self.taken.lock().unwrap().push(Taken { id, word });
        if n.is_multiple_of(DOUBLED_EVERY) {
            self.world.clock.sleep(Duration::from_secs(3)).await;
            self.post_until_taken(&body).await;
        }
    }

    async fn post_until_taken(&self, body: &[u8]) {
        let signature = signature::sign(SECRET.as_bytes(), body);
        let mut wait = Duration::from_secs(2);
        loop {
            let request = Request {
                method: "POST".to_owned(),
                path: "/webhook/meta".to_owned(),
                headers: vec![(signature::HEADER.to_owned(), signature.clone())],
                body: body.to_vec(),
                ..Request::default()
            };
            if self.ingest.handle(request).await.status == 200 {
                return;
            }
            self.refused.fetch_add(1, Ordering::SeqCst);
            let jitter = 0.5 + self.world.chance.fraction() / 2.0;
            self.world.clock.sleep(wait.mul_f64(jitter)).await;
            wait = (wait * 2).min(Duration::from_mins(1));
        }
    }

    pub fn taken(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }

    /// Waits until nothing in the table waits and every text is in an answer. Yields how long that took by the fast
    /// clock.
    pub async fn rest(&self) -> Duration {
        let began = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let delivered = self.words();
            let mut waiting = self.taken();
            waiting.retain(|one| !delivered.contains_key(&one.word));
            let unrest = self.unrest().await;
            if waiting.is_empty() && unrest.is_empty() {
                return began.elapsed() * FASTER;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "not answered: {waiting:?}; not at rest: {unrest:?}; the log:\n{}",
                log::newest(40)
            );
        }
    }

    /// Each word that was delivered, with the replies that hold it.
    fn words(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in self.messenger.delivered() {
            for word in one.text.split_whitespace() {
                let replies = words.entry(word.to_owned()).or_default();
                replies.insert(one.reply.to_string());
            }
        }
        words
    }

    /// What in the table is not at rest.
    async fn unrest(&self) -> Vec<String> {
        let items = self.table.items().await;
        let waiting = items
            .iter()
            .filter(|item| item.contains_key("unrest_since"));
        waiting.map(|item| format!("{:?}", item["item"])).collect()
    }

    /// Every message that was taken is in the answered set of one reply, which was delivered once and is `sent`.
    pub async fn check(&self) {
        let mut answered_by = BTreeMap::new();
        let mut statuses = BTreeMap::new();
        for item in self.table.items().await {
            let text = |field: &str| item.get(field).and_then(|value| value.as_s().ok()).cloned();
            match text("item").unwrap().split_once('#') {
                Some(("event", id)) => answered_by.insert(id.to_owned(), text("answered_by")),
                Some(("reply", id)) => statuses.insert(id.to_owned(), text("status")),
                _ => None,
            };
        }
        let words = self.words();
        for one in self.taken() {
            let by = answered_by.get(&one.id).cloned().flatten();
            let holding = words.get(&one.word).cloned().unwrap_or_default();
            assert_eq!(holding.len(), 1, "{one:?} is in {holding:?}");
            assert!(by.is_some_and(|by| holding.contains(&by)), "{one:?}");
        }
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for one in self.messenger.delivered() {
            *times.entry(one.reply.to_string()).or_default() += 1;
        }
        for (reply, count) in &times {
            assert_eq!(*count, 1, "{reply} was sent {count} times");
        }
        for (reply, status) in &statuses {
            assert_eq!(status.as_deref(), Some("sent"), "{reply}");
            assert!(times.contains_key(reply), "{reply} was never sent");
        }
    }
}

/// The SDK as a Lambda has it, but for its waits, which are as much faster as the clock.
fn sdk(seed: u64) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(OPERATION_TIMEOUT)
        .build();
    let sdk = region(seed).into_builder();
    sdk.timeout_config(timeouts).build()
}

/// A region of its own: what the SDK allows itself of tries is counted by region, for all clients of a process.
fn region(seed: u64) -> SdkConfig {
    let retries = RetryConfig::standard().with_initial_backoff(SDK_BACKOFF / FASTER);
    let sdk = queues::sdk_config().into_builder();
    let sdk = sdk.region(Region::new(format!("test-{seed}")));
    sdk.retry_config(retries).build()
}
