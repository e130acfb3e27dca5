//! What the operator reads of what was given up, on AWS and in a local run, which shows warnings alone. A process of its
//! own: a log statement first met by another test's thread, which has no log, may stay silent for all.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::log_journal::LogJournal;
use recado::flow::World;
use recado::flow::process::{Outcome, Visit, process};
use recado::flow::sweep::{Broom, sweep};
use recado_processor::{SqsAttributes, SqsEvent, SqsRecord};
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::FakeWorld;
use recado_tests::kept_log::KeptLog;
use tracing::Level;

const ANA: &str = "5511900000001";
const BIA: &str = "5511900000002";

/// Visits Ana's conversation until it is at rest.
async fn visit_until_rest(fakes: &FakeWorld, world: &World) {
    for _ in 0..10 {
        let visit = Visit {
            conversation: fakes.conversation(ANA),
            receipt: None,
            deadline: world.now().plus(Duration::from_mins(2)),
        };
        match process(world, &visit).await.unwrap() {
            Outcome::Done => return,
            Outcome::HoldUntil(until, _) => fakes.pass(until.since(world.now())).await,
        }
    }
    panic!("not at rest");
}

#[tokio::test(start_paused = true)]
async fn what_was_given_up_is_told_once_each_and_of_nobody() {
    let (log, _guard) = KeptLog::start(Level::WARN);

    let fakes = FakeWorld::start();
    fakes.kill().await;
    let world = World {
        journal: Arc::new(LogJournal::of_warnings(Arc::clone(&fakes.world.hasher))),
        ..fakes.world.clone()
    };
    for _ in 0..3 {
        fakes.model.then(Behaviour::Panic);
    }
    fakes.say(ANA, "veneno").await;
    visit_until_rest(&fakes, &world).await;
    fakes.say(BIA, "veneno").await;
    fakes.pass(Duration::from_hours(24)).await;
    let broom = Broom {
        grace: Duration::from_secs(50),
        limit: 10,
    };
    for _ in 0..2 {
        sweep(&world, broom).await.unwrap();
    }
    let record = SqsRecord {
        message_id: "m1".to_owned(),
        receipt_handle: "r1".to_owned(),
        body: format!("{{\"contact\":\"{ANA}\""),
        attributes: SqsAttributes::default(),
    };
    let event = SqsEvent {
        records: vec![record],
    };
    recado_processor::handle(&world, event, world.now()).await;

    let log = log.text();
    for told in [
        "gave up on messages: the person gets the agent's apology",
        "messages are given up without an answer",
        "a message is set aside",
    ] {
        assert_eq!(log.matches(told).count(), 1, "{told}: {log}");
    }
    assert!(log.contains("ERROR"), "{log}");
    for personal in [ANA, BIA, "veneno", "wamid"] {
        assert!(!log.contains(personal), "the log shows {personal}: {log}");
    }
}
