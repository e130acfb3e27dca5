//! An installation on the real adapters whose every request is counted: the webhook in, ticks received one by one as
//! an event source mapping hands them over, replies out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_sqs::types::MessageSystemAttributeName;
use recado::adapters::clock::SystemClock;
use recado::adapters::meta::signature::{self, sign};
use recado::config::settings::Environment;
use recado::flow::World;
use recado::installation::{Installation, Part};
use recado::ports::Clock as _;
use recado_cli::local::{queues, table};
use recado_cli::poller::sqs_event;
use recado_ingest::{Channels, Ingest, Request};
use recado_tests::fake_chance::SeededChance;
use recado_tests::fake_model::{Behaviour, ScriptedModel};
use recado_tests::kept_log::KeptLog;
use recado_tests::local_run::envelope;
use recado_tests::local_server;
use serde_json::{Value, json};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::clock::SteppedClock;
use crate::front::{Counts, Front};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const NUMBER: &str = "100000000000001";
const PHONE: &str = "5511900000001";
const WINDOW: Duration = Duration::from_secs(5);
const INVOCATION: Duration = Duration::from_mins(2);
/// How often a queue is looked at; a mapping waits at the queue instead.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What a receptionist says.
const REPLY: &str =
    "Tenho sexta às 10h com o Beto ou às 14h com o Davi. Qual horário fica melhor para você?";
/// How long the model takes. Every second of it is one more look at the conversation.
pub const MODEL_TAKES: Duration = Duration::from_millis(5_500);

/// A queue of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    Ticks,
    Compactions,
}

/// How often each function ran, and for how long by the stepped clock: waiting only.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Invocations {
    pub ingest: u64,
    pub processor: u64,
    pub processor_waited: Duration,
    pub sweeper: u64,
}

/// The installation.
pub struct Bench {
    pub world: World,
    pub model: Arc<ScriptedModel>,
    pub front: Front,
    clock: Arc<SteppedClock>,
    ingest: Ingest,
    queues: queues::Made,
    written: AtomicU64,
    invocations: Mutex<Invocations>,
    log: KeptLog,
    _logging: tracing::subscriber::DefaultGuard,
}

impl Bench {
    pub async fn start() -> Self {
        let clock = Arc::new(SteppedClock::new());
        let queue_clock = Arc::clone(&clock);
        let secret = json!({
            "hash_key": SECRET, "meta_app_secret": SECRET, "meta_access_token": "token", "meta_verify_token": "word",
        });
        let front = Front::start(&secret, Arc::new(move || queue_clock.now().ms())).await;
        let sdk = local_server::sdk(&front.url);
        let made = queues::make(&sdk, &front.url, WINDOW).await.unwrap();
        table::make(&sdk, &front.url).await.unwrap();
        let environment = Environment::of([
            ("RECADO_TABLE", table::TABLE),
            ("RECADO_TICKS_QUEUE_URL", &made.ticks_url),
            ("RECADO_COMPACTIONS_QUEUE_URL", &made.compactions_url),
            ("RECADO_SECRET_ID", "recado/secrets"),
            ("RECADO_META_GRAPH_URL", &front.url),
            ("RECADO_MODEL", "demo"),
        ]);
        let installation =
            Installation::of(Part::ANSWERS, &environment, sdk, Arc::new(SystemClock));
        let mut world = installation.world().await.unwrap().clone();
        let model = Arc::new(ScriptedModel::new(clock.clone()));
        world.clock = clock.clone();
        world.chance = Arc::new(SeededChance::new(7));
        world.models = model.clone();
        let channels = Channels {
            meta: installation.secrets().unwrap(),
        };
        let (log, logging) = keep_log();
        Self {
            ingest: Ingest {
                world: world.clone(),
                channels,
            },
            world,
            model,
            front,
            clock,
            queues: made,
            written: AtomicU64::default(),
            invocations: Mutex::default(),
            log,
            _logging: logging,
        }
    }

    /// Lets a story happen while the clock goes on.
    pub async fn tell<T>(&self, story: impl Future<Output = T>) -> T {
        tokio::select! {
            told = story => told,
            () = self.clock.drive(|| self.front.behind.is_busy()) => unreachable!(),
        }
    }

    /// A person writes, in one webhook.
    pub async fn write(&self, text: &str) {
        let now = self.clock.now();
        let number = self.written.fetch_add(1, Ordering::SeqCst);
        let message = json!({
            "from": PHONE, "id": format!("wamid.HBgNNTUxMTkwMDAwMDAwMRUCABIYIDNBMEUxRjQ3QkI2{number:06}"),
            "timestamp": now.seconds().to_string(), "type": "text", "text": { "body": text },
        });
        let contact = json!({ "profile": { "name": "Ana" }, "wa_id": PHONE });
        self.webhook(json!({ "contacts": [contact], "messages": [message] }))
            .await;
    }

