//! What every queue must do, as one suite: the fake one with a moved clock, our SQS server through the real client,
//! and whatever speaks SQS's protocol at an address given.
//!
//! Each contract is a sentence and starts from empty queues whose ticks are delayed by [`DELAY`].

use std::time::Duration;

use async_trait::async_trait;
use recado::adapters::sqs::{Job, decode};
use recado::domain::{ContactId, ConversationId, Hasher};
use recado::ports::{Receipt, Ticks};
use tokio::time::{Instant, sleep};

/// The delay of the queue of ticks.
pub const DELAY: Duration = Duration::from_secs(1);
/// What a queue may take longer than it says, on a machine that has other work.
const LATE: Duration = Duration::from_millis(1_500);
/// A clock that is read after a request is late by that request.
const EARLY: Duration = Duration::from_millis(250);
/// Nothing that comes later than this was kept back by mistake.
const QUIET: Duration = Duration::from_millis(900);
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Queues under test, with the other side of the port: what an event source mapping does.
#[async_trait]
pub trait Bench: Send + Sync {
    /// The queues.
    fn ticks(&self) -> &dyn Ticks;
    /// What names people in them.
    fn hasher(&self) -> &Hasher;
    /// How long a received message stays invisible.
    fn visibility(&self) -> Duration;
    /// Receives one message, where one is there now.
    async fn receive(&self, queue: Queue) -> Option<Received>;
    /// Deletes a received message, if its receipt still gives the right to.
    async fn delete(&self, queue: Queue, receipt: &str);
}

/// Which queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// The FIFO queue of ticks.
    Ticks,
    /// The standard queue of compactions.
    Compactions,
}

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The same at each delivery.
    pub id: String,
    /// Another at each delivery.
    pub receipt: String,
    /// What it says.
    pub body: String,
    /// Its group, in the FIFO queue.
    pub group: Option<String>,
}

/// Hands the list of all contracts to a macro.
#[macro_export]
macro_rules! for_each_ticks_contract {
    ($callback:ident) => {
        $callback! {
            a_tick_arrives_after_the_delay_and_names_its_conversation,
            a_dedup_key_seen_before_is_swallowed_also_after_the_tick_is_deleted,
            a_dedup_key_counts_within_its_conversation_only,
            a_conversation_has_one_tick_in_flight_and_the_next_after_its_end,
            a_held_tick_comes_back_after_so_many_seconds_and_blocks_its_conversation,
            a_hold_of_zero_gives_the_tick_back_at_once_and_first,
            a_tick_that_nobody_deletes_comes_back_after_its_visibility,
            a_conversation_that_waits_does_not_keep_another_one_waiting,
            a_compaction_comes_at_once_and_is_not_deduplicated,
            the_longest_id_fits_and_no_phone_is_in_a_group,
            a_hold_without_a_right_to_it_is_an_error_that_tells_nothing,
        }
    };
}

macro_rules! run_them {
    ($($name:ident,)*) => {
        /// Every contract's name.
        pub const NAMES: &[&str] = &[$(stringify!($name),)*];

        /// Runs the contract of this name.
        ///
        /// # Panics
        /// Where the queues break the contract, or there is none of this name.
        pub async fn run(name: &str, bench: &dyn Bench) {
            match name {
                $(stringify!($name) => $name(bench).await,)*
                other => panic!("no contract is called {other}"),
            }
        }
    };
}

for_each_ticks_contract!(run_them);

fn conversation(contact: &str) -> ConversationId {
    ConversationId::parse(&format!("recepcao#{contact}")).expect("a conversation")
}

fn ana() -> ConversationId {
    conversation("5511900000001")
}

fn bia() -> ConversationId {
    conversation("5511900000002")
}

async fn tick(bench: &dyn Bench, conversation: &ConversationId, dedup: &str) {
    let ticked = bench.ticks().tick(conversation, dedup).await;
    ticked.expect("the queue takes a tick");
}

