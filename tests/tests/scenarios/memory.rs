//! Nothing leaves the prompt before it has become summary and facts.

use recado::domain::Turn;
use recado::ports::Store as _;
use recado_tests::fake_world::FakeWorld;

use crate::ANA;

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
