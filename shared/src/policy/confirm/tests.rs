//! What counts as a yes, to which call, and after what.

use std::time::Duration;

use super::*;
use crate::domain::{
    Address, Arguments, BusinessNumber, CallId, Content, Event, MessageId, PastMessage, Phone,
    ReplyId, Timestamp, ToolName,
};

const BOOKING: &str = r#"{"day":"2026-12-01","time":"15h","who":"Davi"}"#;

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::parse("c1").unwrap(),
        tool: ToolName::parse(tool).unwrap(),
        arguments: Arguments::parse(arguments).unwrap(),
    }
}

#[test]
fn a_plain_yes_is_one_in_three_languages() {
    let booking = call("marcar_horario", BOOKING);
    for said in [
        "sim",
        "Sim!",
        "SIM",
        "siiim",
        "s",
        "pode",
        "pode sim",
        "Pode marcar",
        "pode ser",
        "claro",
        "claro que sim",
        "isso",
        "isso mesmo",
        "isso aí, obrigada",
        "confirma",
        "confirmo",
        "confirmado ✅",
        "com certeza",
        "de acordo",
        "ok",
        "OK!",
        "okk",
        "blz",
        "beleza",
        "fechado",
        "combinado",
        "perfeito, valeu",
        "tá bom",
        "tudo certo",
        "por favor",
        "sim, por favor",
        "aham",
        "uhum",
        "👍",
        "👍🏽",
        "👌",
        "✅",
        "sim 🙏",
        "Oi, sim",
        "bora",
        "sim, com o Davi",
        "sim, 15h",
        "certo, dia 01",
        "sí",
        "Sí, dale",
        "dale",
        "dale, gracias",
        "vale",
        "claro que sí",
        "está bien",
        "de acuerdo",
        "perfecto",
        "adelante",
        "hazlo",
        "sí por favor",
        "listo",
        "por supuesto",
        "correcto",
        "yes",
        "Yes please",
        "yes, go ahead",
        "yep",
        "yeah",
        "sure",
        "ok, thanks",
        "do it",
        "please do",
        "of course",
        "sounds good",
        "that's right",
        "confirm",
    ] {
        assert!(agrees(&[Some(said)], &booking), "{said}");
    }
}

#[test]
fn a_no_a_change_or_a_question_is_no_yes() {
    let booking = call("marcar_horario", BOOKING);
    for said in [
        "",
        " ",
        "não",
        "nao",
        "n",
        "no",
        "nope",
        "claro que não",
        "sim, mas às 16h",
        "sim, 16h",
        "sim, com o Beto",
        "pode ser na sexta?",
        "sim?",
        "pode?",
        "sim, só que amanhã",
        "melhor amanhã",
        "muda pra 16h",
        "espera",
        "espera aí",
        "peraí",
        "calma",
        "deixa pra lá",
        "depois eu vejo",
        "talvez",
        "acho que sim",
        "quase isso",
        "sim e marca também pra minha mãe",
        "isso não",
        "não, isso mesmo não",
        "ok mas sem barba",
        "cancela",
        "pode cancelar",
        "para",
        "pare",
        "👎",
        "ok 👎",
        "👍👎",
        "❌",
        "🙏",
        "obrigada",
        "oi",
        "quanto custa?",
        "sim. quanto custa",
        "no gracias",
        "mejor el viernes",
        "sí, pero más tarde",
        "tal vez",
        "cambia la hora",
        "¿sí?",
        "maybe",
        "yes but later",
        "not now",
        "don't",
        "no problem",
        "wait",
        "make it 16h",
        "yes, 4pm",
        "hmm",
        "1500",
        "ontem",
        "quinze",
        "nunca",
        "sim, 2026-12-02",
    ] {
        assert!(!agrees(&[Some(said)], &booking), "{said}");
    }
}

#[test]
fn the_whole_batch_counts() {
    let booking = call("marcar_horario", BOOKING);
    for (label, said, right) in [
        ("nothing", &[][..], false),
        (
            "a greeting and a yes",
            &[Some("oi"), Some("pode sim")],
            true,
        ),
        (
            "a yes and a change",
            &[Some("sim"), Some("não, sexta")],
            false,
        ),
        (
            "a yes and a thank you",
            &[Some("sim"), Some("obrigada!")],
            true,
        ),
        (
            "a yes and a question",
            &[Some("sim"), Some("quanto custa?")],
            false,
        ),
        (
            "a yes beside what has no words",
            &[Some("sim"), None],
            false,
        ),
        ("a voice message alone", &[None], false),
    ] {
        assert_eq!(agrees(said, &booking), right, "{label}");
    }
}

#[test]
fn to_cancel_is_a_yes_only_to_what_cancels() {
    for (tool, said, right) in [
        ("cancelar_horario", "pode cancelar", true),
        ("cancel_booking", "sim, cancela", true),
        ("cancel_booking", "sí, cancélalo", true),
        ("cancel_booking", "cancela", false),
        ("cancel_booking", "não cancela", false),
        ("marcar_horario", "sim, cancela", false),
        ("marcar_horario", "pode marcar pra mim", true),
    ] {
        assert_eq!(
            agrees(&[Some(said)], &call(tool, "{}")),
            right,
            "{tool}: {said}"
        );
    }
}

