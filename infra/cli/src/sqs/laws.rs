//! The laws of a FIFO queue, under any interleaving of sends, receives, deletes, visibility changes and time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::Value;

use super::actions::perform;
use super::message::Draft;
use super::queue::Queue;
use super::queues::Queues;
use super::settings::Settings;
use super::stored::Delivery;

const VISIBILITY_S: u32 = 3;

const ACTIONS: [&str; 14] = [
    "ChangeMessageVisibility",
    "ChangeMessageVisibilityBatch",
    "CreateQueue",
    "DeleteMessage",
    "DeleteMessageBatch",
    "DeleteQueue",
    "GetQueueAttributes",
    "GetQueueUrl",
    "ListQueues",
    "PurgeQueue",
    "SendMessage",
    "SendMessageBatch",
    "SetQueueAttributes",
    "StartMessageMoveTask",
];

const FIELDS: [&str; 13] = [
    "AttributeNames",
    "Attributes",
    "DelaySeconds",
    "Entries",
    "MaxResults",
    "MessageAttributes",
    "MessageBody",
    "MessageDeduplicationId",
    "MessageGroupId",
    "QueueName",
    "ReceiptHandle",
    "SourceArn",
    "VisibilityTimeout",
];

#[derive(Clone, Debug)]
enum Step {
    Send { group: u8 },
    Receive { limit: usize },
    Delete { held: usize },
    Visibility { held: usize, seconds: i64 },
    Pass { ms: u64 },
    Delay { seconds: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4_u8).prop_map(|group| Step::Send { group }),
        4 => (1..=10_usize).prop_map(|limit| Step::Receive { limit }),
        3 => (0..8_usize).prop_map(|held| Step::Delete { held }),
        2 => (0..8_usize, 0..6_i64).prop_map(|(held, seconds)| Step::Visibility { held, seconds }),
        3 => (0..4_000_u64).prop_map(|ms| Step::Pass { ms }),
        1 => (0..3_u32).prop_map(|seconds| Step::Delay { seconds }),
    ]
}

/// What an onlooker knows who sees only calls and answers.
#[derive(Default)]
struct Onlooker {
    sent: u64,
    now: u64,
    /// Numbers of the messages of each group that are not deleted, oldest first.
    waiting: BTreeMap<u8, BTreeSet<u64>>,
    /// Every receipt ever given, with the message's number, group and the end of its hold.
    given: Vec<(Delivery, u64, u8, u64)>,
}

impl Onlooker {
    /// Groups and messages that some receive holds now.
    fn held(&self) -> (BTreeSet<u8>, BTreeSet<u64>) {
        let live = self
            .given
            .iter()
            .filter(|(_, _, _, until)| *until > self.now);
        let live: Vec<_> = live.collect();
        (
            live.iter().map(|(_, _, group, _)| *group).collect(),
            live.iter().map(|(_, number, _, _)| *number).collect(),
        )
    }

    fn take(&mut self, deliveries: Vec<Delivery>) -> Result<(), TestCaseError> {
        let (groups_held, messages_held) = self.held();
        let mut expected: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
        for delivery in deliveries {
            let (group, number) = delivery.draft.body().split_once('/').unwrap();
            let (group, number): (u8, u64) = (group.parse().unwrap(), number.parse().unwrap());
            prop_assert!(
                !messages_held.contains(&number),
                "message {number} given out twice at once"
            );
            prop_assert!(
                !groups_held.contains(&group),
                "group {group} held by two receives"
            );
            expected.entry(group).or_default().push(number);
            let until = self.now + u64::from(VISIBILITY_S) * 1000;
            self.given.push((delivery, number, group, until));
        }
        for (group, numbers) in expected {
            let heads = self.waiting[&group]
                .iter()
                .take(numbers.len())
                .copied()
                .collect::<Vec<_>>();
            prop_assert_eq!(numbers, heads, "group {} out of order", group);
        }
        Ok(())
    }

