//! When is answered: one thought, one answer, and a stream of messages by its ceiling.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::harness::{MACHINE, Place, strings};

#[tokio::test]
async fn a_burst_of_four_is_one_turn_one_call_and_one_send() {
    let place = Place::new();
    let texts = ["oi", "queria marcar", "pra sexta", "de manhã se tiver"];
    let arguments = [&["--ephemeral", "--gap-ms", "700"][..], &texts].concat();
    let said = place.say(&arguments).await;
    for (what, count) in [
        ("events", 4),
        ("turns", 1),
        ("model_calls", 1),
        ("sends", 1),
    ] {
        assert_eq!(said[what], count, "{what} of {said:#}");
    }
    let waited = said["waited_ms"].as_u64().unwrap();
    assert!((5_000..=6_500).contains(&waited), "waited {waited} ms");
    let reply = said["reply"].as_str().unwrap();
    assert!(texts.iter().all(|text| reply.contains(text)), "{reply}");
    assert_eq!(said["memory"]["recent"].as_array().unwrap().len(), 5);
    assert!(!place.data().exists(), "an ephemeral run leaves no folder");
}

#[tokio::test]
async fn a_steady_stream_is_answered_by_the_ceiling_and_each_message_in_one_answer() {
    let place = Place::new();
    let instance = place.run().await;
    let phone = "5511900000012";
    let texts: Vec<String> = (1..=12).map(|n| format!("recado número {n:02}")).collect();
    let arguments: Vec<&str> = ["--phone", phone, "--gap-ms", "2000"]
        .into_iter()
        .chain(texts.iter().map(String::as_str))
        .collect();
    let said = place.say(&arguments).await;
    assert_eq!(said["events"], 12);
    assert_eq!(said["turns"], 2, "{said:#}");
    assert_eq!(said["sends"], 2, "{said:#}");
    let answers = strings(&said["replies"]);
    for text in &texts {
        let holding = answers
            .iter()
            .filter(|answer| answer.contains(text))
            .count();
        assert_eq!(holding, 1, "{text} in {answers:?}");
    }
    let chat = instance.chat(phone).await;
    let at = |side: &str| {
        let first = chat.iter().find(|message| message["side"] == side);
        first.unwrap()["at"].as_u64().unwrap()
    };
    let first_answer = at("agent") - at("person");
    assert!(
        (20_000..=22_000).contains(&first_answer),
        "first answer after {first_answer} ms"
    );
    instance.stop().await;
}

#[cfg(target_os = "linux")]
/// Resident memory of a process, in kB.
fn resident_kb(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn it_is_ready_within_a_second_and_small_after_two_hundred_conversations() {
    let _machine = MACHINE.lock().await;
    let place = Place::new();
    let instance = place.run().await;
    let ready = instance.running.age();
    let small = resident_kb(instance.running.id());
    let phones: Vec<String> = (0..200).map(|n| format!("5511900002{n:03}")).collect();
    let begun = Instant::now();
    join_all(phones.iter().map(|phone| async {
        for text in ["oi", "queria marcar", "pra sexta"] {
            instance.write(phone, text).await.unwrap();
        }
    }))
    .await;
    let answered = async || {
        let all = instance.get("/phone/conversations").await;
        let all = all["conversations"].as_array().unwrap().clone();
        let newest = all.iter().map(|one| &one["newest"]["side"]);
        newest.filter(|side| *side == "agent").count()
    };
    while answered().await < phones.len() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let took = begun.elapsed();
    let burst = resident_kb(instance.running.id());
    println!("ready after {ready:?}; {small} kB resident; 200 answered after {took:?}: {burst} kB");
    assert!(ready < Duration::from_secs(1), "ready after {ready:?}");
    assert!(burst < 100_000, "{burst} kB resident");
    instance.stop().await;
}
