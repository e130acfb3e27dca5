//! Writes that wait for the person's yes: shown first, made after it, once.

use std::time::Duration;

use recado::domain::{ReplyKind, Step, ToolResult};
use recado::error::ModelErrorClass;
use recado::flow::pause;
use recado::policy::confirm::PREVIEW;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_tools::{ADD, BOOK, ToolBehaviour};
use recado_tests::fake_world::{FakeWorld, agent};

use crate::ANA;

const SECOND: Duration = Duration::from_secs(1);
const SUNDAY: &str = r#"{"what":"domingo"}"#;
const MONDAY: &str = r#"{"what":"segunda"}"#;

fn world() -> FakeWorld {
    let world = FakeWorld::start();
    world.tools.declare_waiting();
    world
}

/// The model asks for this call once more, whatever is said.
fn asks(world: &FakeWorld, arguments: &'static str) {
    let calls = vec![(BOOK, arguments)];
    world.model.then(Behaviour::Call(SECOND, calls));
}

/// Says something, with the model asking for this call; what it was told of it.
async fn say(world: &FakeWorld, text: &str, arguments: &'static str) -> ToolResult {
    asks(world, arguments);
    world.say(ANA, text).await;
    world.pass_s(30).await;
    let prompts = world.model.prompts();
    let rounds = &prompts.last().unwrap().rounds;
    let pair = rounds.last().and_then(|round| round.calls.last());
    pair.unwrap().result.clone()
}

fn is_preview(result: &ToolResult) -> bool {
    matches!(result, ToolResult::Ok(text) if text.starts_with(PREVIEW) && text.contains("domingo"))
}

fn done() -> ToolResult {
    ToolResult::Ok(format!("{BOOK} ok"))
}

