//! Whose memory a message goes to: aliases, creations that are lost, erasures that get in between.

use super::*;

#[tokio::test]
async fn a_person_is_one_with_phone_with_both_and_without_phone() {
    let here = Here::new();
    here.take(vec![text("m1", &[ANA], 0)]).await;
    here.take(vec![text("m2", &[ANA, ANA_ID], 1)]).await;
    here.take(vec![text("m3", &[ANA_ID], 2)]).await;

    assert_eq!(here.held(), held(&[(ANA, &["m1", "m2", "m3"])]));
    let state = here.table().people[&conversation(ANA)]
        .state
        .clone()
        .unwrap();
    let aliases: Vec<&str> = state.aliases.iter().map(Alias::as_str).collect();
    assert_eq!((aliases, state.version), (vec![ANA, ANA_ID], 2));
    assert!(matches!(
        stored_event(&here, ANA, "m3").reply_to,
        Address::Bsuid(_)
    ));
}

#[tokio::test]
async fn both_spellings_of_a_phone_are_one_person_who_is_answered_as_they_wrote() {
    let here = Here::new();
    here.take(vec![
        text("m1", &["551190000001"], 0),
        text("m2", &["5511990000001"], 1),
    ])
    .await;
    assert_eq!(here.held(), held(&[("5511990000001", &["m1", "m2"])]));
    let old = Address::Phone(Phone::parse("551190000001").unwrap());
    assert_eq!(stored_event(&here, "5511990000001", "m1").reply_to, old);
}

#[tokio::test]
async fn ids_of_two_people_in_one_message_merge_nobody() {
    let here = Here::new();
    here.take(vec![text("m1", &[ANA], 0), text("m2", &[BIA_ID], 0)])
        .await;
    here.take(vec![text("m3", &[ANA, BIA_ID], 1)]).await;
    assert_eq!(
        here.held(),
        held(&[(ANA, &["m1", "m3"]), (BIA_ID, &["m2"])])
    );
}

#[tokio::test]
async fn a_late_message_of_an_erased_life_is_dropped_and_a_new_one_begins_a_new_life() {
    let here = Here::new();
    here.take(vec![text("m1", &[ANA, ANA_ID], 0)]).await;
    here.clock.set(100);
    here.forget(ANA).await;

    let late = Ingested {
        late: 1,
        ..Ingested::default()
    };
    assert_eq!(
        here.take(vec![text("m1", &[ANA], 0)]).await,
        late,
        "a repeat"
    );
    assert_eq!(
        here.take(vec![text("m2", &[ANA_ID], 100)]).await,
        late,
        "of the same moment"
    );
    assert_eq!(here.take(vec![text("m3", &[ANA], 101)]).await, stored(1));
    assert_eq!(
        here.take(vec![text("m4", &[ANA, ANA_ID], 102)]).await,
        stored(1)
    );
    assert_eq!(
        here.take(vec![text("m5", &[ANA], 99)]).await,
        late,
        "while the next life lives"
    );
    assert_eq!(here.take(vec![text("m6", &[ANA_ID], 103)]).await, stored(1));
    let second = held(&[(ANA, &["m1"]), (SECOND, &["m3", "m4", "m6"])]);
    assert_eq!(
        here.held(),
        second,
        "the crashed erasure's leftover is met by nobody"
    );
}

#[tokio::test]
async fn an_erasure_between_reading_and_creating_wins() {
    let here = Here::new();
    here.faults.before("create_contact", |store| async move {
        // Another message creates the person, who is forgotten at once.
        let bypass = Here::new();
        let creation = bypass.creation(ANA);
        store.create_contact(&creation).await.unwrap();
        world::forget(
            &store,
            &conversation(ANA),
            Timestamp::from_ms(NOON + 50_000),
        )
        .await;
    });
    let late = Ingested {
        late: 1,
        ..Ingested::default()
    };
    assert_eq!(here.take(vec![text("m1", &[ANA], 0)]).await, late);
    assert_eq!(here.held(), []);
}

#[tokio::test]
async fn an_erasure_between_reading_and_adding_an_alias_wins() {
    let here = Here::new();
    here.take(vec![text("m1", &[ANA], 0)]).await;
    here.faults.before("add_alias", |store| async move {
        world::forget(
            &store,
            &conversation(ANA),
            Timestamp::from_ms(NOON + 50_000),
        )
        .await;
    });
    assert_eq!(
        here.take(vec![text("m2", &[ANA, ANA_ID], 60)]).await,
        stored(1)
    );
    assert_eq!(here.held(), held(&[(ANA, &["m1"]), (SECOND, &["m2"])]));
    let table = here.table();
    let named = |alias: &str| {
        table.aliases[&(conversation(ANA).agent, Alias::parse(alias).unwrap())].to_string()
    };
    assert_eq!(
        (named(ANA), named(ANA_ID)),
        (SECOND.to_owned(), SECOND.to_owned())
    );
}

#[tokio::test]
async fn who_lost_the_creation_adopts_the_winner() {
    let here = Here::new();
    here.faults.before("create_contact", |store| async move {
        store
            .create_contact(&Here::new().creation(ANA))
            .await
            .unwrap();
    });
    assert_eq!(
        here.take(vec![text("m1", &[ANA, ANA_ID], 0)]).await,
        stored(1)
    );
    assert_eq!(here.held(), held(&[(ANA, &["m1"])]));
    assert_eq!(here.table().people.len(), 1);
}

#[tokio::test]
async fn a_recycled_number_never_opens_the_memory_of_who_had_it() {
    let here = Here::new();
    here.take(vec![text("m1", &[ANA, ANA_ID], 0)]).await;
    // The number was given up: its alias went, the memory stayed with the other id.
    here.store
        .touch(|table| table.aliases.retain(|(_, alias), _| alias.as_str() != ANA));

    assert_eq!(
        here.take(vec![text("m2", &[ANA, BIA_ID], 1)]).await,
        stored(1)
    );
    assert_eq!(here.take(vec![text("m3", &[ANA_ID], 2)]).await, stored(1));
    assert_eq!(
        here.held(),
        held(&[(ANA, &["m1", "m3"]), (SECOND, &["m2"])])
    );
}

#[tokio::test]
async fn a_contact_fought_over_without_end_is_given_back_to_the_provider() {
    let here = Here::new();
    for _ in 0..20 {
        here.faults.before("create_contact", |store| async move {
            // A creation that is lost each time, for a reason that is gone when it is looked for.
            let taken = Here::new().creation(ANA);
            store.touch(|table| {
                table.people.entry(conversation(ANA)).or_default().state =
                    Some(taken.state.clone());
                for life in 2..40 {
                    let life = conversation(&format!("{ANA}~{life}"));
                    table.people.entry(life).or_default().state = Some(taken.state.clone());
                }
            });
        });
    }
    let outcome = here.take(vec![text("m1", &[ANA], 0)]).await;
    assert_eq!(
        outcome,
        Ingested {
            failed: 1,
            ..Ingested::default()
        }
    );
    assert_eq!(here.held(), []);
}
