//! The stand-in's answers, and its compactions under the same checks as a model's.

use proptest::prelude::*;

use super::patterns::Kind;
use super::*;
use crate::domain::{Fact, FactId, Memory, Summary, Turn};
use crate::policy::compaction::{check, plan, prompt as compaction_prompt};
use crate::policy::context::tests::{agent, at, budget, exchange, fact, memory, reply};
use crate::policy::prompt::{Language, memory_block};

fn asked(said: &[&str], memory: Option<String>, history: Vec<Turn>) -> String {
    answer(&prompt(said, memory, history)).text
}

fn prompt(said: &[&str], memory: Option<String>, history: Vec<Turn>) -> Prompt {
    Prompt {
        tools: Vec::new(),
        rounds: Vec::new(),
        pause: None,
        words_only: false,
        rules: Language::Portuguese.rules().to_owned(),
        persona: "p".to_owned(),
        memory,
        history,
        last: said.iter().map(|text| (*text).to_owned()).collect(),
        notes: vec!["<note>Agora são 10:00.</note>".to_owned()],
        output: Output::Text,
        output_tokens_max: 1024,
        person_key: "k".to_owned(),
    }
}

fn known(summary: Option<&str>, texts: &[&str]) -> Option<String> {
    let facts: Vec<Fact> = (1..)
        .zip(texts)
        .map(|(number, text)| fact(number, text))
        .collect();
    let facts: Vec<&Fact> = facts.iter().collect();
    memory_block::print(&agent(budget(3000)), summary, &facts)
}

#[test]
fn it_quotes_all_parts_and_says_what_it_is() {
    let text = asked(&["oi", "queria marcar", "pra sexta"], None, vec![]);
    assert!(
        text.starts_with("Entendi, em uma coisa só: oi / queria marcar / pra sexta"),
        "{text}"
    );
    assert!(text.contains("demonstração"));
}