#[test]
fn a_no_inside_the_arguments_does_not_make_it_harmless() {
    let note = call("add_note", r#"{"text":"não, nunca mais"}"#);
    assert!(!agrees(&[Some("sim, não")], &note));
    assert!(agrees(&[Some("sim, mais")], &note));
}

fn batch(said: &[&str]) -> Batch {
    let event = |(number, text): (u64, &&str)| Event {
        id: MessageId::parse(format!("m{number}")).unwrap(),
        reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
        number: BusinessNumber::parse("100").unwrap(),
        sent_at: at(number),
        arrived_at: at(number),
        content: Content::Text((*text).to_owned()),
        closed: None,
    };
    Batch::from_pending((100..).zip(said).map(event).collect())
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_ms(1_700_000_000_000).plus(Duration::from_secs(second))
}

fn exchange(number: u64, said: &str, calls: Vec<Call>) -> Exchange {
    Exchange {
        reply: ReplyId::from_parts(at(number).ms(), 0),
        messages: vec![PastMessage {
            id: MessageId::parse(format!("m{number}")).unwrap(),
            sent_at: at(number),
            text: said.to_owned(),
        }],
        calls,
        answer: Some("Marco com o Davi dia 1 às 15h?".to_owned()),
        delivered: true,
        kind: ReplyKind::Answer,
    }
}

fn stored(call: &ToolCall, effect: Effect, result: ToolResult) -> Call {
    Call {
        n: 0,
        effect,
        call: call.clone(),
        result: Some(result),
    }
}

#[test]
fn only_the_call_that_was_shown_last_is_agreed_to() {
    let booking = call("marcar_horario", BOOKING);
    let other = call("marcar_horario", r#"{"day":"2026-12-02"}"#);
    let shown = || stored(&booking, Effect::Read, preview(&booking));
    let ok = |text: &str| ToolResult::Ok(text.to_owned());
    let shown_turn = || exchange(1, "marca", vec![shown()]);
    let apology = |said| Exchange {
        kind: ReplyKind::Apology,
        ..exchange(2, said, Vec::new())
    };
    let undelivered = Exchange {
        delivered: false,
        ..shown_turn()
    };
    let unanswered = Exchange {
        answer: None,
        ..shown_turn()
    };
    let done = stored(&booking, Effect::Write, ok("booked"));
    let a_read = stored(&booking, Effect::Read, ok("free"));
    for (label, past, asked, said, right) in [
        (
            "shown and agreed",
            vec![shown_turn()],
            &booking,
            "sim",
            true,
        ),
        (
            "never shown",
            vec![exchange(1, "marca", vec![])],
            &booking,
            "sim",
            false,
        ),
        ("nothing before", vec![], &booking, "sim", false),
        (
            "shown and refused",
            vec![shown_turn()],
            &booking,
            "não",
            false,
        ),
        (
            "with other arguments",
            vec![shown_turn()],
            &other,
            "sim",
            false,
        ),
        (
            "the answer never arrived",
            vec![undelivered],
            &booking,
            "sim",
            false,
        ),
        (
            "there was no answer",
            vec![unanswered],
            &booking,
            "sim",
            false,
        ),
        (
            "something came between",
            vec![shown_turn(), exchange(2, "quanto custa?", vec![])],
            &booking,
            "sim",
            false,
        ),
        (
            "the yes met an apology",
            vec![shown_turn(), apology("sim")],
            &booking,
            "ok",
            true,
        ),
        (
            "a change met an apology",
            vec![shown_turn(), apology("não, sexta")],
            &booking,
            "sim",
            false,
        ),
        (
            "it was done since",
            vec![shown_turn(), exchange(2, "sim", vec![done.clone()])],
            &booking,
            "sim",
            false,
        ),
        (
            "it was done, not shown",
            vec![exchange(1, "marca", vec![done])],
            &booking,
            "sim",
            false,
        ),
        (
            "a read of that name",
            vec![exchange(1, "marca", vec![a_read])],
            &booking,
            "sim",
            false,
        ),
    ] {
        assert_eq!(is_agreed(&past, &batch(&[said]), asked), right, "{label}");
    }
}

#[test]
fn the_id_of_a_call_does_not_matter() {
    let booking = call("marcar_horario", BOOKING);
    let again = ToolCall {
        id: CallId::parse("c9").unwrap(),
        ..call(
            "marcar_horario",
            r#"{"who":"Davi","time":"15h","day":"2026-12-01"}"#,
        )
    };
    let past = [exchange(
        1,
        "marca",
        vec![stored(&booking, Effect::Read, preview(&booking))],
    )];
    assert!(is_agreed(&past, &batch(&["sim"]), &again));
}
