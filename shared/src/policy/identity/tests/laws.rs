//! What holds for every reading of the table.

use proptest::prelude::*;

use super::*;

fn any_known() -> impl Strategy<Value = Vec<Known>> {
    let id = prop_oneof![
        Just(PHONE.to_owned()),
        Just(BSUID.to_owned()),
        (2_u32..5).prop_map(|life| format!("{PHONE}~{life}")),
        (2_u32..5).prop_map(|life| format!("{BSUID}~{life}")),
    ];
    let row = (
        proptest::option::of(id.clone()),
        proptest::option::of((0_u64..1000, proptest::collection::vec(id, 0..4))),
    );
    (row.clone(), row, 0..3).prop_map(|(of_phone, of_bsuid, which)| {
        let make = |alias, (names, ended): (Option<String>, Option<(u64, Vec<String>)>)| {
            let ended = ended.map(|(at, of)| {
                let of: Vec<&str> = of.iter().map(String::as_str).collect();
                Ended {
                    at: Timestamp::from_ms(at),
                    lives: lives(&of),
                }
            });
            Known {
                alias,
                contact: names.as_deref().map(contact),
                ended,
            }
        };
        let of_phone = make(phone(), of_phone);
        let of_bsuid = make(bsuid(), of_bsuid);
        match which {
            0 => vec![of_phone],
            1 => vec![of_bsuid],
            _ => vec![of_bsuid, of_phone],
        }
    })
}

proptest! {
    #[test]
    fn the_canonical_form_is_its_own_canonical_form(digits in "[0-9]{5,20}") {
        let once = canonical(&Phone::parse(digits).unwrap());
        prop_assert_eq!(canonical(&once), once);
    }

    #[test]
    fn no_event_of_any_life_reaches_an_ended_one(known in any_known(), sent_at in 0_u64..1200) {
        let ended: Vec<String> = known
            .iter()
            .filter_map(|known| known.ended.clone())
            .flat_map(|ended| ended.lives)
            .collect();
        let late = known
            .iter()
            .any(|known| known.ended.as_ref().is_some_and(|ended| ended.at.ms() >= sent_at));
        let decision = decide_at(sent_at, &known, &[]);
        prop_assert_eq!(decision == Decision::Late, late);
        let contact = match decision {
            Decision::Late => return Ok(()),
            Decision::Known { contact, add } => {
                prop_assert!(add.len() < known.len());
                contact
            }
            Decision::Create { contact, aliases, stale } => {
                prop_assert_eq!(aliases.len(), known.len());
                for (_, old) in stale {
                    prop_assert!(ended.contains(&life(&agent(), &old, &hasher())));
                }
                contact
            }
            Decision::Conflict { take, other } => {
                prop_assert_ne!(&take, &other);
                take
            }
        };
        prop_assert!(!ended.contains(&life(&agent(), &contact, &hasher())));
    }
}
