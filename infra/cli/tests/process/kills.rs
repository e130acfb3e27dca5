//! `kill -9` again and again at any moment, under a steady load: what was taken with a 2xx is answered once.
//!
//! One installation lives through all of it. After some kills the load pauses: then everything comes to rest, is
//! counted, and the process is stopped and started once more. `RECADO_KILLS` sets how many kills,
//! `RECADO_KILLS_RATE` how many messages a second, `RECADO_KILLS_SEED` what chance makes of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::harness::{MACHINE, Place, until};
use crate::ledger::{Received, Table};
use crate::load::{APP_SECRET, ID_START, Load, PHONE_START, TEXT_START, Written};

/// Without `RECADO_KILLS`: what is seen within a minute.
const KILLS: usize = 5;
const PER_SECOND: usize = 50;
/// Each of them begins a new thought every quarter of a minute or so.
const PEOPLE: usize = 300;
/// Then the load pauses.
const KILLS_IN_A_ROW: usize = 5;
/// From the start to the kill, in milliseconds: in the start itself, in the first second, or anywhere in a life.
const LIVES_MS: [std::ops::Range<u64>; 4] = [0..400, 400..1_500, 1_500..8_000, 1_500..8_000];
/// A process with more waiting than so many seconds of load lives on until it is less.
const BACKLOG_S: usize = 8;
/// From the last start until nothing waits.
const AT_REST_WITHIN: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_mins(2);

fn setting<T: std::str::FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).map_or(usual, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}"))
    })
}

#[tokio::test]
async fn after_kills_at_any_moment_under_load_every_accepted_message_is_answered_once() {
    let kills = setting("RECADO_KILLS", KILLS);
    let seed = setting("RECADO_KILLS_SEED", u64::from(std::process::id()));
    println!("seed {seed}: RECADO_KILLS_SEED={seed} RECADO_KILLS={kills} does much the same again");
    let _machine = MACHINE.lock().await;
    let mut chaos = Chaos::new(setting("RECADO_KILLS_RATE", PER_SECOND), seed);
    let mut left = kills;
    while left > 0 {
        chaos.load.turn(true);
        for _ in 0..left.min(KILLS_IN_A_ROW) {
            chaos.live_and_be_killed().await;
        }
        left = left.saturating_sub(KILLS_IN_A_ROW);
        chaos.load.turn(false);
        chaos.come_to_rest().await;
        chaos.tell();
    }
    chaos.check_everything().await;
}

/// The installation, its load, and what was seen.
struct Chaos {
    place: Place,
    load: Load,
    backlog_max: usize,
    received: Received,
    chance: StdRng,
    begun: Instant,
    kills: usize,
    /// From a quiet start to the last answer, for each person that one was owed.
    rests: Vec<Duration>,
    /// Sends that a kill cut off, with whether the phone had the reply.
    cut_off: BTreeMap<String, bool>,
}

impl Chaos {
    fn new(per_second: usize, seed: u64) -> Self {
        let place = Place::new()
            .with("RECADO_META_APP_SECRET", APP_SECRET)
            .with("RECADO_WINDOW_S", "1");
        Self {
            received: Received::of(&place.data()),
            place,
            load: Load::new(per_second, PEOPLE, seed),
            backlog_max: per_second * BACKLOG_S,
            chance: StdRng::seed_from_u64(seed),
            begun: Instant::now(),
            kills: 0,
            rests: Vec::new(),
            cut_off: BTreeMap::new(),
        }
    }

    async fn live_and_be_killed(&mut self) {
        let some = LIVES_MS[self.chance.random_range(0..LIVES_MS.len())].clone();
        let life = Duration::from_millis(self.chance.random_range(some));
        let running = self.place.spawn(&["run", "--port", "0"]);
        if let Ok(url) = tokio::time::timeout(life, running.ready()).await {
            self.load.aim_at(&url);
        }
        tokio::time::sleep(life.saturating_sub(running.age())).await;
        let bound = self.backlog_max;
        let caught_up = until(PATIENCE, || {
            let waiting = self.waiting().len();
            async move { (waiting <= bound).then_some(()) }
        });
        assert!(
            caught_up.await.is_some(),
            "the load is too much for this machine"
        );
        check_log(&running.kill().await);
        self.kills += 1;
        // Only sometimes: who reads the table mends its file, and the process is to do that by itself, too.
        if self.chance.random_bool(0.5) && self.place.data().join("recado.db").exists() {
            self.note_cut_off().await;
        }
    }

    async fn note_cut_off(&mut self) {
        let unrest = Table::unrest(&self.place.data()).await;
        self.received.read_on();
        for (reply, status) in unrest.replies {
            if status == "sending" {
                let phone_has_it = self.received.replies.contains_key(&reply);
                self.cut_off.insert(reply, phone_has_it);
            }
        }
    }

