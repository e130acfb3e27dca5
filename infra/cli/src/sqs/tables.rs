//! The rules of a queue in time, case by case, against the pure core with a clock that is moved by hand: groups, holds and
//! receipts here, what happens to a message over time in `life`.

mod life;

use std::collections::BTreeMap;

use super::message::Draft;
use super::queues::Queues;
use super::refusal::{Code, Refusal};
use super::stored::Delivery;

/// A server with one queue `q.fifo` (or `q`), and the clock.
struct Bench {
    queues: Queues,
    url: String,
    now: u64,
}

impl Bench {
    fn fifo(attributes: &[(&str, &str)]) -> Self {
        let mut all = vec![("FifoQueue", "true")];
        all.extend(attributes);
        Self::with("q.fifo", &all)
    }

    fn standard(attributes: &[(&str, &str)]) -> Self {
        Self::with("q", attributes)
    }

    fn with(name: &str, attributes: &[(&str, &str)]) -> Self {
        let queues = Queues::new("http://127.0.0.1:1");
        let url = queues.url_of(name);
        let mut bench = Self {
            queues,
            url,
            now: 1_000_000,
        };
        bench.create(name, attributes).unwrap();
        bench
    }

    fn create(&mut self, name: &str, attributes: &[(&str, &str)]) -> Result<(), Refusal> {
        self.queues.create(name, &map(attributes), self.now)
    }

    fn configure(&mut self, attributes: &[(&str, &str)]) {
        self.queues
            .configure(&self.url, &map(attributes), self.now)
            .unwrap();
    }

    fn send(&mut self, body: &str, group: &str) -> String {
        self.send_as(body, group, body)
    }

    fn send_as(&mut self, body: &str, group: &str, deduplication: &str) -> String {
        let draft = draft(body)
            .in_group(group)
            .unwrap()
            .deduplicated_by(deduplication)
            .unwrap();
        self.queues
            .by_url(&self.url)
            .unwrap()
            .send(draft, self.now)
            .unwrap()
            .id
    }

    fn send_standard(&mut self, draft: Draft) {
        self.queues
            .by_url(&self.url)
            .unwrap()
            .send(draft, self.now)
            .unwrap();
    }

    fn receive(&mut self) -> Vec<Delivery> {
        let url = self.url.clone();
        self.receive_from(&url, 10)
    }

    fn receive_from(&mut self, url: &str, limit: i64) -> Vec<Delivery> {
        self.queues
            .receive(url, Some(limit), None, self.now)
            .unwrap()
            .deliveries
    }

    fn bodies(&mut self) -> Vec<String> {
        bodies(&self.receive())
    }

    fn delete(&mut self, delivery: &Delivery) -> Result<(), Refusal> {
        self.queues
            .by_url(&self.url)
            .unwrap()
            .delete(&delivery.receipt, self.now)
    }

    fn hold(&mut self, delivery: &Delivery, seconds: i64) -> Result<(), Refusal> {
        let queue = self.queues.by_url(&self.url).unwrap();
        queue.change_visibility(&delivery.receipt, seconds, self.now)
    }
}

