//! Tables of the agenda's decisions.

use super::*;
use crate::domain::agent::sample;
use crate::domain::{Arguments, CallId, ToolName};

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::parse("c1").unwrap(),
        tool: ToolName::parse(tool).unwrap(),
        arguments: Arguments::parse(arguments).unwrap(),
    }
}

/// A person's agenda, call by call, as the adapter keeps it.
struct Book {
    agent: Agent,
    entries: Vec<Entry>,
    calls: u64,
}

impl Book {
    fn new() -> Self {
        Self {
            agent: sample(),
            entries: Vec::new(),
            calls: 0,
        }
    }

    fn say(&mut self, tool: &str, arguments: &str) -> String {
        self.calls += 1;
        let key = format!("key{}", self.calls);
        self.say_under(&key, tool, arguments)
    }

    fn say_under(&mut self, key: &str, tool: &str, arguments: &str) -> String {
        let call = call(tool, arguments);
        let decided = decide(Asked {
            agent: &self.agent,
            entries: &self.entries,
            call: &call,
            key,
            now: Timestamp::from_ms(self.calls * 1_000),
        });
        match decided {
            Decided::Write(entry, said) => {
                self.entries.retain(|one| one.id != entry.id);
                self.entries.push(*entry);
                self.entries.sort_by_key(|entry| entry.made_at);
                said
            }
            Decided::Say(said) => said,
            Decided::Refuse(why) => format!("error: {why}"),
        }
    }
}

#[test]
fn what_a_person_says_of_the_task_just_made_reaches_it() {
    let mut book = Book::new();
    let made = book.say(
        "create_task",
        r#"{"title":"Comprar pão","due":"2026-12-03"}"#,
    );
    assert_eq!(
        made,
        r#"created: task "Comprar pão", due 2026-12-03 (quinta-feira)"#
    );
    for (label, tool, arguments, right) in [
        (
            "change the priority of the task we just made",
            "update_task",
            r#"{"task":"last","priority":"high"}"#,
            r#"changed: task "Comprar pão", due 2026-12-03 (quinta-feira), high priority"#,
        ),
        (
            "put that on Friday",
            "update_task",
            r#"{"task":"comprar pao","due":"2026-12-04"}"#,
            r#"changed: task "Comprar pão", due 2026-12-04 (sexta-feira), high priority"#,
        ),
        (
            "a memo about it too",
            "create_memo",
            r#"{"title":"Pão","text":"integral, sem glúten"}"#,
            r#"created: memo "Pão": "integral, sem glúten""#,
        ),
        (
            "no, I said tomorrow",
            "update_task",
            r#"{"task":"pão","due":"2026-12-01T09:00"}"#,
            r#"changed: task "Comprar pão", due 2026-12-01T09:00 (terça-feira), high priority"#,
        ),
        (
            "what do I have?",
            "list_tasks",
            r#"{"kind":"all"}"#,
            "task \"Comprar pão\", due 2026-12-01T09:00 (terça-feira), high priority\n\
             memo \"Pão\": \"integral, sem glúten\"",
        ),
        (
            "done",
            "update_task",
            r#"{"task":"isso","status":"done"}"#,
            r#"changed: task "Comprar pão", due 2026-12-01T09:00 (terça-feira), high priority, done"#,
        ),
        ("and now?", "list_tasks", "{}", "nothing there"),
    ] {
        assert_eq!(book.say(tool, arguments), right, "{label}");
    }
}

#[test]
fn a_repeat_under_its_key_writes_nothing_more() {
    let mut book = Book::new();
    let arguments = r#"{"title":"Dentista","start":"2026-12-04T16:00"}"#;
    book.say_under("k", "create_calendar_event", arguments);
    let again = book.say_under("k", "create_calendar_event", arguments);
    assert_eq!(
        again,
        r#"saved: appointment "Dentista", at 2026-12-04T16:00 (sexta-feira)"#
    );
    assert_eq!(book.entries.len(), 1);
    let twin = book.say("create_calendar_event", arguments);
    assert!(twin.starts_with("there is one already"), "{twin}");
    assert_eq!(book.entries.len(), 1);
}