    /// Texts that were taken and are in no answer yet.
    fn waiting(&mut self) -> Vec<Written> {
        self.received.read_on();
        let mut written = self.load.written();
        written.retain(|one| {
            one.is_text && one.is_taken && !self.received.words.contains_key(&one.word)
        });
        written
    }

    /// Nobody writes: the process starts, everything is answered, and nothing is left when it stops.
    async fn come_to_rest(&mut self) {
        let started_ms = now_ms();
        let answered_before = self.received.newest.clone();
        let instance = self.place.run().await;
        self.load.aim_at(&instance.url);
        let at_rest = until(PATIENCE, || {
            let is_over = self.load.is_over() && self.waiting().is_empty();
            async move { is_over.then_some(()) }
        });
        let is_at_rest = at_rest.await.is_some();
        let left = self.waiting().len();
        assert!(is_at_rest, "{left} wait: {}", instance.running.printed());
        // The last statuses, and what is written after a send.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        check_log(&instance.stop().await);
        let unrest = Table::unrest(&self.place.data()).await;
        assert!(
            unrest.events.is_empty(),
            "not answered: {:?}",
            unrest.events
        );
        assert!(unrest.replies.is_empty(), "not sent: {:?}", unrest.replies);
        for (phone, at) in &self.received.newest {
            if answered_before.get(phone) != Some(at) && *at > started_ms {
                self.rests.push(Duration::from_millis(at - started_ms));
            }
        }
    }

    fn tell(&mut self) {
        self.rests.sort();
        let rest = |share: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a place in a list"
            )]
            let place = (self.rests.len().saturating_sub(1) as f64 * share) as usize;
            self.rests.get(place).copied().unwrap_or_default()
        };
        let written = self.load.written();
        let (doubled, repeated) = self.load.repeats();
        let phone_had = self.cut_off.values().filter(|has| **has).count();
        println!(
            "{} kills in {:.0?}; {} messages ({doubled} bodies came twice, {repeated} tries got no 2xx), {} replies; \
             {} sends cut off ({phone_had} of them the phone had); at rest after the last start p50 {:.1?}, p95 {:.1?}, max {:.1?}",
            self.kills,
            self.begun.elapsed(),
            written.len(),
            self.received.replies.len(),
            self.cut_off.len(),
            rest(0.5),
            rest(0.95),
            rest(1.0),
        );
    }

    /// Every message that was taken is in the answered set of one reply, which the phone has once.
    async fn check_everything(&mut self) {
        let table = Table::read(&self.place.data()).await;
        let written = self.load.written();
        let (mut lost, mut doubled, mut pictures) = (Vec::new(), Vec::new(), 0);
        for one in &written {
            let answered_by = table.events.get(&one.id).cloned().flatten();
            let holding = self.received.words.get(&one.word);
            match answered_by.as_deref() {
                Some("closed:kind_not_answered") if !one.is_text && holding.is_none() => {
                    pictures += 1;
                }
                Some(reply) if holding.is_some_and(|some| some.contains(reply)) => {}
                _ => lost.push((&one.id, answered_by)),
            }
            if holding.is_some_and(|some| some.len() > 1) {
                doubled.push((&one.id, holding));
            }
        }
        let twice = self
            .received
            .replies
            .iter()
            .filter(|(_, count)| **count > 1);
        let twice: Vec<_> = twice.collect();
        let not_sent = table.replies.iter().filter(|(_, status)| *status != "sent");
        let not_sent: Vec<_> = not_sent.collect();
        let unresolved = self.cut_off.keys();
        let unresolved = unresolved.filter(|reply| !self.received.replies.contains_key(*reply));
        let unresolved: Vec<_> = unresolved.collect();
        println!(
            "{} kills, {} messages ({pictures} of them pictures, closed), {} replies, {} doubled, {} lost, \
             {} of {} unknown outcomes resolved",
            self.kills,
            written.len(),
            self.received.replies.len(),
            doubled.len() + twice.len(),
            lost.len(),
            self.cut_off.len() - unresolved.len(),
            self.cut_off.len(),
        );
        assert!(lost.is_empty(), "lost: {lost:?}");
        assert!(doubled.is_empty(), "in two answers: {doubled:?}");
        assert!(twice.is_empty(), "sent twice: {twice:?}");
        assert!(not_sent.is_empty(), "not sent: {not_sent:?}");
        assert!(unresolved.is_empty(), "unknown: {unresolved:?}");
        let slowest = self.rests.last().copied().unwrap_or_default();
        assert!(slowest <= AT_REST_WITHIN, "at rest only after {slowest:?}");
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// No panic, no phone, no words, no provider's id.
fn check_log(printed: &str) {
    for banned in ["panic", PHONE_START, ID_START, TEXT_START] {
        let line = printed.lines().find(|line| line.contains(banned));
        assert!(line.is_none(), "{banned:?} in the log: {line:?}");
    }
}
