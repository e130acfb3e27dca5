//! The rules of a queue in time, case by case, against the pure core with a clock that is moved by hand.

use std::collections::BTreeMap;

use super::deduplication::REMEMBERED_MS;
use super::message::Draft;
use super::queue::{Counts, Delivery};
use super::queues::Queues;
use super::refusal::{Code, Refusal};
use super::settings::arn;

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

#[test]
fn an_id_is_remembered_for_five_minutes_also_after_the_delete() {
    for (elapsed, new) in [
        (0, false),
        (REMEMBERED_MS - 1, false),
        (REMEMBERED_MS, true),
    ] {
        let mut bench = Bench::fifo(&[]);
        let first = bench.send("x", "A");
        let held = bench.receive();
        bench.delete(&held[0]).unwrap();
        bench.now += elapsed;
        let second = bench.send_as("y", "A", "x");
        assert_eq!(second != first, new, "message id after {elapsed} ms");
        assert_eq!(
            bench.receive().len(),
            usize::from(new),
            "after {elapsed} ms"
        );
    }
}

#[test]
fn an_id_reaches_as_far_as_its_scope() {
    for (scope, expected) in [("queue", 1), ("messageGroup", 2)] {
        let mut bench = Bench::fifo(&[("DeduplicationScope", scope)]);
        bench.send_as("x", "A", "d");
        bench.send_as("y", "A", "d");
        bench.send_as("z", "B", "d");
        assert_eq!(bench.receive().len(), expected, "{scope}");
    }
}

#[test]
fn a_fifo_delay_holds_the_group_in_order_and_reaches_back_when_changed() {
    let mut bench = Bench::fifo(&[("DelaySeconds", "2")]);
    bench.send("x", "A");
    bench.now += 1_200;
    bench.send("y", "A");
    bench.now += 800;
    assert_eq!(bench.bodies(), ["x"]);
    bench.now += 30_000;
    assert_eq!(bench.bodies(), ["x", "y"]);

    let mut bench = Bench::fifo(&[("DelaySeconds", "900")]);
    bench.send("x", "A");
    bench.configure(&[("DelaySeconds", "0")]);
    assert_eq!(bench.bodies(), ["x"]);
}

#[test]
fn a_standard_delay_is_the_messages_own_before_the_queues() {
    let mut bench = Bench::standard(&[("DelaySeconds", "5")]);
    bench.send_standard(draft("now").delayed(0).unwrap());
    bench.send_standard(draft("queue"));
    bench.send_standard(draft("own").delayed(9).unwrap());
    bench.configure(&[("DelaySeconds", "900")]);
    for (elapsed, expected) in [(0, "now"), (5_000, "queue"), (4_000, "own")] {
        bench.now += elapsed;
        assert_eq!(bench.bodies(), [expected], "after {elapsed} more ms");
    }
}

#[test]
fn a_message_received_too_often_goes_to_the_dead_letter_queue() {
    let mut bench = Bench::fifo(&[]);
    bench.create("dead.fifo", &[("FifoQueue", "true")]).unwrap();
    let policy = format!(
        r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":2}}"#,
        arn("dead.fifo")
    );
    bench.configure(&[("RedrivePolicy", &policy)]);
    bench.send("x", "A");
    bench.send("y", "A");
    let url = bench.url.clone();
    for expected in ["x", "x", "y"] {
        assert_eq!(bodies(&bench.receive_from(&url, 1)), [expected]);
        bench.now += 30_000;
    }
    let dead_url = bench.queues.url_of("dead.fifo");
    let dead = bench.receive_from(&dead_url, 10);
    assert_eq!(bodies(&dead), ["x"]);
    assert_eq!(dead[0].dead_letter_source.as_deref(), Some("q.fifo"));
    assert_eq!(dead[0].draft.group(), Some("A"));

    // And back, as a new message, once it is not in flight any more.
    assert_eq!(
        bench.queues.redrive(&arn("dead.fifo"), None, bench.now),
        Ok(0)
    );
    bench.now += 30_000;
    assert_eq!(
        bench.queues.redrive(&arn("dead.fifo"), None, bench.now),
        Ok(1)
    );
    let back = bench.receive();
    assert_eq!(bodies(&back), ["y", "x"]);
    assert_eq!(back[1].receives, 1);
    let refused = bench.queues.redrive(&arn("q.fifo"), None, bench.now);
    assert_eq!(code(refused), Code::InvalidParameterValue);
}

#[test]
fn a_dead_letter_queue_must_exist_and_be_of_the_same_kind() {
    let mut bench = Bench::standard(&[]);
    bench.create("d.fifo", &[("FifoQueue", "true")]).unwrap();
    for target in ["missing", "d.fifo"] {
        let policy = format!(
            r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":1}}"#,
            arn(target)
        );
        let made = bench.create("new", &[("RedrivePolicy", &policy)]);
        assert_eq!(code(made), Code::InvalidParameterValue, "{target}");
    }
}

#[test]
fn a_message_is_kept_as_long_as_the_queue_says() {
    for (elapsed, left) in [(59_999, 1), (60_000, 0)] {
        let mut bench = Bench::standard(&[("MessageRetentionPeriod", "60")]);
        bench.send_standard(draft("x"));
        bench.now += elapsed;
        assert_eq!(bench.receive().len(), left, "after {elapsed} ms");
    }
}

#[test]
fn counts_tell_visible_in_flight_and_delayed_apart() {
    let mut bench = Bench::standard(&[]);
    bench.send_standard(draft("held"));
    bench.receive();
    bench.send_standard(draft("seen"));
    bench.send_standard(draft("late").delayed(5).unwrap());
    let queue = bench.queues.by_name("q").unwrap();
    assert_eq!(
        queue.counts(bench.now),
        Counts {
            visible: 1,
            in_flight: 1,
            delayed: 1
        }
    );
    assert_eq!(queue.next_change(bench.now), Some(bench.now + 5_000));
    bench.now += 30_000;
    let queue = bench.queues.by_name("q").unwrap();
    assert_eq!(
        queue.counts(bench.now),
        Counts {
            visible: 3,
            in_flight: 0,
            delayed: 0
        }
    );
    assert_eq!(queue.next_change(bench.now), None);
}

#[test]
fn a_queue_made_again_must_be_the_same() {
    let mut bench = Bench::fifo(&[("VisibilityTimeout", "7")]);
    let fifo = ("FifoQueue", "true");
    for (label, attributes, expected) in [
        ("same", &[fifo, ("VisibilityTimeout", "7")][..], None),
        ("fewer attributes", &[fifo], None),
        ("none", &[], None),
        (
            "another value",
            &[fifo, ("VisibilityTimeout", "8")],
            Some(Code::QueueNameExists),
        ),
        (
            "another default",
            &[fifo, ("DelaySeconds", "1")],
            Some(Code::QueueNameExists),
        ),
        (
            "nonsense",
            &[fifo, ("DelaySeconds", "x")],
            Some(Code::InvalidAttributeValue),
        ),
    ] {
        let made = bench
            .create("q.fifo", attributes)
            .err()
            .map(|refusal| refusal.code);
        assert_eq!(made, expected, "{label}");
    }
}
