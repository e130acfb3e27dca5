//! What is remembered: over a restart, over a compaction, and no longer after `forget`.

use serde_json::Value;

use crate::harness::{Place, files_holding, strings};

/// An installation whose windows are short, for tests that are not about them.
fn quick() -> Place {
    Place::new().with("RECADO_WINDOW_S", "1")
}

#[tokio::test]
async fn a_name_survives_a_restart_with_and_without_a_running_instance() {
    let place = quick();
    let first = place.run().await;
    let said = place.say(&["meu nome é Ana Exemplo"]).await;
    assert_eq!(said["sends"], 1, "{said:#}");
    let phone = "5511900000001";
    // It went through the running instance: that one knows of it.
    assert_eq!(first.answers(phone).await.len(), 1);
    first.stop().await;

    let second = place.run().await;
    let said = place.say(&["como eu me chamo?"]).await;
    let reply = said["reply"].as_str().unwrap();
    assert!(reply.contains("Ana Exemplo"), "{reply}");
    assert_eq!(second.answers(phone).await.len(), 2);
    second.stop().await;

    let said = place.say(&["me diz qual é o meu nome"]).await;
    let reply = said["reply"].as_str().unwrap();
    assert!(
        reply.contains("Ana Exemplo"),
        "without an instance: {reply}"
    );
    assert_eq!(said["events"], 1, "only this burst is told of: {said:#}");
}

const QUICK_AGENT: &str = r#"
id = "recepcao"
persona = "Você é uma recepcionista de exemplo."

[timing]
window_s = 1
"#;

#[tokio::test]
async fn forty_five_messages_compact_to_the_newest_twenty_with_one_call() {
    let place = Place::new();
    let file = place.file("agent.toml", QUICK_AGENT);
    let place = place.with("RECADO_AGENT_FILE", file.to_str().unwrap());
    let instance = place.run().await;
    // Nine turns of four messages and an answer: 45 in all.
    let mut compactions = 0;
    for turn in 1..=9 {
        let texts: Vec<String> = (1..=4).map(|n| format!("recado {turn}.{n}")).collect();
        let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if turn == 1 {
            texts[0] = "meu nome é Ana Exemplo";
        }
        let said = place.say(&texts).await;
        assert_eq!(said["turns"], 1, "{said:#}");
        compactions += said["compaction_calls"].as_u64().unwrap();
    }
    let phone = "5511900000001";
    let story = instance.get(&format!("/story?phone={phone}")).await;
    let steps = story["steps"].as_array().unwrap();
    let named = |name: &str| steps.iter().filter(|step| step["step"] == name).count();
    assert_eq!(named("compacted"), 1);
    assert_eq!(named("compaction_refused"), 0);
    let calls = steps
        .iter()
        .filter(|step| step["purpose"] == "compaction")
        .count();
    assert_eq!(calls, 1, "one call, of which {compactions} seen by say");

    let memory = instance.memory(phone).await;
    let recent = texts_of(&memory);
    // Eight turns made 40, of which the newest four stayed; the ninth came after.
    assert_eq!(recent.len(), 25, "{recent:?}");
    assert!(recent[0].contains("recado 5.1"), "{recent:?}");
    assert!(recent[23].contains("recado 9.4"), "{recent:?}");
    assert!(!memory["summary"].as_str().unwrap().is_empty());

    let said = place.say(&["como eu me chamo?"]).await;
    let reply = said["reply"].as_str().unwrap();
    assert!(reply.contains("Ana Exemplo"), "{reply}");
    instance.stop().await;
}

fn texts_of(memory: &Value) -> Vec<String> {
    let recent = memory["recent"].as_array().unwrap();
    let texts = recent.iter().map(|one| one["text"].as_str().unwrap());
    texts.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_forgotten_person_is_gone_with_and_without_a_running_instance() {
    tokio::join!(forgets(true), forgets(false));
}

async fn forgets(with_instance: bool) {
    let place = quick();
    let (phone, other) = ("5511900000031", "5511900000032");
    for phone in [phone, other] {
        let said = place
            .say(&["--phone", phone, "meu nome é Zulmira Exemplo"])
            .await;
        assert_eq!(said["sends"], 1);
    }
    let instance = if with_instance {
        Some(place.run().await)
    } else {
        None
    };
    let asked = place.recado(&["forget", "--phone", phone]).await;
    assert_eq!(asked.code, Some(0));
    assert!(asked.out.contains("--yes"), "{}", asked.out);
    let forgotten = place.recado(&["forget", "--phone", phone, "--yes"]).await;
    assert_eq!(forgotten.code, Some(0), "{}", forgotten.err);
    assert!(
        forgotten.out.starts_with("Forgotten: "),
        "{}",
        forgotten.out
    );
    let again = place.recado(&["forget", "--phone", phone, "--yes"]).await;
    assert_eq!(again.code, Some(1));
    let complaint = again.err.lines().last().unwrap();
    assert_eq!(complaint, "recado: nobody of this phone is known");
    if let Some(instance) = instance {
        instance.stop().await;
    }
    is_gone(&place, phone, other).await;
}

/// WhatsApp counts in seconds, so what is said within a forget's own second is dropped: nobody waits for its answer.
#[tokio::test]
async fn say_ends_soon_after_a_forget_also_within_its_second() {
    let place = quick();
    let instance = place.run().await;
    place.say(&["oi"]).await;
    let forgotten = place
        .recado(&["forget", "--phone", "5511900000001", "--yes"])
        .await;
    assert_eq!(forgotten.code, Some(0), "{}", forgotten.err);
    // Which has a minute to end.
    let said = place.recado(&["say", "oi de novo"]).await;
    let is_dropped = said.out.contains("dropped    1 message(s)");
    let is_answered = said.out.contains("> Entendi: oi de novo");
    assert!(is_dropped != is_answered, "{}{}", said.out, said.err);
    assert_eq!(said.code, Some(i32::from(is_dropped)), "{}", said.out);
    instance.stop().await;
}

async fn is_gone(place: &Place, phone: &str, other: &str) {
    let after = place.run().await;
    let memory = after.memory(phone).await;
    assert_eq!(texts_of(&memory), Vec::<String>::new());
    assert_eq!(memory["state"], serde_json::json!({}));
    assert_eq!(texts_of(&after.memory(other).await).len(), 2);
    // A message of the same second as the forget counts as one of before it.
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let said = place.say(&["--phone", phone, "como eu me chamo?"]).await;
    let replies = strings(&said["replies"]).join("\n");
    assert!(!replies.contains("Zulmira"), "{replies}");
    after.stop().await;
    // The provider's own log is outside of `forget`, as its answer says.
    let holding = files_holding(&place.data(), "Zulmira");
    assert!(holding.contains(&"phone.jsonl".to_owned()), "{holding:?}");
}
