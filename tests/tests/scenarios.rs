//! What a person sees, told as stories on fakes with a moved clock: nothing here waits.

use std::time::Duration;

use recado::domain::{Address, Bsuid, ReplyKind, Step};
use recado::error::{ModelErrorClass, Verdict};
use recado::flow::forget::{self, Forgotten};
use recado::policy::prompt::validate;
use recado::ports::Store as _;
use recado_tests::fake_messenger::SendBehaviour;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::{FakeWorld, agent};

const ANA: &str = "5511900000001";
const BIA: &str = "5511900000002";

/// Words said since the world began, as one line per reply.
fn answers(world: &FakeWorld) -> Vec<String> {
    world.messenger.texts()
}

/// Milliseconds from the world's first moment to the n-th send.
fn sent_after_ms(world: &FakeWorld, n: usize) -> u128 {
    let sent = world.messenger.delivered()[n].at;
    sent.since(recado_tests::fake_clock::FIRST_DAY).as_millis()
}

#[tokio::test(start_paused = true)]
async fn four_fragments_get_one_answer_a_window_after_the_last() {
    let world = FakeWorld::start();
    for text in ["oi", "queria marcar", "pra sexta", "de manhã se tiver"] {
        world.say(ANA, text).await;
        world.pass(Duration::from_millis(700)).await;
    }
    world.pass_s(30).await;
    assert_eq!(
        answers(&world),
        ["ouvi: oi / queria marcar / pra sexta / de manhã se tiver"]
    );
    // Last fragment at 2.1 s, window 5 s, model 1 s, send 0.1 s.
    assert_eq!(sent_after_ms(&world, 0), 8_200);
    assert_eq!(world.model.prompts().len(), 1);
    assert!(world.trace.count(|step| matches!(step, Step::Held { .. })) > 0);
}

#[tokio::test(start_paused = true)]
async fn a_steady_stream_is_answered_at_the_ceiling() {
    let world = FakeWorld::start();
    for n in 0..12 {
        world.say(ANA, &format!("m{n}")).await;
        world.pass_s(2).await;
    }
    world.pass_s(30).await;
    let answers = answers(&world);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(
        (20_000..22_000).contains(&sent_after_ms(&world, 0)),
        "{}",
        sent_after_ms(&world, 0)
    );
    for n in 0..12 {
        let holding = |answer: &&String| answer.split([' ', '/']).any(|w| w == format!("m{n}"));
        assert_eq!(
            answers.iter().filter(holding).count(),
            1,
            "m{n} is in exactly one answer"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn two_people_at_once_do_not_wait_for_each_other() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(30)));
    world.say(ANA, "oi da ana").await;
    world.say(BIA, "oi da bia").await;
    world.pass_s(40).await;
    assert_eq!(answers(&world).len(), 2);
    assert_eq!(sent_after_ms(&world, 0), sent_after_ms(&world, 1));
}

