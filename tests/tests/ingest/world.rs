//! A world for the way in: the fake table, a queue that can refuse, a clock that stands still.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use recado::adapters::absent::NoTools;
use recado::domain::{
    Address, Agent, AgentId, Alias, Bsuid, BusinessNumber, ContactId, Content, ConversationId,
    Hasher, Inbound, Kind, MessageId, ModelReply, Phone, Prompt, ProviderEvent, ReplyId, State,
    Step, Timestamp,
};
use recado::error::{ModelError, SendError, TicksError};
use recado::flow::World;
use recado::flow::ingest::{Ingested, ingest};
use recado::policy::identity::canonical;
use recado::ports::{
    Agents, Chance, Clock, Creation, Erasure, Journal, LookUp, Messenger, Model, Outgoing, Receipt,
    Store, Ticks,
};
use recado_tests::fake_breakers::FakeBreakers;
use recado_tests::fake_store::{FakeStore, Fault, Faults, Table};
use recado_tests::samples;

pub const NUMBER: &str = "100000000000001";
pub const ANA: &str = "5511900000001";
pub const ANA_ID: &str = "BR.1000000000000001";
/// The clock's first moment: a whole minute.
pub const NOON: u64 = 1_794_999_960_000;

/// What a test can look at and break.
pub struct Here {
    pub world: World,
    pub store: Arc<FakeStore>,
    pub queue: Arc<Queue>,
    pub clock: Arc<Still>,
    pub told: Arc<Told>,
    pub faults: Arc<Hooks>,
}

impl Here {
    pub fn new() -> Self {
        let hasher = Arc::new(Hasher::new(b"a key for tests only"));
        let faults = Arc::new(Hooks::default());
        let store = Arc::new(FakeStore::new(hasher.clone()).with_faults(faults.clone()));
        assert!(faults.store.set(store.clone()).is_ok());
        let queue = Arc::new(Queue::default());
        let clock = Arc::new(Still(AtomicU64::new(NOON)));
        let told = Arc::new(Told::default());
        let world = World {
            store: store.clone(),
            ticks: queue.clone(),
            models: Arc::new(Nobody),
            breakers: Arc::new(FakeBreakers::default()),
            ledger: store.clone(),
            tools: Arc::new(NoTools),
            messenger: Arc::new(Nobody),
            clock: clock.clone(),
            chance: Arc::new(Nobody),
            agents: Arc::new(OneAgent(Arc::new(samples::agent("pt-BR", "Recepção.")))),
            journal: told.clone(),
            hasher,
            dead_runs: recado::flow::DeadRuns::default(),
            kept_reads: recado::flow::KeptReads::default(),
        };
        Self {
            world,
            store,
            queue,
            clock,
            told,
            faults,
        }
    }

    pub async fn take(&self, events: Vec<ProviderEvent>) -> Ingested {
        ingest(&self.world, events).await
    }

    pub fn table(&self) -> Table {
        self.store.look()
    }

    /// The contacts that hold a message, with their messages' ids.
    pub fn held(&self) -> Vec<(String, Vec<String>)> {
        let table = self.table();
        let people = table
            .people
            .iter()
            .filter(|(_, person)| !person.events.is_empty());
        people
            .map(|(conversation, person)| {
                let ids = person.events.keys().map(ToString::to_string);
                (conversation.contact.to_string(), ids.collect())
            })
            .collect()
    }

    /// What creates a contact of this phone alone.
    pub fn creation(&self, phone: &str) -> Creation {
        Creation {
            conversation: conversation(phone),
            state: State::new(inbound("any", &[phone], 0).aliases, self.clock.now()),
            event_sent_at: self.clock.now(),
            stale: Vec::new(),
        }
    }

    /// Forgets a contact, as far as the table's first transaction.
    pub async fn forget(&self, contact: &str) {
        forget(&self.store, &conversation(contact), self.clock.now()).await;
    }
}

pub async fn forget(store: &FakeStore, conversation: &ConversationId, now: Timestamp) {
    let state = store.look().people[conversation].state.clone().unwrap();
    let erasure = Erasure {
        conversation: conversation.clone(),
        aliases: state.aliases,
        forgotten_at: now,
    };
    store.begin_erasure(&erasure, state.version).await.unwrap();
}

pub fn conversation(contact: &str) -> ConversationId {
    ConversationId {
        agent: AgentId::parse("recepcao").unwrap(),
        contact: ContactId::parse(contact).unwrap(),
    }
}

/// A message from these ids, sent `seconds` after noon.
pub fn inbound(id: &str, from: &[&str], seconds: u64) -> Inbound {
    let alias = |id: &&str| match Alias::parse(id).unwrap() {
        Alias::Phone(phone) => Alias::Phone(canonical(&phone)),
        bsuid @ Alias::Bsuid(_) => bsuid,
    };
    let reply_to = match Phone::parse(from[0]) {
        Ok(phone) => Address::Phone(phone),
        Err(_) => Address::Bsuid(Bsuid::parse(from[0]).unwrap()),
    };
    Inbound {
        id: MessageId::parse(id).unwrap(),
        aliases: from.iter().map(alias).collect(),
        reply_to,
        number: BusinessNumber::parse(NUMBER).unwrap(),
        sent_at: Timestamp::from_ms(NOON + seconds * 1000),
        arrived_at: Timestamp::from_ms(NOON + seconds * 1000),
        content: Content::Text("oi".to_owned()),
    }
}

pub fn text(id: &str, from: &[&str], seconds: u64) -> ProviderEvent {
    ProviderEvent::Message(inbound(id, from, seconds))
}

