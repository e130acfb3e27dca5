//! What a body gives, level by level. Whole payloads are in `tests/tests/webhook_meta.rs`.

use proptest::prelude::*;
use serde_json::json;

use super::super::signature::{sign, verify};
use super::*;
use crate::domain::{Address, Alias, Content};

const ARRIVED: Timestamp = Timestamp::from_ms(1_780_000_100_000);

fn parse_bytes(raw: &[u8]) -> Result<Parsed, BodyError> {
    let header = sign(b"secret", raw);
    parse(verify(&["secret"], Some(&header), raw).unwrap(), ARRIVED)
}

fn parse_value(value: &Value) -> Parsed {
    let body = json!({ "object": "whatsapp_business_account", "entry": [
        { "id": "1", "changes": [{ "field": "messages", "value": value }] },
    ] });
    parse_bytes(body.to_string().as_bytes()).unwrap()
}

fn value(contacts: &Value, messages: &Value) -> Value {
    json!({
        "metadata": { "phone_number_id": "100000000000001" },
        "contacts": contacts, "messages": messages,
    })
}

/// The aliases of each event, and how many items were rejected.
fn who(parsed: &Parsed) -> (Vec<Vec<&str>>, usize) {
    let of = |event: &'static str, aliases| (event, aliases);
    let events = parsed.events.iter().map(|event| match event {
        ProviderEvent::Message(inbound) => of("message", &inbound.aliases),
        ProviderEvent::Status(update) => of("status", &update.aliases),
    });
    let aliases = events.map(|(_, aliases)| aliases.iter().map(Alias::as_str).collect());
    (aliases.collect(), parsed.rejected.len())
}

#[test]
fn the_sender_is_found_wherever_it_stands_and_never_guessed() {
    let text = |from: Value| {
        let mut message = json!({ "id": "wamid.1", "type": "text", "text": { "body": "oi" } });
        for (name, id) in from.as_object().unwrap() {
            message[name.as_str()] = id.clone();
        }
        message
    };
    let (phone, other) = ("5511900000001", "5511900000002");
    let (user, stranger) = ("BR.1000000000000001", "BR.1000000000000002");
    for (label, contacts, from, expected) in [
        (
            "phone alone",
            json!([]),
            json!({ "from": phone }),
            vec![phone],
        ),
        (
            "phone with a plus",
            json!([]),
            json!({ "from": "+5511900000001" }),
            vec![phone],
        ),
        (
            "phone as a number",
            json!([]),
            json!({ "from": 5_511_900_000_001_u64 }),
            vec![phone],
        ),
        (
            "both in the message",
            json!([]),
            json!({ "from": phone, "from_user_id": user }),
            vec![phone, user],
        ),
        (
            "BSUID in from",
            json!([]),
            json!({ "from": user }),
            vec![user],
        ),
        (
            "BSUID alone",
            json!([]),
            json!({ "from_user_id": user }),
            vec![user],
        ),
        (
            "the contact of that phone adds the BSUID",
            json!([{ "wa_id": phone, "user_id": user }]),
            json!({ "from": phone }),
            vec![phone, user],
        ),
        (
            "old form in from, new form in wa_id",
            json!([{ "wa_id": "5511990000001", "user_id": user }]),
            json!({ "from": "551190000001" }),
            vec!["5511990000001", user],
        ),
        (
            "the contact of that BSUID adds the phone",
            json!([{ "wa_id": phone, "user_id": user }]),
            json!({ "from_user_id": user }),
            vec![phone, user],
        ),
        (
            "another phone's contact adds nothing",
            json!([{ "wa_id": other, "user_id": stranger }]),
            json!({ "from": phone }),
            vec![phone],
        ),
        (
            "the only contact, for want of any id",
            json!([{ "user_id": user }]),
            json!({}),
            vec![user],
        ),
        (
            "BSUID in wa_id, for want of any id",
            json!([{ "wa_id": user }]),
            json!({}),
            vec![user],
        ),
        (
            "the contact at the same place is taken for one of one",
            json!([{ "wa_id": phone }]),
            json!({ "from": null }),
            vec![phone],
        ),
        (
            "two contacts and one message without id",
            json!([{ "wa_id": phone }, { "wa_id": other }]),
            json!({}),
            vec![],
        ),
        (
            "the parent id for want of any other",
            json!([]),
            json!({ "from_parent_user_id": "BR.ENT.7" }),
            vec!["BR.ENT.7"],
        ),
        (
            "the parent id beside another",
            json!([]),
            json!({ "from_user_id": user, "from_parent_user_id": "BR.ENT.7" }),
            vec![user],
        ),
        ("nothing", json!([]), json!({}), vec![]),
        ("a name", json!([]), json!({ "from": "Maria" }), vec![]),
    ] {
        let parsed = parse_value(&value(&contacts, &json!([text(from)])));
        let (aliases, rejected) = who(&parsed);
        let expected: Vec<Vec<&str>> = if expected.is_empty() {
            vec![]
        } else {
            vec![expected]
        };
        assert_eq!(rejected, usize::from(expected.is_empty()), "{label}");
        assert_eq!(aliases, expected, "{label}");
    }
}

#[test]
fn the_answer_goes_to_exactly_the_id_that_wrote() {
    let message = json!([{ "id": "wamid.1", "from": "551190000001", "type": "image" }]);
    let parsed = parse_value(&value(&json!([{ "wa_id": "5511990000001" }]), &message));
    let ProviderEvent::Message(inbound) = &parsed.events[0] else {
        panic!("a message");
    };
    let Address::Phone(phone) = &inbound.reply_to else {
        panic!("a phone");
    };
    assert_eq!(phone.as_str(), "551190000001");
}

