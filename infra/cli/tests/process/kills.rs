//! `kill -9` at any moment: what the phone had accepted is answered once, within ten seconds of the next start.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::Value;

use crate::harness::{Instance, MACHINE, Place, until};

/// Processes at work at once.
const AT_ONCE: usize = 6;
/// From the start of the next process to the last answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
const PEOPLE: [&str; 4] = [
    "5511900000051",
    "5511900000052",
    "5511900000053",
    "5511900000054",
];

/// Each at a pace of their own: one bursts, one pauses for longer than the window.
const PAUSES_MS: [u64; 4] = [350, 900, 1_700, 5_600];

/// Where in the life of a message the kill falls, spread evenly over the window, the model call, the commit, the
/// send and the statuses; each run has its own.
fn delay(run: usize, runs: usize) -> Duration {
    let spread = 7_000 * run / runs.max(1);
    Duration::from_millis(300 + u64::try_from(spread).unwrap())
}

#[tokio::test]
async fn after_a_kill_at_any_moment_every_accepted_message_is_answered_once() {
    let runs = std::env::var("RECADO_KILLS").map_or(12, |kills| kills.parse().unwrap());
    let _machine = MACHINE.lock().await;
    let rounds = usize::div_ceil(runs, AT_ONCE);
    for round in 0..rounds {
        // Far from each other, so that not all of them start again in the same moment.
        let some = (round..runs).step_by(rounds);
        join_all(some.map(|run| killed_and_started_again(run, runs))).await;
    }
}

async fn killed_and_started_again(run: usize, runs: usize) {
    let delay = delay(run, runs);
    let place = Place::new();
    let first = place.run().await;
    let accepted = write_until(&first, delay).await;
    let printed = first.running.kill().await;
    let label = format!("kill {run} after {delay:?}\n{printed}");

    let second = place.run().await;
    let settled = until(ANSWERED_WITHIN + Duration::from_secs(5), || async {
        let mut open = Vec::new();
        for phone in PEOPLE {
            let memory = second.memory(phone).await;
            if !is_at_rest(&memory, accepted.get(phone).map_or(&[], Vec::as_slice)) {
                open.push((phone, memory));
            }
        }
        open.is_empty().then(|| second.running.age())
    });
    let age = settled.await.unwrap_or_else(|| {
        panic!("{label}not at rest; then: {}", second.running.printed());
    });
    println!("run {run}: killed after {delay:?}, at rest {age:?} after the next start");
    let story = second.get("/story").await;
    assert!(
        age <= ANSWERED_WITHIN,
        "{label}answered after {age:?}: {:#}",
        story["steps"]
    );
    for phone in PEOPLE {
        let chat = second.chat(phone).await;
        check(&label, &second, &chat).await;
    }
    second.stop().await;
}

/// Four people write something every now and then until the time is over. What the phone has accepted, by person.
async fn write_until(instance: &Instance, delay: Duration) -> BTreeMap<&'static str, Vec<String>> {
    let begun = Instant::now();
    let people = PEOPLE.iter().zip(PAUSES_MS).zip(1_u64..);
    let lines = people.map(|((phone, pause_ms), n)| async move {
        let mut accepted = Vec::new();
        let pause = Duration::from_millis(pause_ms);
        let mut next = Duration::from_millis(90 * n);
        while next < delay {
            tokio::time::sleep(next.saturating_sub(begun.elapsed())).await;
            let text = format!("p{n} recado {:03}", accepted.len());
            if instance.write(phone, &text).await.is_some() {
                accepted.push(text);
            }
            next += pause;
        }
        (*phone, accepted)
    });
    let accepted = join_all(lines).await.into_iter().collect();
    tokio::time::sleep(delay.saturating_sub(begun.elapsed())).await;
    accepted
}

/// Whether all that was written is in memory, each once and under an answer, and nothing waits.
fn is_at_rest(memory: &Value, written: &[String]) -> bool {
    let recent = memory["recent"].as_array().unwrap();
    let is_there = |text: &String| recent.iter().filter(|one| one["text"] == **text).count() == 1;
    let state = &memory["state"];
    let nothing_waits = written.is_empty()
        || (state["pending"] == 0 && state["outbox"].as_array().is_some_and(Vec::is_empty));
    nothing_waits && written.iter().all(is_there)
}

/// Each text in exactly one answer, each answer sent once, and each of the phone's answers one of memory's.
async fn check(label: &str, instance: &Instance, chat: &[Value]) {
    let side = |side: &str| -> Vec<&Value> {
        chat.iter()
            .filter(|message| message["side"] == side)
            .collect()
    };
    let answers = side("agent");
    for answer in &answers {
        let reply = answer["reply"].as_str().unwrap();
        let found = instance.get(&format!("/phone/replies/{reply}")).await;
        assert_eq!(found["count"], 1, "{label}reply {reply} was sent again");
    }
    for message in side("person") {
        let text = message["text"].as_str().unwrap();
        let holding = answers
            .iter()
            .filter(|answer| answer["text"].as_str().unwrap().contains(text))
            .count();
        assert_eq!(holding, 1, "{label}{text} is in {holding} answers");
    }
}
