//! What happens to a message over time: deduplication, delay, dead letters, retention; and what a queue says of itself.

use super::super::deduplication::REMEMBERED_MS;
use super::super::names::arn;
use super::super::queue::Counts;
use super::super::refusal::Code;
use super::{Bench, bodies, code, draft};

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
