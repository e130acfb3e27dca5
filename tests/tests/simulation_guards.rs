//! Every guard is needed: without it the simulation breaks a law within 2,000 schedules. Those that are a second belt
//! for another guard are named with that other one, and are needed once it is gone.
//!
//! `cargo test --profile sim -p recado-tests --test simulation_guards -- --nocapture` prints who caught what; with
//! `SIM_GUARDS=calls` only those with this word in their name are tried.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use recado_tests::fake_store::Guards;
use recado_tests::simulation::switches::{self, Switches};
use recado_tests::simulation::{self, Options};

/// Schedules that each guard gets.
const SEEDS: u64 = 2_000;

/// Runs schedules until a law is broken. Yields the seed and the law.
fn caught(options: &Options) -> Option<(u64, &'static str, String)> {
    let next = AtomicU64::new(0);
    let found: Mutex<Option<(u64, &'static str, String)>> = Mutex::new(None);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let base = simulation::base_agent();
                while found.lock().unwrap().is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SEEDS {
                        return;
                    }
                    if let Some(violation) = simulation::run(seed, &base, options).violation {
                        *found.lock().unwrap() = Some((seed, violation.law, violation.detail));
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

fn told(name: &str, options: &Options) -> bool {
    let caught = caught(options);
    match &caught {
        Some((seed, law, detail)) => println!("{name:<28} seed {seed:>4}: {law} ({detail})"),
        None => println!("{name:<28} nobody misses it in {SEEDS} schedules"),
    }
    caught.is_some()
}

/// Whether this guard is to be tried.
fn is_asked_for(name: &str) -> bool {
    std::env::var("SIM_GUARDS").map_or(true, |word| name.contains(&word))
}

/// Two guards that are each other's belt: nobody misses one of them, and without both a law breaks.
const BELTS: [&str; 2] = ["epoch", "lease_run"];

/// Guards that no schedule misses, each for what stands before it.
const COVERED: &[(&str, &str)] = &[
    (
        "answered_set",
        "a commit tests its claim, and what closes a message fences the claim",
    ),
    (
        "late_only_without_state",
        "a contact id has one life: no state comes back under it",
    ),
    (
        "new_calls_only",
        "a call is stored under the claim of the one run that numbers it",
    ),
    (
        "fold_at_rest_only",
        "the newest turn is never folded, and older ones are at rest",
    ),
];

fn is_covered(name: &str) -> bool {
    BELTS.contains(&name) || COVERED.iter().any(|(covered, _)| *covered == name)
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn the_table_needs_every_guard() {
    let mut missed = Vec::new();
    for name in Guards::NAMES.iter().filter(|name| is_asked_for(name)) {
        let guards = Guards::without(name);
        let options = Options {
            guards,
            ..Options::default()
        };
        if !told(name, &options) && !is_covered(name) {
            missed.push(*name);
        }
    }
    for (name, why) in COVERED {
        println!("{name}: {why}");
    }
    assert!(missed.is_empty(), "nobody misses {missed:?}");
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn of_two_belts_one_is_needed() {
    let mut guards = Guards::default();
    (guards.epoch, guards.lease_run) = (false, false);
    let options = Options {
        guards,
        ..Options::default()
    };
    assert!(told("epoch and lease_run", &options));
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn the_flow_needs_every_guard() {
    for name in switches::NAMES.iter().filter(|name| is_asked_for(name)) {
        let switches = Switches::without(name);
        let options = Options {
            switches,
            ..Options::default()
        };
        assert!(told(name, &options), "nobody misses {name}");
    }
}
