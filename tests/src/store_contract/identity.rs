//! Contracts of aliases, tombstones and the creation of contacts.

use recado::domain::{Known, State};
use recado::ports::{AliasAddition, Creation, Written};

use super::Bench;
use super::scene::{Scene, agent, at, bsuid, contact, conversation, creation, phone, phone_text};

async fn create(bench: &dyn Bench, creation: &Creation) -> Written {
    let written = bench.store().create_contact(creation).await;
    written.expect("create")
}

async fn add(bench: &dyn Bench, addition: &AliasAddition) -> Written {
    bench.store().add_alias(addition).await.expect("add")
}

async fn resolve(bench: &dyn Bench, alias: recado::domain::Alias) -> Known {
    let known = bench.store().resolve(&agent(), &[alias]).await;
    known.expect("resolve").remove(0)
}

fn addition(n: u32, seconds: u64) -> AliasAddition {
    AliasAddition {
        conversation: conversation(&phone_text(1)),
        alias: phone(n),
        stale: None,
        event_sent_at: at(seconds),
    }
}

pub async fn a_created_contact_is_known_by_each_of_its_aliases(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let asked = [bsuid(1), phone(2), phone(1)];
    let known = bench.store().resolve(&agent(), &asked).await;
    let expect = |alias, named: bool| Known {
        alias,
        contact: named.then(|| contact(&phone_text(1))),
        ended: None,
    };
    let all = [
        expect(bsuid(1), true),
        expect(phone(2), false),
        expect(phone(1), true),
    ];
    assert_eq!(known.expect("resolve"), all);
    let state = creation(&phone_text(1), &[phone(1), bsuid(1)], 0).state;
    assert_eq!(scene.state().await, state);
    let nothing = bench.store().resolve(&agent(), &[]).await;
    assert_eq!(nothing.expect("resolve"), []);
}

pub async fn of_two_racing_creations_one_wins_and_the_other_leaves_nothing(bench: &dyn Bench) {
    let one = creation("one", &[phone(1), bsuid(1)], 0);
    let two = creation("two", &[bsuid(1), bsuid(2)], 0);
    let results = tokio::join!(create(bench, &one), create(bench, &two));
    let one_won = match results {
        (Written::Done, Written::Lost) => true,
        (Written::Lost, Written::Done) => false,
        other => panic!("{other:?}"),
    };
    for (name, won) in [("one", one_won), ("two", !one_won)] {
        let peek = bench.store().peek(&conversation(name), 81).await;
        assert_eq!(peek.expect("peek").state.is_some(), won, "{name}");
    }
    assert_eq!(resolve(bench, phone(1)).await.contact.is_some(), one_won);
    assert_eq!(resolve(bench, bsuid(2)).await.contact.is_some(), !one_won);
}

pub async fn a_contact_id_that_has_a_state_is_not_created_again(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let before = bench.dump().await;
    let again = creation(&phone_text(1), &[phone(2)], 5);
    assert_eq!(create(bench, &again).await, Written::Lost);
    scene.is_unchanged(&before, "a second creation").await;
}

pub async fn an_alias_that_names_somebody_is_not_taken_by_a_creation(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let before = bench.dump().await;
    let thief = creation("thief", &[phone(2), bsuid(1)], 5);
    assert_eq!(create(bench, &thief).await, Written::Lost);
    let mistaken = Creation {
        stale: vec![(bsuid(1), contact("somebody else"))],
        ..thief
    };
    assert_eq!(create(bench, &mistaken).await, Written::Lost);
    scene.is_unchanged(&before, "a theft").await;
}

pub async fn an_alias_that_names_the_given_ended_life_is_replaced(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.begin(20).await;
    let next = Creation {
        stale: vec![(phone(1), contact(&phone_text(1)))],
        ..creation("next", &[phone(1)], 30)
    };
    assert_eq!(create(bench, &next).await, Written::Done);
    let known = resolve(bench, phone(1)).await;
    assert_eq!(known.contact, Some(contact("next")));
    // One that meanwhile went is as good as one that still names it.
    let free = Creation {
        stale: vec![(phone(3), contact("gone"))],
        ..creation("third", &[phone(3)], 30)
    };
    assert_eq!(create(bench, &free).await, Written::Done);
}

