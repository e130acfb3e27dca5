//! Turns: what a tick does.

use futures_util::FutureExt;
use recado::domain::ReplyKind;
use recado::error::Verdict;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_store::StoredCall;
use recado_tests::fake_tools::{ADD, BOOK, HOURS};
use recado_tests::fake_world::agent;

use super::SECOND;
use crate::bench::Bench;
use crate::steps::Kind;
use crate::truths::{replies, said};
use crate::{Cell, Story, matrix};

const SUNDAY: &str = r#"{"what":"domingo"}"#;

#[tokio::test(start_paused = true)]
async fn a_plain_turn() {
    matrix(&Story {
        name: "plain turn",
        steps: "peek swap_state hold peek load declared converse peek commit mark_sending send \
                settle release book peek",
        tell: |bench| {
            async {
                bench.watch(Kind::Tick);
                bench.say("wamid.1", "oi").await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            assert_eq!(replies(bench, None), 1, "{cell}");
        },
    })
    .await;
}

async fn with_calls(bench: &Bench, write: &'static str) {
    bench.fakes.tools.declare();
    *bench.crossing.calls.lock().unwrap() = vec![(HOURS, SUNDAY), (write, SUNDAY)];
    bench.say("wamid.1", "abre? marca").await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_with_a_read_and_a_write_that_a_key_makes_one() {
    matrix(&Story {
        name: "turn with a read and an idempotent write",
        steps: "peek swap_state hold peek load declared converse run:hours peek store_calls \
                run:add store_result converse peek commit mark_sending send settle release book peek",
        tell: |bench| {
            bench.watch(Kind::Tick);
            with_calls(bench, ADD).boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: abre? marca"]);
            assert_eq!(bench.fakes.tools.effects().len(), 1, "{cell}");
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_with_a_read_and_a_write_that_no_key_makes_one() {
    matrix(&Story {
        name: "turn with a read and a write",
        steps: "peek swap_state hold peek load declared converse run:hours peek store_calls \
                run:book store_result converse peek commit mark_sending send settle release book peek",
        tell: |bench| {
            bench.watch(Kind::Tick);
            with_calls(bench, BOOK).boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: abre? marca"]);
            let effects = bench.fakes.tools.effects().len();
            assert_eq!(effects, usize::from(!cell.loses_an_effect()), "{cell}");
        },
    })
    .await;
}

/// A human takes over between the write and the answer: nobody answers, and what was done stays known.
#[tokio::test(start_paused = true)]
async fn a_turn_that_a_human_takes_over_after_its_write() {
    matrix(&Story {
        name: "turn closed after its write",
        steps: "peek release book peek calls close peek",
        tell: |bench| {
            async {
                bench.fakes.model.usually(Behaviour::Answer(10 * SECOND));
                with_calls(bench, BOOK).await;
                while bench.fakes.tools.effects().is_empty() {
                    bench.pass_ms(100).await;
                }
                let (ana, now) = (bench.ana(), bench.now());
                bench.fakes.store.touch(|table| {
                    let person = table.people.get_mut(&ana).unwrap();
                    let state = person.state.as_mut().unwrap();
                    state.paused_until = Some(now.plus(3_600 * SECOND));
                    state.version += 1;
                });
                bench.watch(Kind::Tick);
            }
            .boxed()
        },
        truth: |bench, cell| {
            assert_eq!(replies(bench, None), 0, "{cell}");
            assert_eq!(bench.fakes.tools.effects().len(), 1, "{cell}");
            let person = &bench.table().people[&bench.ana()];
            assert!(person.state.as_ref().unwrap().sealed.is_none(), "{cell}");
            let known = |stored: &StoredCall| stored.in_history && stored.call.result.is_some();
            assert!(person.calls.values().all(known), "{cell}");
            assert_eq!(person.calls.len(), 2, "{cell}");
            assert!(
                person.events.values().all(|one| one.turn.is_some()),
                "{cell}"
            );
        },
    })
    .await;
}

/// Both messages answered, in one reply or in order: where the first run died there is nothing left to supersede.
fn both(bench: &Bench, cell: &Cell) {
    let texts = bench.fakes.messenger.texts().join(" / ");
    let heard = texts.replace("ouvi: ", "");
    if cell.loses_a_send() {
        assert!("oi / quero marcar".contains(&heard), "{cell}: {texts}");
    } else {
        assert_eq!(heard, "oi / quero marcar", "{cell}");
    }
    assert!((1..=2).contains(&replies(bench, None)), "{cell}");
}

#[tokio::test(start_paused = true)]
async fn a_superseded_turn() {
    matrix(&Story {
        name: "superseded turn",
        steps: "peek swap_state hold peek load declared converse peek peek release book \
                peek hold peek peek swap_state hold peek load declared converse peek peek peek \
                commit mark_sending send settle release book peek peek",
        tell: |bench| {
            async {
                bench.fakes.model.usually(Behaviour::Answer(3 * SECOND));
                bench.watch(Kind::Tick);
                bench.say("wamid.1", "oi").await;
                bench.pass_ms(6_500).await;
                bench.say("wamid.2", "quero marcar").await;
            }
            .boxed()
        },
        truth: both,
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stop() {
    matrix(&Story {
        name: "STOP",
        steps: "peek swap_state hold peek commit mark_sending send settle release peek",
        tell: |bench| {
            async {
                bench.watch(Kind::Tick);
                bench.say("wamid.1", "parar").await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &[agent(|_| {}).texts.opted_out.as_str()]);
            assert_eq!(replies(bench, Some(ReplyKind::OptOut)), 1, "{cell}");
            let person = &bench.table().people[&bench.ana()];
            assert!(person.state.as_ref().unwrap().opt_out.is_some(), "{cell}");
            assert!(bench.fakes.model.prompts().is_empty(), "{cell}");
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_apology() {
    matrix(&Story {
        name: "apology",
        steps: "peek swap_state hold peek commit mark_sending send settle release peek",
        tell: |bench| {
            async {
                bench.watch(Kind::Tick);
                bench.say("wamid.1", "oi").await;
                let (ana, now) = (bench.ana(), bench.now());
                bench.fakes.store.touch(|table| {
                    let person = table.people.get_mut(&ana).unwrap();
                    let state = person.state.as_mut().unwrap();
                    state.first_attempt_at = Some(now);
                    state.crashes = 3;
                });
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &[agent(|_| {}).texts.apology.as_str()]);
            assert_eq!(replies(bench, Some(ReplyKind::Apology)), 1, "{cell}");
            assert!(bench.fakes.model.prompts().is_empty(), "{cell}");
        },
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_delivery_of_what_was_committed() {
    matrix(&Story {
        name: "delivery of a committed reply",
        steps: "peek swap_state hold mark_sending send settle release peek",
        tell: |bench| {
            async {
                let later = SendBehaviour::Refuse("130429", Verdict::Retry);
                bench.fakes.messenger.then(later);
                bench.say("wamid.1", "oi").await;
                while replies(bench, None) == 0 {
                    bench.pass_ms(100).await;
                }
                bench.pass_ms(500).await;
                bench.watch(Kind::Tick);
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            assert_eq!(bench.fakes.model.prompts().len(), 1, "{cell}");
        },
    })
    .await;
}
