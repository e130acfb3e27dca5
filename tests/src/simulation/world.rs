//! The installation of a schedule: the real flow and the real handlers over the schedule's ports, with its workers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use recado::adapters::cached_breakers::CachedBreakers;
use recado::domain::{Agent, AgentId, ConversationId, Hasher, Step, Timestamp};
use recado::flow::{KeptReads, World, sweep};
use recado::ports::{Clock as _, Journal, Receipt, Ticks as _};
use recado_processor::SqsEvent;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

use super::Options;
use super::agents::{CEILING_MAX_MS, SimAgents};
use super::breakers::SimBreakers;
use super::clocks::{SimClock, TrueClock};
use super::core::Core;
use super::invocation::{Role, here, whose};
use super::ledger::SimLedger;
use super::model::SimModel;
use super::plan::{Fault, Plan};
use super::provider::{SimMessenger, Status};
use super::queue::SimTicks;
use super::store::{BetweenReads, SimStore};
use super::switches::{BLIND, Switches};
use super::tools::SimTools;
use crate::fake_chance::SeededChance;
use crate::fake_store::FakeStore;
use crate::fake_ticks::{COMPACTIONS, FakeTicks, TICKS};

/// How long an invocation may take, as in the template.
const INVOCATION: Duration = Duration::from_mins(2);

/// The journal tells the witness when a run has read its batch.
struct SimJournal(Arc<Core>);

impl Journal for SimJournal {
    fn note(&self, of: &ConversationId, step: &Step) {
        let core = &self.0;
        core.tell(Some(of), || format!("{step:?}"));
        match step {
            Step::Claimed { reply, batch } => {
                core.witness(|witness| witness.run_began(here()));
                let clock = SimClock(Arc::clone(core)).now();
                core.witness(|witness| witness.read(*reply, batch, core.true_ms(), clock));
            }
            Step::ModelIncident { model, since, .. } => {
                core.witness(|witness| witness.incident(of, model, *since));
            }
            Step::Superseded { reply } => core.witness(|witness| witness.dropped(of, *reply)),
            _ => {}
        }
    }
}

/// See the module.
pub struct SimWorld {
    /// What everything shares.
    pub core: Arc<Core>,
    /// What the flow sees.
    pub world: World,
    /// The table itself.
    pub table: Arc<FakeStore>,
    /// The queues themselves.
    pub queues: Arc<FakeTicks>,
    /// Whether the process is down.
    pub down: AtomicBool,
    /// When the process started for the last time.
    started_ms: AtomicU64,
    agent: AgentId,
    agents: Arc<SimAgents>,
    tools: Arc<SimTools>,
    switches: Switches,
    processors: usize,
    grace: Duration,
    workers: Mutex<JoinSet<()>>,
}

impl SimWorld {
    /// Builds it, at rest, with the way out of the provider's statuses.
    pub fn build(
        core: &Arc<Core>,
        agent: &Agent,
        plan: &Plan,
        seed: u64,
        options: &Options,
    ) -> (Arc<Self>, UnboundedReceiver<Status>) {
        let hasher = Arc::new(Hasher::new(b"a key for tests only, 32 bytes!!"));
        let table = FakeStore::new(Arc::clone(&hasher)).with_guards(options.guards);
        let table = Arc::new(table.with_faults(Arc::new(BetweenReads(Arc::clone(core)))));
        let true_clock = Arc::new(TrueClock(Arc::clone(core)));
        let delay_s = u32::try_from(agent.timing.window.as_secs()).unwrap_or(5);
        let queues = Arc::new(FakeTicks::new(true_clock, Arc::clone(&hasher), delay_s));
        let (statuses, out) = unbounded_channel();
        let switches = options.switches.clone();
        let shared = Arc::new(agent.clone());
        let agents = Arc::new(SimAgents::new(agent.clone()));
        let tools = Arc::new(SimTools::new(
            Arc::clone(core),
            plan.turns_with_tools > 0,
            switches.clone(),
        ));
        let world = World {
            store: Arc::new(SimStore::new(
                Arc::clone(core),
                Arc::clone(&table),
                switches.clone(),
            )),
            ticks: Arc::new(SimTicks::new(
                Arc::clone(core),
                Arc::clone(&queues),
                switches.clone(),
            )),
            models: Arc::new(SimModel::new(
                Arc::clone(core),
                Arc::clone(&table),
                shared,
                plan,
            )),
            breakers: Arc::new(SimBreakers::new(Arc::clone(core))),
            ledger: Arc::new(SimLedger::new(Arc::clone(core), Arc::clone(&table))),
            tools: tools.clone(),
            messenger: Arc::new(SimMessenger::new(Arc::clone(core), statuses)),
            clock: Arc::new(SimClock(Arc::clone(core))),
            chance: Arc::new(SeededChance::new(seed)),
            agents: agents.clone(),
            journal: Arc::new(SimJournal(Arc::clone(core))),
            hasher,
            dead_runs: recado::flow::DeadRuns::default(),
            kept_reads: KeptReads::default(),
        };
        let built = Self {
            core: Arc::clone(core),
            world,
            table,
            queues,
            down: AtomicBool::new(false),
            started_ms: AtomicU64::new(0),
            agent: agent.id.clone(),
            agents,
            tools,
            switches,
            processors: plan.processors,
            grace: recado_sweeper::grace(agent.timing.ceiling),
            workers: Mutex::default(),
        };
        (Arc::new(built), out)
    }