#[tokio::test(start_paused = true)]
async fn the_call_is_made_after_the_yes_to_the_very_same() {
    let world = world();
    assert!(is_preview(&say(&world, "marca domingo", SUNDAY).await));
    assert!(world.tools.tries().is_empty());
    assert!(say(&world, "sim, pode marcar", SUNDAY).await == done());
    assert_eq!(world.tools.effects(), [format!("{BOOK} {SUNDAY}")]);
    let again = say(&world, "sim", SUNDAY).await;
    assert!(is_preview(&again), "one yes is for one call");
    assert_eq!(world.tools.effects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn whatever_the_model_wants_only_the_persons_yes_counts() {
    let world = world();
    let both = vec![(BOOK, SUNDAY), (BOOK, SUNDAY)];
    world.model.then(Behaviour::Call(SECOND, both));
    assert!(is_preview(&say(&world, "sim, marca domingo", SUNDAY).await));
    for said in ["quanto custa?", "sim", "não", "sim, mas segunda"] {
        let told = say(&world, "e aí, tem vaga", SUNDAY).await;
        assert!(is_preview(&told), "shown anew");
        let told = say(&world, said, if said == "sim" { MONDAY } else { SUNDAY }).await;
        assert!(told != done(), "{said}");
    }
    assert!(world.tools.tries().is_empty());
}

/// Nothing was written, so nothing is sealed: a newer message still joins the turn.
#[tokio::test(start_paused = true)]
async fn a_preview_seals_nothing() {
    let world = world();
    asks(&world, SUNDAY);
    world.model.then(Behaviour::Answer(6 * SECOND));
    asks(&world, SUNDAY);
    world.say(ANA, "marca domingo").await;
    world.pass_s(8).await;
    world.say(ANA, "de manhã").await;
    world.pass_s(40).await;
    assert_eq!(world.messenger.texts(), ["ouvi: marca domingo / de manhã"]);
    let dropped = |step: &Step| matches!(step, Step::Superseded { .. });
    assert_eq!(world.trace.count(dropped), 1);
    assert!(world.tools.tries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_preview_beside_a_write_is_found_by_the_run_after_a_death() {
    let world = world();
    let both = vec![(ADD, MONDAY), (BOOK, SUNDAY)];
    world.model.then(Behaviour::Call(SECOND, both));
    world.model.then(Behaviour::Answer(20 * SECOND));
    world.say(ANA, "põe pão e marca domingo").await;
    world.pass_s(9).await;
    world.kill().await;
    world.restart().await;
    world.pass_s(60).await;
    assert_eq!(world.messenger.texts().len(), 1);
    assert!(say(&world, "pode", SUNDAY).await == done());
    assert_eq!(world.tools.effects().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn after_the_yes_a_death_makes_it_no_second_time() {
    let world = world();
    say(&world, "marca domingo", SUNDAY).await;
    asks(&world, SUNDAY);
    world.tools.then(ToolBehaviour::ActSilently(10 * SECOND));
    world.say(ANA, "sim").await;
    world.pass_s(8).await;
    assert_eq!(world.tools.effects().len(), 1);
    world.kill().await;
    world.restart().await;
    world.pass_s(60).await;
    assert_eq!(
        (world.tools.tries().len(), world.tools.effects().len()),
        (1, 1)
    );
    assert_eq!(world.messenger.texts().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_arrived_asked_nothing() {
    let world = world();
    let refused = SendBehaviour::Refuse("131026", recado::error::Verdict::GiveUp);
    world.messenger.then(refused);
    say(&world, "marca domingo", SUNDAY).await;
    assert!(world.messenger.texts().is_empty());
    assert!(is_preview(&say(&world, "sim", SUNDAY).await));
    assert!(say(&world, "sim", SUNDAY).await == done());
}

/// A yes that met a broken model still is one.
#[tokio::test(start_paused = true)]
async fn an_apology_between_takes_no_yes_away() {
    let world = world();
    say(&world, "marca domingo", SUNDAY).await;
    let no_money = Behaviour::Fail(SECOND, ModelErrorClass::Quota);
    world.model.then(no_money);
    world.say(ANA, "sim").await;
    world.pass_s(400).await;
    let apologies = |step: &Step| {
        matches!(
            step,
            Step::Committed {
                kind: ReplyKind::Apology,
                ..
            }
        )
    };
    assert_eq!(world.trace.count(apologies), 1);
    assert!(say(&world, "ok, pode", SUNDAY).await == done());
    assert_eq!(world.tools.effects().len(), 1);
}

/// The last exchange is what a compaction leaves as it is.
#[tokio::test(start_paused = true)]
async fn a_compaction_between_takes_no_yes_away() {
    let world = FakeWorld::start_with(agent(|agent| {
        (agent.compaction.trigger, agent.compaction.keep) = (6, 2);
    }));
    world.tools.declare_waiting();
    for said in ["oi", "tem vaga", "legal"] {
        world.say(ANA, said).await;
        world.pass_s(30).await;
    }
    say(&world, "marca domingo", SUNDAY).await;
    world.pass_s(120).await;
    assert!(
        world
            .trace
            .count(|step| matches!(step, Step::Compacted { .. }))
            > 0
    );
    assert!(say(&world, "sim", SUNDAY).await == done());
}

/// What they said to the human agrees to nothing of the agent's, and neither does their thank you after it.
#[tokio::test(start_paused = true)]
async fn a_human_between_takes_the_question_away() {
    let world = world();
    say(&world, "marca domingo", SUNDAY).await;
    let of = world.conversation(ANA);
    let until = world.world.now().plus(600 * SECOND);
    assert!(pause::set(&world.world, &of, Some(until)).await.unwrap());
    world.say(ANA, "não, deixa").await;
    world.pass_s(30).await;
    assert!(pause::set(&world.world, &of, None).await.unwrap());
    assert!(is_preview(&say(&world, "ok", SUNDAY).await));
    assert!(world.tools.tries().is_empty());
    assert!(say(&world, "sim", SUNDAY).await == done());
}

/// Who may not have seen the question may have said yes to another one.
#[tokio::test(start_paused = true)]
async fn an_answer_of_unknown_fate_asked_nothing() {
    let world = world();
    world.messenger.can_be_asked(false);
    world.messenger.then(SendBehaviour::LoseSilently);
    say(&world, "marca domingo", SUNDAY).await;
    assert!(
        world
            .trace
            .count(|step| matches!(step, Step::SendUnknown { .. }))
            > 0
    );
    assert!(is_preview(&say(&world, "sim", SUNDAY).await));
    assert!(world.tools.tries().is_empty());
}

/// The write before it seals the batch, which a newer message cannot join; a no in it counts all the same.
#[tokio::test(start_paused = true)]
async fn a_no_behind_a_sealed_yes_is_heard() {
    let world = world();
    say(&world, "marca domingo", SUNDAY).await;
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(ADD, MONDAY)]));
    world
        .model
        .then(Behaviour::Call(10 * SECOND, vec![(BOOK, SUNDAY)]));
    world.say(ANA, "sim").await;
    world.pass_s(9).await;
    world.say(ANA, "não, espera").await;
    world.pass_s(60).await;
    assert_eq!(world.tools.effects(), [format!("{ADD} {MONDAY}")]);
    assert_eq!(world.messenger.texts().len(), 3);
}