#[tokio::test(start_paused = true)]
async fn twenty_deliveries_of_one_message_get_one_answer() {
    let world = FakeWorld::start();
    let message = world.message(ANA, "wamid.1", "oi");
    for _ in 0..20 {
        world.deliver(message.clone()).await;
    }
    world.pass_s(30).await;
    for _ in 0..3 {
        world.deliver(message.clone()).await;
        world.pass_s(400).await;
    }
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.model.prompts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_honest_oks_are_two_messages() {
    let world = FakeWorld::start();
    world.say(ANA, "ok").await;
    world.pass_s(1).await;
    world.say(ANA, "ok").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: ok / ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_in_the_order_it_was_sent_not_the_order_it_came() {
    let world = FakeWorld::start();
    let first = world.message(ANA, "wamid.1", "pra sexta");
    world.pass_s(2).await;
    let second = world.message(ANA, "wamid.2", "não, sábado");
    world.deliver(second).await;
    world.pass_s(1).await;
    let mut late = first;
    late.arrived_at = world.world.now();
    world.deliver(late).await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: pra sexta / não, sábado"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_during_the_run_belongs_to_the_same_thought() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(6)));
    world.say(ANA, "quero marcar").await;
    world.pass_s(7).await;
    world.say(ANA, "na verdade desmarcar").await;
    world.pass_s(60).await;
    assert_eq!(
        answers(&world),
        ["ouvi: quero marcar / na verdade desmarcar"]
    );
    assert_eq!(
        world
            .trace
            .count(|step| matches!(step, Step::Superseded { .. })),
        1
    );
    // The call is dropped within a second and the window starts at the new message.
    assert!(sent_after_ms(&world, 0) < 7_000 + 5_000 + 6_000 + 1_200);
}

#[tokio::test(start_paused = true)]
async fn past_the_ceiling_the_answer_goes_out_and_the_newer_message_gets_its_own() {
    let world = FakeWorld::start();
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(12)));
    for n in 0..8 {
        world.say(ANA, &format!("m{n}")).await;
        world.pass_s(4).await;
    }
    world.pass_s(90).await;
    let answers = answers(&world);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[0].starts_with("ouvi: m0 / m1"));
}

