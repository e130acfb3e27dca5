//! A reply between its commit and the person: what surely did not leave goes out later, whatever kept it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use recado::domain::{ReplyStatus, Step};
use recado::error::Verdict;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_store::{Fault, Faults};
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, answers, sent_after_ms};

/// Strikes the first requests of one kind, in this order.
struct Strikes {
    operation: &'static str,
    faults: Mutex<VecDeque<Fault>>,
}

#[async_trait]
impl Faults for Strikes {
    async fn before(&self, operation: &'static str) -> Fault {
        if operation != self.operation {
            return Fault::None;
        }
        let next = self.faults.lock().unwrap().pop_front();
        next.unwrap_or(Fault::None)
    }
}

/// A world whose provider cannot be asked afterwards what it got, as WhatsApp's cannot.
fn struck(operation: &'static str, faults: &[Fault]) -> FakeWorld {
    let strikes = Strikes {
        operation,
        faults: Mutex::new(faults.iter().copied().collect()),
    };
    let world = FakeWorld::start_with_faults(agent(|_| {}), Arc::new(strikes));
    world.messenger.can_be_asked(false);
    world
}

fn unknown(world: &FakeWorld) -> usize {
    world
        .trace
        .count(|step| matches!(step, Step::SendUnknown { .. }))
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_waited_for_an_operator_or_a_network_outlives_a_passing_refusal() {
    for (label, waits) in [
        ("a token", SendBehaviour::Refuse("190", Verdict::Mend)),
        ("a network", SendBehaviour::Unreachable),
    ] {
        let world = FakeWorld::start();
        // Longer than passing refusals are borne.
        for _ in 0..20 {
            world.messenger.then(waits.clone());
        }
        for _ in 0..3 {
            let busy = SendBehaviour::Refuse("130429", Verdict::Retry);
            world.messenger.then(busy);
        }
        world.say(ANA, "oi").await;
        world.pass_s(3_600).await;
        assert_eq!(answers(&world), ["ouvi: oi"], "{label}");
        assert!(sent_after_ms(&world, 0) > 300_000, "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_that_do_not_pass_are_given_up_after_minutes_wherever_they_begin() {
    for waited in [0, 14] {
        let world = FakeWorld::start();
        for _ in 0..waited {
            let token = SendBehaviour::Refuse("190", Verdict::Mend);
            world.messenger.then(token);
        }
        for _ in 0..200 {
            let busy = SendBehaviour::Refuse("130429", Verdict::Retry);
            world.messenger.then(busy);
        }
        world.say(ANA, "oi").await;
        world.pass_s(3_600).await;
        let refused = |again: bool| {
            world.trace.count(
                |step| matches!(step, Step::SendRefused { again: told, .. } if *told == again),
            )
        };
        assert_eq!(refused(false), 1, "{waited}: given up once");
        assert!(
            (waited + 5..waited + 30).contains(&refused(true)),
            "{waited}: {} tries",
            refused(true)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_right_to_send_whose_answer_is_lost_is_given_back_and_the_reply_goes_out() {
    for faults in [
        vec![Fault::FailAfter],
        vec![Fault::FailBefore],
        vec![Fault::FailAfter, Fault::FailAfter],
    ] {
        let world = struck("mark_sending", &faults);
        world.say(ANA, "oi").await;
        world.pass_s(300).await;
        assert_eq!(answers(&world), ["ouvi: oi"], "{faults:?}");
        assert_eq!(unknown(&world), 0, "{faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_became_of_a_send_is_told_again_where_the_table_does_not_take_it() {
    let busy = SendBehaviour::Refuse("130429", Verdict::Retry);
    let refused = SendBehaviour::Refuse("131047", Verdict::GiveUp);
    let right_to = [
        ("accepted", SendBehaviour::Accept, ReplyStatus::Sent),
        ("refused for now", busy, ReplyStatus::Sent),
        ("refused for good", refused, ReplyStatus::Failed),
    ];
    for (label, behaviour, right) in right_to {
        for fault in [Fault::FailBefore, Fault::FailAfter] {
            let world = struck("settle", &[fault; 3]);
            world.messenger.then(behaviour.clone());
            world.say(ANA, "oi").await;
            world.pass_s(300).await;
            let conversation = world.conversation(ANA);
            let status = world.store.touch(|table| {
                let replies = &table.people[&conversation].replies;
                replies.values().next().unwrap().reply.status
            });
            assert_eq!(status, right, "{label}, {fault:?}");
            assert_eq!(unknown(&world), 0, "{label}, {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_never_reached_the_person_is_not_told_to_the_model_as_said() {
    let world = FakeWorld::start();
    let refused = SendBehaviour::Refuse("131047", Verdict::GiveUp);
    world.messenger.then(refused);
    world.say(ANA, "qual o preço?").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world).len(), 0);
    world.say(ANA, "alô?").await;
    world.pass_s(60).await;
    let prompt = world.model.prompts().pop().unwrap();
    assert_eq!(prompt.history, []);
    assert_eq!(prompt.last, ["qual o preço?", "alô?"]);
}
