//! Webhooks: messages of people new and known, and a status.

use futures_util::FutureExt;
use recado::domain::{
    BusinessNumber, DeliveryStatus, MessageId, ProviderEvent, ReplyStatus, StatusUpdate,
};
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_world::NUMBER;

use crate::bench::Bench;
use crate::steps::Kind;
use crate::truths::{replies, said};
use crate::{Cell, Story, matrix};

const BSUID: &str = "BR.1234567890";

/// One person, known by so many aliases, all of them in her state.
fn one_person(bench: &Bench, cell: &Cell, aliases: usize) {
    let table = bench.table();
    assert_eq!(table.people.len(), 1, "{cell}");
    assert_eq!(table.aliases.len(), aliases, "{cell}");
    let state = table.people[&bench.ana()].state.as_ref().unwrap();
    assert_eq!(state.aliases.len(), aliases, "{cell}");
}

#[tokio::test(start_paused = true)]
async fn a_message_of_somebody_new() {
    matrix(&Story {
        name: "message of somebody new",
        steps: "resolve create_contact append tick",
        tell: |bench| {
            async {
                bench.watch(Kind::Webhook);
                bench.say("wamid.1", "oi").await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            one_person(bench, cell, 1);
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_message_of_somebody_known() {
    matrix(&Story {
        name: "message of somebody known",
        steps: "resolve append tick",
        tell: |bench| {
            async {
                bench.say("wamid.1", "oi").await;
                bench.pass_ms(60_000).await;
                bench.watch(Kind::Webhook);
                bench.say("wamid.2", "tchau").await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi", "ouvi: tchau"]);
            one_person(bench, cell, 1);
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_names_a_new_alias() {
    matrix(&Story {
        name: "message with a new alias",
        steps: "resolve add_alias append tick",
        tell: |bench| {
            async {
                bench.say("wamid.1", "oi").await;
                bench.pass_ms(60_000).await;
                bench.watch(Kind::Webhook);
                let inbound = bench.message("wamid.2", "tchau");
                bench.webhook(Bench::with_bsuid(inbound, BSUID)).await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi", "ouvi: tchau"]);
            one_person(bench, cell, 2);
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_again() {
    matrix(&Story {
        name: "message that comes again",
        steps: "resolve append tick",
        tell: |bench| {
            async {
                bench.say("wamid.1", "oi").await;
                bench.pass_ms(1_000).await;
                bench.watch(Kind::Webhook);
                bench.say("wamid.1", "oi").await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            assert_eq!(replies(bench, None), 1, "{cell}");
            one_person(bench, cell, 1);
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_status() {
    matrix(&Story {
        name: "status",
        steps: "resolve note_status",
        tell: |bench| {
            async {
                // The answer to the send was lost, and nobody can be asked: the status tells.
                bench.fakes.messenger.can_be_asked(false);
                bench.fakes.messenger.then(SendBehaviour::AcceptSilently);
                bench.say("wamid.1", "oi").await;
                bench.pass_ms(60_000).await;
                let inbound = bench.message("wamid.1", "oi");
                let table = bench.table();
                let person = &table.people[&bench.ana()];
                let (reply, stored) = person.replies.iter().next().unwrap();
                assert_eq!(stored.reply.status, ReplyStatus::Unknown);
                bench.watch(Kind::Webhook);
                let update = StatusUpdate {
                    reply: *reply,
                    aliases: inbound.aliases,
                    number: BusinessNumber::parse(NUMBER).unwrap(),
                    message: MessageId::parse("wamid.fake").unwrap(),
                    status: DeliveryStatus::Sent,
                };
                bench.status(ProviderEvent::Status(update)).await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            let table = bench.table();
            let mut replies = table.people[&bench.ana()].replies.values();
            let all_sent = replies.all(|stored| stored.reply.status == ReplyStatus::Sent);
            assert!(all_sent, "{cell}");
        },
    })
    .await;
}
