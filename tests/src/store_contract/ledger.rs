//! Contracts of the ledger.

use jiff::civil::{Date, date};
use recado::domain::{Booking, Charge, ChargeKind, Counters, Line, Usage};
use recado::ports::Written;

use super::Bench;
use super::scene::{Scene, agent, at, conversation, creation, phone, run_id};

const TODAY: Date = date(2030, 3, 17);

fn charge(model: &str, kind: ChargeKind, micro_usd: Option<u64>) -> Charge {
    Charge {
        model: model.to_owned(),
        kind,
        usage: Usage {
            input_uncached: 1,
            input_cache_read: 2,
            input_cache_write: 3,
            output: 4,
            cost_micro_usd: None,
        },
        micro_usd,
        is_estimate: kind == ChargeKind::Discarded,
    }
}

fn booking(run: u64, of: &str, day: Date, charges: &[Charge]) -> Booking {
    Booking {
        run: run_id(run),
        conversation: conversation(of),
        day,
        began_at: at(run),
        charges: charges.to_vec(),
        turns: 1,
        sessions: 1,
    }
}

async fn book(bench: &dyn Bench, booking: &Booking) {
    bench.ledger().book(booking).await.expect("book");
}

async fn of_day(bench: &dyn Bench, day: Date) -> Vec<Line> {
    let lines = bench.ledger().of_day(&agent(), day).await;
    lines.expect("of a day")
}

async fn of(bench: &dyn Bench, name: &str) -> Vec<Line> {
    let lines = bench.ledger().of_conversation(&conversation(name)).await;
    lines.expect("of a conversation")
}

fn sum(lines: &[Line]) -> Counters {
    let each = lines.iter().map(|line| &line.counters);
    each.fold(Counters::default(), Counters::plus)
}

/// Somebody of this name has written.
async fn lives(bench: &dyn Bench, name: &str, n: u32) {
    let creation = creation(name, &[phone(n)], 0);
    let created = bench.store().create_contact(&creation).await;
    assert_eq!(created.expect("create"), Written::Done);
}

pub async fn what_is_booked_is_counted_by_day_and_by_conversation(bench: &dyn Bench) {
    lives(bench, "one", 1).await;
    lives(bench, "two", 2).await;
    let yesterday = date(2030, 3, 16);
    let answer = charge("a#1", ChargeKind::Answer, Some(5));
    let dropped = charge("b", ChargeKind::Discarded, Some(2));
    let unknown = charge("b", ChargeKind::Answer, None);
    // More runs than shards, so that some share one.
    for run in 0..20 {
        let name = ["one", "two"][usize::from(run % 2 == 1)];
        let charges = [answer.clone(), dropped.clone(), unknown.clone()];
        book(bench, &booking(run, name, TODAY, &charges)).await;
    }
    book(
        bench,
        &booking(30, "one", yesterday, &[answer.clone(), answer]),
    )
    .await;
    let lines = of_day(bench, TODAY).await;
    let keys: Vec<_> = lines
        .iter()
        .map(|line| (line.day, line.model.as_str(), line.kind))
        .collect();
    let right = [
        (TODAY, "a#1", ChargeKind::Answer),
        (TODAY, "b", ChargeKind::Answer),
        (TODAY, "b", ChargeKind::Discarded),
    ];
    assert_eq!(keys, right);
    let first = Counters {
        calls: 20,
        input_uncached: 20,
        input_cache_read: 40,
        input_cache_write: 60,
        output: 80,
        micro_usd: 100,
        turns: 20,
        sessions: 20,
        ..Counters::default()
    };
    assert_eq!(lines[0].counters, first);
    assert_eq!(lines[1].counters.calls_of_unknown_cost, 20);
    assert_eq!(lines[2].counters.estimated_micro_usd, 40);
    let mine = of(bench, "one").await;
    assert_eq!(mine.len(), 4, "three of today, one of the day before");
    assert_eq!((mine[0].day, mine[0].counters.calls), (yesterday, 2));
    assert_eq!(sum(&mine).calls + sum(&of(bench, "two").await).calls, 62);
    let spent = bench.ledger().spent_on(&agent(), TODAY).await;
    assert_eq!(spent.expect("spent"), 140);
    assert!(of_day(bench, date(2030, 3, 18)).await.is_empty());
}

pub async fn a_run_that_is_booked_again_counts_once(bench: &dyn Bench) {
    lives(bench, "one", 1).await;
    let charges = [charge("a", ChargeKind::Answer, Some(5))];
    let first = booking(1, "one", TODAY, &charges);
    book(bench, &first).await;
    let before = bench.dump().await;
    book(bench, &first).await;
    assert!(before == bench.dump().await, "a repeat");
    book(bench, &booking(2, "one", TODAY, &charges)).await;
    assert_eq!(sum(&of_day(bench, TODAY).await).calls, 2);
}

pub async fn the_ledger_names_nobody_and_an_erasure_takes_what_is_of_the_person(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let charges = [charge("a", ChargeKind::Answer, Some(5))];
    let name = scene.conversation.contact.to_string();
    lives(bench, "other", 2).await;
    book(bench, &booking(1, &name, TODAY, &charges)).await;
    book(bench, &booking(2, "other", TODAY, &charges)).await;
    scene.forget(50).await;
    assert!(of(bench, &name).await.is_empty());
    assert_eq!(of(bench, "other").await.len(), 1);
    assert_eq!(sum(&of_day(bench, TODAY).await).calls, 2);
    let ledger = bench.dump().await;
    let rows = ledger
        .lines()
        .filter(|line| line.contains("#spend#") || line.contains("#ledger#"));
    for row in rows {
        assert!(!row.contains(&name), "a row of the ledger names a person");
    }
}

pub async fn what_is_booked_after_an_erasure_is_of_the_day_alone(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let charges = [charge("a", ChargeKind::Answer, Some(5))];
    let name = scene.conversation.contact.to_string();
    scene.forget(50).await;
    let late = booking(1, &name, TODAY, &charges);
    for _ in 0..2 {
        book(bench, &late).await;
        assert_eq!(of(bench, &name).await, []);
        assert_eq!(sum(&of_day(bench, TODAY).await).calls, 1, "a repeat");
    }
}
