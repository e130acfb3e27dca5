//! The exact prompts, whole: what a change of rules, order or escaping does to them is seen here.

use insta::assert_json_snapshot;
use recado::domain::Memory;
use recado::policy::{compaction, prompt};
use recado_tests::samples::{agent, answer, backlog, batch, burst, clinic, exchange, reply, state};

#[test]
fn the_first_message_ever() {
    let batch = batch(0, &["Oi, tudo bem?"]);
    let prompt = answer(&clinic(), &Memory::default(), &batch, &state(None), 0);
    assert_eq!(prompt::validate(&prompt), Ok(()));
    assert_json_snapshot!(prompt);
}

#[test]
fn a_burst_of_four_with_memory_after_three_days() {
    let prompt = burst();
    assert_eq!(prompt::validate(&prompt), Ok(()));
    assert_json_snapshot!(prompt);
}

#[test]
fn over_budget_the_window_is_cut() {
    let mut agent = clinic();
    agent.budget.history_tokens_max = 200;
    let said = "posso remarcar a consulta para outro dia?";
    let exchanges = (1..=10)
        .map(|n| exchange(n * 10, &[said], &format!("Pode sim, opção {n}.")))
        .collect();
    let memory = Memory {
        exchanges,
        ..Memory::default()
    };
    let prompt = answer(
        &agent,
        &memory,
        &batch(110, &["e agora?"]),
        &state(Some(100)),
        110,
    );
    assert_eq!(prompt::validate(&prompt), Ok(()));
    assert_json_snapshot!(prompt);
}

#[test]
fn a_compaction() {
    let (agent, memory) = (clinic(), backlog());
    let plan = compaction::plan(&memory, &agent.compaction, 0).unwrap();
    assert_eq!(plan.through, reply(300));
    let prompt = compaction::prompt(&agent, &memory, &plan, "person-key");
    assert_eq!(prompt::validate(&prompt), Ok(()));
    let text = serde_json::to_string(&prompt).unwrap();
    assert!(!text.contains("wamid"), "no provider id leaves the house");
    assert_json_snapshot!(prompt);
}

#[test]
fn spanish_and_english_agents() {
    for (language, persona, said) in [
        ("es-MX", "Eres la recepción de la clínica.", "hola"),
        ("en", "You are the clinic's front desk.", "hello"),
    ] {
        let agent = agent(language, persona);
        let said = batch(24 * 60, &[said]);
        let prompt = answer(&agent, &Memory::default(), &said, &state(Some(0)), 24 * 60);
        assert_json_snapshot!(format!("answer_{language}"), prompt);
        let memory = backlog();
        let plan = compaction::plan(&memory, &agent.compaction, 0).unwrap();
        let prompt = compaction::prompt(&agent, &memory, &plan, "person-key");
        assert_json_snapshot!(format!("compaction_{language}"), prompt);
    }
}

#[test]
fn an_absence_is_told_from_one_day_on() {
    for (label, last, days) in [
        ("never wrote before", None, None),
        ("a minute short of a day", Some(1), None),
        ("one day", Some(0), Some("há 1 dia.")),
    ] {
        let batch = batch(24 * 60, &["oi"]);
        let prompt = answer(
            &clinic(),
            &Memory::default(),
            &batch,
            &state(last),
            24 * 60 + 30,
        );
        let note = prompt.notes.get(1);
        assert_eq!(note.is_some(), days.is_some(), "{label}");
        assert!(
            note.is_none_or(|note| note.contains(days.unwrap_or_default())),
            "{label}"
        );
    }
}
