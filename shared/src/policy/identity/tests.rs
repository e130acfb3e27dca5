//! Tables with the boundaries named; the laws are in `laws`.

mod laws;

use super::*;
use crate::domain::{Bsuid, Ended};

const PHONE: &str = "5511900000001";
const BSUID: &str = "BR.1000000000000001";

fn agent() -> AgentId {
    AgentId::parse("recepcao").unwrap()
}

fn hasher() -> Hasher {
    Hasher::new(b"a key for tests only")
}

fn contact(text: &str) -> ContactId {
    ContactId::parse(text).unwrap()
}

fn phone() -> Alias {
    Alias::Phone(Phone::parse(PHONE).unwrap())
}

fn bsuid() -> Alias {
    Alias::Bsuid(Bsuid::parse(BSUID).unwrap())
}

fn lives(of: &[&str]) -> Vec<String> {
    of.iter()
        .map(|text| life(&agent(), &contact(text), &hasher()))
        .collect()
}

fn known(alias: Alias, names: Option<&str>, ended: Option<(u64, &[&str])>) -> Known {
    Known {
        alias,
        contact: names.map(contact),
        ended: ended.map(|(at, of)| Ended {
            at: Timestamp::from_ms(at),
            lives: lives(of),
        }),
    }
}

fn decide_at(sent_at: u64, known: &[Known], taken: &[&str]) -> Decision {
    let taken: Vec<ContactId> = taken.iter().map(|text| contact(text)).collect();
    let sent_at = Timestamp::from_ms(sent_at);
    decide(&agent(), known, sent_at, &taken, &hasher()).unwrap()
}

fn create(id: &str, aliases: &[Alias], stale: &[(Alias, &str)]) -> Decision {
    let stale = stale.iter().map(|(alias, id)| (alias.clone(), contact(id)));
    Decision::Create {
        contact: contact(id),
        aliases: aliases.to_vec(),
        stale: stale.collect(),
    }
}

fn is_known(id: &str, add: &[(Alias, Option<&str>)]) -> Decision {
    let add = add.iter().map(|(alias, stale)| Addition {
        alias: alias.clone(),
        stale: stale.map(contact),
    });
    Decision::Known {
        contact: contact(id),
        add: add.collect(),
    }
}

#[test]
fn a_phone_has_one_canonical_form() {
    for (label, given, expected) in [
        (
            "Brazil, eight digits from 9",
            "551190000001",
            "5511990000001",
        ),
        (
            "Brazil, eight digits from 6",
            "551160000001",
            "5511960000001",
        ),
        ("Brazil, a landline from 5", "551150000001", "551150000001"),
        ("Brazil, nine digits", "5511900000001", "5511900000001"),
        ("Brazil, too short", "55119000000", "55119000000"),
        ("Mexico with the 1", "5215500000001", "525500000001"),
        ("Mexico without", "525500000001", "525500000001"),
        ("Mexico, a digit short", "521550000001", "521550000001"),
        ("Argentina with the 9", "5491100000001", "541100000001"),
        ("Argentina without", "541100000001", "541100000001"),
        ("Argentina, a digit short", "549110000001", "549110000001"),
        ("Portugal", "351900000001", "351900000001"),
        ("shortest", "55119", "55119"),
    ] {
        let form = canonical(&Phone::parse(given).unwrap());
        assert_eq!(form.as_str(), expected, "{label}");
    }
}

#[test]
fn a_person_is_created_under_the_phone_or_else_the_bsuid() {
    for (label, aliases, id) in [
        ("phone alone", vec![phone()], PHONE),
        ("BSUID alone", vec![bsuid()], BSUID),
        ("both", vec![phone(), bsuid()], PHONE),
        ("both, BSUID first", vec![bsuid(), phone()], PHONE),
    ] {
        let rows: Vec<Known> = aliases
            .into_iter()
            .map(|alias| known(alias, None, None))
            .collect();
        let Decision::Create { contact, .. } = decide_at(1000, &rows, &[]) else {
            panic!("{label}");
        };
        assert_eq!(contact.as_str(), id, "{label}");
    }
}

#[test]
fn a_known_person_gains_the_ids_that_name_nobody() {
    let rows = [
        known(phone(), Some(PHONE), None),
        known(bsuid(), None, None),
    ];
    assert_eq!(
        decide_at(1000, &rows, &[]),
        is_known(PHONE, &[(bsuid(), None)])
    );

    let rows = [
        known(phone(), None, None),
        known(bsuid(), Some(BSUID), None),
    ];
    assert_eq!(
        decide_at(1000, &rows, &[]),
        is_known(BSUID, &[(phone(), None)])
    );

    let rows = [
        known(phone(), Some(PHONE), None),
        known(bsuid(), Some(PHONE), None),
    ];
    assert_eq!(decide_at(1000, &rows, &[]), is_known(PHONE, &[]));
}

