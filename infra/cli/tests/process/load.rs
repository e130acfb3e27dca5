//! A steady load of many people, delivered as Meta delivers it: signed, in bodies of one or two messages, some of
//! them doubled, and each again and again under the same id until it is answered with 2xx.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use recado::adapters::meta::signature;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Signs the webhooks.
pub const APP_SECRET: &str = "00112233445566778899aabbccddeeff";
/// What every phone of the load begins with. Fictitious.
pub const PHONE_START: &str = "551190007";
/// What every message id of the load begins with.
pub const ID_START: &str = "wamid.LOAD";
/// What every text of the load begins with.
pub const TEXT_START: &str = "recadinho";
/// One in so many messages is a picture, which is closed and not answered.
const PICTURE_EVERY: u32 = 40;
/// One in so many bodies comes a second time although it was taken.
const DOUBLED_EVERY: u32 = 12;
/// One in so many fragments comes in the same body as the next one.
const JOINED_EVERY: u32 = 6;
/// Of a hundred thoughts, how many have 1, 2, ... fragments.
const FRAGMENTS: [u32; 6] = [35, 25, 20, 10, 6, 4];
/// Between two fragments, in milliseconds.
const GAP_MS: std::ops::Range<u64> = 200..1_500;
/// Between two tries of a body: shorter than Meta's, so that a test sees them.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const SPREAD_MS: std::ops::Range<u64> = 0..1_000;

/// One message of the load.
#[derive(Clone)]
pub struct Written {
    /// Who wrote it.
    pub phone: String,
    /// Its id at the provider.
    pub id: String,
    /// A word that is in this text and in no other.
    pub word: String,
    /// Whether it is a text; a picture otherwise.
    pub is_text: bool,
    /// Whether its webhook got a 2xx.
    pub is_taken: bool,
}

/// The load. It goes on while the process it is for is down.
pub struct Load {
    shared: Arc<Shared>,
}

struct Shared {
    http: Client,
    url: watch::Sender<String>,
    per_second: AtomicUsize,
    written: Mutex<Vec<Written>>,
    writing: Mutex<BTreeSet<usize>>,
    open: AtomicUsize,
    doubled: AtomicUsize,
    repeated: AtomicUsize,
    chance: Mutex<StdRng>,
}

impl Load {
    /// Of so many people, who do not write yet.
    pub fn new(people: usize, seed: u64) -> Self {
        let http = Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(10));
        let shared = Arc::new(Shared {
            http: http.build().unwrap(),
            url: watch::Sender::new("http://127.0.0.1:9".to_owned()),
            per_second: AtomicUsize::default(),
            written: Mutex::default(),
            writing: Mutex::default(),
            open: AtomicUsize::default(),
            doubled: AtomicUsize::default(),
            repeated: AtomicUsize::default(),
            chance: Mutex::new(StdRng::seed_from_u64(seed)),
        });
        tokio::spawn(Arc::clone(&shared).write_for_ever(people));
        Self { shared }
    }

    /// Where the webhook is from now on.
    pub fn aim_at(&self, url: &str) {
        self.shared.url.send_replace(url.to_owned());
    }

    /// So many messages a second from now on.
    pub fn write(&self, per_second: usize) {
        self.shared.per_second.store(per_second, Ordering::SeqCst);
    }

    /// Whether everything that was begun is written and taken.
    pub fn is_over(&self) -> bool {
        self.shared.open.load(Ordering::SeqCst) == 0
    }

    /// Every message so far.
    pub fn written(&self) -> Vec<Written> {
        self.shared.written.lock().unwrap().clone()
    }

    /// Bodies that came again although they were taken, and tries that got no 2xx.
    pub fn repeats(&self) -> (usize, usize) {
        let count = |of: &AtomicUsize| of.load(Ordering::SeqCst);
        (count(&self.shared.doubled), count(&self.shared.repeated))
    }
}

