//! STOP, memory, coming back, ids and being forgotten.

use std::time::Duration;

use recado::domain::{Address, Bsuid, Step};
use recado::flow::forget::{self, Forgotten};
use recado::policy::prompt::validate;
use recado::ports::Store as _;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::{FakeWorld, agent};

use crate::{ANA, BIA, answers};

#[tokio::test(start_paused = true)]
async fn a_stop_in_a_burst_is_confirmed_once_and_then_there_is_silence() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    world.pass_s(1).await;
    world.say(ANA, "PARAR!").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.opted_out]);
    assert_eq!(
        world.model.prompts().len(),
        0,
        "a stop never reaches the model"
    );
    world.pass_s(86_400).await;
    world.say(ANA, "voltei, tem horário?").await;
    world.pass_s(30).await;
    assert_eq!(
        answers(&world)[1..],
        ["ouvi: voltei, tem horário?".to_owned()]
    );
    assert_eq!(answers(&world).len(), 2, "writing again lifts it");
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_the_run_withholds_the_answer() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(8)));
    world.say(ANA, "me conta uma história").await;
    world.pass_s(8).await;
    world.say(ANA, "parar").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.opted_out]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_past_the_ceiling_is_heard_before_the_answer_goes_out() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(30)));
    world.say(ANA, "me conta uma história").await;
    world.pass_s(25).await;
    world.say(ANA, "parar").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.opted_out]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_behind_a_flood_is_heard_before_anything_goes_out() {
    for flood in [80, 81, 300] {
        let world = FakeWorld::start();
        for n in 0..flood {
            world.say(ANA, &format!("oi {n:03}")).await;
        }
        world.pass(Duration::from_millis(1_100)).await;
        world.say(ANA, "parar").await;
        world.pass_s(120).await;
        let confirmation = agent(|_| {}).texts.opted_out;
        assert_eq!(answers(&world), [confirmation], "{flood}");
        let peek = world.store.peek(&world.conversation(ANA), 1).await.unwrap();
        assert_eq!(peek.pending, [], "{flood}: the rest is closed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_behind_a_flood_is_heard_while_the_model_works() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(20)));
    for n in 0..200 {
        world.say(ANA, &format!("oi {n:03}")).await;
    }
    world.pass_s(12).await;
    assert_eq!(
        world.model.prompts().len(),
        1,
        "it works on the first batch"
    );
    world.say(ANA, "parar").await;
    world.pass_s(120).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.opted_out]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_waits_to_be_sent_is_withheld_after_a_stop() {
    let world = FakeWorld::start();
    for _ in 0..3 {
        world.messenger.then(SendBehaviour::Unreachable);
    }
    world.say(ANA, "oi").await;
    world.pass(Duration::from_millis(6_500)).await;
    world.say(ANA, "parar").await;
    world.pass_s(120).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.opted_out]);
}

