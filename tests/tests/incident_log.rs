//! What the operator reads while a model cannot be had. A process of its own: a log statement first met by another
//! test's thread, which has no log, may stay silent for all.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::log_journal::LogJournal;
use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::{FakeWorld, agent};
use recado_tests::kept_log::KeptLog;
use tracing::Level;

const ANA: &str = "5511900000001";
const OUT: &str = "a model is left out: its fallback answers until it is back";
const BACK: &str = "a model that was left out is back";

/// Fourteen minutes, of which the main model has no money for nine.
async fn nine_minutes_without_money(warnings_only: bool) -> String {
    let (log, _guard) = KeptLog::start(Level::INFO);
    let mut fakes = FakeWorld::start_with(agent(|agent| {
        "main".clone_into(&mut agent.model.main);
        agent.model.fallback = Some("spare".to_owned());
    }));
    fakes.kill().await;
    let hasher = Arc::clone(&fakes.world.hasher);
    fakes.world.journal = Arc::new(if warnings_only {
        LogJournal::of_warnings(hasher)
    } else {
        LogJournal::new(hasher)
    });
    fakes.start_workers();
    let failing = Behaviour::Fail(Duration::from_millis(100), ModelErrorClass::Quota);
    fakes.model.does("main", failing);
    for turn in 0..12 {
        if turn == 8 {
            fakes.model.does("main", None);
        }
        fakes.say(ANA, "segredo").await;
        fakes.pass(Duration::from_secs(70)).await;
    }
    log.text()
}

#[tokio::test(start_paused = true)]
async fn an_incident_is_one_line_with_model_class_and_since_when_and_its_end_is_another() {
    let log = nine_minutes_without_money(false).await;
    let lines = |of: &str| -> Vec<String> {
        let lines = log.lines().filter(|line| line.contains(of));
        lines.map(str::to_owned).collect()
    };
    let ([out], [back]) = (&lines(OUT)[..], &lines(BACK)[..]) else {
        panic!("one line each: {log}");
    };
    assert!(
        out.contains("ERROR") && back.contains("INFO"),
        "{out}\n{back}"
    );
    let since = |line: &str| {
        let (_, rest) = line.split_once("since_ms=").unwrap();
        rest.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(since(out), since(back), "the same incident");
    for word in ["model=\"main\"", "class=\"quota\""] {
        assert!(out.contains(word), "{out}");
    }
    // Each answer says which model it is of, and why.
    for (why, times) in [
        ("why=\"fallback\" after=\"quota\"", 2),
        ("why=\"breaker_open\" after=\"quota\"", 8),
        ("why=\"probe\"", 1),
        ("why=\"first\"", 1),
    ] {
        assert_eq!(lines(why).len(), times, "{why}: {log}");
    }
    for personal in [ANA, "segredo", "wamid"] {
        assert!(!log.contains(personal), "the log shows {personal}: {log}");
    }
    // A local run, whose story is told elsewhere, shows the incident all the same.
    let log = nine_minutes_without_money(true).await;
    assert_eq!(
        (log.matches(OUT).count(), log.matches(BACK).count()),
        (1, 0)
    );
}
