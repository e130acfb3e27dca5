//! Nothing leaves the prompt before it has become summary and facts.

use std::time::Duration;

use recado::domain::{Step, Turn};
use recado::error::ModelErrorClass;
use recado::ports::Store as _;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::ANA;

const MAIN: &str = "main";
const SPARE: &str = "spare";

/// Says each of `turns` (so many messages of so many characters each) and, before each, notes what is not compacted yet:
/// all of it has to be in the turn's prompt. Yields the number of compactions.
async fn talk(label: &str, turns: &[(usize, usize)]) -> usize {
    let world = FakeWorld::start();
    world.model.compacts_to(
        r#"{"summary":"Ana quer marcar um corte.",
            "facts":[{"op":"add","id":null,"text":"Chama-se Ana","source_ids":["m1"]}]}"#,
    );
    world.say(ANA, "[0.0] meu nome é Ana").await;
    world.pass_s(60).await;
    let mut compacted = 0;
    for (turn, (messages, characters)) in (1..).zip(turns) {
        let memory = world.store.load(&world.conversation(ANA)).await.unwrap();
        let live: Vec<String> = memory
            .exchanges
            .iter()
            .flat_map(|exchange| &exchange.messages)
            .map(|message| mark(&message.text).to_owned())
            .collect();
        for n in 0..*messages {
            let text = format!("[{turn}.{n}] {}", "ab ".repeat(characters / 3));
            world.say(ANA, &text).await;
        }
        world.pass_s(60).await;
        let prompt = world
            .model
            .prompts()
            .into_iter()
            .rfind(|prompt| !prompt.history.is_empty() || prompt.memory.is_some());
        let prompt = prompt.expect("an answer after the first");
        let shown: Vec<&str> = prompt
            .history
            .iter()
            .filter_map(|turn| match turn {
                Turn::User(blocks) => Some(blocks),
                _ => None,
            })
            .flatten()
            .map(|text| mark(text))
            .collect();
        // A turn that fills the prompt by itself is the one thing that pushes another out of sight before its time.
        let is_huge = messages * characters > 4_000;
        for one in live.iter().filter(|_| !is_huge) {
            assert!(
                shown.contains(&one.as_str()),
                "{label}: turn {turn} lacks {one}"
            );
        }
        if !live.contains(&"[0.0]".to_owned()) {
            let memory = prompt.memory.unwrap_or_default();
            assert!(
                memory.contains("Ana"),
                "{label}: turn {turn} forgot the name"
            );
            compacted += 1;
        }
    }
    assert_eq!(
        compacted > 0,
        !world.model.compactions().is_empty(),
        "{label}"
    );
    world.model.compactions().len()
}

/// The text's own mark, which stands first in it.
fn mark(text: &str) -> &str {
    text.split_inclusive(']').next().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn what_the_prompt_cannot_hold_for_long_is_compacted_before_it_is_left_out() {
    for (label, turns, least) in [
        (
            "long texts",
            vec![(4, 700), (4, 700), (4, 700), (4, 700), (1, 20)],
            1,
        ),
        (
            "very long texts",
            vec![(6, 1_000), (6, 1_000), (6, 1_000), (1, 20)],
            1,
        ),
        ("a burst of seventy", vec![(70, 12), (1, 20), (1, 20)], 1),
        ("a burst of forty-five", vec![(45, 12), (1, 20), (1, 20)], 1),
        ("few and short", vec![(1, 20); 15], 0),
        ("many and short", vec![(1, 20); 45], 2),
        ("one page a turn", vec![(1, 2_500); 12], 2),
    ] {
        let compactions = talk(label, &turns).await;
        assert!(compactions >= least, "{label}: {compactions} compactions");
    }
}

/// Turns until `turns` of them were answered, and the caps of the compactions that were asked for meanwhile.
async fn caps_of_compactions(behaviour: Behaviour, turns: usize) -> Vec<u32> {
    let world = FakeWorld::start();
    world.model.does_when_compacting(behaviour);
    for turn in 0..turns {
        world.say(ANA, &format!("mensagem {turn}")).await;
        world.pass_s(60).await;
    }
    let compactions = world.model.compactions();
    compactions
        .iter()
        .map(|prompt| prompt.output_tokens_max)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_compaction_cut_at_its_cap_is_asked_for_once_more_with_twice_the_cap() {
    let half = r#"{"summary":"A pessoa conv"#.to_owned();
    for behaviour in [
        Behaviour::Break(Duration::from_millis(500), half),
        Behaviour::Fail(Duration::from_millis(500), ModelErrorClass::Cut),
    ] {
        let caps = caps_of_compactions(behaviour, 20).await;
        assert_eq!(caps.len(), 2);
        assert_eq!(caps[1], 2 * caps[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_is_refused_again_and_again_does_not_cost_a_call_each_turn() {
    for behaviour in [
        Behaviour::Say(Duration::from_millis(500), "não".to_owned()),
        Behaviour::Fail(Duration::from_millis(500), ModelErrorClass::Invalid),
    ] {
        // Due at 20 exchanges, then at 24, 28, 32, 40, 48 and 56.
        assert_eq!(caps_of_compactions(behaviour, 60).await.len(), 7);
    }
}

/// The main model may be away for days: memory goes on being made meanwhile.
#[tokio::test(start_paused = true)]
async fn what_the_main_model_cannot_compact_the_fallback_does() {
    use ModelErrorClass::{Invalid, Quota, Transient};
    for (label, fallback, class, answers, right, folds) in [
        (
            "down",
            Some(SPARE),
            Transient,
            true,
            &[MAIN, MAIN, SPARE][..],
            1,
        ),
        ("quota gone", Some(SPARE), Quota, true, &[MAIN, SPARE], 1),
        ("left out already", Some(SPARE), Quota, false, &[SPARE], 1),
        (
            "not the model's fault",
            Some(SPARE),
            Invalid,
            true,
            &[MAIN],
            0,
        ),
        ("nobody behind it", None, Quota, true, &[MAIN], 0),
    ] {
        let agent = agent(|agent| {
            MAIN.clone_into(&mut agent.model.main);
            agent.model.fallback = fallback.map(str::to_owned);
            (agent.compaction.trigger, agent.compaction.keep) = (6, 2);
        });
        let world = FakeWorld::start_with(agent);
        world.model.cannot_compact(MAIN, class);
        if !answers {
            let gone = Behaviour::Fail(Duration::from_millis(100), class);
            world.model.does(MAIN, gone);
        }
        for n in 0..3 {
            world.say(ANA, &format!("oi {n}")).await;
            world.pass_s(30).await;
        }
        assert_eq!(world.model.compactors(), right, "{label}");
        let compacted = |step: &Step| matches!(step, Step::Compacted { .. });
        assert_eq!(world.trace.count(compacted), folds, "{label}");
    }
}