    fn apply(&mut self, queue: &mut Queue, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Send { group } => {
                self.sent += 1;
                let draft = Draft::parse(format!("{group}/{}", self.sent)).unwrap();
                let draft = draft.in_group(&group.to_string()).unwrap();
                let draft = draft.deduplicated_by(&self.sent.to_string()).unwrap();
                queue.send(draft, self.now).unwrap();
                self.waiting.entry(*group).or_default().insert(self.sent);
            }
            Step::Receive { limit } => {
                let found = queue.receive(*limit, VISIBILITY_S, None, self.now);
                self.take(found.deliveries)?;
            }
            Step::Delete { held } => {
                let Some((delivery, number, group, until)) = self.given.get_mut(*held) else {
                    return Ok(());
                };
                let known = self.waiting.get_mut(group).unwrap();
                let live = *until > self.now;
                let gone = !known.contains(number);
                let deleted = queue.delete(&delivery.receipt, self.now).is_ok();
                prop_assert_eq!(deleted, live || gone, "delete of message {}", number);
                if live {
                    known.remove(number);
                    *until = 0;
                }
            }
            Step::Visibility { held, seconds } => {
                let Some((delivery, number, _, until)) = self.given.get_mut(*held) else {
                    return Ok(());
                };
                let changed = queue
                    .change_visibility(&delivery.receipt, *seconds, self.now)
                    .is_ok();
                prop_assert_eq!(
                    changed,
                    *until > self.now,
                    "visibility of message {}",
                    number
                );
                if changed {
                    *until = self.now + u64::try_from(*seconds).unwrap() * 1000;
                }
            }
            Step::Pass { ms } => self.now += ms,
            Step::Delay { seconds } => {
                let mut settings = queue.settings().clone();
                settings.delay_s = *seconds;
                queue.configure(settings, self.now);
            }
        }
        Ok(())
    }

    /// Time passes and everything is received and deleted: all that was not deleted before must come, and nothing else.
    fn drain(&mut self, queue: &mut Queue) -> Result<(), TestCaseError> {
        let mut missing: BTreeSet<u64> = self.waiting.values().flatten().copied().collect();
        self.now += 100_000;
        loop {
            let found = queue.receive(10, VISIBILITY_S, None, self.now);
            if found.deliveries.is_empty() {
                prop_assert!(missing.is_empty(), "lost: {missing:?}");
                return Ok(());
            }
            for delivery in &found.deliveries {
                let (_, number) = delivery.draft.body().split_once('/').unwrap();
                prop_assert!(
                    missing.remove(&number.parse().unwrap()),
                    "{number} came back"
                );
                queue.delete(&delivery.receipt, self.now).unwrap();
            }
        }
    }
}

proptest! {
    #[test]
    fn groups_stay_in_order_and_exclusive_and_nothing_is_lost(
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let fifo = BTreeMap::from([("FifoQueue".to_owned(), "true".to_owned())]);
        let settings = Settings::parse("q.fifo", &fifo).unwrap();
        let mut queue = Queue::new("q.fifo", settings, 1, 0);
        let mut onlooker = Onlooker { now: 1_000, ..Onlooker::default() };
        for step in &steps {
            onlooker.apply(&mut queue, step)?;
        }
        onlooker.drain(&mut queue)?;
    }

    #[test]
    fn no_bytes_make_an_action_panic(
        action in prop::sample::select(ACTIONS.to_vec()),
        body: Vec<u8>,
    ) {
        let _ = perform(&mut Queues::new("http://localhost"), action, &body, 0);
    }

    #[test]
    fn no_values_make_an_action_panic(
        action in prop::sample::select(ACTIONS.to_vec()),
        fields in prop::collection::btree_map(prop::sample::select(FIELDS.to_vec()), value(), 0..5),
    ) {
        let fifo = BTreeMap::from([("FifoQueue".to_owned(), "true".to_owned())]);
        let mut queues = Queues::new("http://localhost");
        queues.create("q.fifo", &fifo, 0).unwrap();
        let mut body = serde_json::json!({ "QueueUrl": queues.url_of("q.fifo") });
        for (field, value) in fields {
            body[field] = value;
        }
        let _ = perform(&mut queues, action, body.to_string().as_bytes(), 0);
    }
}

/// Values of every kind that JSON has, near what the fields take.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let field = prop_oneof![
            prop::sample::select(FIELDS.to_vec()),
            Just("Id"),
            Just("DataType")
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field, inner, 0..4).prop_map(|fields| {
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            }),
        ]
    })
}
