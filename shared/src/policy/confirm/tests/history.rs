//! After what a yes counts.

use std::time::Duration;

use super::*;
use crate::domain::{
    Address, BusinessNumber, Content, Event, MessageId, PastMessage, Phone, ReplyId, Timestamp,
};

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
        known_sent: true,
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
    let uncertain = Exchange {
        known_sent: false,
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
            "nobody knows whether the answer arrived",
            vec![uncertain],
            &booking,
            "sim",
            false,
        ),
        (
            "what met an apology had no words",
            vec![shown_turn(), apology("")],
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
        assert_eq!(
            is_agreed(&past, None, &batch(&[said]), asked),
            right,
            "{label}"
        );
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
    assert!(is_agreed(&past, None, &batch(&["sim"]), &again));
}

#[test]
fn what_was_said_to_a_human_agrees_to_nothing() {
    let booking = call("marcar_horario", BOOKING);
    let shown = stored(&booking, Effect::Read, preview(&booking));
    let turn = |calls| [exchange(10, "marca", calls)];
    let asked_for = call(hand_off::NAME, "{}");
    let handed = stored(&asked_for, Effect::Read, ToolResult::Ok(String::new()));
    for (label, past, taken_over_at, right) in [
        (
            "before the preview",
            turn(vec![shown.clone()]),
            Some(at(9)),
            true,
        ),
        ("after it", turn(vec![shown.clone()]), Some(at(11)), false),
        (
            "asked for beside it",
            turn(vec![shown, handed]),
            None,
            false,
        ),
    ] {
        let agreed = is_agreed(&past, taken_over_at, &batch(&["sim"]), &booking);
        assert_eq!(agreed, right, "{label}");
    }
}

#[test]
fn a_question_waits_a_day_for_its_yes() {
    let booking = call("marcar_horario", BOOKING);
    let shown = stored(&booking, Effect::Read, preview(&booking));
    let past = [exchange(10, "marca", vec![shown])];
    let day = 24 * 3_600;
    for (label, said_at, right) in [
        ("a day", 10 + day, true),
        ("a day and a second", 11 + day, false),
    ] {
        let yes = Event {
            sent_at: at(said_at),
            ..batch(&["sim"]).events()[0].clone()
        };
        let yes = Batch::from_pending(vec![yes]);
        assert_eq!(is_agreed(&past, None, &yes, &booking), right, "{label}");
    }
}
