//! Nothing of anybody is in what a process prints: not when all goes well, not when everything goes wrong.
//!
//! A run writes to standard output and error of a process of its own (the panic hook and the log are its own too),
//! with recognisable words, phones, names, BSUIDs and message ids in everything that reaches it. This reads them.

#[path = "canary/run.rs"]
mod run;
#[path = "canary/troubled_model.rs"]
mod troubled_model;

use std::process::{Command, Stdio};

use recado_tests::canary::leaks;

/// Tells the run which log filter to take.
const FILTER: &str = "RECADO_TEST_FILTER";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the run that the tests below read"]
async fn everything_that_can_go_wrong() {
    run::run(std::env::var(FILTER).ok().as_deref()).await;
}

/// What the run prints with this filter.
fn printed(filter: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "everything_that_can_go_wrong", "--ignored"])
        .arg("--nocapture")
        .env_remove("RUST_BACKTRACE")
        .env_remove(FILTER)
        .stdin(Stdio::null());
    if let Some(filter) = filter {
        command.env(FILTER, filter);
    }
    let output = command.output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let printed = format!("{out}\n{err}");
    assert!(output.status.success(), "{printed}");
    printed
}

fn check(filter: Option<&str>) {
    let printed = printed(filter);
    // The run went where it was meant to go; else there was nothing to find.
    for told in [
        "panic place=",
        "parts of a webhook are left out",
        "an event is not stored",
        "the run is over",
    ] {
        assert!(printed.contains(told), "{told} is not in {printed}");
    }
    let mut found = Vec::new();
    for canary in run::CANARIES {
        let forms = leaks(&printed, canary);
        if !forms.is_empty() {
            found.push(format!("{canary}: {forms:?}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}\n{printed}");
}

#[test]
fn the_log_as_it_is_tells_of_nobody() {
    check(None);
}

#[test]
fn the_log_tells_of_nobody_with_our_crates_at_their_most_talkative() {
    check(Some(
        "warn,recado=trace,recado_cli=trace,recado_ingest=trace,recado_processor=trace,recado_sweeper=trace",
    ));
}

/// W14: also where base64 hides a phone.
#[test]
fn the_log_tells_of_nobody_with_everything_at_its_most_talkative() {
    check(Some("trace"));
}
