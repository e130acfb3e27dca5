//! A whole installation on fakes: real flow, real handlers, real queue rules, and a clock that a test moves.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use recado::adapters::cached_breakers::CachedBreakers;
use recado::adapters::cached_ledger::CachedLedger;
use recado::adapters::toolbox::Toolbox;
use recado::adapters::toolbox::built_in::BuiltInTools;
use recado::config::roster::Roster;
use recado::domain::{
    Address, Agent, AgentId, Alias, BusinessNumber, ContactId, Content, ConversationId, Hasher,
    Inbound, MessageId, Phone, ProviderEvent, Step, Timestamp,
};
use recado::flow::World;
use recado::flow::ingest::{self, Ingested};
use recado::ports::{Breakers, Clock, Journal};
use recado_processor::SqsEvent;
use tokio::task::JoinSet;

use crate::fake_breakers::FakeBreakers;
use crate::fake_chance::SeededChance;
use crate::fake_clock::MovedClock;
use crate::fake_messenger::FakeMessenger;
use crate::fake_model::ScriptedModel;
use crate::fake_store::{FakeStore, Faults};
use crate::fake_ticks::{COMPACTIONS, FakeTicks, TICKS};
use crate::fake_tools::FakeTools;
use crate::gate::Gate;

/// The business number of every fake world.
pub const NUMBER: &str = "100";

/// How long an invocation may take, as in the template.
const INVOCATION: Duration = Duration::from_mins(2);

/// The steps of every conversation, in order.
pub struct Trace {
    clock: Arc<dyn Clock>,
    steps: Mutex<Vec<(Timestamp, ConversationId, Step)>>,
}

impl Trace {
    /// Steps of all conversations with their times.
    pub fn steps(&self) -> Vec<(Timestamp, ConversationId, Step)> {
        self.steps.lock().unwrap().clone()
    }

    /// How many steps `is` holds for.
    pub fn count(&self, is: impl Fn(&Step) -> bool) -> usize {
        self.steps
            .lock()
            .unwrap()
            .iter()
            .filter(|(_, _, step)| is(step))
            .count()
    }
}

impl Journal for Trace {
    fn note(&self, conversation: &ConversationId, step: &Step) {
        let now = self.clock.now();
        self.steps
            .lock()
            .unwrap()
            .push((now, conversation.clone(), step.clone()));
    }
}

/// A fake installation. Its pollers run while it lives.
pub struct FakeWorld {
    /// What the flow sees.
    pub world: World,
    /// The table.
    pub store: Arc<FakeStore>,
    /// The queues.
    pub ticks: Arc<FakeTicks>,
    /// The model.
    pub model: Arc<ScriptedModel>,
    /// Which models are left out.
    pub breakers: Arc<FakeBreakers>,
    /// What the model may call.
    pub tools: Arc<FakeTools>,
    /// The provider.
    pub messenger: Arc<FakeMessenger>,
    /// The story.
    pub trace: Arc<Trace>,
    workers: Mutex<JoinSet<()>>,
    grace: Duration,
}

/// The default agent, with what a test changes.
pub fn agent(change: impl FnOnce(&mut Agent)) -> Agent {
    let overrides = recado::config::agent_file::Overrides::none();
    let mut agent = recado::config::agent_file::default_agent(&overrides).unwrap();
    change(&mut agent);
    agent
}

impl FakeWorld {
    /// One default agent, pollers and sweeper running.
    pub fn start() -> Self {
        Self::start_with(agent(|_| {}))
    }

    /// The default agent behind a gate: its table waits where the test says.
    pub fn start_gated(gate: Arc<Gate>) -> Self {
        Self::start_with_faults(agent(|_| {}), gate)
    }

    /// One agent, pollers and sweeper running. Under `#[tokio::test(start_paused = true)]`.
    pub fn start_with(agent: Agent) -> Self {
        Self::start_with_faults(agent, Gate::new())
    }

    /// The same with a table that these faults strike.
    pub fn start_with_faults(agent: Agent, faults: Arc<dyn Faults>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(MovedClock::start());
        let hasher = Arc::new(Hasher::new(b"a key for tests only, 32 bytes!!"));
        let grace = recado_sweeper::grace(agent.timing.ceiling);
        let delay_s = u32::try_from(agent.timing.window.as_secs()).unwrap();
        let breakers = Arc::new(FakeBreakers::with_faults(Arc::clone(&faults)));
        let store = Arc::new(FakeStore::new(Arc::clone(&hasher)).with_faults(faults));
        let ticks = Arc::new(FakeTicks::new(
            Arc::clone(&clock),
            Arc::clone(&hasher),
            delay_s,
        ));
        let model = Arc::new(ScriptedModel::new(Arc::clone(&clock)));
        let agents = Arc::new(Roster::new(vec![agent]).unwrap());
        let built_in = BuiltInTools::new(store.clone(), Arc::clone(&clock));
        let tools = Arc::new(FakeTools::new(Arc::clone(&clock)));
        let toolbox = Toolbox::new(agents.clone(), vec![tools.clone(), Arc::new(built_in)]);
        let messenger = Arc::new(FakeMessenger::new(Arc::clone(&clock)));
        let trace = Arc::new(Trace {
            clock: Arc::clone(&clock),
            steps: Mutex::default(),
        });
        let world = World {
            store: store.clone(),
            ticks: ticks.clone(),
            models: model.clone(),
            breakers: cached(&breakers, &clock),
            ledger: Arc::new(CachedLedger::new(store.clone(), Arc::clone(&clock))),
            tools: Arc::new(toolbox),
            messenger: messenger.clone(),
            clock,
            chance: Arc::new(SeededChance::new(7)),
            agents,
            journal: trace.clone(),
            hasher,
            dead_runs: recado::flow::DeadRuns::default(),
            kept_reads: recado::flow::KeptReads::default(),
        };
        let workers = Mutex::default();
        let started = Self {
            world,
            store,
            ticks,
            model,
            breakers,
            tools,
            messenger,
            trace,
            workers,
            grace,
        };
        started.start_workers();
        started
    }