#[test]
fn an_alias_of_an_ended_life_counts_as_missing() {
    let life_of_bsuid: &[&str] = &[BSUID];
    let rows = [
        known(phone(), Some(PHONE), None),
        known(bsuid(), Some(BSUID), Some((500, life_of_bsuid))),
    ];
    assert_eq!(
        decide_at(1000, &rows, &[]),
        is_known(PHONE, &[(bsuid(), Some(BSUID))])
    );

    let both: &[&str] = &[PHONE];
    let rows = [
        known(phone(), None, Some((500, both))),
        known(bsuid(), Some(PHONE), Some((500, both))),
    ];
    assert_eq!(
        decide_at(1000, &rows, &[]),
        create(
            &format!("{PHONE}~2"),
            &[phone(), bsuid()],
            &[(bsuid(), PHONE)]
        )
    );
}

#[test]
fn an_event_sent_at_or_before_an_erasure_is_late() {
    let ended: &[&str] = &[PHONE];
    let second = format!("{PHONE}~2");
    for (label, sent_at, names, late) in [
        ("before", 499, None, true),
        ("at that moment", 500, None, true),
        ("just after", 501, None, false),
        (
            "before, and the next life has begun",
            499,
            Some(second.as_str()),
            true,
        ),
        (
            "after, and the next life has begun",
            501,
            Some(second.as_str()),
            false,
        ),
    ] {
        let rows = [known(phone(), names, Some((500, ended)))];
        assert_eq!(
            decide_at(sent_at, &rows, &[]) == Decision::Late,
            late,
            "{label}"
        );
    }
    let rows = [
        known(phone(), Some(PHONE), None),
        known(bsuid(), None, Some((500, &[]))),
    ];
    assert_eq!(
        decide_at(500, &rows, &[]),
        Decision::Late,
        "one alias is enough"
    );
}

#[test]
fn ids_that_name_two_people_are_a_conflict_which_the_phone_takes() {
    let expected = Decision::Conflict {
        take: contact(PHONE),
        other: contact(BSUID),
    };
    let rows = [
        known(phone(), Some(PHONE), None),
        known(bsuid(), Some(BSUID), None),
    ];
    assert_eq!(decide_at(1000, &rows, &[]), expected);
    let rows = [rows[1].clone(), rows[0].clone()];
    assert_eq!(decide_at(1000, &rows, &[]), expected, "in whatever order");
}

#[test]
fn a_contact_id_is_used_for_one_life() {
    let second = format!("{PHONE}~2");
    let third = format!("{PHONE}~3");
    let two: &[&str] = &[PHONE, &second];
    let one: &[&str] = &[PHONE];
    for (label, ended, taken, id) in [
        ("never used", None, vec![], PHONE),
        ("its state exists", None, vec![PHONE], second.as_str()),
        ("ended", Some((500, one)), vec![], &second),
        ("ended twice", Some((500, two)), vec![], &third),
        (
            "ended, and the next is taken",
            Some((500, one)),
            vec![second.as_str()],
            &third,
        ),
    ] {
        let rows = [known(phone(), None, ended)];
        assert_eq!(
            decide_at(1000, &rows, &taken),
            create(id, &[phone()], &[]),
            "{label}"
        );
    }
}

#[test]
fn a_life_ended_under_the_other_id_is_not_used_again_either() {
    let ended: &[&str] = &[PHONE];
    let rows = [
        known(phone(), None, None),
        known(bsuid(), None, Some((500, ended))),
    ];
    let expected = create(&format!("{PHONE}~2"), &[phone(), bsuid()], &[]);
    assert_eq!(decide_at(1000, &rows, &[]), expected);
}

#[test]
fn no_alias_no_decision() {
    assert_eq!(
        decide(&agent(), &[], Timestamp::from_ms(1), &[], &hasher()),
        None
    );
}

#[test]
fn a_status_finds_every_living_contact_once() {
    let ended: &[&str] = &[BSUID];
    let rows = [
        known(bsuid(), Some(BSUID), Some((500, ended))),
        known(phone(), Some(PHONE), None),
    ];
    assert_eq!(living(&agent(), &rows, &hasher()), [contact(PHONE)]);
}
