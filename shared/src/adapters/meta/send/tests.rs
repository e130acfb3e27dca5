//! The request's form; what follows from answers is tested in `outcome` and in `tests/tests/graph_send.rs`.

use super::*;
use crate::domain::{Bsuid, Phone};

fn outgoing(to: Address) -> Outgoing {
    Outgoing {
        number: BusinessNumber::parse("100000000000001").unwrap(),
        to,
        reply: ReplyId::from_parts(1, 1),
        text: "oi".to_owned(),
    }
}

#[test]
fn a_phone_is_sent_in_to_and_a_bsuid_in_recipient() {
    let phone = request(&outgoing(Address::Phone(
        Phone::parse("551190000001").unwrap(),
    )));
    assert_eq!(phone["to"], "551190000001");
    assert!(phone.get("recipient").is_none());

    let bsuid = request(&outgoing(Address::Bsuid(Bsuid::parse("BR.1").unwrap())));
    assert_eq!(bsuid["recipient"], "BR.1");
    assert!(bsuid.get("to").is_none());
    assert_eq!(
        bsuid["biz_opaque_callback_data"],
        ReplyId::from_parts(1, 1).to_string()
    );
}

#[test]
fn an_address_is_put_together_from_escaped_parts() {
    for (label, base, segments, expected) in [
        (
            "plain",
            "https://graph.facebook.com",
            ["v25.0", "1", "messages"],
            "https://graph.facebook.com/v25.0/1/messages",
        ),
        (
            "slash at the end",
            "http://127.0.0.1:7000/",
            ["v25.0", "1", "messages"],
            "http://127.0.0.1:7000/v25.0/1/messages",
        ),
        (
            "below a path",
            "http://127.0.0.1/graph",
            ["v25.0", "1", "messages"],
            "http://127.0.0.1/graph/v25.0/1/messages",
        ),
        (
            "a part with a slash",
            "http://127.0.0.1",
            ["v25.0", "1/../2", "messages"],
            "http://127.0.0.1/v25.0/1%2F..%2F2/messages",
        ),
    ] {
        assert_eq!(
            below(&address(base, "base").unwrap(), &segments).as_str(),
            expected,
            "{label}"
        );
    }
    for wrong in [
        "",
        "graph.facebook.com",
        "file:///tmp",
        "mailto:a@example.com",
    ] {
        assert!(address(wrong, "base").is_err(), "{wrong}");
    }
}
