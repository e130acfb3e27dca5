//! Compaction, and the sweeper.

use std::time::Duration;

use futures_util::FutureExt;
use recado::domain::{
    Address, BusinessNumber, Content, Event, MessageId, Phone, Reply, ReplyId, ReplyKind,
    ReplyStatus, Timestamp,
};
use recado::ports::Ticks as _;
use recado_tests::fake_clock::FIRST_DAY;
use recado_tests::fake_store::{Health, StoredEvent, StoredReply};
use recado_tests::fake_world::NUMBER;

use crate::bench::{ANA, Bench};
use crate::steps::Kind;
use crate::truths::said;
use crate::{Story, matrix};

/// With the turn that follows: 130 messages, so that 90 go, then 20.
const OLD_TURNS: u64 = 64;

/// Turns of last month.
fn remember(bench: &Bench) {
    let ana = bench.ana();
    bench.fakes.store.touch(|table| {
        let person = table.people.get_mut(&ana).unwrap();
        for n in 0..OLD_TURNS {
            let at = FIRST_DAY.minus(Duration::from_hours(1_000 - n));
            let id = ReplyId::from_parts(at.ms(), 1);
            let event = old_message(n, at);
            let stored = StoredEvent {
                answered_by: Some(id.to_string()),
                turn: Some((id, 0)),
                health: Health::Fine,
                event: Some(event.clone()),
            };
            person.events.insert(event.id.clone(), stored);
            person.replies.insert(id, old_reply(id, &event));
        }
    });
}

fn old_message(n: u64, at: Timestamp) -> Event {
    Event {
        id: MessageId::parse(format!("wamid.old{n}")).unwrap(),
        reply_to: Address::Phone(Phone::parse(ANA).unwrap()),
        number: BusinessNumber::parse(NUMBER).unwrap(),
        sent_at: at,
        arrived_at: at,
        content: Content::Text(format!("pergunta {n}")),
        closed: None,
    }
}

fn old_reply(id: ReplyId, event: &Event) -> StoredReply {
    StoredReply {
        reply: Reply {
            id,
            kind: ReplyKind::Answer,
            text: "resposta".to_owned(),
            number: event.number.clone(),
            to: event.reply_to.clone(),
            status: ReplyStatus::Sent,
            token: None,
            refusals: 0,
            refused_since: None,
            committed_at: event.sent_at,
            cost: None,
        },
        epoch: 0,
        given_back_by: None,
        since: event.sent_at,
        provider_id: None,
        failure: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_compaction_in_two_folds() {
    matrix(&Story {
        name: "compaction in two folds",
        steps: "peek load converse fold peek load converse fold peek load book",
        tell: |bench| {
            async {
                bench.say("wamid.1", "oi").await;
                bench.pass_ms(60_000).await;
                remember(bench);
                bench.watch(Kind::Compaction);
                let asked = bench.fakes.ticks.compact(&bench.ana()).await;
                asked.unwrap();
                bench.pass_ms(10 * 60_000).await;
                // What failed changed nothing, and a later turn asks again.
                bench.steps.watch(None);
                let asked = bench.fakes.ticks.compact(&bench.ana()).await;
                asked.unwrap();
                bench.pass_ms(10 * 60_000).await;
                bench.say("wamid.2", "tchau").await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi", "ouvi: tchau"]);
            let person = &bench.table().people[&bench.ana()];
            let summary = person.summary.as_ref().expect("a summary");
            assert_eq!(summary.version, 2, "{cell}: folds");
            let left = person.events.values();
            let left = left.filter(|stored| stored.event.is_some()).count();
            assert_eq!(left, person.replies.len(), "{cell}: whole turns");
            assert!((10..=11).contains(&left), "{cell}: {left} turns left");
            let all = usize::try_from(OLD_TURNS).unwrap() + 2;
            assert_eq!(person.events.len(), all, "{cell}: ids are kept");
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_sweep_that_finds_a_message_without_a_tick() {
    matrix(&Story {
        name: "sweep of a lost tick",
        steps: "unrest peek tick",
        tell: |bench| {
            async {
                bench.say("wamid.1", "oi").await;
                bench.fakes.ticks.start_again();
                bench.pass_ms(55_000).await;
                bench.watch(Kind::Sweep);
                bench.sweep().await;
                bench.steps.watch(None);
            }
            .boxed()
        },
        truth: |bench, cell| said(bench, cell, &["ouvi: oi"]),
    })
    .await;
}
