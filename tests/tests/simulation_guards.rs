//! Every guard is needed: without it the simulation breaks a law within 2,000 schedules, aimed at the faults that the guard
//! is for. Those that are a belt for what stands before them are named with that, and where it can be left out too,
//! they are needed once it is gone.
//!
//! `cargo test --profile sim -p recado-tests --test simulation_guards -- --nocapture` prints who caught what. `SIM_FROM`
//! is the first seed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use recado_tests::fake_store::Guards;
use recado_tests::simulation::plan::{Aim, Fault, Trait};
use recado_tests::simulation::switches::{self, Switches};
use recado_tests::simulation::{self, Options, report};

/// Schedules that each guard gets.
const SEEDS: u64 = 2_000;

/// What each guard's schedules are aimed at; without a row they are as drawn.
const AIMS: &[(&[&str], &[Fault], &[Trait])] = &[
    (
        &["sender_token"],
        &[
            Fault::StoreLate,
            Fault::SendUnreachable,
            Fault::SendRefused,
            Fault::ShortInvocation,
        ],
        &[Trait::Brisk],
    ),
    (
        &["no_later_reply", "no_run_meanwhile"],
        &[
            Fault::StoreLate,
            Fault::SendUnreachable,
            Fault::SendRefused,
            Fault::LookUpBlind,
            Fault::ShortInvocation,
            Fault::TickDoubled,
        ],
        &[Trait::Brisk],
    ),
    (
        &["epoch_at_calls", "first_result_stays"],
        &[
            Fault::StoreLate,
            Fault::ShortInvocation,
            Fault::TickDoubled,
            Fault::ToolTimedOut,
        ],
        &[Trait::Tools, Trait::Brisk],
    ),
    (
        &["opt_out_at_commit", "opt_out_at_calls"],
        &[Fault::OperatorOptOut],
        &[Trait::Tools, Trait::Hesitant],
    ),
    (
        &[
            "pause_at_commit",
            "pause_at_calls",
            "fenced_close",
            "calls_outlive_their_turn",
        ],
        &[Fault::Pause],
        &[Trait::Tools, Trait::Hesitant],
    ),
    (
        &["exists_on_results"],
        &[Fault::StoreLate, Fault::Forget, Fault::ShortInvocation],
        &[Trait::Tools, Trait::Brisk, Trait::Sluggish],
    ),
    (
        &[
            "tombstone_at_creation",
            "snapshot_resolve",
            "erasure_by_version",
        ],
        &[
            Fault::Forget,
            Fault::PartialIds,
            Fault::WebhookDoubled,
            Fault::StoreLate,
        ],
        &[Trait::Sluggish],
    ),
    (
        &["state_on_creations"],
        &[
            Fault::Forget,
            Fault::Unsupported,
            Fault::StoreLate,
            Fault::CompactionDoubled,
        ],
        &[Trait::SmallMemory, Trait::Sluggish, Trait::Brisk],
    ),
    (
        &["epoch", "lease_run"],
        &[
            Fault::StoreLate,
            Fault::ShortInvocation,
            Fault::TickDoubled,
            Fault::ModelSlow,
        ],
        &[Trait::Brisk],
    ),
    (
        &["sealed_less_what_is_closed"],
        &[Fault::Pause, Fault::ProcessorCrash],
        &[Trait::Tools],
    ),
    (
        &["spend_of_the_living_only"],
        &[
            Fault::Forget,
            Fault::ClockWrong,
            Fault::ModelSlow,
            Fault::ModelTimeout,
            Fault::CompactionDoubled,
        ],
        &[Trait::SmallMemory, Trait::Brisk],
    ),
    (
        &["one_life_per_contact"],
        &[Fault::NumberRecycled, Fault::PartialIds],
        &[],
    ),
];

/// Guards that no schedule misses, each for what stands before it.
const COVERED: &[(&str, &str)] = &[
    ("epoch", "a lease is of one run, and each run claims once"),
    ("lease_run", "each claim raises the epoch"),
    (
        "answered_set",
        "a commit tests its claim, and what closes a message fences the claim",
    ),
    (
        "new_calls_only",
        "only the newest claim stores calls, and it has read those of the ones before",
    ),
    (
        "closing_opens_the_seal",
        "a seal counts only while a message of it waits",
    ),
    (
        "sealed_less_what_is_closed",
        "whoever closes the last message of a sealed turn opens its seal",
    ),
    (
        "late_only_without_state",
        "a contact id has one life: no state comes back under it",
    ),
    (
        "aliases_are_few",
        "nobody has fifty ids here: a contract of the store holds it",
    ),
    (
        "life_under_its_first_alias",
        "it takes a number that changed hands before its owner is forgotten: a contract of the store holds it",
    ),
    (
        "fold_at_rest_only",
        "the newest turn is never folded, and older ones are at rest",
    ),
];