#[test]
fn a_bad_item_never_sinks_the_others() {
    let good = json!({ "id": "wamid.9", "from": "5511900000001", "type": "text", "text": { "body": "oi" } });
    for bad in [
        json!(null),
        json!(7),
        json!("text"),
        json!([]),
        json!({}),
        json!({ "id": "wamid.8" }),
        json!({ "id": null, "from": "5511900000001" }),
        json!({ "id": { "a": 1 }, "from": ["5511900000001"] }),
    ] {
        let parsed = parse_value(&value(&json!([7, null]), &json!([bad, good, bad])));
        assert_eq!(parsed.events.len(), 1, "{bad}");
        assert_eq!(parsed.rejected.len(), 2, "{bad}");
    }
}

#[test]
fn messages_of_one_second_keep_the_order_of_the_body() {
    let message = |id: &str| json!({ "id": id, "from": "5511900000001", "timestamp": "1780000000", "type": "text", "text": { "body": "oi" } });
    let messages = json!([message("wamid.z"), message("wamid.a"), message("wamid.m")]);
    let parsed = parse_value(&value(&json!([]), &messages));
    let mut ids: Vec<_> = parsed
        .events
        .iter()
        .filter_map(|event| match event {
            ProviderEvent::Message(m) => Some((m.sent_at, m.arrived_at, m.id.as_str())),
            ProviderEvent::Status(_) => None,
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(
        ids.iter().map(|id| id.2).collect::<Vec<_>>(),
        ["wamid.z", "wamid.a", "wamid.m"]
    );
}

#[test]
fn a_body_that_is_no_object_is_refused_with_a_reason() {
    let deep = "[".repeat(200_000);
    let deep_object = "{\"entry\":".repeat(100_000);
    for (label, raw, expected) in [
        ("nothing", "", BodyError::NotJson),
        ("words", "hello", BodyError::NotJson),
        ("cut", "{\"entry\":[", BodyError::NotJson),
        ("a list", "[]", BodyError::NotAnObject),
        ("null", "null", BodyError::NotAnObject),
        ("a number", "1", BodyError::NotAnObject),
        ("a deep list", &deep, BodyError::NotJson),
        ("a deep object", &deep_object, BodyError::NotJson),
    ] {
        assert_eq!(
            parse_bytes(raw.as_bytes()).unwrap_err(),
            expected,
            "{label}"
        );
    }
}

#[test]
fn an_object_that_holds_nothing_for_us_is_left_out_and_not_refused() {
    for (label, raw, reason) in [
        ("nothing", "{}", "a body without entry"),
        ("null", r#"{"entry":null}"#, "a body without entry"),
        ("a text", r#"{"entry":"1"}"#, "entry is not a list"),
        (
            "another product",
            r#"{"object":"page","entry":[]}"#,
            "the object is not a whatsapp_business_account",
        ),
    ] {
        let parsed = parse_bytes(raw.as_bytes()).unwrap();
        assert!(parsed.events.is_empty(), "{label}");
        assert_eq!(parsed.rejected, [Rejected { reason }], "{label}");
    }
}

#[test]
fn a_body_of_a_mebibyte_is_read() {
    let text = "a".repeat(1024 * 1024);
    let message = json!([{ "id": "wamid.1", "from": "5511900000001", "type": "text", "text": { "body": text } }]);
    assert_eq!(parse_value(&value(&json!([]), &message)).events.len(), 1);
}

#[test]
fn half_a_character_in_one_message_spares_the_other() {
    let raw = br#"{"entry":[{"changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"1"},
        "messages":[{"id":"a","from":"5511900000001","type":"text","text":{"body":"oi \ud83d"}},
                    {"id":"b","from":"5511900000002","type":"text","text":{"body":"ol\u00e1 \u0000"}}]}}]}]}"#;
    let parsed = parse_bytes(raw).unwrap();
    let texts: Vec<&Content> = parsed
        .events
        .iter()
        .filter_map(|event| match event {
            ProviderEvent::Message(inbound) => Some(&inbound.content),
            ProviderEvent::Status(_) => None,
        })
        .collect();
    assert_eq!(
        texts,
        [
            &Content::Text("oi \u{fffd}".into()),
            &Content::Text("olá ".into())
        ]
    );
}

/// Any JSON that is shaped somewhat like a webhook.
fn webhook_like() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("entry"),
        Just("changes"),
        Just("value"),
        Just("field"),
        Just("metadata"),
        Just("phone_number_id"),
        Just("messages"),
        Just("statuses"),
        Just("contacts"),
        Just("id"),
        Just("from"),
        Just("type"),
        Just("text"),
        Just("body"),
        Just("timestamp"),
        Just("wa_id"),
        Just("errors"),
        Just("code"),
        Just("status"),
        Just("group_id"),
        Just("from_user_id"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        any::<String>().prop_map(Value::from),
        Just(json!("messages")),
        Just(json!("5511900000001")),
    ];
    leaf.prop_recursive(8, 128, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(raw in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_bytes(&raw);
    }

    #[test]
    fn no_json_makes_it_panic(body in webhook_like(), item in webhook_like()) {
        let _ = parse_bytes(body.to_string().as_bytes());
        let parsed = parse_value(&item);
        prop_assert!(parsed.events.is_empty() || item.is_object());
        parse_value(&value(&item, &json!([item])));
    }
}