pub async fn a_creation_needs_every_tombstone_older_than_its_event(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.forget(20).await;
    for (label, seconds, written) in [
        ("sent before the erasure", 19, Written::Lost),
        ("sent in the very millisecond", 20, Written::Lost),
        ("sent after it", 21, Written::Done),
    ] {
        let before = bench.dump().await;
        // The tombstone is the second alias's.
        let next = creation("next", &[phone(7), bsuid(1)], seconds);
        assert_eq!(create(bench, &next).await, written, "{label}");
        if written == Written::Lost {
            scene.is_unchanged(&before, label).await;
        }
    }
}

pub async fn an_ended_life_is_never_lived_again(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    scene.forget(20).await;
    let before = bench.dump().await;
    let again = creation(&phone_text(1), &[phone(1)], 30);
    assert_eq!(create(bench, &again).await, Written::Lost);
    scene.is_unchanged(&before, "a used contact id").await;
    let next = creation(&format!("{}~2", phone_text(1)), &[phone(1)], 30);
    assert_eq!(create(bench, &next).await, Written::Done);
}

pub async fn a_life_whose_alias_is_anothers_by_now_is_not_lived_again_either(bench: &dyn Bench) {
    // The number was given to somebody else, and the BSUID stayed; the contact id is still made of the number.
    let second = format!("{}~2", phone_text(1));
    let moved = creation(&second, &[bsuid(1)], 0);
    assert_eq!(create(bench, &moved).await, Written::Done);
    let owner = creation(&format!("{}~3", phone_text(1)), &[phone(1)], 5);
    assert_eq!(create(bench, &owner).await, Written::Done);
    let scene = Scene {
        bench,
        conversation: conversation(&second),
    };
    scene.forget(20).await;
    let known = resolve(bench, phone(1)).await;
    assert_eq!(
        known.contact,
        Some(contact(&format!("{}~3", phone_text(1))))
    );
    let ended = known.ended.expect("a tombstone");
    assert_eq!(ended.lives, [bench.hasher().life(&scene.conversation)]);
    assert!(ended.at < at(0), "the owner's messages are not late");
    // The owner goes too; a message from before the first erasure would still find nobody of this id.
    let owner = Scene {
        bench,
        conversation: owner.conversation,
    };
    owner.forget(30).await;
    let ended = resolve(bench, phone(1)).await.ended.expect("a tombstone");
    assert_eq!((ended.at, ended.lives.len()), (at(30), 2));
    let again = creation(&second, &[phone(1)], 40);
    assert_eq!(create(bench, &again).await, Written::Lost);
}

pub async fn an_added_alias_is_in_the_states_list_and_raises_its_version(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    assert_eq!(add(bench, &addition(2, 5)).await, Written::Done);
    let state = scene.state().await;
    assert_eq!(state.aliases, [phone(1), bsuid(1), phone(2)]);
    assert_eq!(state.version, 2);
    let known = resolve(bench, phone(2)).await;
    assert_eq!(known.contact, Some(contact(&phone_text(1))));
    let before = bench.dump().await;
    assert_eq!(add(bench, &addition(2, 5)).await, Written::Lost);
    scene.is_unchanged(&before, "added twice").await;
}

pub async fn a_contact_has_so_many_aliases_and_no_more(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let most = u32::try_from(State::ALIASES_MAX).expect("a small number");
    for n in 2..most {
        assert_eq!(add(bench, &addition(n, 5)).await, Written::Done, "{n}");
    }
    assert_eq!(scene.state().await.aliases.len(), State::ALIASES_MAX);
    let before = bench.dump().await;
    let last = addition(most, 5);
    assert_eq!(add(bench, &last).await, Written::Lost);
    scene.is_unchanged(&before, "one too many").await;
    let aliases = scene.state().await.aliases;
    let known = bench.store().resolve(&agent(), &aliases).await;
    assert_eq!(known.expect("one snapshot").len(), State::ALIASES_MAX);
}