/// Of these each is the other's belt: without both this law breaks.
const BELTS: &[(&[&str], &str)] = &[
    (&["epoch", "lease_run"], "only the newest claim commits"),
    (
        &["answered_set", "fenced_close"],
        "a message is answered or closed, once",
    ),
    (
        &["closing_opens_the_seal", "sealed_less_what_is_closed"],
        "no message is twice in a prompt",
    ),
    (
        &["new_calls_only", "epoch_at_calls"],
        "a call is stored once",
    ),
];

fn aim(name: &str) -> Aim {
    let row = AIMS.iter().find(|(names, ..)| names.contains(&name));
    row.map_or(Aim::NOWHERE, |(_, faults, traits)| Aim { faults, traits })
}

fn first_seed() -> u64 {
    std::env::var("SIM_FROM").map_or(0, |text| text.parse().expect("a number"))
}

/// Runs schedules until a law is broken (this one, where one is given). Yields the seed and the law.
fn caught(options: &Options, law: Option<&str>) -> Option<(u64, &'static str, String)> {
    let from = first_seed();
    let next = AtomicU64::new(from);
    let found: Mutex<Option<(u64, &'static str, String)>> = Mutex::new(None);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let base = simulation::base_agent();
                while found.lock().unwrap().is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + SEEDS {
                        return;
                    }
                    let violation = simulation::run(seed, &base, options).violation;
                    let meant = |broken: &&'static str| law.is_none_or(|law| law == *broken);
                    if let Some(violation) = violation.filter(|found| meant(&found.law)) {
                        *found.lock().unwrap() = Some((seed, violation.law, violation.detail));
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

fn told(name: &str, options: &Options, law: Option<&str>) -> bool {
    let caught = caught(options, law);
    match &caught {
        Some((seed, law, detail)) => println!("{name:<28} seed {seed:>4}: {law} ({detail})"),
        None => println!("{name:<28} nobody misses it in {SEEDS} schedules"),
    }
    caught.is_some()
}

/// Leaves out each of `names` in turn, but for those that are covered.
fn all_are_missed(names: &[&'static str], without: impl Fn(&'static str) -> Options) {
    let mut missed = Vec::new();
    for name in names {
        if let Some((_, why)) = COVERED.iter().find(|(covered, _)| covered == name) {
            println!("{name:<28} a belt: {why}");
        } else if !told(name, &without(name), None) {
            missed.push(*name);
        }
    }
    assert!(missed.is_empty(), "nobody misses {missed:?}");
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn the_table_needs_every_guard() {
    all_are_missed(Guards::NAMES, |name| Options {
        guards: Guards::without(name),
        aim: aim(name),
        ..Options::default()
    });
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn without_both_belts_a_law_breaks() {
    for (names, law) in BELTS {
        let of_the_table: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| Guards::NAMES.contains(name))
            .collect();
        let of_the_flow = names.iter().find(|name| switches::NAMES.contains(name));
        let options = Options {
            guards: Guards::without_all(&of_the_table),
            switches: of_the_flow
                .map(|name| Switches::without(name))
                .unwrap_or_default(),
            aim: aim(names[1]),
            ..Options::default()
        };
        let both = names.join(", ");
        assert!(told(&both, &options, Some(law)), "nobody misses {both}");
    }
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn the_flow_needs_every_guard() {
    all_are_missed(switches::NAMES, |name| Options {
        switches: Switches::without(name),
        aim: aim(name),
        ..Options::default()
    });
}

/// Without any guard left out the aimed schedules break nothing: what they find is the guard's.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs the optimised profile: --profile sim"
)]
fn no_aimed_schedule_breaks_a_law() {
    for (names, faults, traits) in AIMS {
        let options = Options {
            aim: Aim { faults, traits },
            ..Options::default()
        };
        if let Some((seed, ..)) = caught(&options, None) {
            let options = Options {
                record: true,
                ..options
            };
            let told = simulation::run(seed, &simulation::base_agent(), &options);
            panic!("aimed as for {names:?}\n{}", report::failure(&told));
        }
    }
}
