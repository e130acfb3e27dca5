//! What the way in writes to the log. A process of its own: a log statement first met by another test's thread, which
//! has no log, may stay silent for all.

#[expect(
    dead_code,
    reason = "shared with the flow's tests, which use all of it"
)]
#[path = "ingest/world.rs"]
mod world;

use std::sync::atomic::Ordering;

use recado::domain::{BusinessNumber, ProviderEvent};
use recado_tests::fake_store::Fault;
use recado_tests::kept_log::KeptLog;
use tracing::Level;
use world::{ANA, ANA_ID, Here, inbound, text};

const BIA_ID: &str = "BR.1000000000000002";

/// W14.
#[tokio::test]
async fn the_log_tells_of_everything_and_of_nobody() {
    let (log, _guard) = KeptLog::start(Level::TRACE);

    let here = Here::new();
    here.take(vec![
        text("wamid.m1", &[ANA], 0),
        text("wamid.m2", &[BIA_ID], 0),
    ])
    .await;
    here.take(vec![text("wamid.m3", &[ANA, BIA_ID], 1)]).await;
    here.faults.fail("append", Fault::FailBefore);
    here.take(vec![text("wamid.m4", &[ANA], 2)]).await;
    here.queue.refuses.store(true, Ordering::SeqCst);
    here.take(vec![text("wamid.m4", &[ANA], 2)]).await;
    let mut other = inbound("wamid.m5", &[ANA], 0);
    other.number = BusinessNumber::parse("100000000000099").unwrap();
    here.take(vec![ProviderEvent::Message(other)]).await;
    here.clock.set(100);
    here.forget(ANA).await;
    here.take(vec![text("wamid.m6", &[ANA], 3)]).await;

    let log = log.text();
    for told in [
        "two contacts",
        "table: append failed",
        "was not applied",
        "queue: send failed",
        "100000000000099",
        "erased life",
    ] {
        assert!(log.contains(told), "the log does not tell of {told}: {log}");
    }
    for personal in [ANA, ANA_ID, BIA_ID, "wamid", "m4"] {
        assert!(!log.contains(personal), "the log shows {personal}: {log}");
    }
}