pub fn image(id: &str, from: &[&str]) -> ProviderEvent {
    let mut inbound = inbound(id, from, 0);
    inbound.content = Content::Unsupported(Kind::parse("image").unwrap());
    ProviderEvent::Message(inbound)
}

/// Keeps what was ticked; refuses while it is told to.
#[derive(Default)]
pub struct Queue {
    pub ticks: Mutex<Vec<(ConversationId, String)>>,
    pub refuses: AtomicBool,
}

impl Queue {
    pub fn count(&self) -> usize {
        self.ticks.lock().unwrap().len()
    }

    /// The dedup keys, each once, in order.
    pub fn keys(&self) -> Vec<String> {
        let ticks = self.ticks.lock().unwrap();
        let mut keys: Vec<String> = ticks.iter().map(|(_, key)| key.clone()).collect();
        keys.dedup();
        keys
    }
}

#[async_trait]
impl Ticks for Queue {
    async fn tick(&self, conversation: &ConversationId, dedup: &str) -> Result<(), TicksError> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(TicksError {
                operation: "send",
                source: "the queue is down".into(),
            });
        }
        let tick = (conversation.clone(), dedup.to_owned());
        self.ticks.lock().unwrap().push(tick);
        Ok(())
    }

    async fn hold(&self, _receipt: &Receipt, _seconds: u32) -> Result<(), TicksError> {
        unreachable!("the way in receives no tick")
    }

    async fn compact(&self, _conversation: &ConversationId) -> Result<(), TicksError> {
        unreachable!("the way in compacts nothing")
    }
}

/// A clock that is set by hand.
pub struct Still(AtomicU64);

impl Still {
    pub fn set(&self, seconds: u64) {
        self.0.store(NOON + seconds * 1000, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, _duration: Duration) {
        unreachable!("the way in waits for nothing")
    }
}

/// What the journal was told.
#[derive(Default)]
pub struct Told(Mutex<Vec<Step>>);

impl Told {
    /// Of each message received, whether it was new.
    pub fn fresh(&self) -> Vec<bool> {
        self.of(|step| match step {
            Step::Received { fresh, .. } => Some(*fresh),
            _ => None,
        })
    }

    /// The codes of replies that the provider failed after it had taken them.
    pub fn failures(&self) -> Vec<String> {
        self.of(|step| match step {
            Step::SendRefused {
                code, again: false, ..
            } => Some(code.clone()),
            _ => None,
        })
    }

    fn of<T>(&self, wanted: impl Fn(&Step) -> Option<T>) -> Vec<T> {
        self.0.lock().unwrap().iter().filter_map(wanted).collect()
    }
}

impl Journal for Told {
    fn note(&self, _conversation: &ConversationId, step: &Step) {
        let is_of_the_way_in = matches!(step, Step::Received { .. } | Step::SendRefused { .. });
        assert!(
            is_of_the_way_in,
            "the way in only receives, messages and failures"
        );
        self.0.lock().unwrap().push(step.clone());
    }
}

type Hook = Box<dyn FnOnce(Arc<FakeStore>) -> BoxFuture<'static, ()> + Send + Sync>;

/// What happens before the next request of a kind: each once, and every request gives way to others.
#[derive(Default)]
pub struct Hooks {
    store: OnceLock<Arc<FakeStore>>,
    faults: Mutex<Vec<(&'static str, Fault)>>,
    acts: Mutex<Vec<(&'static str, Hook)>>,
}

impl Hooks {
    pub fn fail(&self, operation: &'static str, fault: Fault) {
        self.faults.lock().unwrap().push((operation, fault));
    }

    pub fn before<F>(
        &self,
        operation: &'static str,
        act: impl FnOnce(Arc<FakeStore>) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let act: Hook = Box::new(move |store| Box::pin(act(store)));
        self.acts.lock().unwrap().push((operation, act));
    }
}

fn next<T>(of: &Mutex<Vec<(&'static str, T)>>, operation: &str) -> Option<T> {
    let mut of = of.lock().unwrap();
    let at = of.iter().position(|(named, _)| *named == operation)?;
    Some(of.remove(at).1)
}

#[async_trait]
impl Faults for Hooks {
    async fn before(&self, operation: &'static str) -> Fault {
        tokio::task::yield_now().await;
        if let Some(act) = next(&self.acts, operation) {
            act(self.store.get().unwrap().clone()).await;
        }
        next(&self.faults, operation).unwrap_or(Fault::None)
    }
}

struct OneAgent(Arc<Agent>);

#[async_trait]
impl Agents for OneAgent {
    async fn by_number(&self, number: &BusinessNumber) -> Option<Arc<Agent>> {
        (number.as_str() == NUMBER).then(|| self.0.clone())
    }

    async fn by_id(&self, _id: &AgentId) -> Option<Arc<Agent>> {
        unreachable!("the way in knows agents by number")
    }
}

/// Stands where the way in never goes.
struct Nobody;

#[async_trait]
impl Model for Nobody {
    async fn converse(
        &self,
        _model: &str,
        _prompt: &Prompt,
        _timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        unreachable!("the model is never awaited on the way in")
    }
}

#[async_trait]
impl Messenger for Nobody {
    async fn send(&self, _outgoing: &Outgoing) -> Result<String, SendError> {
        unreachable!("nothing is sent on the way in")
    }

    async fn look_up(&self, _reply: ReplyId) -> LookUp {
        unreachable!("nothing is looked up on the way in")
    }
}

impl Chance for Nobody {
    fn bits(&self) -> u128 {
        unreachable!("the way in leaves nothing to chance")
    }

    fn fraction(&self) -> f64 {
        unreachable!("the way in leaves nothing to chance")
    }
}
