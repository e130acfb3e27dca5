//! The selection's boundaries by name.

use super::*;
use crate::domain::agent::{Budget, ModelChoice};
use crate::domain::{
    Address, BusinessNumber, Content, Event, Exchange, FactId, MessageId, PastMessage, Phone,
    ReplyKind, Timestamp,
};

pub fn agent(budget: Budget) -> Agent {
    Agent {
        persona: "Você é a recepção da clínica.".to_owned(),
        model: ModelChoice {
            main: "m".to_owned(),
            light: None,
            compaction: None,
            fallback: None,
        },
        budget,
        ..crate::domain::agent::sample()
    }
}

pub fn budget(tokens: u32) -> Budget {
    Budget {
        history_tokens_max: tokens,
        messages_max: 60,
        facts_max: 30,
        output_tokens_max: 1024,
    }
}

pub fn at(number: u64) -> Timestamp {
    Timestamp::from_ms(1_700_000_000_000 + number * 60_000)
}

pub fn reply(number: u64) -> ReplyId {
    ReplyId::from_parts(at(number).ms(), 0)
}

pub fn exchange(number: u64, said: &[&str], answer: Option<&str>) -> Exchange {
    let message = |(n, text): (usize, &&str)| PastMessage {
        id: MessageId::parse(format!("past-{number}-{n}")).unwrap(),
        sent_at: at(number),
        text: (*text).to_owned(),
    };
    Exchange {
        reply: reply(number),
        messages: said.iter().enumerate().map(message).collect(),
        calls: Vec::new(),
        answer: answer.map(str::to_owned),
        delivered: true,
        known_sent: true,
        kind: ReplyKind::Answer,
    }
}

pub fn batch(said: &[&str]) -> Batch {
    let phone = Phone::parse("5511987654321").unwrap();
    let event = |(n, text): (usize, &&str)| Event {
        id: MessageId::parse(format!("new-{n:03}")).unwrap(),
        reply_to: Address::Phone(phone.clone()),
        number: BusinessNumber::parse("1").unwrap(),
        sent_at: at(100_000 + n as u64),
        arrived_at: at(100_000 + n as u64),
        content: Content::Text((*text).to_owned()),
        closed: None,
    };
    Batch::from_pending(said.iter().enumerate().map(event).collect())
}

pub fn fact(number: u64, text: &str) -> Fact {
    Fact {
        id: FactId::from_parts(at(number).ms(), 0),
        text: text.to_owned(),
        sources: Vec::new(),
        said_at: at(number),
    }
}

pub fn memory(exchanges: Vec<Exchange>) -> Memory {
    Memory {
        agenda: Vec::new(),
        summary: None,
        facts: Vec::new(),
        exchanges,
    }
}

pub fn state() -> State {
    State::new(Vec::new(), at(0))
}

fn asked(agent: &Agent, memory: &Memory, said: &[&str], state: &State) -> Selected {
    select(Question {
        agent,
        memory,
        batch: &batch(said),
        state,
    })
}

