//! `recado bench routing`: how well turns are routed, on examples that did not tune the rules.

use recado::domain::routing::Route;
use recado_cli::bench::routing::{LANGUAGES, Part, measure};
use serde_json::Value;

#[test]
fn held_out_and_fresh_examples_go_to_the_right_model() {
    let report = measure();
    println!("{}", report.table());
    for (part, least) in [
        (Part::Tuned, 0.95),
        (Part::HeldOut, 0.95),
        (Part::Fresh, 0.9),
    ] {
        let share = report.overall(part);
        assert!(share.accuracy() >= least, "{}: {share:?}", part.as_str());
        for language in LANGUAGES {
            let share = report.share(part, |judged| judged.example.language == language);
            assert!(
                share.accuracy() >= 0.85,
                "{} {language}: {share:?}",
                part.as_str()
            );
        }
        for route in [Route::Light, Route::Main] {
            let share = report.share(part, |judged| judged.example.route == route);
            assert!(
                share.accuracy() >= 0.8,
                "{} {route}: {share:?}",
                part.as_str()
            );
        }
    }
}

#[test]
fn the_report_shows_the_misses_of_the_tuned_part_alone() {
    let report = measure();
    let table = report.table();
    let json: Value = serde_json::from_str(&report.json()).unwrap();
    let missed = |part| report.of(part).filter(|judged| !judged.is_right()).count();
    assert_eq!(
        json["misses"].as_array().unwrap().len(),
        missed(Part::Tuned)
    );
    for judged in report.of(Part::HeldOut).chain(report.of(Part::Fresh)) {
        let text = judged.example.texts.join(" | ");
        let is_shown = table.lines().any(|line| line.trim() == text);
        assert!(!is_shown, "{text}");
    }
    for (part, key) in [
        (Part::Tuned, "tuned"),
        (Part::HeldOut, "held_out"),
        (Part::Fresh, "fresh"),
    ] {
        let of = &json["parts"][key];
        let share = report.overall(part);
        assert_eq!(of["overall"]["right"], share.right);
        let wrong = of["light_to_main"].as_u64().unwrap() + of["main_to_light"].as_u64().unwrap();
        assert_eq!(usize::try_from(wrong).unwrap(), share.of - share.right);
    }
}
