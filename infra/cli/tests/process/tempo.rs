//! When is answered: one thought, one answer, and a stream of messages by its ceiling.

use crate::harness::{Place, strings};

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
