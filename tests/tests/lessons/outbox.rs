//! From the commit to the person: sent once, in order, and not to who opted out.

use std::sync::Arc;
use std::time::Duration;

use recado::domain::reply::Settlement;
use recado::domain::{ReplyStatus, RunId};
use recado::error::Verdict;
use recado::flow::process::{self, Outcome, Visit};
use recado::ports::{Store as _, Written};
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_world::FakeWorld;
use recado_tests::gate::Gate;

use crate::{ANA, answers, opt_out};

fn status(world: &FakeWorld) -> ReplyStatus {
    let table = world.store.look();
    let replies = &table.people[&world.conversation(ANA)].replies;
    replies.values().next().unwrap().reply.status
}

/// V11.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_comes_again_takes_nothing_from_the_next_sender() {
    let world = FakeWorld::start();
    world.messenger.then(SendBehaviour::Refuse(
        "130429",
        Verdict::RetryAfter(Duration::from_secs(50)),
    ));
    world.say(ANA, "oi").await;
    world.pass_s(10).await;
    let ana = world.conversation(ANA);
    let reply = world.store.peek(&ana, 1).await.unwrap().outbox.remove(0);
    let now = world.world.now();
    let refused = Settlement::Ready {
        refused_since: None,
    };
    let given_back = async |by| {
        let back = world.store.settle(&ana, reply.id, Some(by), &refused, now);
        back.await.unwrap()
    };
    let [first, second] = [1, 2].map(|n| RunId::from_parts(now.ms(), n));
    for sender in [first, second] {
        assert_eq!(
            world
                .store
                .mark_sending(&ana, &reply, sender, now)
                .await
                .unwrap(),
            Written::Done
        );
        if sender == first {
            assert_eq!(given_back(first).await, Written::Done);
        }
    }
    assert_eq!(given_back(first).await, Written::Lost);
    assert_eq!(status(&world), ReplyStatus::Sending);
}

/// V13.
#[tokio::test(start_paused = true)]
async fn a_tick_that_finds_someone_sending_does_not_go_away() {
    let gate = Gate::new();
    let world = Arc::new(FakeWorld::start_gated(Arc::clone(&gate)));
    world.say(ANA, "oi").await;
    gate.close("settle");
    gate.reached().await;
    let visit = Visit {
        conversation: world.conversation(ANA),
        receipt: None,
        deadline: world.world.now().plus(Duration::from_mins(2)),
    };
    let outcome = process::process(&world.world, &visit).await.unwrap();
    assert!(matches!(outcome, Outcome::HoldUntil(..)), "{outcome:?}");
    // The sender dies; whoever holds its tick finds out what became of the reply.
    world.kill().await;
    world.restart().await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(status(&world), ReplyStatus::Sent);
}

/// E.
#[tokio::test(start_paused = true)]
async fn an_opt_out_between_commit_and_send_withholds_the_reply() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    gate.close("mark_sending");
    gate.reached().await;
    opt_out(&world).await;
    gate.open();
    world.pass_s(600).await;
    assert_eq!(answers(&world).len(), 0);
    assert_eq!(status(&world), ReplyStatus::Failed);
}

/// G.
#[tokio::test(start_paused = true)]
async fn a_reply_of_unknown_outcome_is_not_sent_after_a_later_one() {
    let world = FakeWorld::start();
    world.messenger.then(SendBehaviour::LoseSilently);
    world.messenger.can_be_asked(false);
    world.say(ANA, "um").await;
    world.pass_s(30).await;
    world.say(ANA, "dois").await;
    world.pass_s(30).await;
    let ana = world.conversation(ANA);
    let first = world.store.look().people[&ana]
        .replies
        .values()
        .next()
        .unwrap()
        .reply
        .clone();
    assert_eq!(first.status, ReplyStatus::Unknown);
    let now = world.world.now();
    let back = world.store.settle(
        &ana,
        first.id,
        first.token,
        &Settlement::Ready {
            refused_since: None,
        },
        now,
    );
    assert_eq!(back.await.unwrap(), Written::Lost);
    assert_eq!(answers(&world), ["ouvi: dois"]);
}

/// A send is not begun by an invocation that has no time for it: cut off, it would leave an unknown outcome.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_in_the_last_seconds_of_an_invocation() {
    let gate = Gate::new();
    let world = FakeWorld::start_gated(Arc::clone(&gate));
    world.say(ANA, "oi").await;
    gate.close("mark_sending");
    gate.reached().await;
    world.kill().await;
    let ana = world.conversation(ANA);
    world.store.touch(|table| {
        table
            .people
            .get_mut(&ana)
            .unwrap()
            .state
            .as_mut()
            .unwrap()
            .lease = None;
    });
    let visit = Visit {
        conversation: ana,
        receipt: None,
        deadline: world.world.now().plus(Duration::from_secs(1)),
    };
    let outcome = process::process(&world.world, &visit).await.unwrap();
    assert!(matches!(outcome, Outcome::HoldUntil(..)), "{outcome:?}");
    assert_eq!(status(&world), ReplyStatus::Ready);
}