async fn hold(bench: &dyn Bench, received: &Received, seconds: u32) {
    let receipt = Receipt(received.receipt.clone());
    let held = bench.ticks().hold(&receipt, seconds).await;
    held.expect("the queue holds a tick");
}

/// The next message and how long it took; `None` where none comes within `limit`.
async fn next(bench: &dyn Bench, queue: Queue, limit: Duration) -> Option<(Received, Duration)> {
    let begun = Instant::now();
    loop {
        if let Some(received) = bench.receive(queue).await {
            return Some((received, begun.elapsed()));
        }
        if begun.elapsed() >= limit {
            return None;
        }
        sleep(LOOK_EVERY).await;
    }
}

/// The next tick, which must come between `after` and a little later.
async fn tick_after(bench: &dyn Bench, after: Duration) -> Received {
    let (received, took) = next(bench, Queue::Ticks, after + LATE)
        .await
        .unwrap_or_else(|| panic!("no tick within {:?}", after + LATE));
    assert!(took + EARLY >= after, "after {took:?}, not {after:?}");
    received
}

/// No tick comes for so long.
async fn silence(bench: &dyn Bench, limit: Duration) {
    let came = next(bench, Queue::Ticks, limit).await;
    assert!(came.is_none(), "a tick came: {came:?}");
}

/// A tick is a hint that says only where to look.
pub async fn a_tick_arrives_after_the_delay_and_names_its_conversation(bench: &dyn Bench) {
    tick(bench, &ana(), "one").await;
    let received = tick_after(bench, DELAY).await;
    assert_eq!(decode(&received.body), Ok((Job::Tick, ana())));
    let group = bench.hasher().conversation(&ana());
    assert_eq!(received.group, Some(group));
    bench.delete(Queue::Ticks, &received.receipt).await;
    silence(bench, QUIET).await;
}

/// Whoever needs another tick needs another key.
pub async fn a_dedup_key_seen_before_is_swallowed_also_after_the_tick_is_deleted(
    bench: &dyn Bench,
) {
    tick(bench, &ana(), "one").await;
    tick(bench, &ana(), "one").await;
    let received = tick_after(bench, DELAY).await;
    bench.delete(Queue::Ticks, &received.receipt).await;
    tick(bench, &ana(), "one").await;
    silence(bench, DELAY + QUIET).await;
    tick(bench, &ana(), "two").await;
    tick_after(bench, DELAY).await;
}

/// High-throughput mode: the scope is the group.
pub async fn a_dedup_key_counts_within_its_conversation_only(bench: &dyn Bench) {
    tick(bench, &ana(), "one").await;
    tick(bench, &bia(), "one").await;
    let first = tick_after(bench, DELAY).await;
    let second = tick_after(bench, Duration::ZERO).await;
    assert_ne!(first.body, second.body);
}

/// One conversation is never looked at twice at the same time.
pub async fn a_conversation_has_one_tick_in_flight_and_the_next_after_its_end(bench: &dyn Bench) {
    tick(bench, &ana(), "one").await;
    tick(bench, &ana(), "two").await;
    let first = tick_after(bench, DELAY).await;
    silence(bench, QUIET).await;
    bench.delete(Queue::Ticks, &first.receipt).await;
    let second = tick_after(bench, Duration::ZERO).await;
    assert_ne!(first.id, second.id);
    bench.delete(Queue::Ticks, &second.receipt).await;
    silence(bench, QUIET).await;
}

/// What a window, a lease and a backoff wait by.
pub async fn a_held_tick_comes_back_after_so_many_seconds_and_blocks_its_conversation(
    bench: &dyn Bench,
) {
    tick(bench, &ana(), "one").await;
    let first = tick_after(bench, DELAY).await;
    tick(bench, &ana(), "two").await;
    hold(bench, &first, 2).await;
    let again = tick_after(bench, Duration::from_secs(2)).await;
    assert_eq!(again.id, first.id, "the held one is first in its group");
    bench.delete(Queue::Ticks, &again.receipt).await;
    let second = tick_after(bench, Duration::ZERO).await;
    assert_ne!(second.id, first.id);
}

