//! `kill -9` again and again at any moment, under a steady load: what was taken with a 2xx is answered once.
//!
//! One installation lives through all of it. After some kills the load pauses: then everything comes to rest and is
//! counted. One more kill falls while few people write, after which all of them are answered soon. `RECADO_KILLS`
//! sets how many kills, `RECADO_KILLS_RATE` how many messages a second, `RECADO_KILLS_SEED` what chance makes of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::figures::{Figures, now_ms};
use crate::harness::{Instance, MACHINE, Place, until};
use crate::ledger::{Received, Table};
use crate::load::{APP_SECRET, ID_START, Load, PHONE_START, TEXT_START, Written};

/// Without `RECADO_KILLS`: what is seen within half a minute or so.
const KILLS: usize = 6;
const PER_SECOND: usize = 50;
/// Each of them begins a new thought every quarter of a minute or so.
const PEOPLE: usize = 300;
/// Then the load pauses; the last of them falls while few write.
const KILLS_IN_A_ROW: usize = 6;
/// From the start to the kill, in milliseconds: in the start itself, in the first second, or anywhere in a life.
const LIVES_MS: [std::ops::Range<u64>; 4] = [0..400, 400..1_500, 1_500..8_000, 1_500..8_000];
/// Where more waits than comes in so many seconds, the load pauses until it is less, so that the wait stays bounded on
/// a machine that is too busy.
const BACKLOG_S: usize = 8;
/// When few write: so many messages a second, for so many milliseconds before the kill. That is spread evenly over
/// the window, the model call, the commit, the send and the statuses.
const FEW_A_SECOND: usize = 4;
const FEW_FOR_MS: (u64, u64) = (300, 7_000);
/// From the start after that to the last answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// However much waits and however busy the machine is.
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
    let per_second = setting("RECADO_KILLS_RATE", PER_SECOND);
    println!("RECADO_KILLS_SEED={seed} RECADO_KILLS={kills} does much the same again");
    let _machine = MACHINE.lock().await;
    let mut chaos = Chaos::new(per_second, seed);
    let rows = kills.div_ceil(KILLS_IN_A_ROW);
    for row in 0..rows {
        let in_row = (kills - row * KILLS_IN_A_ROW).min(KILLS_IN_A_ROW);
        chaos.load.write(per_second);
        for _ in 1..in_row {
            chaos.live_and_be_killed().await;
        }
        chaos.load.write(0);
        let instance = chaos.come_to_rest(false).await;
        chaos.be_killed_among_few(instance, row, rows).await;
        let instance = chaos.come_to_rest(true).await;
        chaos.stop(instance).await;
        println!("{}; 0 doubled so far", chaos.figures);
    }
    chaos.check_everything().await;
}