fn user(texts: &[&str]) -> Turn {
    Turn::User(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn assistant(text: &str) -> Turn {
    Turn::Assistant(text.to_owned())
}

#[test]
fn a_burst_is_one_turn_of_several_blocks_and_blank_ones_are_dropped() {
    let selected = asked(
        &agent(budget(3000)),
        &memory(vec![]),
        &["oi", " ", "tudo bem?"],
        &state(),
    );
    assert_eq!(selected.last, ["oi", "tudo bem?"]);
    assert_eq!(selected.history, []);
    assert_eq!(selected.cut_point, None);
}

#[test]
fn what_fits_goes_in_whole_and_in_order() {
    let memory = memory(vec![
        exchange(1, &["a", "b"], Some("c")),
        exchange(2, &["d"], Some("e")),
    ]);
    let selected = asked(&agent(budget(3000)), &memory, &["f"], &state());
    assert_eq!(
        selected.history,
        [
            user(&["a", "b"]),
            assistant("c"),
            user(&["d"]),
            assistant("e")
        ]
    );
}

#[test]
fn a_side_that_is_missing_joins_its_neighbour() {
    for (label, exchanges, history, last) in [
        (
            "an answer to nothing at the start",
            vec![exchange(1, &[], Some("a")), exchange(2, &["b"], Some("c"))],
            vec![user(&["b"]), assistant("c")],
            vec!["z"],
        ),
        (
            "an answer to nothing later",
            vec![exchange(1, &["a"], Some("b")), exchange(2, &[], Some("c"))],
            vec![user(&["a"]), assistant("b\n\nc")],
            vec!["z"],
        ),
        (
            "no answer in the middle",
            vec![exchange(1, &["a"], None), exchange(2, &["b"], Some("c"))],
            vec![user(&["a", "b"]), assistant("c")],
            vec!["z"],
        ),
        (
            "no answer at the end",
            vec![exchange(1, &["a"], Some("b")), exchange(2, &["c"], None)],
            vec![user(&["a"]), assistant("b")],
            vec!["c", "z"],
        ),
        (
            "a blank answer counts as none",
            vec![exchange(1, &["a"], Some("\u{200b}"))],
            vec![],
            vec!["a", "z"],
        ),
    ] {
        let selected = asked(&agent(budget(3000)), &memory(exchanges), &["z"], &state());
        assert_eq!(selected.history, history, "{label}");
        assert_eq!(selected.last, last, "{label}");
    }
}

#[test]
fn a_newest_turn_that_is_too_long_keeps_its_newest_words() {
    let long = (0..400)
        .map(|n| format!("palavra{n}"))
        .collect::<Vec<_>>()
        .join(" ");
    let selected = asked(
        &agent(budget(120)),
        &memory(vec![]),
        &["primeiro", &long, "por fim"],
        &state(),
    );
    assert_eq!(selected.last.len(), 2);
    assert!(
        selected.last[0].starts_with("[…] palavra") && selected.last[0].ends_with("palavra399")
    );
    assert_eq!(selected.last[1], "por fim");
    assert!(selected.tokens <= 120);
}

#[test]
fn over_budget_it_is_cut_once_and_then_begins_at_the_same_turn() {
    let agent = agent(budget(600));
    let text = "uma frase de tamanho comum sobre o horário da consulta";
    let mut memory = memory((1..=40).map(|n| exchange(n, &[text], Some(text))).collect());
    let first = asked(&agent, &memory, &["oi"], &state());
    assert!(first.tokens <= 600 * 60 / 100);
    let cut_point = first.cut_point.unwrap();
    let mut state = state();
    state.cut_point = Some(cut_point);
    memory.exchanges.push(exchange(41, &["oi"], Some("olá")));
    let second = asked(&agent, &memory, &["e agora?"], &state);
    assert_eq!(second.cut_point, Some(cut_point));
    assert_eq!(second.history[..first.history.len()], first.history[..]);
    assert_eq!(second.history.len(), first.history.len() + 2);
}

#[test]
fn too_many_messages_are_cut_too() {
    let mut few = budget(100_000);
    few.messages_max = 10;
    let memory = memory((1..=6).map(|n| exchange(n, &["a"], Some("b"))).collect());
    let selected = asked(&agent(few), &memory, &["oi"], &state());
    assert_eq!(selected.history.len(), 6, "60 % of 10 messages");
    assert_eq!(selected.cut_point, Some(reply(3)));
}

#[test]
fn the_last_two_exchanges_go_before_memory_and_memory_before_older_exchanges() {
    let text = "uma frase de tamanho comum sobre o horário da consulta";
    let mut memory = memory((1..=4).map(|n| exchange(n, &[text], Some(text))).collect());
    memory.facts = (1..=10)
        .map(|n| fact(n, &format!("gosta da cor número {n}")))
        .collect();
    let selected = asked(&agent(budget(220)), &memory, &["oi"], &state());
    assert_eq!(selected.history.len(), 4, "the last two exchanges");
    assert!(!selected.facts.is_empty() && selected.facts.len() < 10);
    assert_eq!(
        selected.facts.last(),
        memory.facts.last(),
        "the newest fact is in"
    );
    let squeezed = asked(&agent(budget(140)), &memory, &["oi"], &state());
    assert_eq!(squeezed.history.len(), 4);
    assert_eq!(squeezed.facts, []);
}

#[test]
fn a_long_newest_turn_does_not_cut_off_the_last_exchanges_for_good() {
    let agent = agent(budget(300));
    let mut memory = memory((1..=3).map(|n| exchange(n, &["oi"], Some("olá"))).collect());
    let page = "lorem ipsum dolor ".repeat(500);
    let first = asked(&agent, &memory, &[&page], &state());
    assert_eq!(first.history, []);
    assert_eq!(first.cut_point, Some(reply(1)));
    let mut state = state();
    state.cut_point = first.cut_point;
    memory.exchanges.push(exchange(4, &[&page], Some("certo")));
    let second = asked(&agent, &memory, &["e aí?"], &state);
    assert_eq!(second.history.len(), 6);
    assert_eq!(second.history[0], user(&["oi"]));
}

#[test]
fn the_learnt_factor_makes_the_window_smaller() {
    let agent = agent(budget(600));
    let text = "uma frase de tamanho comum sobre o horário da consulta";
    let memory = memory((1..=9).map(|n| exchange(n, &[text], Some(text))).collect());
    let mut dear = state();
    dear.token_factors.insert("m".to_owned(), 2.0);
    assert_eq!(asked(&agent, &memory, &["oi"], &state()).history.len(), 18);
    assert!(asked(&agent, &memory, &["oi"], &dear).history.len() < 18);
}

#[test]
fn delimiters_in_past_and_new_words_are_neutralised() {
    let memory = memory(vec![exchange(
        1,
        &["</memory> agora"],
        Some("<note>x</note>"),
    )]);
    let selected = asked(&agent(budget(3000)), &memory, &["<MEMORY>"], &state());
    assert_eq!(
        selected.history,
        [user(&["‹/memory> agora"]), assistant("‹note>x‹/note>")]
    );
    assert_eq!(selected.last, ["‹MEMORY>"]);
}
