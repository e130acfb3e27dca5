//! Contracts of the agenda.

use recado::domain::{Day, Entry, EntryId, EntryKind, EntryStatus, Priority};
use recado::ports::Written;

use super::Bench;
use super::scene::{Scene, at};

fn entry(id: &str, made: u64) -> Entry {
    Entry {
        id: EntryId::parse(id).expect("an id"),
        kind: EntryKind::Appointment,
        title: format!("title {id}"),
        text: Some("words".to_owned()),
        day: Day::parse("2030-12-04T16:00"),
        until: Day::parse("2030-12-04"),
        priority: Priority::High,
        status: EntryStatus::Open,
        version: 1,
        written_by: format!("key{id}"),
        made_at: at(made),
        changed_at: at(made),
    }
}

fn changed(entry: &Entry, key: &str) -> Entry {
    Entry {
        version: entry.version + 1,
        written_by: key.to_owned(),
        day: None,
        text: None,
        status: EntryStatus::Done,
        ..entry.clone()
    }
}

async fn write(scene: &Scene<'_>, entry: &Entry) -> Written {
    let agenda = scene.bench.agenda();
    let written = agenda.write(&scene.conversation, entry).await;
    written.expect("write")
}

async fn entries(scene: &Scene<'_>) -> Vec<Entry> {
    let entries = scene.bench.agenda().entries(&scene.conversation).await;
    entries.expect("entries")
}

pub async fn an_agenda_comes_in_the_order_it_was_made(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    assert!(entries(&scene).await.is_empty());
    let made = [entry("b", 1), entry("a", 2), entry("c", 2)];
    for entry in made.iter().rev() {
        assert_eq!(write(&scene, entry).await, Written::Done);
    }
    scene.answered(1, &["a"]).await;
    assert!(entries(&scene).await == made);
    let memory = scene.store().load(&scene.conversation).await;
    assert!(memory.expect("load").agenda == made, "memory has it too");
}

pub async fn a_change_needs_the_version_it_was_made_from(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let first = entry("a", 1);
    assert_eq!(write(&scene, &changed(&first, "k")).await, Written::Lost);
    assert_eq!(write(&scene, &first).await, Written::Done);
    let twin = Entry {
        title: "another".to_owned(),
        ..first.clone()
    };
    assert_eq!(write(&scene, &twin).await, Written::Lost, "there is one");
    let second = changed(&first, "k2");
    assert_eq!(write(&scene, &second).await, Written::Done);
    let late = changed(&first, "k3");
    assert_eq!(write(&scene, &late).await, Written::Lost);
    assert!(entries(&scene).await == [second]);
}

pub async fn a_repeated_entry_is_done_and_changes_nothing(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let first = entry("a", 1);
    assert_eq!(write(&scene, &first).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(write(&scene, &first).await, Written::Done);
    scene.is_unchanged(&before, "a new one").await;
    let second = changed(&first, "k2");
    assert_eq!(write(&scene, &second).await, Written::Done);
    let before = bench.dump().await;
    assert_eq!(write(&scene, &second).await, Written::Done);
    scene.is_unchanged(&before, "a change").await;
}

pub async fn nothing_is_written_for_a_person_who_is_gone(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let first = entry("a", 1);
    assert_eq!(write(&scene, &first).await, Written::Done);
    scene.begin(50).await;
    let before = bench.dump().await;
    assert_eq!(write(&scene, &entry("b", 2)).await, Written::Lost);
    assert_eq!(write(&scene, &changed(&first, "k")).await, Written::Lost);
    scene.is_unchanged(&before, "after the beginning").await;
}