/// The installation, its load, and what was seen.
struct Chaos {
    place: Place,
    load: Load,
    per_second: usize,
    backlog_max: usize,
    received: Received,
    chance: StdRng,
    figures: Figures,
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
            load: Load::new(PEOPLE, seed),
            per_second,
            backlog_max: per_second * BACKLOG_S,
            chance: StdRng::seed_from_u64(seed),
            figures: Figures::new(),
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
        self.figures.loaded += running.age();
        self.catch_up().await;
        check_log(&running.kill().await);
        self.note_kill().await;
    }

    /// Where too much waits the load pauses, which is told.
    async fn catch_up(&mut self) {
        let begun = Instant::now();
        let bound = self.backlog_max;
        if self.waiting().len() <= bound {
            return;
        }
        self.load.write(0);
        let caught_up = until(PATIENCE, || {
            let waiting = self.waiting().len();
            async move { (waiting <= bound).then_some(()) }
        });
        assert!(caught_up.await.is_some(), "{} wait", self.waiting().len());
        self.load.write(self.per_second);
        self.figures.paused += begun.elapsed();
    }

    async fn be_killed_among_few(&mut self, instance: Instance, row: usize, rows: usize) {
        let (shortest, spread) = FEW_FOR_MS;
        let place = u64::try_from(row).unwrap() * spread / u64::try_from(rows).unwrap();
        self.load.write(FEW_A_SECOND);
        tokio::time::sleep(Duration::from_millis(shortest + place)).await;
        check_log(&instance.running.kill().await);
        self.load.write(0);
        self.note_kill().await;
    }

    /// Looks at what the kill has cut off; only sometimes, for who reads the table mends its file, and the process is
    /// to do that by itself, too.
    async fn note_kill(&mut self) {
        self.figures.kills += 1;
        if self.chance.random_bool(0.5) || !self.place.data().join("recado.db").exists() {
            return;
        }
        let unrest = Table::unrest(&self.place.data()).await;
        self.received.read_on();
        for (reply, status) in unrest.replies {
            if status == "sending" {
                let phone_has_it = self.received.replies.contains_key(&reply);
                self.cut_off.insert(reply, phone_has_it);
            }
        }
        self.figures.cut_off = self.cut_off.len();
        self.figures.phone_had = self.cut_off.values().filter(|has| **has).count();
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

    /// Nobody writes: the process starts, and everything is answered.
    async fn come_to_rest(&mut self, after_few: bool) -> Instance {
        let started_ms = now_ms();
        let before = self.received.newest.clone();
        let instance = self.place.run().await;
        self.load.aim_at(&instance.url);
        let at_rest = until(PATIENCE, || {
            let is_over = self.load.is_over() && self.waiting().is_empty();
            async move { is_over.then_some(()) }
        });
        let is_at_rest = at_rest.await.is_some();
        let left = self.waiting().len();
        assert!(is_at_rest, "{left} wait: {}", instance.running.printed());
        for (phone, at) in &self.received.newest {
            if before.get(phone) == Some(at) || *at < started_ms {
                continue;
            }
            let took = Duration::from_millis(at - started_ms);
            if after_few {
                assert!(took <= ANSWERED_WITHIN, "answered only after {took:?}");
                self.figures.rests_of_few.push(took);
            } else {
                self.figures.rests.push(took);
            }
        }
        instance
    }

    /// Ctrl-C, after which nothing is left to do.
    async fn stop(&mut self, instance: Instance) {
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
        let doubled = self.doubled();
        assert!(doubled.is_empty(), "doubled: {doubled:?}");
        self.figures.messages = self.load.written().len();
        (self.figures.doubled, self.figures.repeated) = self.load.repeats();
        self.figures.replies = self.received.replies.len();
    }

    /// Replies that came twice, and messages that are in two of them.
    fn doubled(&self) -> Vec<String> {
        let Received { replies, words, .. } = &self.received;
        let twice = replies.iter().filter(|(_, count)| **count > 1);
        let twice = twice.map(|(reply, _)| reply.clone());
        let written = self.load.written().into_iter();
        let in_two = written.filter(|one| words.get(&one.word).is_some_and(|some| some.len() > 1));
        twice.chain(in_two.map(|one| one.id)).collect()
    }

    /// Every message that was taken is in the answered set of one reply, which the phone has once.
    async fn check_everything(&mut self) {
        let table = Table::read(&self.place.data()).await;
        let (mut lost, mut pictures) = (Vec::new(), 0);
        for one in self.load.written() {
            let answered_by = table.events.get(&one.id).cloned().flatten();
            let holding = self.received.words.get(&one.word);
            match answered_by.as_deref() {
                Some("closed:kind_not_answered") if !one.is_text && holding.is_none() => {
                    pictures += 1;
                }
                Some(reply) if holding.is_some_and(|some| some.contains(reply)) => {}
                _ => lost.push((one.id, answered_by)),
            }
        }
        let received = &self.received.replies;
        let doubled = self.doubled();
        let not_sent = table.replies.iter().filter(|(_, status)| *status != "sent");
        let not_sent: Vec<_> = not_sent.collect();
        let unresolved = self.cut_off.keys();
        let unresolved = unresolved.filter(|reply| !received.contains_key(*reply));
        let unresolved: Vec<_> = unresolved.collect();
        println!(
            "{} doubled, {} lost, {pictures} pictures closed, {} of {} unknown outcomes resolved",
            doubled.len(),
            lost.len(),
            self.cut_off.len() - unresolved.len(),
            self.cut_off.len(),
        );
        assert!(lost.is_empty(), "lost: {lost:?}");
        assert!(doubled.is_empty(), "doubled: {doubled:?}");
        assert!(not_sent.is_empty(), "not sent: {not_sent:?}");
        assert!(unresolved.is_empty(), "unknown: {unresolved:?}");
    }
}

/// No panic, no phone, no words, no provider's id.
fn check_log(printed: &str) {
    for banned in ["panic", PHONE_START, ID_START, TEXT_START] {
        let line = printed.lines().find(|line| line.contains(banned));
        assert!(line.is_none(), "{banned:?} in the log: {line:?}");
    }
}