#[tokio::test(start_paused = true)]
async fn a_crash_after_the_commit_still_sends_and_sends_once() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    // Dies while the provider is being called: 5 s window, 1 s model, then 100 ms of sending.
    world.pass(Duration::from_millis(6_050)).await;
    world.kill().await;
    assert_eq!(answers(&world).len(), 0);
    world.restart().await;
    world.pass_s(10).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(
        world.model.prompts().len(),
        1,
        "the answer was committed: no second call"
    );
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_moment_loses_nothing_and_doubles_nothing() {
    for crash_at_ms in (0..9_000).step_by(150) {
        let world = FakeWorld::start();
        world.say(ANA, "oi").await;
        world.pass_s(1).await;
        world.say(ANA, "tudo bem?").await;
        world.pass(Duration::from_millis(crash_at_ms)).await;
        world.kill().await;
        world.restart().await;
        world.pass_s(20).await;
        assert_eq!(
            answers(&world),
            ["ouvi: oi / tudo bem?"],
            "killed at {crash_at_ms} ms"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_answered_in_batches_of_eighty() {
    let world = FakeWorld::start();
    for n in 0..170 {
        world.say(ANA, &format!("m{n}")).await;
    }
    world.pass_s(120).await;
    let answers = answers(&world);
    let said: usize = answers
        .iter()
        .map(|answer| answer.split(" / ").count())
        .sum();
    assert_eq!((answers.len(), said), (3, 170));
}

#[tokio::test(start_paused = true)]
async fn a_lost_tick_is_made_good_by_the_sweeper() {
    let world = FakeWorld::start();
    world.ticks.refuse(true);
    let stored = world.deliver(world.message(ANA, "wamid.1", "oi")).await;
    assert_eq!(stored.failed, 1, "the webhook answers 5xx");
    world.ticks.refuse(false);
    world.pass_s(6 * 60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn a_tick_swallowed_by_dedup_is_made_good_too() {
    let world = FakeWorld::start();
    world.say(ANA, "oi").await;
    // The queue forgets the tick but not its dedup id, so the provider's retry is swallowed.
    world.ticks.lose_all();
    world.pass_s(6 * 60).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_down_for_a_while_is_waited_for_without_a_storm() {
    let world = FakeWorld::start();
    world.model.usually(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Transient,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(120).await;
    assert_eq!(answers(&world).len(), 0);
    assert!(
        world.model.prompts().len() < 10,
        "{} calls",
        world.model.prompts().len()
    );
    world
        .model
        .usually(Behaviour::Answer(Duration::from_secs(1)));
    world.pass_s(62).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_stays_down_gets_one_honest_line_for_all_that_waits() {
    let world = FakeWorld::start();
    world.model.usually(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Transient,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(100).await;
    world.say(ANA, "alguém aí?").await;
    world.pass_s(900).await;
    let apology = agent(|_| {}).texts.apology;
    assert_eq!(answers(&world), [apology]);
    let apologies = world.trace.count(
        |step| matches!(step, Step::Committed { kind: ReplyKind::Apology, answered, .. } if answered.len() == 2),
    );
    assert_eq!(apologies, 1);
    // It is answered within the give-up time, one backoff and one run.
    assert!(sent_after_ms(&world, 0) < 5_000 + 300_000 + 62_000);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_model_is_answered_with_the_agents_own_words() {
    let world = FakeWorld::start();
    world.model.then(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Refusal,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), [agent(|_| {}).texts.refusal]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_too_long_for_the_model_is_halved_once() {
    let world = FakeWorld::start();
    world.model.then(Behaviour::Fail(
        Duration::from_secs(1),
        ModelErrorClass::Overflow,
    ));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(answers(&world), ["ouvi: oi"]);
    assert_eq!(world.model.prompts().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_crashes_every_run_gets_the_honest_line_and_others_go_on() {
    let world = FakeWorld::start();
    for _ in 0..3 {
        world.model.then(Behaviour::Panic);
    }
    world.say(ANA, "veneno").await;
    world.pass_s(120).await;
    world.say(ANA, "oi de novo").await;
    world.pass_s(30).await;
    assert_eq!(
        answers(&world),
        [agent(|_| {}).texts.apology, "ouvi: oi de novo".to_owned()]
    );
}

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
async fn a_send_refused_for_now_is_tried_again_and_keeps_the_order() {
    let world = FakeWorld::start();
    world
        .messenger
        .then(SendBehaviour::Refuse("130429", Verdict::Retry));
    world.messenger.then(SendBehaviour::Unreachable);
    world.say(ANA, "um").await;
    world.pass(Duration::from_millis(6_500)).await;
    world.say(ANA, "dois").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: um", "ouvi: dois"]);
}

#[tokio::test(start_paused = true)]
async fn a_send_refused_for_good_is_not_tried_again() {
    let world = FakeWorld::start();
    world
        .messenger
        .then(SendBehaviour::Refuse("131047", Verdict::GiveUp));
    world.say(ANA, "um").await;
    world.pass_s(600).await;
    assert_eq!(answers(&world).len(), 0);
    world.say(ANA, "dois").await;
    world.pass_s(60).await;
    assert_eq!(answers(&world), ["ouvi: dois"]);
}

#[tokio::test(start_paused = true)]
async fn a_send_of_unknown_outcome_is_looked_up_and_never_doubled() {
    for (label, behaviour, can_be_asked, right) in [
        ("accepted, asked", SendBehaviour::AcceptSilently, true, 1),
        ("lost, asked", SendBehaviour::LoseSilently, true, 1),
        (
            "accepted, cannot be asked",
            SendBehaviour::AcceptSilently,
            false,
            1,
        ),
        (
            "lost, cannot be asked: the operator sees it",
            SendBehaviour::LoseSilently,
            false,
            0,
        ),
    ] {
        let world = FakeWorld::start();
        world.messenger.then(behaviour);
        world.messenger.can_be_asked(can_be_asked);
        world.say(ANA, "oi").await;
        world.pass_s(600).await;
        assert_eq!(answers(&world).len(), right, "{label}");
        let unknown = world
            .trace
            .count(|step| matches!(step, Step::SendUnknown { .. }));
        assert_eq!(unknown, usize::from(!can_be_asked), "{label}");
    }
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
async fn forgetting_nobody_says_so() {
    let world = FakeWorld::start();
    let nobody = forget::forget(&world.world, &world.conversation(BIA))
        .await
        .unwrap();
    assert_eq!(nobody, Forgotten::Nobody);
}
