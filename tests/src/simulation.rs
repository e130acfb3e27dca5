//! The seeded simulation: real flow, real handlers and real queue rules on a table, a model and a provider that fail in
//! every way, under one virtual clock and from one seed.
//!
//! A schedule is drawn from its seed: people and what they write, what the operator does, and which kinds of faults may
//! happen (a random few of them, so that each is met alone and together with others). It runs until everything
//! planned has happened; then a phase without faults follows, in which all must come to rest. Laws are checked by a
//! witness at every request as the table applies it, and all of them once more at rest. The same seed gives the same
//! trace.

mod agents;
mod breakers;
mod clocks;
mod core;
mod invocation;
mod ledger;
mod model;
mod operator;
mod people;
pub mod plan;
mod provider;
mod queue;
pub mod report;
mod requests;
mod rest;
mod store;
pub mod switches;
mod tools;
mod witness;
mod words;
mod world;

use std::sync::Arc;
use std::time::Duration;

use recado::domain::{Agent, ProviderEvent};
use tokio::task::JoinSet;
use tokio::time::Instant;

pub use self::core::{Line, Violation};

use self::core::Core;
use self::plan::{Act, Aim, Fault, Ids, Kind, Plan, Said};
use self::switches::Switches;
use self::witness::Witness;
use self::words::Canary;
use self::world::SimWorld;
use crate::fake_store::Guards;

/// How a schedule is run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The table's guards.
    pub guards: Guards,
    /// The flow's own guards.
    pub switches: Switches,
    /// What the schedule is aimed at.
    pub aim: Aim,
    /// Whether the story is kept.
    pub record: bool,
}

/// What became of a schedule.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// Virtual time it took.
    pub took: Duration,
    /// Faults by kind, in the order of [`Fault::ALL`].
    pub faults: Vec<u64>,
    /// The first law that was broken.
    pub violation: Option<Violation>,
    /// Stands for every step in order; the same seed gives the same.
    pub trace_hash: u64,
    /// Requests and sends.
    pub steps: u64,
    /// Messages stored, and replies committed.
    pub messages: (usize, usize),
    /// The story, where it was asked for.
    pub log: Vec<Line>,
}

/// After the last planned moment faults go on for this long.
const STORMY_END: Duration = Duration::from_secs(40);

/// A clock that steps costs nobody more than this, in milliseconds: a lease, a pause after a failure, and a run.
const CLOCK_STEP_MS_MAX: u64 = 330_000;

/// Without faults everything comes to rest within this time.
const REST_WITHIN: Duration = Duration::from_mins(45);

/// The agent of the schedules; reading it from its file takes longer than a schedule should.
pub fn base_agent() -> Agent {
    crate::fake_world::agent(|_| {})
}

/// Runs the schedule of a seed.
///
/// # Panics
/// Where no runtime can be made.
pub fn run(seed: u64, base: &Agent, options: &Options) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(play(seed, base, options))
}

fn agent_of(plan: &Plan, base: &Agent) -> Agent {
    let mut agent = base.clone();
    if plan.small_memory {
        agent.compaction.trigger = 8;
        agent.compaction.keep = 4;
        agent.budget.history_tokens_max = 150;
        agent.budget.messages_max = 12;
    }
    if plan.has_fallback {
        agent.model.fallback = Some("spare".to_owned());
    }
    if plan.gives_up_soon {
        agent.timing.give_up_after = Duration::from_mins(1);
    }
    agent
}

/// Without any fault nobody waits longer than the ceiling, two runs (the one before and their own) and a window; more
/// where there are fewer processors than people, or hundreds of messages.
fn patience_ms(plan: &Plan) -> u64 {
    let hesitation_ms = if plan.hesitant { 15_000 } else { 0 };
    // Looks and calls before the answer.
    let rounds = if plan.turns_with_tools > 0 { 4 } else { 1 };
    let run = rounds * (plan.model_ms_max + hesitation_ms) + 2_000;
    let crowd = plan.people.div_ceil(plan.processors) as u64;
    let batches = plan.said.len().div_ceil(80) as u64 - 1;
    25_000 + 2 * run * crowd + batches * run * crowd
}

