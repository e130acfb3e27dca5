//! A turn whose main model cannot be had.

use std::time::Duration;

use futures_util::FutureExt;
use recado::domain::Step;
use recado::error::ModelErrorClass;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_tools::BOOK;

use crate::bench::Bench;
use crate::steps::Kind;
use crate::truths::{replies, said};
use crate::{Cell, Story, matrix_of};

const MAIN: &str = "main";

async fn without_main(bench: &Bench) {
    let fails = Behaviour::Fail(Duration::from_millis(100), ModelErrorClass::Transient);
    bench.fakes.model.does(MAIN, fails);
    bench.watch(Kind::Tick);
    bench.say("wamid.1", "oi").await;
}

/// The operator is told once, whatever dies; where it dies between the breaker and the word, by the breaker alone.
fn told_once(bench: &Bench, cell: &Cell) {
    let openings = bench.fakes.breakers.openings();
    let incident = |step: &Step| matches!(step, Step::ModelIncident { .. });
    let told = bench.fakes.trace.count(incident);
    assert!(openings == 1 && told <= openings, "{cell}: {told}");
    if cell.strikes.is_empty() {
        assert_eq!(told, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_the_fallback_answers() {
    let story = Story {
        name: "turn that the fallback answers",
        steps: "peek swap_state hold peek load declared breaker converse converse swap_breaker \
                converse peek commit mark_sending send settle release book peek",
        tell: |bench| without_main(bench).boxed(),
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            assert_eq!(replies(bench, None), 1, "{cell}");
            told_once(bench, cell);
        },
    };
    matrix_of(&story, |agent| {
        MAIN.clone_into(&mut agent.model.main);
        agent.model.fallback = Some("spare".to_owned());
    })
    .await;
}

/// The first model writes, and is gone: another one, and another run, must not write again.
#[tokio::test(start_paused = true)]
async fn a_write_of_a_model_that_the_fallback_goes_on_from() {
    let story = Story {
        name: "write of a model that the fallback goes on from",
        steps: "peek swap_state hold peek load declared breaker converse peek store_calls run:book \
                store_result converse converse swap_breaker converse peek commit mark_sending send \
                settle release book peek",
        tell: |bench| {
            async {
                bench.fakes.tools.declare();
                *bench.crossing.calls.lock().unwrap() = vec![(BOOK, r#"{"what":"9h"}"#)];
                without_main(bench).await;
            }
            .boxed()
        },
        truth: |bench, cell| {
            said(bench, cell, &["ouvi: oi"]);
            let effects = bench.fakes.tools.effects().len();
            assert_eq!(effects, usize::from(!cell.loses_an_effect()), "{cell}");
        },
    };
    matrix_of(&story, |agent| {
        MAIN.clone_into(&mut agent.model.main);
        agent.model.fallback = Some("spare".to_owned());
    })
    .await;
}