fn map(attributes: &[(&str, &str)]) -> BTreeMap<String, String> {
    attributes
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn draft(body: &str) -> Draft {
    Draft::parse(body.to_owned()).unwrap()
}

fn bodies(deliveries: &[Delivery]) -> Vec<String> {
    deliveries
        .iter()
        .map(|delivery| delivery.draft.body().to_owned())
        .collect()
}

fn code<T: std::fmt::Debug>(result: Result<T, Refusal>) -> Code {
    result.unwrap_err().code
}

#[test]
fn a_message_in_flight_closes_its_group_and_no_other() {
    let mut bench = Bench::fifo(&[]);
    bench.send("a1", "A");
    let held = bench.receive();
    bench.send("a2", "A");
    bench.send("b1", "B");
    assert_eq!(bench.bodies(), ["b1"]);
    bench.delete(&held[0]).unwrap();
    assert_eq!(bench.bodies(), ["a2"]);
}

#[test]
fn one_of_two_messages_given_back_waits_for_the_other() {
    let mut bench = Bench::fifo(&[]);
    bench.send("a1", "A");
    bench.send("a2", "A");
    let held = bench.receive();
    bench.hold(&held[0], 0).unwrap();
    assert!(bench.bodies().is_empty());
    bench.delete(&held[1]).unwrap();
    assert_eq!(bench.bodies(), ["a1"]);
}

#[test]
fn a_hold_ends_at_its_last_millisecond_and_the_head_comes_first() {
    for (elapsed, expected) in [(1_999, &[][..]), (2_000, &["a1", "a2"])] {
        let mut bench = Bench::fifo(&[("VisibilityTimeout", "2")]);
        bench.send("a1", "A");
        bench.send("a2", "A");
        let url = bench.url.clone();
        let first = bench.receive_from(&url, 1);
        bench.now += elapsed;
        let again = bench.receive();
        assert_eq!(bodies(&again), expected, "after {elapsed} ms");
        if let Some(head) = again.first() {
            assert_eq!(
                (head.receives, head.first_received_at),
                (2, first[0].first_received_at)
            );
        }
    }
}

#[test]
fn a_stale_receipt_deletes_nothing() {
    for (fifo, redelivered, expected) in [
        (true, false, Err(Code::InvalidParameterValue)),
        (true, true, Err(Code::InvalidParameterValue)),
        // A standard queue takes the last receipt until the message is received again.
        (false, false, Ok(0)),
        (false, true, Ok(1)),
    ] {
        let label = format!("fifo {fifo}, redelivered {redelivered}");
        let mut bench = if fifo {
            Bench::fifo(&[])
        } else {
            Bench::standard(&[])
        };
        if fifo {
            bench.send("x", "A");
        } else {
            bench.send_standard(draft("x"));
        }
        let stale = bench.receive();
        bench.now += 30_000;
        if redelivered {
            assert_eq!(bench.bodies(), ["x"], "{label}");
        }
        let deleted = bench.delete(&stale[0]).map_err(|refusal| refusal.code);
        bench.now += 30_000;
        let left = bench.receive().len();
        match expected {
            Ok(expected) => assert_eq!((deleted, left), (Ok(()), expected), "{label}"),
            Err(code) => assert_eq!((deleted, left), (Err(code), 1), "{label}"),
        }
    }
}

#[test]
fn a_receipt_works_twice_and_only_for_its_queue() {
    let mut bench = Bench::fifo(&[]);
    bench
        .create("other.fifo", &[("FifoQueue", "true")])
        .unwrap();
    bench.send("x", "A");
    let held = bench.receive();
    let other = bench.queues.by_name("other.fifo").unwrap();
    assert_eq!(
        code(other.delete(&held[0].receipt, 0)),
        Code::ReceiptHandleIsInvalid
    );
    assert_eq!(
        code(other.delete("nonsense", 0)),
        Code::ReceiptHandleIsInvalid
    );
    bench.delete(&held[0]).unwrap();
    bench.delete(&held[0]).unwrap();
    // Nor for a later queue of the same name.
    bench.queues.remove(&bench.url.clone()).unwrap();
    bench.create("q.fifo", &[("FifoQueue", "true")]).unwrap();
    assert_eq!(code(bench.delete(&held[0])), Code::ReceiptHandleIsInvalid);
}

#[test]
fn visibility_is_changed_in_whole_seconds_up_to_twelve_hours_in_all() {
    for (seconds, elapsed, expected) in [
        (0, 0, Ok(())),
        (43_200, 0, Ok(())),
        (43_199, 1_000, Ok(())),
        (43_200, 1_000, Err(Code::InvalidParameterValue)),
        (43_201, 0, Err(Code::InvalidParameterValue)),
        (-1, 0, Err(Code::InvalidParameterValue)),
        (5, 30_000, Err(Code::InvalidParameterValue)),
    ] {
        let mut bench = Bench::fifo(&[]);
        bench.send("x", "A");
        let held = bench.receive();
        bench.now += elapsed;
        let changed = bench
            .hold(&held[0], seconds)
            .map_err(|refusal| refusal.code);
        assert_eq!(changed, expected, "{seconds} s after {elapsed} ms");
        if changed.is_ok() {
            let until = bench.now + u64::try_from(seconds).unwrap() * 1000;
            bench.now = until.saturating_sub(1);
            assert!(
                seconds == 0 || bench.bodies().is_empty(),
                "{seconds} s: early"
            );
            bench.now = until;
            assert_eq!(bench.bodies(), ["x"], "{seconds} s: late");
        }
    }
}

#[test]
fn visibility_of_what_nobody_holds_cannot_be_changed() {
    let mut bench = Bench::standard(&[]);
    bench.send_standard(draft("x"));
    let held = bench.receive();
    bench.now += 30_000;
    assert_eq!(code(bench.hold(&held[0], 5)), Code::MessageNotInflight);
    bench.delete(&held[0]).unwrap();
    assert_eq!(code(bench.hold(&held[0], 5)), Code::InvalidParameterValue);
}