    /// The only agent.
    pub fn agent_id(&self) -> AgentId {
        self.agent.clone()
    }

    /// Another version of the agent's file is in place from now on, for what begins from now on.
    pub fn change_agent(&self, version: usize) {
        self.core.count(Fault::AgentChanged);
        let agent = self.agents.change(version);
        self.tools.declare(version.is_multiple_of(2));
        self.core.trouble(None, 2 * CEILING_MAX_MS);
        self.core.witness(|witness| witness.also_of(&agent));
    }

    /// Starts processors, two compactors and the sweeper.
    pub fn start_workers(self: &Arc<Self>) {
        let mut workers = self.workers.lock().unwrap();
        for _ in 0..self.processors {
            workers.spawn(Arc::clone(self).poll(TICKS, Role::Processor));
        }
        for _ in 0..2 {
            workers.spawn(Arc::clone(self).poll(COMPACTIONS, Role::Compactor));
        }
        if self.switches.holds("sweeper") {
            workers.spawn(Arc::clone(self).sweep());
        }
    }

    /// Everything of the process stops where it stands.
    pub async fn stop(&self) {
        self.core.killed.notify_waiters();
        let mut workers = std::mem::take(&mut *self.workers.lock().unwrap());
        workers.shutdown().await;
    }

    /// The process dies, its queues with it, and starts again after `down_ms`.
    pub async fn kill(self: Arc<Self>, down_ms: u64) {
        if self.down.swap(true, Ordering::Relaxed) {
            return;
        }
        self.core.count(Fault::ProcessKilled);
        self.core.breaks(None, down_ms + 60_000);
        self.stop().await;
        self.queues.start_again();
        tokio::time::sleep(Duration::from_millis(down_ms)).await;
        loop {
            let started_ms = self.world.now().ms();
            self.started_ms.store(started_ms, Ordering::Relaxed);
            let recover = sweep::recover(&self.world, 1_000);
            let recovered = self.core.invoke(Role::Sweeper, INVOCATION, recover).await;
            if matches!(recovered, Some(Ok(_))) {
                break;
            }
            self.core.trouble(None, 2_000);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.down.store(false, Ordering::Relaxed);
        self.start_workers();
    }

    async fn sweep(self: Arc<Self>) {
        loop {
            tokio::time::sleep(Duration::from_mins(1)).await;
            if self.core.swarm.on(Fault::SweeperDown) && !self.core.is_calm() {
                continue;
            }
            let sweep = recado_sweeper::handle(&self.world, self.grace);
            self.core.invoke(Role::Sweeper, INVOCATION, sweep).await;
        }
    }

    /// One poller: receives, handles, deletes what is done with.
    async fn poll(self: Arc<Self>, queue: &'static str, role: Role) {
        let core = &self.core;
        let world = self.own_world();
        loop {
            if core.strikes(Fault::Throttled, 30) {
                let ms = core.pick(1_000..20_000);
                core.trouble(None, 2 * ms);
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            let Some(record) = self.queues.receive(queue) else {
                self.queues.wait(queue).await;
                continue;
            };
            let receipt = Receipt(record.receipt_handle.clone());
            let time = self.time_of_an_invocation(queue, &receipt).await;
            let deadline = self.world.now().plus(time);
            let event = SqsEvent {
                records: vec![record],
            };
            let work = async {
                let answer = recado_processor::handle(&world, event, deadline).await;
                if let Some(of) = whose() {
                    core.witness(|witness| witness.books_close(&of, here()));
                }
                answer
            };
            let work = BLIND.scope(AtomicBool::new(false), work);
            match core.invoke(role, time, work).await {
                Some(answer) if answer.batch_item_failures.is_empty() => {
                    self.queues.delete(queue, &receipt.0);
                }
                Some(_) if core.strikes(Fault::TickEarly, 8) => {
                    let seconds = u32::try_from(core.pick(0..3)).unwrap_or(0);
                    let _ = self.queues.hold(&receipt, seconds).await;
                }
                _ => {}
            }
        }
    }

    /// What one function instance works with: what it knows of dead runs is its own, as on Lambda.
    fn own_world(&self) -> World {
        let dead_runs = recado::flow::DeadRuns::default();
        dead_runs.all_before(Timestamp::from_ms(self.started_ms.load(Ordering::Relaxed)));
        let breakers = Arc::clone(&self.world.breakers);
        World {
            dead_runs,
            kept_reads: KeptReads::default(),
            breakers: Arc::new(CachedBreakers::new(breakers, Arc::clone(&self.world.clock))),
            ..self.world.clone()
        }
    }

    async fn time_of_an_invocation(&self, queue: &str, receipt: &Receipt) -> Duration {
        let core = &self.core;
        if queue == TICKS && core.strikes(Fault::OneSecondLeft, 12) {
            core.trouble(None, 330_000);
            let _ = self.queues.hold(receipt, 1).await;
        }
        if core.strikes(Fault::ShortInvocation, 12) {
            core.trouble(None, 330_000);
            return Duration::from_millis(core.pick(1_000..30_000));
        }
        INVOCATION
    }
}
