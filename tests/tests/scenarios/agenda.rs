//! The built-in tools through the whole flow: an agenda that outlives turns and compactions, and a hand-off.

use std::time::Duration;

use recado::domain::{EntryStatus, Prompt, Step, ToolResult};
use recado::flow::{forget, pause};
use recado::ports::Agenda as _;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_world::{FakeWorld, agent};

const ANA: &str = "5511900000001";
const SECOND: Duration = Duration::from_secs(1);

fn secretary() -> FakeWorld {
    FakeWorld::start_with(agent(|agent| {
        agent.agenda = true;
        agent.hand_off_pause = Some(Duration::from_hours(2));
        agent.compaction.trigger = 6;
        agent.compaction.keep = 2;
    }))
}

/// A person writes, the model calls and answers. Yields the last request.
async fn turn(world: &FakeWorld, text: &str, calls: Vec<(&'static str, &'static str)>) -> Prompt {
    if !calls.is_empty() {
        world.model.then(Behaviour::Call(SECOND, calls));
    }
    world.say(ANA, text).await;
    world.pass_s(30).await;
    world.model.prompts().last().unwrap().clone()
}

fn told(prompt: &Prompt) -> Vec<ToolResult> {
    let pairs = prompt.rounds.iter().flat_map(|round| &round.calls);
    pairs.map(|pair| pair.result.clone()).collect()
}

fn agenda_note(prompt: &Prompt) -> &str {
    let notes = prompt.notes.iter();
    let agenda = notes.filter(|note| note.contains("agenda desta pessoa"));
    agenda.map(String::as_str).next().unwrap_or_default()
}

/// "The task we just made", "coloca isso pra sexta", "um memorando sobre isso", "não, eu disse amanhã": three turns and a
/// compaction later the agenda still tells what is meant.
#[tokio::test(start_paused = true)]
async fn what_was_made_can_be_meant_three_turns_and_a_compaction_later() {
    let world = secretary();
    let make = vec![("create_task", r#"{"title":"Renovar o seguro"}"#)];
    let prompt = turn(&world, "anota: renovar o seguro", make).await;
    assert_eq!(
        told(&prompt),
        [ToolResult::Ok(
            "created: task \"Renovar o seguro\"".to_owned()
        )]
    );
    for text in ["obrigada", "que horas abre amanhã?", "certo"] {
        turn(&world, text, Vec::new()).await;
    }
    let compacted = |step: &Step| matches!(step, Step::Compacted { .. });
    assert!(world.trace.count(compacted) > 0);
    let urgent = vec![("update_task", r#"{"task":"last","priority":"high"}"#)];
    let prompt = turn(&world, "é urgente, a tarefa que a gente fez", urgent).await;
    assert!(
        agenda_note(&prompt).contains("\"Renovar o seguro\""),
        "{:?}",
        prompt.notes
    );
    let is_made_long_ago = prompt
        .history
        .iter()
        .all(|turn| !format!("{turn:?}").contains("Calls"));
    assert!(is_made_long_ago, "its turn is no longer in the prompt");
    for (text, call) in [
        (
            "coloca isso pra sexta",
            ("update_task", r#"{"task":"last","due":"2026-12-04"}"#),
        ),
        (
            "um memorando sobre isso",
            (
                "create_memo",
                r#"{"title":"Seguro","text":"apólice do carro"}"#,
            ),
        ),
        (
            "não, eu disse amanhã",
            ("update_task", r#"{"task":"seguro","due":"2026-12-01"}"#),
        ),
    ] {
        let prompt = turn(&world, text, vec![call]).await;
        assert!(
            matches!(told(&prompt)[..], [ToolResult::Ok(_)]),
            "{text}: {:?}",
            told(&prompt)
        );
    }
    let entries = world.store.entries(&world.conversation(ANA)).await.unwrap();
    let [task, memo] = &entries[..] else {
        panic!("{entries:?}");
    };
    assert_eq!(
        task.day.map(|day| day.to_string()).as_deref(),
        Some("2026-12-01")
    );
    assert_eq!((task.status, task.version), (EntryStatus::Open, 4));
    assert_eq!(memo.text.as_deref(), Some("apólice do carro"));
}

#[tokio::test(start_paused = true)]
async fn an_agenda_goes_with_its_person() {
    let world = secretary();
    let make = vec![(
        "create_memo",
        r#"{"title":"Senha do portão","text":"1234"}"#,
    )];
    turn(&world, "guarda a senha do portão", make).await;
    let of = world.conversation(ANA);
    assert_eq!(world.store.entries(&of).await.unwrap().len(), 1);
    forget::forget(&world.world, &of).await.unwrap();
    assert!(world.store.entries(&of).await.unwrap().is_empty());
    assert!(!world.store.look().dump().contains("portão"));
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_an_agenda_pays_nothing_for_it() {
    let world = FakeWorld::start();
    let prompt = turn(&world, "oi", Vec::new()).await;
    assert!(prompt.tools.is_empty() && agenda_note(&prompt).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_person_who_was_handed_over_is_the_teams_until_they_are_given_back() {
    let world = secretary();
    let call = vec![("hand_off", r#"{"reason":"quer falar com alguém"}"#)];
    turn(&world, "quero falar com uma pessoa", call).await;
    assert_eq!(
        world.messenger.texts(),
        ["ouvi: quero falar com uma pessoa"]
    );
    let handed = |step: &Step| matches!(step, Step::HandedOff { .. });
    assert_eq!(world.trace.count(handed), 1);
    turn(&world, "alô?", Vec::new()).await;
    assert_eq!(world.messenger.texts().len(), 1, "the team answers");
    let of = world.conversation(ANA);
    assert!(pause::set(&world.world, &of, None).await.unwrap());
    turn(&world, "obrigada, resolvido", Vec::new()).await;
    assert_eq!(world.messenger.texts().len(), 2);
    // By itself, once the time is over.
    let call = vec![("hand_off", r#"{"reason":"de novo"}"#)];
    turn(&world, "me chama alguém", call).await;
    world.pass(Duration::from_hours(2)).await;
    turn(&world, "oi", Vec::new()).await;
    assert_eq!(world.messenger.texts().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_hand_off_that_a_newer_message_drops_hands_nobody_over() {
    let world = secretary();
    let call = vec![("hand_off", r#"{"reason":"quer falar com alguém"}"#)];
    world.model.then(Behaviour::Call(SECOND, call));
    world.model.then(Behaviour::Answer(10 * SECOND));
    world.say(ANA, "quero falar com uma pessoa").await;
    world.pass_s(9).await;
    world.say(ANA, "não precisa, achei").await;
    world.pass_s(30).await;
    assert_eq!(
        world.messenger.texts(),
        ["ouvi: quero falar com uma pessoa / não precisa, achei"]
    );
    let handed = |step: &Step| matches!(step, Step::HandedOff { .. });
    assert_eq!(world.trace.count(handed), 0);
}
