//! What models did elsewhere (the rows M).

use std::collections::BTreeMap;

use recado::policy::tokens;
use recado::ports::Store as _;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::ANA;

const BIA: &str = "5511900000002";

/// What was learnt in a conversation, by model.
async fn learnt(world: &FakeWorld, phone: &str) -> BTreeMap<String, f64> {
    let conversation = world.conversation(phone);
    let peek = world.store.peek(&conversation, 1).await.unwrap();
    peek.state.unwrap().token_factors
}

/// M8: tokens undercounted for chat. The factor is learnt from the provider's own count, in each conversation and for
/// each model; it stays within its bounds, another model starts anew, and a call without a count teaches nothing.
#[tokio::test(start_paused = true)]
async fn m8_a_token_factor_is_learnt_per_conversation_and_model_and_never_without_a_count() {
    let world = FakeWorld::start_with(agent(|agent| {
        "main".clone_into(&mut agent.model.main);
        agent.model.light = Some("light".to_owned());
    }));
    let turn = async |phone, text, reported| {
        world.model.reports(reported);
        world.say(phone, text).await;
        world.pass_s(60).await;
    };
    turn(ANA, "obg!", 0).await;
    assert!(
        learnt(&world, ANA).await.is_empty(),
        "no count, nothing learnt"
    );

    turn(ANA, "obg!", 100_000).await;
    let once = learnt(&world, ANA).await;
    assert_eq!(once.keys().collect::<Vec<_>>(), ["light"]);
    let prompt = world.model.prompts().pop().unwrap();
    let right = tokens::learn(1.0, 100_000, tokens::prompt(&prompt));
    assert!((once["light"] - right).abs() < 1e-9, "{once:?}");
    assert!((once["light"] - tokens::FACTOR_MAX).abs() < 1e-9, "clamped");

    turn(ANA, "cancela a aula e avisa o professor", 0).await;
    assert_eq!(learnt(&world, ANA).await, once, "no count, nothing changed");
    let prompt = world.model.prompts().pop().unwrap();
    let estimate = u64::from(tokens::prompt(&prompt));
    turn(ANA, "cancela a aula e avisa o professor", estimate / 2).await;
    let both = learnt(&world, ANA).await;
    assert_eq!(
        both["light"].to_bits(),
        once["light"].to_bits(),
        "the other model's stays"
    );
    assert!(
        (0.8..1.0).contains(&both["main"]),
        "it began at 1: {both:?}"
    );

    turn(BIA, "obg!", 0).await;
    assert!(learnt(&world, BIA).await.is_empty(), "another conversation");
}
