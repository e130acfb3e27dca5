//! What counts as a yes, to which call, and after what.

use super::*;
use crate::domain::{Arguments, CallId, ToolName};

mod history;

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
fn a_number_of_a_date_is_not_any_number() {
    let at = |arguments| call("marcar_horario", arguments);
    let booking = at(BOOKING);
    let noon = at(r#"{"start":"2026-12-01T12:00","people":15}"#);
    for (call, said, right) in [
        (&booking, "sim, dia 12", false),
        (&booking, "sim, 12", false),
        (&booking, "sí, el 12", false),
        (&booking, "sim, 12/01", false),
        (&booking, "sim, 01/12", true),
        (&booking, "sim, 1/12", true),
        (&booking, "sim, dia 1/12/2026", true),
        (&booking, "sim, dia 1", true),
        (&booking, "sí, el 1", true),
        (&booking, "sim, 2026-12-01", true),
        (&noon, "sim, dia 12", false),
        (&noon, "sim, dia 15", false),
        (&noon, "sim, 12:00", true),
        (&noon, "yes, the 1", true),
        (&noon, "sim, às 12h", true),
        (&noon, "sí, a las 12h", true),
        (&noon, "sim, 12h30", false),
        (&noon, "sim, às 15h", false),
        (&at(r#"{"at":"09:30"}"#), "sim, 9h30", true),
        (&at(r#"{"at":"09:30"}"#), "sim, às 9h", false),
        (
            &at(r#"{"from":"09:00","to":"10:00"}"#),
            "sim, às 10h",
            false,
        ),
        (&at(r#"{"from":"09:00","to":"10:00"}"#), "sim, 10:00", false),
        (&at(r#"{"from":"09:00","to":"10:00"}"#), "sim, pode", true),
        (
            &at(r#"{"in":"2026-12-01","out":"2026-12-05"}"#),
            "sim, dia 5",
            false,
        ),
        (
            &at(r#"{"in":"2026-12-01","out":"2026-12-05"}"#),
            "sim, 05/12",
            false,
        ),
        (
            &at(r#"{"in":"2026-12-01","out":"2026-12-05"}"#),
            "sim",
            true,
        ),
        (&at(r#"{"day":"12"}"#), "sim, dia 12", true),
    ] {
        assert_eq!(agrees(&[Some(said)], call), right, "{said}");
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

#[test]
fn what_only_sounds_like_a_yes_is_none() {
    let booking = call("marcar_horario", BOOKING);
    for (said, right) in [
        ("oi, tudo bem", false),
        ("bom dia, tudo bem", false),
        ("e aí, tudo certo", false),
        ("hola, todo bien", false),
        ("oi, tudo bem, pode marcar", true),
        ("tudo bem", true),
        ("tudo certo", true),
        ("puede ser", false),
        ("puede que sí", false),
        ("que isso", false),
        ("show me", false),
        ("ya va", false),
        ("vai que", false),
        ("quero pagar", false),
        ("pode enviar", false),
        ("quero marcar", true),
        ("pode reservar", true),
    ] {
        assert_eq!(agrees(&[Some(said)], &booking), right, "{said}");
    }
    assert!(!agrees(&[Some("oi"), Some("tudo bem")], &booking));
    for (tool, said) in [
        ("send_invoice", "pode mandar"),
        ("criar_reserva", "pode agendar"),
        ("pix", "pode pagar"),
    ] {
        assert!(agrees(&[Some(said)], &call(tool, "{}")), "{tool}: {said}");
    }
}
