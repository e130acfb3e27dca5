//! `recado say`: one burst through the same way as everybody's, told while it happens, and what became of it.

use std::collections::BTreeSet;
use std::time::Duration;

use recado::adapters::clock::SystemClock;
use recado::domain::Timestamp;
use recado::domain::time::whole_ms;
use recado::ports::Clock as _;
use reqwest::Client;
use serde_json::{Value, json};

use crate::client;
use crate::commands::Failure;
use timeline::Timeline;

mod timeline;

/// How often is looked whether all is answered.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Beyond the messages' own gaps: give-up time, a ceiling, and some runs.
const PATIENCE: Duration = Duration::from_mins(10);

/// What to write.
pub struct Burst {
    /// Who writes.
    pub phone: String,
    /// The messages.
    pub texts: Vec<String>,
    /// Time between one and the next.
    pub gap: Duration,
}

/// What became of a burst.
pub struct Said {
    /// The messages' ids, in order.
    ids: Vec<String>,
    /// Every step of the conversation's story since.
    steps: Vec<Value>,
    /// Every message of both sides since, as the phone has them.
    messages: Vec<Value>,
    /// What is remembered now.
    memory: Value,
}

/// Writes the burst through the instance at `url` and waits until all of it is answered, closed or given up. Each line
/// of the timeline goes to `tell` as soon as it is known: a model that is down may be waited for for minutes.
pub async fn say(url: &str, burst: &Burst, mut tell: impl FnMut(&str)) -> Result<Said, Failure> {
    let client = client::client()?;
    let before = story(&client, url, &burst.phone, 0).await?;
    let since = before["last"].as_u64().unwrap_or_default();
    let began = SystemClock.now();
    let body = json!({
        "from": burst.phone,
        "texts": burst.texts,
        "gap_ms": whole_ms(burst.gap),
    });
    let writing = client.post(format!("{url}/phone/messages")).json(&body);
    let ids = strings(&client::ask(writing).await?["ids"]);
    let gaps = burst.gap * u32::try_from(burst.texts.len()).unwrap_or(u32::MAX);
    let deadline = began.plus(PATIENCE).plus(gaps);
    let mut timeline = Timeline::of(&ids, &burst.texts);
    let mut arrivals = Arrivals::of(&ids);
    let steps = loop {
        let told = story(&client, url, &burst.phone, since).await?;
        let steps = told["steps"].as_array().cloned().unwrap_or_default();
        for line in timeline.news(&steps) {
            tell(&line);
        }
        let dropped = arrivals.look(&steps);
        if dropped > 0 {
            tell(&timeline::dropped(dropped));
        }
        if is_over(&arrivals.kept, &steps) || SystemClock.now() > deadline {
            break steps;
        }
        if !arrivals.awaited.is_empty() {
            arrivals.taken = delivered(&chat(&client, url, &burst.phone).await?);
        }
        SystemClock.sleep(LOOK_EVERY).await;
    };
    let messages = chat(&client, url, &burst.phone).await?;
    let since_began = |message: &Value| message["at"].as_u64() >= Some(began.ms());
    Ok(Said {
        ids,
        steps,
        messages: messages.into_iter().filter(since_began).collect(),
        memory: get(&client, format!("{url}/memory/{}", burst.phone)).await?,
    })
}

/// Every message of both sides, as the phone has them.
async fn chat(client: &Client, url: &str, phone: &str) -> Result<Vec<Value>, Failure> {
    let chat = get(client, format!("{url}/phone/conversations/{phone}")).await?;
    Ok(chat["messages"].as_array().cloned().unwrap_or_default())
}

/// The ids of the messages that got a 2xx.
fn delivered(messages: &[Value]) -> BTreeSet<String> {
    let delivered = messages.iter().filter(|one| one["status"] == "delivered");
    delivered
        .filter_map(|one| Some(one["id"].as_str()?.to_owned()))
        .collect()
}

/// What became of a burst's messages on their way in.
struct Arrivals {
    /// Those that are or may still be stored, in order.
    kept: Vec<String>,
    /// Those of which the story does not tell yet.
    awaited: BTreeSet<String>,
    /// Those that had their 2xx before the story was asked.
    taken: BTreeSet<String>,
}

impl Arrivals {
    fn of(ids: &[String]) -> Self {
        Self {
            kept: ids.to_vec(),
            awaited: ids.iter().cloned().collect(),
            taken: BTreeSet::new(),
        }
    }