    /// Starts five processors, two compactors and the sweeper.
    pub fn start_workers(&self) {
        let mut workers = self.workers.lock().unwrap();
        for queue in [TICKS, TICKS, TICKS, TICKS, TICKS, COMPACTIONS, COMPACTIONS] {
            // Each knows of breakers what it has read itself, as on Lambda.
            let world = World {
                breakers: cached(&self.breakers, &self.world.clock),
                ledger: Arc::new(CachedLedger::new(
                    self.store.clone(),
                    Arc::clone(&self.world.clock),
                )),
                ..self.world.clone()
            };
            workers.spawn(poll(world, Arc::clone(&self.ticks), queue));
        }
        let (world, grace) = (self.world.clone(), self.grace);
        workers.spawn(async move {
            loop {
                world.clock.sleep(Duration::from_mins(1)).await;
                let _ = recado_sweeper::handle(&world, grace).await;
            }
        });
    }

    /// Kills the process: everything in flight stops at its next await, and the queues are lost.
    pub async fn kill(&self) {
        let mut workers = std::mem::take(&mut *self.workers.lock().unwrap());
        workers.shutdown().await;
        self.ticks.lose_all();
    }

    /// Starts the process again, as a local run does: dead leases dropped, everything pending ticked.
    pub async fn restart(&self) {
        let recovered = recado::flow::sweep::recover(&self.world, 1_000).await;
        recovered.unwrap();
        self.start_workers();
    }

    /// Time passes and everyone does what they do.
    pub async fn pass(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Time passes, in seconds.
    pub async fn pass_s(&self, seconds: u64) {
        self.pass(Duration::from_secs(seconds)).await;
    }

    /// A message as it would arrive now.
    pub fn message(&self, phone: &str, id: &str, text: &str) -> Inbound {
        let phone = Phone::parse(phone).unwrap();
        let now = self.world.now();
        Inbound {
            id: MessageId::parse(id).unwrap(),
            aliases: vec![Alias::Phone(phone.clone())],
            reply_to: Address::Phone(phone),
            number: BusinessNumber::parse(NUMBER).unwrap(),
            sent_at: Timestamp::from_ms(now.seconds() * 1000),
            arrived_at: now,
            content: Content::Text(text.to_owned()),
        }
    }

    /// The provider delivers a message.
    pub async fn deliver(&self, inbound: Inbound) -> Ingested {
        ingest::ingest(&self.world, vec![ProviderEvent::Message(inbound)]).await
    }

    /// A person writes, and it arrives at once. The text's beginning is in its id.
    pub async fn say(&self, phone: &str, text: &str) {
        let begin = text
            .char_indices()
            .nth(40)
            .map_or(text, |(at, _)| &text[..at]);
        let id = format!("wamid.{phone}.{begin}.{}", self.world.now().ms());
        let inbound = self.message(phone, &id, text);
        self.deliver(inbound).await;
    }

    /// The conversation of a phone that has never been forgotten.
    pub fn conversation(&self, phone: &str) -> ConversationId {
        ConversationId {
            agent: AgentId::parse("recepcao").unwrap(),
            contact: ContactId::parse(phone).unwrap(),
        }
    }
}

/// Breakers as one process knows them.
fn cached(breakers: &Arc<FakeBreakers>, clock: &Arc<dyn Clock>) -> Arc<dyn Breakers> {
    Arc::new(CachedBreakers::new(breakers.clone(), Arc::clone(clock)))
}

/// One poller: receives, handles, deletes what is done with.
async fn poll(world: World, ticks: Arc<FakeTicks>, queue: &'static str) {
    loop {
        let record = ticks.next(queue).await;
        let receipt = record.receipt_handle.clone();
        let deadline = world.now().plus(INVOCATION);
        let event = SqsEvent {
            records: vec![record],
        };
        let answer = recado_processor::handle(&world, event, deadline).await;
        if answer.batch_item_failures.is_empty() {
            ticks.delete(queue, &receipt);
        }
    }
}