#[tokio::test(start_paused = true)]
async fn a_message_from_before_the_stop_that_comes_late_is_closed() {
    let world = FakeWorld::start();
    let before = world.message(ANA, "wamid.before", "quanto custa?");
    world.pass_s(2).await;
    world.say(ANA, "sair").await;
    world.pass_s(60).await;
    let mut late = before;
    late.arrived_at = world.world.now();
    world.deliver(late).await;
    world.pass_s(60).await;
    assert_eq!(answers(&world).len(), 1, "{:?}", answers(&world));
    assert_eq!(
        world
            .trace
            .count(|step| matches!(step, Step::Closed { .. })),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn forty_five_messages_compact_to_the_newest_twenty_with_one_call() {
    let world = FakeWorld::start();
    world.model.compacts_to(
        r#"{"summary":"Ana Beatriz quer marcar um corte na sexta.",
            "facts":[{"op":"add","id":null,"text":"Chama-se Ana Beatriz","source_ids":["m1"]}]}"#,
    );
    world.say(ANA, "meu nome é Ana Beatriz").await;
    world.pass_s(30).await;
    for n in 1..23 {
        world.say(ANA, &format!("mensagem {n}")).await;
        world.pass_s(30).await;
    }
    let memory = world.store.load(&world.conversation(ANA)).await.unwrap();
    // 23 turns are 46 messages: at 40 the oldest 20 went, then three more turns came.
    assert_eq!(world.model.compactions().len(), 1);
    assert_eq!(memory.items(), 26);
    assert_eq!(memory.facts.len(), 1);
    world.say(ANA, "como eu me chamo?").await;
    world.pass_s(30).await;
    let last = world.model.prompts().pop().unwrap();
    assert!(last.memory.unwrap().contains("Ana Beatriz"));
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_is_not_good_enough_changes_nothing() {
    let world = FakeWorld::start();
    world.model.compacts_to(r#"{"summary":"","facts":[]}"#);
    for n in 0..21 {
        world.say(ANA, &format!("mensagem {n}")).await;
        world.pass_s(30).await;
    }
    let memory = world.store.load(&world.conversation(ANA)).await.unwrap();
    assert_eq!(memory.items(), 42);
    assert!(memory.summary.is_none());
    assert!(!world.model.compactions().is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_after_weeks_is_remembered_and_the_model_knows_how_long_it_was() {
    let world = FakeWorld::start();
    world.say(ANA, "oi, sou a Ana").await;
    world.pass_s(21 * 86_400).await;
    world.say(ANA, "oi de novo").await;
    world.pass_s(30).await;
    let prompt = world.model.prompts().pop().unwrap();
    assert_eq!(prompt.history.len(), 2, "the last exchange is still there");
    let notes = prompt.notes.join(" ");
    assert!(notes.contains("21"), "{notes}");
    assert!(validate(&prompt).is_ok());
}

/// W11.
#[tokio::test(start_paused = true)]
async fn a_person_without_a_phone_is_answered_and_joined_when_one_event_ties_the_two() {
    let world = FakeWorld::start();
    let bsuid = Bsuid::parse("BR.1502576394655843").unwrap();
    let mut first = world.message(ANA, "wamid.1", "oi");
    first.aliases = vec![recado::domain::Alias::Bsuid(bsuid.clone())];
    first.reply_to = Address::Bsuid(bsuid.clone());
    world.deliver(first).await;
    world.pass_s(30).await;
    let mut both = world.message(ANA, "wamid.2", "agora com telefone");
    both.aliases.push(recado::domain::Alias::Bsuid(bsuid));
    world.deliver(both).await;
    world.pass_s(30).await;
    world.say(ANA, "só o telefone").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world).len(), 3);
    let prompt = world.model.prompts().pop().unwrap();
    assert_eq!(prompt.history.len(), 4, "one memory for both ids");
}

#[tokio::test(start_paused = true)]
async fn forget_in_the_middle_of_a_run_leaves_nothing_and_a_late_repeat_brings_nobody_back() {
    let world = FakeWorld::start();
    world.say(ANA, "um segredo").await;
    world.pass_s(30).await;
    let repeat = world.message(ANA, "wamid.repeat", "outro segredo");
    world.deliver(repeat.clone()).await;
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(20)));
    world.pass_s(6).await;
    let forgotten = forget::forget(&world.world, &world.conversation(ANA))
        .await
        .unwrap();
    assert!(matches!(forgotten, Forgotten::Gone { .. }));
    world.deliver(repeat).await;
    world.pass_s(600).await;
    let left = world.store.look().dump();
    assert!(!left.contains("segredo") && !left.contains(ANA), "{left}");
    let before = answers(&world).len();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(1)));
    world.say(ANA, "oi, nova vida").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world).len(), before + 1);
    assert!(world.model.prompts().pop().unwrap().history.is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_is_forgotten_names_the_memory_that_once_came_together_with_theirs() {
    let world = FakeWorld::start();
    let bsuid = recado::domain::Bsuid::parse("BR.1502576394655843").unwrap();
    let mut other = world.message(BIA, "wamid.1", "sem telefone");
    other.aliases = vec![recado::domain::Alias::Bsuid(bsuid.clone())];
    other.reply_to = recado::domain::Address::Bsuid(bsuid.clone());
    world.say(ANA, "oi").await;
    world.deliver(other).await;
    for id in ["wamid.2", "wamid.3"] {
        let mut both = world.message(ANA, id, "com os dois");
        both.aliases
            .push(recado::domain::Alias::Bsuid(bsuid.clone()));
        world.deliver(both).await;
    }
    world.pass_s(60).await;
    let forgotten = forget::forget(&world.world, &world.conversation(ANA)).await;
    let met = vec![recado::domain::ContactId::parse(bsuid.as_str()).unwrap()];
    assert!(
        matches!(forgotten.unwrap(), Forgotten::Gone { met: told, .. } if told == met),
        "each once"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_is_answered_though_its_new_id_is_one_too_many() {
    let world = FakeWorld::start();
    for n in 0..60 {
        let mut many = world.message(ANA, &format!("wamid.{n}"), "oi");
        let bsuid = recado::domain::Bsuid::parse(format!("BR.{n}")).unwrap();
        many.aliases.push(recado::domain::Alias::Bsuid(bsuid));
        let stored = world.deliver(many).await;
        assert_eq!((stored.stored, stored.failed), (1, 0), "{n}");
    }
    world.pass_s(60).await;
    assert_eq!(answers(&world).len(), 1);
    let peek = world.store.peek(&world.conversation(ANA), 1).await.unwrap();
    let most = recado::domain::State::ALIASES_MAX;
    assert_eq!(peek.state.unwrap().aliases.len(), most);
    let forgotten = forget::forget(&world.world, &world.conversation(ANA)).await;
    assert!(matches!(forgotten.unwrap(), Forgotten::Gone { .. }));
}

#[tokio::test(start_paused = true)]
async fn forgetting_nobody_says_so() {
    let world = FakeWorld::start();
    let nobody = forget::forget(&world.world, &world.conversation(BIA))
        .await
        .unwrap();
    assert_eq!(nobody, Forgotten::Nobody);
}
