//! `recado bench turns`: what turn-taking promises, on a virtual clock, and the faces of the command.

use clap::CommandFactory as _;
use recado_cli::bench::turns::algorithm::Delays;
use recado_cli::bench::turns::figures::Figures;
use recado_cli::bench::turns::{Options, measure};
use recado_cli::commands::Arguments;
use serde_json::Value;

fn of<'a>(figures: &'a [Figures], algorithm: &str) -> &'a Figures {
    figures.iter().find(|of| of.algorithm == algorithm).unwrap()
}

/// A figure, and what it may be at most.
#[track_caller]
fn at_most(label: &str, value: f64, most: f64) {
    assert!(value <= most, "{label}: {value}, at most {most}");
}

/// Virtual time: these hold or do not hold, whatever machine they are measured on.
#[test]
fn twenty_thousand_thoughts_are_split_ignored_discarded_and_kept_waiting_no_more_than_promised() {
    let options = Options::default();
    assert_eq!(options.thoughts, 20_000);
    let report = measure(&options).unwrap();
    let (single, chained) = (of(&report.single, "recado"), of(&report.chained, "recado"));
    let start = single.last_fragment_to_start_s;
    for (label, value, most) in [
        ("single, split %", single.split_percent_of_thoughts, 5.5),
        (
            "single, ignoring %",
            single.ignoring_percent_of_replies,
            2.0,
        ),
        (
            "single, discarded s",
            single.discarded_model_s_per_thought,
            0.4,
        ),
        ("single, start p50", start.p50, 5.3),
        ("single, start p95", start.p95, 6.0),
        (
            "single, first pending",
            single.first_pending_to_start_max_s,
            20.1,
        ),
        ("chained, split %", chained.split_percent_of_thoughts, 13.5),
        (
            "chained, ignoring %",
            chained.ignoring_percent_of_replies,
            30.0,
        ),
        (
            "chained, first pending",
            chained.first_pending_to_start_max_s,
            20.1,
        ),
    ] {
        at_most(label, value, most);
    }
    for figures in report.single.iter().chain(&report.chained) {
        assert_eq!(figures.thoughts, 20_000);
        assert_eq!(figures.unanswered_messages, 0, "{}", figures.algorithm);
    }
    // What the command prints, and the README quotes: a change of the policy shows here.
    insta::assert_snapshot!(report.table());
}

/// Generator and definitions are right if the plain debounce comes out as it was measured elsewhere, on a generator of the
/// same description and without any machinery. Each tolerance is about three standard errors of two samples of this size,
/// and for a time the last digit that was published, or two for the slowest of all.
#[test]
fn delayed_jobs_come_out_as_they_were_measured_elsewhere() {
    let report = measure(&Options {
        delays: Delays::NONE,
        ..Options::default()
    })
    .unwrap();
    let name = "delayed jobs";
    let (single, chained) = (of(&report.single, name), of(&report.chained, name));
    let start = single.last_fragment_to_start_s;
    let first_pending = single
        .first_pending_to_start_max_s
        .max(chained.first_pending_to_start_max_s);
    for (label, value, elsewhere, tolerance) in [
        (
            "single, split %",
            single.split_percent_of_thoughts,
            10.2,
            0.9,
        ),
        (
            "single, ignoring %",
            single.ignoring_percent_of_replies,
            7.1,
            0.8,
        ),
        (
            "single, discarded s",
            single.discarded_model_s_per_thought,
            1.2,
            0.15,
        ),
        ("single, start p50", start.p50, 5.2, 0.05),
        ("single, start p95", start.p95, 11.2, 0.1),
        (
            "chained, split %",
            chained.split_percent_of_thoughts,
            14.9,
            1.0,
        ),
        (
            "chained, ignoring %",
            chained.ignoring_percent_of_replies,
            37.2,
            1.8,
        ),
        ("first pending, the slowest", first_pending, 24.8, 0.2),
    ] {
        let differs = (value - elsewhere).abs();
        assert!(
            differs <= tolerance,
            "{label}: {value}, elsewhere {elsewhere} ± {tolerance}"
        );
    }
}

/// Every key of a JSON value, with the kind of what stands there.
fn keys(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                keys(&format!("{path}.{key}"), inner, found);
            }
        }
        Value::Array(inner) => {
            // Every entry has the same keys as the first.
            let mut each = inner.iter().map(|one| {
                let mut found = Vec::new();
                keys(&format!("{path}[]"), one, &mut found);
                found
            });
            let first = each.next().unwrap_or_default();
            assert!(each.all(|other| other == first), "{path}");
            found.extend(first);
        }
        Value::Number(_) => found.push(format!("{path}: number")),
        Value::String(_) => found.push(format!("{path}: string")),
        _ => found.push(format!("{path}: {value}")),
    }
}

#[test]
fn the_json_has_these_keys() {
    let report = measure(&Options {
        thoughts: 40,
        ..Options::default()
    })
    .unwrap();
    let json = report.json();
    assert_eq!(json.lines().count(), 1);
    let value: Value = serde_json::from_str(&json).unwrap();
    let algorithms: Vec<&str> = value["single"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["algorithm"].as_str().unwrap())
        .collect();
    let right = [
        "recado",
        "delayed jobs",
        "fixed 5 s",
        "fixed 10 s",
        "fixed 20 s",
    ];
    assert_eq!(algorithms, right);
    let mut found = Vec::new();
    keys("", &value, &mut found);
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn the_help_defines_every_figure() {
    let mut program = Arguments::command();
    let bench = program.find_subcommand_mut("bench").unwrap();
    let turns = bench.find_subcommand_mut("turns").unwrap();
    insta::assert_snapshot!(turns.render_long_help().to_string());
}

#[test]
fn the_picture_is_one_svg_with_every_algorithm_and_nothing_out_of_it() {
    let report = measure(&Options {
        thoughts: 200,
        ..Options::default()
    })
    .unwrap();
    let svg = report.svg();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for figures in &report.single {
        assert!(svg.contains(&format!(">{}</text>", figures.algorithm)));
    }
    assert_eq!(svg.matches("<polyline").count(), 2 * report.single.len());
    // Each bar and each figure above it, three charts of two paces.
    let bars = svg.matches("<rect").count() - 1 - report.single.len();
    assert_eq!(bars, 3 * 2 * report.single.len());
    for (name, most) in [("x", 960.0), ("y", 640.0)] {
        let attribute = format!(" {name}=\"");
        let places = svg.split(&attribute).skip(1);
        for place in places.map(|rest| rest.split('"').next().unwrap()) {
            let place: f64 = place.parse().unwrap();
            assert!((0.0..=most).contains(&place), "{name} {place}");
        }
    }
}