impl Shared {
    fn random(&self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.chance.lock().unwrap().random_range(range))
    }

    fn one_in(&self, count: u32) -> bool {
        self.chance.lock().unwrap().random_range(0..count) == 0
    }

    async fn write_for_ever(self: Arc<Self>, people: usize) {
        let mut last = Instant::now();
        let mut owed = 0.0;
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = Instant::now();
            let per_second = self.per_second.load(Ordering::SeqCst);
            let per_second = f64::from(u32::try_from(per_second).unwrap());
            owed = match per_second {
                0.0 => 0.0,
                _ => owed + per_second * (now - last).as_secs_f64(),
            };
            last = now;
            while owed >= 1.0 {
                let fragments = self.fragments();
                let Some(person) = self.someone_silent(people) else {
                    break;
                };
                owed -= f64::from(fragments);
                self.open.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(Arc::clone(&self).write_thought(person, fragments));
            }
        }
    }

    fn fragments(&self) -> u32 {
        let mut drawn = self.chance.lock().unwrap().random_range(0..100);
        for (weight, fragments) in FRAGMENTS.into_iter().zip(1..) {
            if drawn < weight {
                return fragments;
            }
            drawn -= weight;
        }
        1
    }

    /// Someone who is in the middle of nothing.
    fn someone_silent(&self, people: usize) -> Option<usize> {
        let mut writing = self.writing.lock().unwrap();
        for _ in 0..20 {
            let person = self.chance.lock().unwrap().random_range(0..people);
            if writing.insert(person) {
                return Some(person);
            }
        }
        None
    }

    async fn write_thought(self: Arc<Self>, person: usize, fragments: u32) {
        let mut body = Vec::new();
        for left in (0..fragments).rev() {
            body.push(self.write(person));
            if left > 0 && self.one_in(JOINED_EVERY) {
                continue;
            }
            self.open.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(Arc::clone(&self).deliver(std::mem::take(&mut body)));
            if left > 0 {
                tokio::time::sleep(self.random(GAP_MS)).await;
            }
        }
        self.writing.lock().unwrap().remove(&person);
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// Notes a new message. Yields its place among all.
    fn write(&self, person: usize) -> usize {
        let is_text = !self.one_in(PICTURE_EVERY);
        let mut written = self.written.lock().unwrap();
        let n = written.len();
        written.push(Written {
            phone: format!("{PHONE_START}{person:04}"),
            id: format!("{ID_START}{n:08}"),
            word: format!("n{n:08}"),
            is_text,
            is_taken: false,
        });
        n
    }

    /// Posts a body until it is taken, and some of them once more.
    async fn deliver(self: Arc<Self>, places: Vec<usize>) {
        let some: Vec<Written> = {
            let written = self.written.lock().unwrap();
            places.iter().map(|place| written[*place].clone()).collect()
        };
        let body = body(&some);
        self.post_until_taken(&body).await;
        {
            let mut written = self.written.lock().unwrap();
            for place in places {
                written[place].is_taken = true;
            }
        }
        if self.one_in(DOUBLED_EVERY) {
            tokio::time::sleep(self.random(0..5_000)).await;
            self.doubled.fetch_add(1, Ordering::SeqCst);
            self.post_until_taken(&body).await;
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    async fn post_until_taken(&self, body: &str) {
        let signature = signature::sign(APP_SECRET.as_bytes(), body.as_bytes());
        let mut aim = self.url.subscribe();
        let mut wait = FIRST_WAIT;
        loop {
            let url = format!("{}/webhook/meta", *aim.borrow_and_update());
            let request = self.http.post(url).header(signature::HEADER, &signature);
            let answer = request.body(body.to_owned()).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            self.repeated.fetch_add(1, Ordering::SeqCst);
            // Not all at once, and soon after the next start.
            let _ = tokio::time::timeout(wait, aim.changed()).await;
            tokio::time::sleep(self.random(SPREAD_MS)).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

/// Meta's envelope around messages of one person.
fn body(some: &[Written]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let phone = &some[0].phone;
    let message = |one: &Written| {
        let mut message =
            json!({ "id": one.id, "from": phone, "timestamp": now.as_secs().to_string() });
        if one.is_text {
            message["type"] = json!("text");
            message["text"] = json!({ "body": format!("{TEXT_START} {}", one.word) });
        } else {
            message["type"] = json!("image");
            message["image"] = json!({ "id": "1", "mime_type": "image/jpeg", "sha256": "0" });
        }
        message
    };
    let messages: Vec<Value> = some.iter().map(message).collect();
    json!({
        "object": "whatsapp_business_account",
        "entry": [{ "id": "200000000000001", "changes": [{ "field": "messages", "value": {
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "551140000001", "phone_number_id": "100000000000001" },
            "contacts": [{ "profile": { "name": "Ana" }, "wa_id": phone }],
            "messages": messages,
        } }] }],
    })
    .to_string()
}