#[test]
fn it_answers_in_the_person_s_language_or_else_in_that_of_the_rules() {
    for (said, word) in [
        (["hola", "quiero una cita"], "Soy una demostración"),
        (["hello", "what is the price"], "I am a demonstration"),
        (["oi", "quero marcar"], "Sou uma demonstração"),
        (["😀", "123"], "Sou uma demonstração"),
    ] {
        let text = asked(&said, None, vec![]);
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn it_knows_the_name_from_wherever_it_was_said_last() {
    let facts = || known(None, &["Se chama Bia", "Se chama Ana Souza"]);
    let history = vec![
        Turn::User(vec!["me chamo Caio".to_owned()]),
        Turn::Assistant("oi".to_owned()),
    ];
    for (label, text, expected) in [
        (
            "facts",
            asked(&["como eu me chamo?"], facts(), vec![]),
            "Você se chama Ana Souza.",
        ),
        (
            "history",
            asked(&["como eu me chamo?"], facts(), history),
            "Você se chama Caio.",
        ),
        (
            "summary",
            asked(
                &["qual é o meu nome"],
                known(Some("A pessoa se chama Duda."), &[]),
                vec![],
            ),
            "Você se chama Duda.",
        ),
        (
            "nowhere",
            asked(&["como eu me chamo?"], None, vec![]),
            "Você ainda não me disse",
        ),
        (
            "greeting",
            asked(&["bom dia"], facts(), vec![]),
            "Oi, Ana Souza! Entendi: bom dia",
        ),
        (
            "in two parts",
            asked(&["oi", "como eu", "me chamo?"], facts(), vec![]),
            "Você se chama Ana Souza.",
        ),
    ] {
        assert!(text.starts_with(expected), "{label}: {text}");
    }
}

#[test]
fn it_tells_days_away_from_the_note_of_an_absence_alone() {
    let absence = |language: Language, days| language.absence_note(days);
    let agenda = "Na agenda desta pessoa: task \"Pão\", due 2026-12-04";
    for (label, language, notes, days) in [
        ("no note", Language::Portuguese, vec![], None),
        (
            "an agenda without an absence",
            Language::Portuguese,
            vec![agenda.to_owned()],
            None,
        ),
        (
            "an absence before an agenda",
            Language::Portuguese,
            vec![absence(Language::Portuguese, 3), agenda.to_owned()],
            Some("Faz 3 dia(s)"),
        ),
        (
            "one day",
            Language::Portuguese,
            vec![absence(Language::Portuguese, 1)],
            Some("Faz 1 dia(s)"),
        ),
        (
            "rules in another language",
            Language::English,
            vec![absence(Language::English, 40)],
            Some("Faz 40 dia(s)"),
        ),
    ] {
        let mut prompt = prompt(&["oi"], None, vec![]);
        language.rules().clone_into(&mut prompt.rules);
        let notes = notes.iter().map(|note| format!("<note>{note}</note>"));
        prompt.notes.extend(notes);
        let text = answer(&prompt).text;
        match days {
            Some(days) => assert!(text.starts_with(days), "{label}: {text}"),
            None => assert!(text.starts_with("Entendi: oi"), "{label}: {text}"),
        }
    }
}

#[test]
fn it_tells_what_it_remembers() {
    let memory = known(Some("Ana marcou consulta."), &["Mora em Recife"]);
    let history = vec![
        Turn::User(vec!["tenho alergia a camarão".to_owned()]),
        Turn::Assistant("ok".to_owned()),
    ];
    let text = asked(&["o que você lembra de mim?"], memory, history);
    assert!(
        text.starts_with(
            "O que lembro de você: Mora em Recife; Tem alergia a camarão; Ana marcou consulta."
        ),
        "{text}"
    );
    assert!(asked(&["o que você lembra de mim?"], None, vec![]).starts_with("Ainda não sei nada"));
}

#[test]
fn plain_sentences_are_found() {
    for (text, kind, value) in [
        ("meu nome é ana", Kind::Name, "Ana"),
        (
            "oi, me chamo Ana Souza e moro longe",
            Kind::Name,
            "Ana Souza",
        ),
        ("sou a Bia", Kind::Name, "Bia"),
        ("me llamo José.", Kind::Name, "José"),
        ("My name is Joe, hi", Kind::Name, "Joe"),
        (
            "eu moro em São Paulo, perto do metrô",
            Kind::Place,
            "São Paulo",
        ),
        ("vivo en Ciudad de México", Kind::Place, "Ciudad de México"),
        ("trabalho como dentista", Kind::Work, "dentista"),
        ("prefiro de manhã e sem fila", Kind::Preference, "de manhã"),
        ("gosto de café", Kind::Liking, "café"),
        ("sou alérgica a penicilina!", Kind::Allergy, "penicilina"),
        ("I'm allergic to nuts", Kind::Allergy, "nuts"),
    ] {
        let found = patterns::find(text);
        assert!(
            found.contains(&patterns::Found {
                kind,
                value: value.to_owned()
            }),
            "{text}: {found:?}"
        );
    }
    for text in [
        "não gosto de café",
        "como me chamo agora?",
        "sou a mãe dele",
        "no me gusta",
        "moro",
        "gosto de",
        "i don't like it",
    ] {
        assert_eq!(patterns::find(text), [], "{text}");
    }
}

fn folded(memory: &Memory) -> crate::domain::memory::Fold {
    let agent = agent(budget(3000));
    let plan = plan(memory, &agent.compaction, 0).unwrap();
    let prompt = compaction_prompt(&agent, memory, &plan, "k");
    let text = answer(&prompt).text;
    let mut made = 0;
    check(&agent, memory, &plan, &text, at(900), &mut || {
        made += 1;
        FactId::from_parts(at(900).ms(), made)
    })
    .unwrap()
}

fn backlog(said: &str) -> Memory {
    let mut exchanges: Vec<_> = (1..=25)
        .map(|n| exchange(n, &["quero saber o horário"], Some("às 9h")))
        .collect();
    exchanges[0] = exchange(1, &["oi", said], Some("certo"));
    memory(exchanges)
}

#[test]
fn its_compactions_pass_the_checks() {
    let fold = folded(&backlog(
        "me chamo Ana, moro em Natal e tenho alergia a camarão",
    ));
    let texts: Vec<&str> = fold.facts.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(
        texts,
        ["Se chama Ana", "Tem alergia a camarão", "Mora em Natal"]
    );
    assert!(
        fold.summary
            .text
            .starts_with("Em 2023-11-14 a pessoa disse: oi; me chamo Ana"),
        "{}",
        fold.summary.text
    );
}

#[test]
fn a_new_place_replaces_the_old_one_and_known_facts_are_not_repeated() {
    let mut memory = backlog("agora moro em Recife e gosto de chá");
    memory.facts = vec![fact(1, "Mora em Natal"), fact(2, "Gosta de chá")];
    let fold = folded(&memory);
    assert_eq!(fold.facts.len(), 1);
    assert_eq!(
        (fold.facts[0].id, fold.facts[0].text.as_str()),
        (memory.facts[0].id, "Mora em Recife")
    );
}

#[test]
fn the_first_words_outlive_many_compactions() {
    let mut memory = backlog("meu nome é Ana e o código é 4471");
    for round in 1..6 {
        let fold = folded(&memory);
        assert!(fold.summary.text.split_whitespace().count() <= 200);
        assert!(fold.summary.text.contains("4471"), "round {round}");
        let next = backlog("e amanhã?");
        memory = Memory {
            summary: Some(fold.summary),
            facts: memory.facts,
            exchanges: next.exchanges,
            ..memory
        };
        memory.facts.extend(fold.facts);
    }
    assert_eq!(memory.facts.len(), 1);
}

#[tokio::test(flavor = "current_thread")]
async fn it_takes_its_time_and_keeps_to_the_timeout() {
    let model = DemoModel::new(Duration::from_millis(5));
    let prompt = prompt(&["oi"], None, vec![]);
    let reply = model
        .converse("any", &prompt, Duration::from_secs(1))
        .await
        .unwrap();
    assert_eq!(
        (reply.model.as_str(), reply.finish),
        ("demo", Finish::Complete)
    );
    assert!(reply.usage.input() > 0 && reply.usage.output > 0);
    let late = model
        .converse("any", &prompt, Duration::from_millis(1))
        .await
        .unwrap_err();
    assert_eq!(late.class, ModelErrorClass::Transient);
}

proptest! {
    #[test]
    fn any_words_are_answered(said in proptest::collection::vec("\\PC{0,60}", 0..6)) {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let first = asked(&said, None, vec![]);
        prop_assert!(!first.trim().is_empty());
        prop_assert_eq!(first, asked(&said, None, vec![]));
    }

    #[test]
    fn any_span_is_folded(said in "\\PC{1,200}", summary in prop::option::of("[a-z]{1,8}( [a-z]{1,8}){0,220}")) {
        let mut memory = backlog(&said);
        memory.summary = summary.map(|text| Summary { version: 1, text, through: reply(0), written_at: at(0) });
        let agent = agent(budget(3000));
        let plan = plan(&memory, &agent.compaction, 0).unwrap();
        let text = answer(&compaction_prompt(&agent, &memory, &plan, "k")).text;
        let fold = check(&agent, &memory, &plan, &text, at(900), &mut || FactId::from_parts(at(900).ms(), 1));
        // Words of small talk inside the person's own message may still refuse it; nothing else may.
        prop_assert!(fold.is_ok() || fold.unwrap_err() == crate::policy::compaction::Refusal::SmallTalk);
    }
}
