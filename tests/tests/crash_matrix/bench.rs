//! A fake installation whose invocations can die at any step, and what keeps it going: queue, provider, sweeper,
//! operator.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use recado::domain::{Alias, ConversationId, Inbound, ProviderEvent, Timestamp};
use recado::flow::{World, forget, ingest};
use recado_processor::SqsEvent;
use recado_tests::fake_store::Table;
use recado_tests::fake_ticks::{COMPACTIONS, FakeTicks, TICKS};
use recado_tests::fake_world::{FakeWorld, agent};
use tokio::task::JoinSet;

use crate::Cell;
use crate::ports::Crossing;
use crate::steps::{Kind, Steps, Strike};

pub const ANA: &str = "5511900000001";

/// How long an invocation may take, as in the template.
const INVOCATION: Duration = Duration::from_mins(2);

/// A provider, and an operator, tries again after this long.
const AGAIN: Duration = Duration::from_secs(10);

/// See the module.
pub struct Bench {
    pub fakes: FakeWorld,
    pub steps: Arc<Steps>,
    pub crossing: Arc<Crossing>,
    world: World,
    grace: Duration,
    workers: JoinSet<()>,
}

impl Bench {
    /// An empty installation at work, as the cell has it.
    pub async fn start(strikes: Vec<Strike>, cell: &Cell) -> Self {
        let steps = Steps::new(strikes);
        let fakes = FakeWorld::start_with_faults(agent(cell.agent), steps.clone());
        fakes.kill().await;
        fakes.messenger.can_be_asked(cell.can_be_asked);
        let crossing = Arc::new(Crossing {
            steps: Arc::clone(&steps),
            ticks: Arc::clone(&fakes.ticks),
            model: Arc::clone(&fakes.model),
            tools: Arc::clone(&fakes.world.tools),
            messenger: Arc::clone(&fakes.messenger),
            calls: Mutex::default(),
        });
        let world = World {
            ticks: crossing.clone(),
            models: crossing.clone(),
            tools: crossing.clone(),
            messenger: crossing.clone(),
            ..fakes.world.clone()
        };
        let grace = recado_sweeper::grace(agent(|_| {}).timing.ceiling);
        let mut workers = JoinSet::new();
        for (queue, kind) in [
            (TICKS, Kind::Tick),
            (TICKS, Kind::Tick),
            (COMPACTIONS, Kind::Compaction),
        ] {
            let ticks = Arc::clone(&fakes.ticks);
            workers.spawn(poll(world.clone(), ticks, Arc::clone(&steps), queue, kind));
        }
        let (sweeping, seen) = (world.clone(), Arc::clone(&steps));
        workers.spawn(async move {
            loop {
                sweeping.clock.sleep(Duration::from_mins(1)).await;
                let sweep = recado_sweeper::handle(&sweeping, grace);
                let _ = seen.invocation(Kind::Sweep, sweep).await;
            }
        });
        Self {
            fakes,
            steps,
            crossing,
            world,
            grace,
            workers,
        }
    }

    /// Ana's conversation.
    pub fn ana(&self) -> ConversationId {
        self.fakes.conversation(ANA)
    }

    /// The table as it is.
    pub fn table(&self) -> Table {
        self.fakes.store.look()
    }

    /// Time passes.
    pub async fn pass_ms(&self, ms: u64) {
        self.fakes.pass(Duration::from_millis(ms)).await;
    }

    /// Time passes until nothing can be under way any more, the longest way round included.
    pub async fn come_to_rest(&self) {
        self.pass_ms(20 * 60_000).await;
    }

    /// What is counted from now on.
    pub fn watch(&self, kind: Kind) {
        self.steps.watch(Some(kind));
    }

    /// A message of Ana's, by the phone alone.
    pub fn message(&self, id: &str, text: &str) -> Inbound {
        self.fakes.message(ANA, id, text)
    }

    /// Ana writes, and it arrives.
    pub async fn say(&self, id: &str, text: &str) {
        self.webhook(self.message(id, text)).await;
    }

    /// A message arrives: sent again until it is taken, as a provider does.
    pub async fn webhook(&self, mut inbound: Inbound) {
        loop {
            inbound.arrived_at = self.world.now();
            if self.take(ProviderEvent::Message(inbound.clone())).await {
                return;
            }
            self.fakes.pass(AGAIN).await;
        }
    }

    /// A status arrives: sent again until it is taken.
    pub async fn status(&self, event: ProviderEvent) {
        while !self.take(event.clone()).await {
            self.fakes.pass(AGAIN).await;
        }
    }

    async fn take(&self, event: ProviderEvent) -> bool {
        let intake = ingest::ingest(&self.world, vec![event]);
        let taken = self.steps.invocation(Kind::Webhook, intake).await;
        taken.is_some_and(|taken| taken.failed == 0)
    }

    /// The operator forgets Ana: again until it is done.
    pub async fn forget(&self) {
        loop {
            let forgetting = async { forget::forget(&self.world, &self.ana()).await };
            let forgotten = self.steps.invocation(Kind::Forget, forgetting).await;
            if forgotten.is_some_and(|forgotten| forgotten.is_ok()) {
                return;
            }
            self.fakes.pass(AGAIN).await;
        }
    }

    /// One sweep, now.
    pub async fn sweep(&self) {
        let sweep = recado_sweeper::handle(&self.world, self.grace);
        let _ = self.steps.invocation(Kind::Sweep, sweep).await;
    }

    /// Ana is known by a second id too, as of a message that names both.
    pub fn with_bsuid(inbound: Inbound, bsuid: &str) -> Inbound {
        let bsuid = recado::domain::Bsuid::parse(bsuid).unwrap();
        let aliases = inbound.aliases.into_iter().chain([Alias::Bsuid(bsuid)]);
        Inbound {
            aliases: aliases.collect(),
            ..inbound
        }
    }

    /// The moment.
    pub fn now(&self) -> Timestamp {
        self.world.now()
    }

    /// Stops everything.
    pub async fn stop(mut self) {
        self.workers.shutdown().await;
    }
}

/// One poller: what is not done with stays, and comes back when its visibility ends.
async fn poll(
    world: World,
    ticks: Arc<FakeTicks>,
    steps: Arc<Steps>,
    queue: &'static str,
    kind: Kind,
) {
    loop {
        let record = ticks.next(queue).await;
        let receipt = record.receipt_handle.clone();
        let deadline = world.now().plus(INVOCATION);
        let event = SqsEvent {
            records: vec![record],
        };
        let handled = recado_processor::handle(&world, event, deadline);
        let answer = steps.invocation(kind, handled).await;
        if answer.is_some_and(|answer| answer.batch_item_failures.is_empty()) {
            ticks.delete(queue, &receipt);
        }
    }
}