async fn play(seed: u64, base: &Agent, options: &Options) -> Outcome {
    let plan = Plan::draw(seed, options.aim);
    let agent = agent_of(&plan, base);
    let witness = Witness::new(agent.clone(), patience_ms(&plan));
    let core = Arc::new(Core::new(seed, &plan, witness, options.record));
    let (sim, statuses) = SimWorld::build(&core, &agent, &plan, seed, options);
    for kind in [
        Fault::PartialIds,
        Fault::SweeperDown,
        Fault::LookUpBlind,
        Fault::Flood,
    ] {
        if plan.swarm.on(kind) {
            core.count(kind);
        }
    }
    sim.start_workers();
    let mut tasks = JoinSet::new();
    tasks.spawn(carry_statuses(Arc::clone(&sim), statuses));
    let start = Instant::now();
    let mut said = plan.said.clone();
    for (at, act) in &plan.agenda {
        tokio::time::sleep_until(start + Duration::from_millis(*at)).await;
        if core.violation().is_some() {
            break;
        }
        begin(&sim, &mut tasks, &mut said, *act);
    }
    if core.violation().is_none() {
        tokio::time::sleep(STORMY_END).await;
    }
    core.calm_down();
    let end = Instant::now() + REST_WITHIN;
    while Instant::now() < end && core.violation().is_none() {
        tokio::time::sleep(Duration::from_secs(20)).await;
        // All that is left is the one that carries statuses.
        while tasks.try_join_next().is_some() {}
        if tasks.len() == 1 && rest::is_at_rest(&sim.table) {
            break;
        }
    }
    if core.violation().is_none() {
        rest::check(&core, &sim.table);
    }
    let took = start.elapsed();
    sim.stop().await;
    tasks.shutdown().await;
    let (trace_hash, steps) = core.trace_hash();
    Outcome {
        seed,
        took,
        faults: core.counts(),
        violation: core.violation(),
        trace_hash,
        steps,
        messages: core.witness(|witness| witness.totals()),
        log: core.log(),
    }
}

/// Begins what is planned for this moment.
fn begin(sim: &Arc<SimWorld>, tasks: &mut JoinSet<()>, said: &mut [Said], act: Act) {
    let world = Arc::clone(sim);
    match act {
        Act::Deliver(index) => {
            count_delivery(sim, &said[index]);
            let canary = Canary(u32::try_from(index).unwrap_or(0));
            tasks.spawn(people::deliver(world, said[index].clone(), canary));
        }
        Act::Forget(person) => drop(tasks.spawn(operator::forget(world, person))),
        Act::OptOut(person) => drop(tasks.spawn(operator::opt_out(world, person))),
        Act::Pause(person, ms) => drop(tasks.spawn(operator::pause(world, person, ms))),
        Act::Resume(person) => drop(tasks.spawn(operator::resume(world, person))),
        Act::Kill(down_ms) => drop(tasks.spawn(world.kill(down_ms))),
        Act::Purge => operator::purge(sim),
        Act::Clock(error) => {
            sim.core.count(if sim.core.swarm.on(Fault::ClockWrong) {
                Fault::ClockWrong
            } else {
                Fault::ClockSteps
            });
            sim.core.set_clock_error(error);
            let by = error.unsigned_abs();
            sim.core.witness(|witness| witness.clock_error_ms += by);
            // However far it stepped: nobody waits until it is there again, but for what only the sweeper could find.
            let most = if sim.core.swarm.loses() {
                u64::MAX
            } else {
                CLOCK_STEP_MS_MAX
            };
            sim.core.trouble(None, (2 * by + 5_000).min(most));
        }
        Act::Agent(version) => sim.change_agent(version),
        Act::Recycle(person) => recycle(sim, tasks, said, person),
    }
}

fn count_delivery(sim: &SimWorld, said: &Said) {
    let core = &sim.core;
    if said.deliveries.len() > 1 {
        core.count(Fault::WebhookDoubled);
    }
    if said.age > 0 {
        core.count(Fault::WebhookLate);
    }
    if said.deliveries[0] > 400 {
        core.count(Fault::WebhookReordered);
    }
    match said.kind {
        Kind::Stop => core.count(Fault::Stop),
        Kind::Unsupported => core.count(Fault::Unsupported),
        Kind::Words => {}
    }
}

/// A stranger writes from a number that was someone's; that one has only their BSUID from now on.
fn recycle(sim: &Arc<SimWorld>, tasks: &mut JoinSet<()>, said: &mut [Said], person: usize) {
    let now = sim.core.true_ms();
    let by_phone = |said: &&mut Said| said.person == person && said.ids != Ids::Bsuid;
    // What already came under the number must not come again under its new owner.
    let under_way = said.iter_mut().filter(by_phone).any(|said| {
        said.at <= now && said.at + said.deliveries.iter().max().unwrap_or(&0) + 30_000 > now
    });
    let repeats = said
        .iter_mut()
        .filter(by_phone)
        .any(|said| said.deliveries.len() > 1);
    if under_way || repeats || !operator::recycle(sim, person) {
        return;
    }
    for later in said.iter_mut().filter(by_phone) {
        later.ids = Ids::Bsuid;
    }
    let stranger = Said {
        person,
        at: now,
        kind: Kind::Words,
        ids: Ids::Phone,
        age: 0,
        deliveries: vec![0],
    };
    let canary = Canary(90_000 + u32::try_from(person).unwrap_or(0));
    tasks.spawn(people::deliver(Arc::clone(sim), stranger, canary));
}

async fn carry_statuses(
    sim: Arc<SimWorld>,
    mut statuses: tokio::sync::mpsc::UnboundedReceiver<provider::Status>,
) {
    let mut carriers = JoinSet::new();
    while let Some((after_ms, update)) = statuses.recv().await {
        let sim = Arc::clone(&sim);
        carriers.spawn(async move {
            tokio::time::sleep(Duration::from_millis(after_ms)).await;
            people::bring(&sim, |_| ProviderEvent::Status(update.clone())).await;
        });
        while carriers.try_join_next().is_some() {}
    }
}
