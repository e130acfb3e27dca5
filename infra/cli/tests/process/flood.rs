//! One person who writes without end, beside others who do not: it costs few turns, loses nothing, and nobody else waits.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use recado::adapters::meta::signature;
use serde_json::json;

use crate::harness::{Instance, MACHINE, Place, until};
use crate::ledger::{Received, Table};
use crate::load::APP_SECRET;

/// Messages of one person in a minute.
const FLOOD: usize = 500;
const MINUTE: Duration = Duration::from_mins(1);
/// A batch holds no more, and nothing waits longer than the ceiling.
const BATCH_MAX: usize = 80;
const CEILING: Duration = Duration::from_secs(20);
/// People who write two messages each meanwhile.
const OTHERS: usize = 10;
const GAP: Duration = Duration::from_secs(2);
/// From somebody's last message to their answer: the window of 5 s, and what a busy machine may add.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15);
const WHO_FLOODS: &str = "5511900060000";

fn word(person: usize, n: usize) -> String {
    format!("p{person:02}n{n:04}")
}

fn phone(person: usize) -> String {
    format!("551190006{person:04}")
}

async fn post(instance: &Instance, person: usize, n: usize) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let body = json!({
        "object": "whatsapp_business_account",
        "entry": [{ "id": "200000000000001", "changes": [{ "field": "messages", "value": {
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "551140000001", "phone_number_id": "100000000000001" },
            "contacts": [{ "profile": { "name": "Ana" }, "wa_id": phone(person) }],
            "messages": [{
                "id": format!("wamid.FLOOD{}", word(person, n)),
                "from": phone(person),
                "timestamp": now.unwrap().as_secs().to_string(),
                "type": "text",
                "text": { "body": word(person, n) },
            }],
        } }] }],
    })
    .to_string();
    let url = format!("{}/webhook/meta", instance.url);
    let signature = signature::sign(APP_SECRET.as_bytes(), body.as_bytes());
    let request = instance.http.post(url).header(signature::HEADER, signature);
    let answer = request.body(body).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.status());
}

/// Two messages, and how long after the second the answer came.
async fn asks(instance: &Instance, person: usize) -> Duration {
    tokio::time::sleep(Duration::from_secs(4 * person as u64)).await;
    post(instance, person, 0).await;
    tokio::time::sleep(GAP).await;
    post(instance, person, 1).await;
    let written = Instant::now();
    let phone = phone(person);
    let answers = instance.wait_for_answers(&phone, 1).await;
    assert!(
        (0..2).all(|n| answers[0].contains(&word(person, n))),
        "both in one: {answers:?}"
    );
    written.elapsed()
}

async fn floods(instance: &Instance) {
    let begun = tokio::time::Instant::now();
    for n in 0..FLOOD {
        let at = MINUTE * u32::try_from(n).unwrap() / u32::try_from(FLOOD).unwrap();
        tokio::time::sleep_until(begun + at).await;
        post(instance, 0, n).await;
    }
}

#[tokio::test]
#[ignore = "takes over a minute; .ci/run runs it"]
async fn five_hundred_messages_of_one_person_in_a_minute_cost_few_turns_and_keep_nobody_waiting() {
    let _machine = MACHINE.lock().await;
    let place = Place::new().with("RECADO_META_APP_SECRET", APP_SECRET);
    let instance = place.run().await;
    let begun = Instant::now();
    let others = futures_util::future::join_all((1..=OTHERS).map(|person| asks(&instance, person)));
    let ((), waits) = tokio::join!(floods(&instance), others);
    let mut received = Received::of(&place.data());
    let words: Vec<String> = (0..FLOOD).map(|n| word(0, n)).collect();
    let all = until(MINUTE, || {
        received.read_on();
        let has_all = words.iter().all(|word| received.words.contains_key(word));
        async move { has_all.then_some(()) }
    });
    assert!(all.await.is_some(), "lost: {}", instance.running.printed());
    let took = begun.elapsed();
    let of_flood = words.iter().flat_map(|word| &received.words[word]);
    let turns: BTreeSet<&String> = of_flood.collect();
    let ceilings = took.as_secs().div_ceil(CEILING.as_secs());
    let most = FLOOD.div_ceil(BATCH_MAX) + usize::try_from(ceilings).unwrap();
    let longest = waits.iter().max().unwrap();
    println!(
        "{FLOOD} messages of one person: {} turns (at most {most}) in {took:.0?}; {OTHERS} others answered within {longest:.1?}",
        turns.len(),
    );
    assert!(turns.len() <= most, "{} turns", turns.len());
    assert!(*longest <= ANSWERED_WITHIN, "waited {longest:?}");
    let doubled = received
        .words
        .iter()
        .filter(|(word, some)| word.starts_with("p0") && some.len() > 1);
    assert_eq!(doubled.count(), 0, "a message in two answers");
    assert!(
        received.replies.values().all(|count| *count == 1),
        "a reply came twice"
    );
    let printed = instance.stop().await;
    assert!(!printed.contains(WHO_FLOODS) && !printed.contains("panic"));
    let unrest = Table::unrest(&place.data()).await;
    assert!(
        unrest.events.is_empty() && unrest.replies.is_empty(),
        "{unrest:?}"
    );
}