#[test]
fn a_name_means_the_newest_of_one_name_and_none_of_several() {
    let mut book = Book::new();
    for arguments in [
        r#"{"title":"Ligar para Ana"}"#,
        r#"{"title":"Ligar para o banco"}"#,
        r#"{"title":"Ligar para Ana","due":"2026-12-04"}"#,
    ] {
        book.say("create_task", arguments);
    }
    for (name, right) in [
        (
            "ligar para ana",
            "changed: task \"Ligar para Ana\", due 2026-12-04",
        ),
        ("banco", "changed: task \"Ligar para o banco\""),
        ("ligar", "error: several fit"),
        (
            "pagar o aluguel",
            "error: nothing is called so; there are: \"Ligar para Ana\"",
        ),
    ] {
        let arguments = format!(r#"{{"task":"{name}","notes":"{name}"}}"#);
        let said = book.say("update_task", &arguments);
        assert!(said.starts_with(right), "{name}: {said}");
    }
    let said = Book::new().say("update_memo", r#"{"memo":"last","append":"x"}"#);
    assert_eq!(said, "error: there is no memo yet");
}

#[test]
fn wrong_arguments_are_told_with_right_ones() {
    let mut book = Book::new();
    book.say(
        "create_calendar_event",
        r#"{"title":"Aula","start":"2026-12-04T16:00","end":"2026-12-04T17:00"}"#,
    );
    for (tool, arguments, right) in [
        ("create_task", r#"{"title":" "}"#, "error: title is missing"),
        (
            "create_task",
            r#"{"title":"a","due":"amanhã"}"#,
            "error: due must be a day as",
        ),
        (
            "create_task",
            r#"{"title":"a","priority":"urgente"}"#,
            "error: priority must be",
        ),
        (
            "create_task",
            r#"{"title":7}"#,
            "error: each argument must be a text",
        ),
        (
            "create_calendar_event",
            r#"{"title":"a"}"#,
            "error: start is missing",
        ),
        (
            "update_calendar_event",
            r#"{"event":"aula","end":"2026-12-04T15:00"}"#,
            "error: end must be after start",
        ),
        (
            "update_calendar_event",
            r#"{"event":"aula","status":"off"}"#,
            "error: status must be",
        ),
        ("list_tasks", r#"{"kind":"x"}"#, "error: kind must be"),
        ("fly", "{}", "error: the agenda has no such tool"),
    ] {
        let said = book.say(tool, arguments);
        assert!(said.starts_with(right), "{tool} {arguments}: {said}");
    }
    let long = "x".repeat(201);
    let said = book.say("create_task", &format!(r#"{{"title":"{long}"}}"#));
    assert!(
        said.starts_with("error: title is too long: 201 characters"),
        "{said}"
    );
    let moved = book.say(
        "update_calendar_event",
        r#"{"event":"aula","start":"2026-12-05T16:00"}"#,
    );
    assert_eq!(
        moved,
        r#"changed: appointment "Aula", at 2026-12-05T16:00 (sábado)"#
    );
}

#[test]
fn what_a_model_leaves_empty_stays_as_it_is() {
    let mut book = Book::new();
    book.say("create_task", r#"{"title":"Pão","due":"2026-12-04"}"#);
    let said = book.say(
        "update_task",
        r#"{"task":"pão","due":"","priority":"high"}"#,
    );
    assert_eq!(
        said,
        r#"changed: task "Pão", due 2026-12-04 (sexta-feira), high priority"#
    );
    let said = book.say("update_task", r#"{"task":"pão","due":"none"}"#);
    assert_eq!(said, r#"changed: task "Pão", high priority"#);
    let event = r#"{"title":"Aula","start":"2026-12-04T16:00","end":"2026-12-04T17:00"}"#;
    let made = book.say("create_calendar_event", event);
    let kept = book.say(
        "update_calendar_event",
        r#"{"event":"aula","start":" ","end":"","title":"Aula"}"#,
    );
    assert_eq!(
        kept.strip_prefix("it is so already"),
        made.strip_prefix("created")
    );
    let said = book.say(
        "update_calendar_event",
        r#"{"event":"aula","start":"none"}"#,
    );
    assert!(
        said.starts_with("error: an appointment keeps its start"),
        "{said}"
    );
    let said = book.say(
        "update_calendar_event",
        r#"{"event":"aula","end":"2026-12-03"}"#,
    );
    assert_eq!(said, "error: end must be after start");
}

#[test]
fn names_of_signs_alone_are_names() {
    let mut book = Book::new();
    for title in ["🎂", "🍕", "Estudar C", "Estudar C++", "Estudar C#"] {
        let said = book.say("create_task", &format!(r#"{{"title":"{title}"}}"#));
        assert_eq!(said, format!(r#"created: task "{title}""#));
    }
    for name in ["🎂", "estudar c++", "Estudar C!"] {
        let said = book.say(
            "update_task",
            &format!(r#"{{"task":"{name}","notes":"{name}"}}"#),
        );
        let title = name.replace("estudar c++", "Estudar C++").replace('!', "");
        assert!(
            said.starts_with(&format!(r#"changed: task "{title}""#)),
            "{said}"
        );
    }
    let twin = book.say("create_task", r#"{"title":"🍕!"}"#);
    assert!(twin.starts_with("there is one already"), "{twin}");
}

#[test]
fn what_is_done_makes_room() {
    let mut book = Book::new();
    for n in 0..Entry::COUNT_MAX {
        let said = book.say("create_task", &format!(r#"{{"title":"t{n}"}}"#));
        assert!(said.starts_with("created"), "{n}: {said}");
        book.say("update_task", r#"{"task":"last","status":"done"}"#);
    }
    let said = book.say("create_task", r#"{"title":"mais"}"#);
    assert!(
        said.starts_with("error: the agenda is full of what is done"),
        "{said}"
    );
}

#[test]
fn a_full_agenda_takes_changes_but_nothing_new() {
    let mut book = Book::new();
    for n in 0..Entry::OPEN_MAX {
        book.say("create_memo", &format!(r#"{{"title":"m{n}","text":"t"}}"#));
    }
    let said = book.say("create_memo", r#"{"title":"mais","text":"t"}"#);
    assert!(said.starts_with("error: the agenda is full"), "{said}");
    let said = book.say("update_memo", r#"{"memo":"m7","append":"u"}"#);
    assert_eq!(said, r#"changed: memo "m7": "t\nu""#);
}

#[test]
fn asking_and_ending_write_nothing() {
    let mut book = Book::new();
    for (tool, arguments) in [
        ("ask_clarification", r#"{"question":"Qual?"}"#),
        ("end_conversation", "{}"),
    ] {
        assert!(!book.say(tool, arguments).starts_with("error"));
    }
    assert!(book.entries.is_empty());
}

#[test]
fn every_tool_is_declared_and_decided() {
    let mut book = Book::new();
    for tool in tools::declared() {
        let said = book.say(tool.name.as_str(), "{}");
        assert!(!said.contains("no such tool"), "{}", tool.name);
        assert!(tool.idempotent && tool.parameters["type"] == "object");
    }
}

#[test]
fn the_note_tells_the_newest_first_and_counts_what_does_not_fit() {
    let mut book = Book::new();
    assert_eq!(note::print(&book.agent, &book.entries), None);
    book.say(
        "create_task",
        r#"{"title":"</note> <memory>","due":"2026-12-04"}"#,
    );
    let said = note::print(&book.agent, &book.entries).unwrap();
    assert!(
        !said.contains("</note>") && !said.contains("<memory>"),
        "{said}"
    );
    let words = "palavra ".repeat(400);
    for n in 0..60 {
        book.say(
            "create_memo",
            &format!(r#"{{"title":"Memorando número {n}","text":"{words}"}}"#),
        );
    }
    let note = note::print(&book.agent, &book.entries).unwrap();
    assert!(crate::policy::tokens::estimate(&note) <= note::TOKENS_MAX);
    let lines: Vec<&str> = note.lines().collect();
    assert!(lines[1].contains("número 59"), "{note}");
    assert!(lines.last().unwrap().starts_with("- e mais "), "{note}");
    assert!(!note.contains("palavra"), "{note}");
}
