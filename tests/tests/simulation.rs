//! Runs the seeded simulation: `SIM_SEEDS=N SIM_FROM=S cargo test --profile sim -p recado-tests --test simulation --
//! --nocapture`. Without them a few hundred fixed seeds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use recado_tests::simulation::plan::Fault;
use recado_tests::simulation::{self, Options, Outcome, report};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .map_or(default, |text| text.parse().expect("a number"))
}

/// Runs the seeds on every core. Yields the sum of their faults, their virtual time, their messages and the failures.
struct Sum {
    schedules: u64,
    steps: u64,
    virtual_time: Duration,
    faults: Vec<u64>,
    messages: (usize, usize),
    failures: Vec<Outcome>,
}

impl Sum {
    fn add(&mut self, outcome: Outcome) {
        self.schedules += 1;
        self.steps += outcome.steps;
        self.virtual_time += outcome.took;
        for (sum, count) in self.faults.iter_mut().zip(&outcome.faults) {
            *sum += count;
        }
        self.messages.0 += outcome.messages.0;
        self.messages.1 += outcome.messages.1;
        if outcome.violation.is_some() {
            self.failures.push(outcome);
        }
    }
}

fn run_all(from: u64, seeds: u64, failures_max: usize) -> Sum {
    let next = AtomicU64::new(from);
    let sum = Mutex::new(Sum {
        schedules: 0,
        steps: 0,
        virtual_time: Duration::ZERO,
        faults: vec![0; Fault::ALL.len()],
        messages: (0, 0),
        failures: Vec::new(),
    });
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let base = simulation::base_agent();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + seeds || sum.lock().unwrap().failures.len() >= failures_max {
                        return;
                    }
                    let outcome = simulation::run(seed, &base, &Options::default());
                    sum.lock().unwrap().add(outcome);
                }
            });
        }
    });
    sum.into_inner().unwrap()
}

#[test]
fn no_schedule_breaks_a_law() {
    let (from, seeds) = (number("SIM_FROM", 0), number("SIM_SEEDS", 300));
    let started = Instant::now();
    let sum = run_all(
        from,
        seeds,
        usize::try_from(number("SIM_FAILURES", 1)).unwrap(),
    );
    let took = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = sum.schedules as f64 / took;
    println!(
        "schedules {} (seeds {from} to {}), {} messages, {} replies, {} requests, {:.0} simulated hours",
        sum.schedules,
        from + seeds - 1,
        sum.messages.0,
        sum.messages.1,
        sum.steps,
        sum.virtual_time.as_secs_f64() / 3600.0,
    );
    for (fault, count) in Fault::ALL.iter().zip(&sum.faults) {
        println!("  {count:>9} {}", fault.label());
    }
    println!(
        "violations {}; {took:.1} s, {rate:.0} schedules/s",
        sum.failures.len()
    );
    let mut failures = sum.failures;
    failures.sort_by_key(|failure| failure.seed);
    for failure in failures.iter().skip(1) {
        let law = failure
            .violation
            .as_ref()
            .map_or("", |violation| violation.law);
        println!("  seed {}: {law}", failure.seed);
    }
    if let Some(first) = failures.first() {
        let options = Options {
            record: true,
            ..Options::default()
        };
        let told = simulation::run(first.seed, &simulation::base_agent(), &options);
        panic!("\n{}", report::failure(&told));
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let base = simulation::base_agent();
    for seed in 0..40 {
        let hashes = [false, true].map(|record| {
            let options = Options {
                record,
                ..Options::default()
            };
            simulation::run(seed, &base, &options).trace_hash
        });
        assert_eq!(hashes[0], hashes[1], "seed {seed}");
    }
}