/// A due moment less than a second away must not cost a second.
pub async fn a_hold_of_zero_gives_the_tick_back_at_once_and_first(bench: &dyn Bench) {
    tick(bench, &ana(), "one").await;
    tick(bench, &ana(), "two").await;
    let first = tick_after(bench, DELAY).await;
    hold(bench, &first, 0).await;
    let again = tick_after(bench, Duration::ZERO).await;
    assert_eq!(again.id, first.id);
}

/// Whoever dies with a tick in hand gives it back by dying.
pub async fn a_tick_that_nobody_deletes_comes_back_after_its_visibility(bench: &dyn Bench) {
    tick(bench, &ana(), "one").await;
    let first = tick_after(bench, DELAY).await;
    let again = tick_after(bench, bench.visibility()).await;
    assert_eq!(again.id, first.id);
    assert_ne!(again.receipt, first.receipt);
    // The dead one's right is gone: its late delete must not take the tick from who has it now.
    bench.delete(Queue::Ticks, &first.receipt).await;
    hold(bench, &again, 0).await;
    let third = tick_after(bench, Duration::ZERO).await;
    assert_eq!(third.id, first.id);
}

/// One slow turn must not hold other people.
pub async fn a_conversation_that_waits_does_not_keep_another_one_waiting(bench: &dyn Bench) {
    tick(bench, &ana(), "one").await;
    let first = tick_after(bench, DELAY).await;
    hold(bench, &first, 60).await;
    tick(bench, &ana(), "two").await;
    tick(bench, &bia(), "three").await;
    let other = tick_after(bench, DELAY).await;
    assert_eq!(decode(&other.body), Ok((Job::Tick, bia())));
    silence(bench, QUIET).await;
}

/// Compactions have a queue of their own, so that they never delay an answer.
pub async fn a_compaction_comes_at_once_and_is_not_deduplicated(bench: &dyn Bench) {
    for _ in 0..2 {
        let asked = bench.ticks().compact(&ana()).await;
        asked.expect("the queue takes a compaction");
    }
    for _ in 0..2 {
        let (received, _) = next(bench, Queue::Compactions, LATE).await.expect("a job");
        assert_eq!(decode(&received.body), Ok((Job::Compaction, ana())));
        assert_eq!(received.group, None);
        bench.delete(Queue::Compactions, &received.receipt).await;
    }
    assert!(next(bench, Queue::Compactions, QUIET).await.is_none());
    silence(bench, Duration::ZERO).await;
}

/// SQS takes 128 characters; a contact's id may be longer and holds a phone.
pub async fn the_longest_id_fits_and_no_phone_is_in_a_group(bench: &dyn Bench) {
    let longest = (1..2_000).rev().find_map(|length| {
        let id = format!("BR.{}", "9".repeat(length));
        ContactId::parse(id).ok()
    });
    let long = conversation(longest.expect("some length is right").as_str());
    let dedup = bench.hasher().hash("tick", &long.key());
    assert!(dedup.len() <= 128);
    tick(bench, &long, &dedup).await;
    let received = tick_after(bench, DELAY).await;
    assert_eq!(decode(&received.body), Ok((Job::Tick, long)));
    bench.delete(Queue::Ticks, &received.receipt).await;
    tick(bench, &ana(), "one").await;
    let group = tick_after(bench, DELAY).await.group.expect("a group");
    assert!(group.len() <= 128);
    assert!(
        group.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{group}"
    );
    assert!(!group.contains("900000001"), "{group}");
}

/// The table is the truth; a queue's refusal is an error to the caller, and no one's words to the log.
pub async fn a_hold_without_a_right_to_it_is_an_error_that_tells_nothing(bench: &dyn Bench) {
    let receipt = Receipt("5511900000001 is no receipt".to_owned());
    let refused = bench.ticks().hold(&receipt, 1).await;
    let error = refused.expect_err("there is no such receipt");
    assert!(!format!("{error} {error:?}").contains("5511900000001"));
}