pub async fn a_meeting_is_noted_once_and_so_many_of_them(bench: &dyn Bench) {
    let nobody = Scene::of(bench, 2);
    let meet = async |scene: &Scene<'_>, n: usize| {
        let other = contact(&format!("other {n}"));
        let noted = bench
            .store()
            .note_meeting(&scene.conversation, &other)
            .await;
        noted.expect("note")
    };
    let before = bench.dump().await;
    assert_eq!(meet(&nobody, 1).await, Written::Lost);
    nobody.is_unchanged(&before, "nobody's meeting").await;
    let scene = Scene::new(bench).await;
    for n in 0..State::MET_MAX {
        assert_eq!(meet(&scene, n).await, Written::Done, "{n}");
        assert_eq!(meet(&scene, n).await, Written::Lost, "{n} again");
    }
    let state = scene.state().await;
    assert_eq!(state.version, 1 + State::MET_MAX as u64);
    assert_eq!(
        (state.met.len(), &state.met[1]),
        (State::MET_MAX, &contact("other 1"))
    );
    let before = bench.dump().await;
    for n in [1, State::MET_MAX] {
        assert_eq!(meet(&scene, n).await, Written::Lost, "{n}");
        scene.is_unchanged(&before, "noted, or one too many").await;
    }
    scene.change(|state| state.met.clear()).await;
    assert_eq!(meet(&scene, 3).await, Written::Done);
}

pub async fn an_alias_is_not_added_to_a_contact_without_state(bench: &dyn Bench) {
    let scene = Scene::of(bench, 1);
    let before = bench.dump().await;
    assert_eq!(add(bench, &addition(2, 5)).await, Written::Lost);
    scene.is_unchanged(&before, "added to nobody").await;
}

pub async fn an_alias_that_names_somebody_is_not_added(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let other = creation("other", &[phone(2)], 0);
    assert_eq!(create(bench, &other).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(add(bench, &addition(2, 5)).await, Written::Lost);
    scene.is_unchanged(&before, "another's alias").await;
}

pub async fn an_alias_is_not_added_on_an_event_from_before_its_erasure(bench: &dyn Bench) {
    let other = creation("other", &[phone(2)], 0);
    assert_eq!(create(bench, &other).await, Written::Done);
    let gone = Scene {
        bench,
        conversation: conversation("other"),
    };
    gone.forget(20).await;
    let scene = Scene::new(bench).await;
    for (label, seconds, written) in [
        ("sent before", 19, Written::Lost),
        ("sent in the very millisecond", 20, Written::Lost),
        ("sent after", 21, Written::Done),
    ] {
        let before = bench.dump().await;
        assert_eq!(add(bench, &addition(2, seconds)).await, written, "{label}");
        if written == Written::Lost {
            scene.is_unchanged(&before, label).await;
        }
    }
}

pub async fn an_alias_of_an_ended_life_is_added_only_while_it_names_that_life(bench: &dyn Bench) {
    let other = creation("other", &[phone(2)], 0);
    assert_eq!(create(bench, &other).await, Written::Done);
    let ended = Scene {
        bench,
        conversation: conversation("other"),
    };
    ended.begin(20).await;
    let scene = Scene::new(bench).await;
    let before = bench.dump().await;
    for (label, stale) in [("not said", None), ("another life", Some(contact("third")))] {
        let addition = AliasAddition {
            stale,
            ..addition(2, 30)
        };
        assert_eq!(add(bench, &addition).await, Written::Lost, "{label}");
        scene.is_unchanged(&before, label).await;
    }
    let right = AliasAddition {
        stale: Some(contact("other")),
        ..addition(2, 30)
    };
    assert_eq!(add(bench, &right).await, Written::Done);
    let known = resolve(bench, phone(2)).await;
    assert_eq!(known.contact, Some(contact(&phone_text(1))));
}