    /// Yields how many messages these steps show to be dropped: what is stored is told before its 2xx, so a message
    /// with a 2xx that nobody tells of came too late for a person who was forgotten, and waits for nothing.
    fn look(&mut self, steps: &[Value]) -> usize {
        for step in steps.iter().filter(|step| step["step"] == "received") {
            self.awaited
                .remove(step["message"].as_str().unwrap_or_default());
        }
        let dropped = |id: &String| self.awaited.contains(id) && self.taken.contains(id);
        let before = self.kept.len();
        self.kept.retain(|id| !dropped(id));
        self.awaited.retain(|id| !self.taken.contains(id));
        before - self.kept.len()
    }
}

async fn story(client: &Client, url: &str, phone: &str, since: u64) -> Result<Value, Failure> {
    get(client, format!("{url}/story?since={since}&phone={phone}")).await
}

async fn get(client: &Client, url: String) -> Result<Value, Failure> {
    client::ask(client.get(url)).await
}

fn strings(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

/// Whether every message is answered or closed, and every reply is at rest.
fn is_over(ids: &[String], steps: &[Value]) -> bool {
    let named = |name: &'static str| steps.iter().filter(move |step| step["step"] == name);
    let answered: BTreeSet<String> = named("committed")
        .flat_map(|step| strings(&step["messages"]))
        .collect();
    let closed: u64 = named("closed")
        .filter_map(|step| step["count"].as_u64())
        .sum();
    let open = ids.iter().filter(|id| !answered.contains(*id)).count();
    if u64::try_from(open).unwrap_or(u64::MAX) > closed {
        return false;
    }
    named("committed").all(|committed| {
        let reply = &committed["reply"];
        named("sent")
            .chain(named("send_unknown"))
            .any(|step| step["reply"] == *reply)
            || named("send_refused").any(|s| s["reply"] == *reply && s["again"] == false)
    })
}

impl Said {
    fn named(&self, name: &'static str) -> impl Iterator<Item = &Value> {
        self.steps.iter().filter(move |step| step["step"] == name)
    }

    /// Whether every message is answered (or closed for a reason).
    pub fn is_whole(&self) -> bool {
        is_over(&self.ids, &self.steps)
    }

    fn replies(&self) -> Vec<&Value> {
        self.messages
            .iter()
            .filter(|message| message["side"] == "agent")
            .collect()
    }

    /// From the last message's arrival to the last reply's acceptance.
    fn waited_ms(&self) -> Option<u64> {
        let arrived = self.named("received").filter(|step| step["fresh"] == true);
        let arrived = arrived.filter_map(|step| step["at"].as_u64()).max()?;
        let sent = self
            .named("sent")
            .filter_map(|step| step["at"].as_u64())
            .max()?;
        u64::try_from(
            Timestamp::from_ms(sent)
                .since(Timestamp::from_ms(arrived))
                .as_millis(),
        )
        .ok()
    }

    fn texts(&self) -> Vec<&str> {
        self.replies()
            .iter()
            .filter_map(|reply| reply["text"].as_str())
            .collect()
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let calls = self.named("model_called").chain(self.named("model_failed"));
        let (answers, others): (Vec<&Value>, Vec<&Value>) =
            calls.partition(|step| step["purpose"] == "answer");
        let turns: Vec<Value> = self
            .named("committed")
            .map(|step| json!({ "reply": step["reply"], "messages": step["messages"].as_array().map(Vec::len) }))
            .collect();
        let said = json!({
            "events": self.named("received").filter(|step| step["fresh"] == true).count(),
            "turns": turns.len(),
            "model_calls": answers.len(),
            "compaction_calls": others.len(),
            "sends": self.replies().len(),
            "closed": self.named("closed").filter_map(|step| step["count"].as_u64()).sum::<u64>(),
            "reply": self.texts().last(),
            "replies": self.texts(),
            "batches": turns,
            "waited_ms": self.waited_ms(),
            "answered": self.is_whole(),
            "memory": self.memory,
        });
        format!("{said:#}")
    }

    /// What a person reads below the timeline: the answers, and what is remembered.
    pub fn ending(&self) -> String {
        timeline::ending(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_with_a_2xx_that_no_step_tells_of_is_dropped() {
        let ids = ["a", "b"].map(str::to_owned);
        let mut arrivals = Arrivals::of(&ids);
        let told = json!({ "step": "received", "message": "a", "fresh": true });
        assert_eq!(arrivals.look(&[]), 0, "nothing has its 2xx yet");
        arrivals.taken = delivered(&[
            json!({ "id": "a", "status": "delivered" }),
            json!({ "id": "b", "status": "pending" }),
        ]);
        assert_eq!(arrivals.look(std::slice::from_ref(&told)), 0);
        arrivals.taken = delivered(&[json!({ "id": "b", "status": "delivered" })]);
        assert_eq!(arrivals.look(&[told]), 1);
        assert_eq!(arrivals.kept, ["a"]);
        assert!(arrivals.awaited.is_empty());
    }
}
