//! The queues of a fake world: the real rules of our SQS server, at the world's own time and without HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use recado::adapters::sqs::{self, Job};
use recado::domain::{ConversationId, Hasher};
use recado::error::TicksError;
use recado::ports::{Clock, Receipt, Ticks};
use recado_cli::sqs::message::Draft;
use recado_cli::sqs::queues::Queues;
use recado_cli::sqs::refusal::Refusal;
use recado_processor::{SqsAttributes, SqsRecord};
use tokio::sync::Notify;

/// The FIFO queue.
pub const TICKS: &str = "ticks.fifo";
/// The standard queue.
pub const COMPACTIONS: &str = "compactions";

/// Both queues, with what a test wants to do to them.
pub struct FakeTicks {
    queues: Mutex<Queues>,
    clock: Arc<dyn Clock>,
    hasher: Arc<Hasher>,
    delay_s: u32,
    refuse: Mutex<bool>,
    changed: Notify,
}

impl FakeTicks {
    /// Empty queues whose ticks are delayed by `delay_s` whole seconds.
    pub fn new(clock: Arc<dyn Clock>, hasher: Arc<Hasher>, delay_s: u32) -> Self {
        let queues = Mutex::new(empty(clock.now().ms(), delay_s));
        Self {
            queues,
            clock,
            hasher,
            delay_s,
            refuse: Mutex::new(false),
            changed: Notify::new(),
        }
    }

    /// Begins anew, dedup ids and all, as our own server does when its process starts again.
    pub fn start_again(&self) {
        *self.queues.lock().unwrap() = empty(self.clock.now().ms(), self.delay_s);
        self.changed.notify_waiters();
    }

    /// From now on the queues refuse everything (or no longer).
    pub fn refuse(&self, refuse: bool) {
        *self.refuse.lock().unwrap() = refuse;
    }

    /// Forgets every message, as a process that dies does.
    pub fn lose_all(&self) {
        let mut queues = self.queues.lock().unwrap();
        for queue in [TICKS, COMPACTIONS] {
            queues.by_name(queue).unwrap().purge();
        }
    }

    /// Receives one message, as the event source mapping does.
    pub fn receive(&self, queue: &str) -> Option<SqsRecord> {
        let now = self.clock.now().ms();
        let mut queues = self.queues.lock().unwrap();
        let url = queues.url_of(queue);
        let delivery = queues
            .receive(&url, Some(1), None, now)
            .unwrap()
            .deliveries
            .pop()?;
        Some(SqsRecord {
            message_id: delivery.id,
            receipt_handle: delivery.receipt,
            body: delivery.draft.body().to_owned(),
            attributes: SqsAttributes {
                group: delivery.draft.group().map(str::to_owned),
            },
        })
    }

    /// Receives one message as soon as there is one.
    pub async fn next(&self, queue: &str) -> SqsRecord {
        loop {
            if let Some(record) = self.receive(queue) {
                return record;
            }
            self.wait(queue).await;
        }
    }

    /// Waits until a receive may find something that it did not find now.
    pub async fn wait(&self, queue: &str) {
        let now = self.clock.now().ms();
        let next = self
            .queues
            .lock()
            .unwrap()
            .by_name(queue)
            .unwrap()
            .next_change(now);
        let change = self.changed.notified();
        match next {
            Some(at) => {
                tokio::select! {
                    biased;
                    () = change => {}
                    () = self.clock.sleep(std::time::Duration::from_millis(at - now)) => {}
                }
            }
            None => change.await,
        }
    }

    /// Deletes a received message.
    pub fn delete(&self, queue: &str, receipt: &str) {
        let now = self.clock.now().ms();
        // A receipt that has gone stale deletes nothing, which is what SQS does too.
        let _ = self
            .queues
            .lock()
            .unwrap()
            .by_name(queue)
            .unwrap()
            .delete(receipt, now);
        self.changed.notify_waiters();
    }

    /// Messages in a queue, in whatever state.
    pub fn count(&self, queue: &str) -> usize {
        let now = self.clock.now().ms();
        let counts = self
            .queues
            .lock()
            .unwrap()
            .by_name(queue)
            .unwrap()
            .counts(now);
        counts.visible + counts.in_flight + counts.delayed
    }

    fn send(&self, queue: &str, draft: Result<Draft, Refusal>) -> Result<(), TicksError> {
        let operation = "sending to a fake queue";
        if *self.refuse.lock().unwrap() {
            return Err(TicksError {
                operation,
                source: "refused by the test".into(),
            });
        }
        let now = self.clock.now().ms();
        let mut queues = self.queues.lock().unwrap();
        let sent = draft.and_then(|draft| queues.by_name(queue)?.send(draft, now));
        self.changed.notify_waiters();
        sent.map(drop).map_err(|error| TicksError {
            operation,
            source: error.code.kind().into(),
        })
    }
}

/// Both queues, empty.
fn empty(now: u64, delay_s: u32) -> Queues {
    let mut queues = Queues::new("http://fake");
    let settings = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let ticks = settings(&[
        ("FifoQueue", "true"),
        ("DelaySeconds", &delay_s.to_string()),
        ("VisibilityTimeout", "150"),
        ("DeduplicationScope", "messageGroup"),
        ("FifoThroughputLimit", "perMessageGroupId"),
    ]);
    queues.create(TICKS, &ticks, now).unwrap();
    queues
        .create(COMPACTIONS, &settings(&[("VisibilityTimeout", "150")]), now)
        .unwrap();
    queues
}

#[async_trait]
impl Ticks for FakeTicks {
    async fn tick(&self, conversation: &ConversationId, dedup: &str) -> Result<(), TicksError> {
        let draft = Draft::parse(sqs::encode(Job::Tick, conversation))
            .and_then(|draft| draft.in_group(&self.hasher.conversation(conversation)))
            .and_then(|draft| draft.deduplicated_by(dedup));
        self.send(TICKS, draft)
    }

    async fn hold(&self, receipt: &Receipt, seconds: u32) -> Result<(), TicksError> {
        let now = self.clock.now().ms();
        let mut queues = self.queues.lock().unwrap();
        let queue = queues.by_name(TICKS).unwrap();
        self.changed.notify_waiters();
        queue
            .change_visibility(&receipt.0, i64::from(seconds), now)
            .map_err(|error| TicksError {
                operation: "holding a tick",
                source: error.code.kind().into(),
            })
    }

    async fn compact(&self, conversation: &ConversationId) -> Result<(), TicksError> {
        self.send(
            COMPACTIONS,
            Draft::parse(sqs::encode(Job::Compaction, conversation)),
        )
    }
}