    /// Meta tells what became of the newest reply.
    pub async fn status(&self, status: &str) {
        let (reply, id) = {
            let sent = self.front.behind.sent.lock().unwrap();
            let reply = sent.last().unwrap()["biz_opaque_callback_data"].clone();
            (reply, format!("wamid.sent{}", sent.len()))
        };
        let status = json!({
            "id": id, "status": status, "timestamp": self.clock.now().seconds().to_string(),
            "recipient_id": PHONE, "biz_opaque_callback_data": reply,
        });
        self.webhook(json!({ "statuses": [status] })).await;
    }

    async fn webhook(&self, value: Value) {
        let body = envelope(NUMBER, value).into_bytes();
        let signature = sign(SECRET.as_bytes(), &body);
        let answer = self.ingest.handle(Request {
            method: "POST".to_owned(),
            path: "/webhook/meta".to_owned(),
            headers: vec![(signature::HEADER.to_owned(), signature)],
            body,
            ..Request::default()
        });
        assert_eq!(answer.await.status, 200);
        self.invocations.lock().unwrap().ingest += 1;
    }

    /// The processor works on what these queues deliver, for so long.
    pub async fn work(&self, queues: &[Queue], duration: Duration) {
        let end = self.clock.now().plus(duration);
        while self.clock.now() < end {
            let mut is_idle = true;
            for queue in queues {
                is_idle &= !self.deliver(*queue).await;
            }
            if is_idle {
                self.clock.sleep(LOOK_EVERY).await;
            }
        }
    }

    /// One message through the processor, as a mapping with a batch size of 1 does it.
    async fn deliver(&self, queue: Queue) -> bool {
        let url = match queue {
            Queue::Ticks => &self.queues.ticks_url,
            Queue::Compactions => &self.queues.compactions_url,
        };
        let request = self.queues.client.receive_message().queue_url(url);
        let request = request.message_system_attribute_names(MessageSystemAttributeName::All);
        let received = request.send().await.unwrap().messages.unwrap_or_default();
        let Some(message) = received.first() else {
            return false;
        };
        let event = sqs_event(&received, "arn:aws:sqs:us-east-1:000000000000:queue");
        let began = self.clock.now();
        let event = serde_json::from_value(event).unwrap();
        let answer = recado_processor::handle(&self.world, event, began.plus(INVOCATION)).await;
        if answer.batch_item_failures.is_empty() {
            let request = self.queues.client.delete_message().queue_url(url);
            let request = request.set_receipt_handle(message.receipt_handle.clone());
            request.send().await.unwrap();
        }
        let mut invocations = self.invocations.lock().unwrap();
        invocations.processor += 1;
        invocations.processor_waited += self.clock.now().since(began);
        true
    }

    pub async fn sweep(&self) {
        let grace = recado_sweeper::grace(Duration::from_secs(20));
        recado_sweeper::handle(&self.world, grace).await.unwrap();
        self.invocations.lock().unwrap().sweeper += 1;
    }

    /// So many short exchanges, after which this person is known.
    pub async fn acquaint(&self, exchanges: u32) {
        self.model
            .usually(Behaviour::Say(LOOK_EVERY, REPLY.to_owned()));
        for _ in 0..exchanges {
            self.write("queria marcar um corte para sexta").await;
            self.clock.sleep(WINDOW).await;
            self.work(&[Queue::Ticks], Duration::from_millis(500)).await;
        }
        self.model
            .usually(Behaviour::Say(MODEL_TAKES, REPLY.to_owned()));
        self.forget_counts();
    }

    pub async fn pass(&self, duration: Duration) {
        self.clock.sleep(duration).await;
    }

    pub fn forget_counts(&self) {
        *self.front.behind.counts.lock().unwrap() = Counts::default();
        *self.invocations.lock().unwrap() = Invocations::default();
        self.log.take();
    }

    /// Requests, invocations and what the functions logged, since counting began.
    pub fn counted(&self) -> (Counts, Invocations, String) {
        let counts = self.front.behind.counts.lock().unwrap().clone();
        let invocations = *self.invocations.lock().unwrap();
        (counts, invocations, self.log.text())
    }
}

/// The log of the functions, in the form of the Lambdas.
fn keep_log() -> (KeptLog, tracing::subscriber::DefaultGuard) {
    let log = KeptLog::default();
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(log.clone());
    let ours = Targets::new().with_target("recado", tracing::Level::INFO);
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(ours));
    (log, tracing::subscriber::set_default(subscriber))
}
