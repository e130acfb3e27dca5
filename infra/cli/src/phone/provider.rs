//! The provider itself: takes texts from people and sends from the back end, writes both down, and has the rest
//! delivered by `courier`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recado::domain::{BusinessNumber, Phone as Number, Timestamp};
use recado::ports::{Chance, Clock};
use serde::Serialize;
use tokio::sync::{Notify, Semaphore, broadcast, watch};

use super::book::{Book, ChatMessage, Side};
use super::courier;
use super::records::{Log, Record};

/// Changes a slow listener may be behind before it loses some.
const CHANGES_KEPT: usize = 4_096;
/// Webhooks under way at once: each holds connections and buffers in this very process, on both of their ends.
const WEBHOOKS_AT_ONCE: usize = 16;
/// One webhook is given up, and tried again, after this long.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);

/// What the phone has to know of the installation.
#[derive(Clone)]
pub struct Settings {
    /// Where webhooks go, for instance `http://127.0.0.1:8787/webhook/meta`.
    pub webhook_url: String,
    /// Signs the webhooks.
    pub app_secret: String,
    /// What a send has to show as its bearer token.
    pub access_token: String,
    /// The business number people write to, as its `phone_number_id`.
    pub number: BusinessNumber,
    /// The same number as people see it.
    pub display_number: String,
    /// The business account the number belongs to.
    pub business_account: String,
}

/// Why the phone cannot work.
#[derive(Debug, thiserror::Error)]
pub enum PhoneError {
    /// Its log cannot be opened or read.
    #[error(
        "the phone's log phone.jsonl cannot be read: let this user read it, or move it out of the data folder to start \
         without the messages on the phone"
    )]
    Unreadable(#[source] std::io::Error),
    /// A record cannot be written; nothing was accepted.
    #[error("the phone's log phone.jsonl cannot be written")]
    Unwritable(#[source] std::io::Error),
    /// The HTTP client cannot be made.
    #[error("the phone's HTTP client cannot be made")]
    Client(#[source] reqwest::Error),
}

/// What the provider has for a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its id of the first message accepted for it.
    pub id: String,
    /// How many were accepted: more than one means the back end sent twice.
    pub count: usize,
}

/// One person's conversation, in a line.
#[derive(Clone, Serialize)]
pub struct Conversation {
    /// Whose.
    pub phone: Number,
    /// The name in their profile.
    pub name: &'static str,
    /// The newest message.
    pub newest: ChatMessage,
}

/// The phone. Clones are the same phone.
#[derive(Clone)]
pub struct Phone {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) chance: Arc<dyn Chance>,
    pub(super) http: reqwest::Client,
    pub(super) webhooks: Semaphore,
    /// The log and what it adds up to change together.
    kept: Mutex<Kept>,
    /// One delivery per person, woken when there is something to deliver.
    lines: Mutex<HashMap<Number, Arc<Notify>>>,
    changes: broadcast::Sender<Arc<ChatMessage>>,
    closed: watch::Sender<bool>,
}

struct Kept {
    log: Log,
    book: Book,
}

impl Phone {
    /// Opens the phone with its log in `log`, or without one on disk. Delivers nothing before [`Phone::start`].
    pub fn open(
        settings: Settings,
        log: Option<&Path>,
        clock: Arc<dyn Clock>,
        chance: Arc<dyn Chance>,
    ) -> Result<Self, PhoneError> {
        let (log, records) = match log {
            Some(path) => Log::open(path).map_err(PhoneError::Unreadable)?,
            None => (Log::in_memory(), Vec::new()),
        };
        let mut book = Book::default();
        for record in records {
            book.apply(record);
        }
        // Meta follows no redirect, and a webhook on this machine goes through no proxy.
        let http = reqwest::Client::builder()
            .timeout(WEBHOOK_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(PhoneError::Client)?;
        let inner = Inner {
            settings,
            clock,
            chance,
            http,
            webhooks: Semaphore::new(WEBHOOKS_AT_ONCE),
            kept: Mutex::new(Kept { log, book }),
            lines: Mutex::default(),
            changes: broadcast::Sender::new(CHANGES_KEPT),
            closed: watch::Sender::new(false),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Delivers what the log says was not delivered yet: texts and statuses. Call it once, when the webhook is served.
    pub fn start(&self) {
        let (phones, untold) = self
            .inner
            .read(|book| (book.phones().cloned().collect::<Vec<_>>(), book.untold()));
        for phone in phones {
            self.wake(&phone);
        }
        for message in untold {
            courier::spawn_statuses(&self.inner, message);
        }
    }

    /// Ends all deliveries and live streams; what was not delivered stays in the log. Call it before a server waits
    /// for its connections to end: a live stream does not end by itself.
    pub fn close(&self) {
        self.inner.closed.send_replace(true);
    }

    /// Resolves once the phone is closed.
    pub(super) fn until_closed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.inner.until_closed()
    }

    /// A person writes `texts`, `gap` apart. Gives their ids once they are written down; the rest happens in the
    /// background, in order.
    pub fn write(
        &self,
        from: &Number,
        texts: Vec<String>,
        gap: Duration,
    ) -> Result<Vec<String>, PhoneError> {
        let mut at = self.inner.clock.now();
        let mut records = Vec::with_capacity(texts.len());
        let mut ids = Vec::with_capacity(texts.len());
        for text in texts {
            let id = self.inner.message_id(from, Side::Person);
            ids.push(id.clone());
            records.push(Record::Wrote {
                id,
                from: from.clone(),
                text,
                at,
            });
            at = at.plus(gap);
        }
        self.inner.keep_all(records)?;
        self.wake(from);
        Ok(ids)
    }

    /// The back end sends `text`: writes it down, gives its id, and reports its statuses in the background.
    pub(super) fn accept(
        &self,
        to: &Number,
        text: String,
        reply: Option<String>,
    ) -> Result<String, PhoneError> {
        let id = self.inner.message_id(to, Side::Agent);
        let at = self.inner.clock.now();
        let record = Record::Accepted {
            id: id.clone(),
            to: to.clone(),
            text,
            reply,
            at,
        };
        self.inner.keep_all(vec![record])?;
        if let Some(message) = self.inner.read(|book| book.message(&id).cloned()) {
            courier::spawn_statuses(&self.inner, message);
        }
        Ok(id)
    }

    /// What was received for a reply of the back end.
    pub fn find(&self, reply: &str) -> Option<Found> {
        self.inner.read(|book| {
            let mut accepted = book.accepted_for(reply);
            let id = accepted.next()?.id.clone();
            Some(Found {
                id,
                count: 1 + accepted.count(),
            })
        })
    }

    /// Both sides of one person's conversation, in order.
    pub fn conversation(&self, phone: &Number) -> Vec<ChatMessage> {
        self.inner.read(|book| book.conversation(phone))
    }

    /// Everyone's conversation, the most recent first.
    pub fn conversations(&self) -> Vec<Conversation> {
        let mut conversations = self.inner.read(|book| {
            book.phones()
                .filter_map(|phone| {
                    Some(Conversation {
                        phone: phone.clone(),
                        name: super::people::name(phone),
                        newest: book.newest(phone)?.clone(),
                    })
                })
                .collect::<Vec<_>>()
        });
        conversations.sort_by_key(|conversation| std::cmp::Reverse(conversation.newest.at));
        conversations
    }

    /// Messages as they come and as their status changes.
    pub fn changes(&self) -> broadcast::Receiver<Arc<ChatMessage>> {
        self.inner.changes.subscribe()
    }

    /// Whose id this is, a BSUID or a phone in canonical form, where they have written before.
    pub(super) fn phone_of(&self, id: &str) -> Option<Number> {
        self.inner.read(|book| book.phone_of(id).cloned())
    }

    fn wake(&self, phone: &Number) {
        let mut lines = self
            .inner
            .lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(phone.clone()).or_insert_with(|| {
            let wake = Arc::new(Notify::new());
            courier::spawn_line(&self.inner, phone.clone(), Arc::clone(&wake));
            wake
        });
        line.notify_one();
    }
}

impl Inner {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&Book) -> T) -> T {
        look(&self.kept().book)
    }

    /// Writes records down, then takes them into account and tells the listeners.
    pub(super) fn keep_all(&self, records: Vec<Record>) -> Result<(), PhoneError> {
        let mut kept = self.kept();
        kept.log.append(&records).map_err(PhoneError::Unwritable)?;
        for record in records {
            self.tell(kept.book.apply(record));
        }
        Ok(())
    }

    /// Notes how a try to tell the back end of a message goes.
    pub(super) fn note_try(&self, id: &str, problem: Option<&str>) {
        self.tell(self.kept().book.note_try(id, problem));
    }

    fn tell(&self, message: Option<&ChatMessage>) {
        if let Some(message) = message {
            // Without a listener there is no one to tell.
            let _ = self.changes.send(Arc::new(message.clone()));
        }
    }

    pub(super) fn until_closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closed = self.closed.subscribe();
        async move {
            // An error means that the phone itself is gone.
            let _ = closed.wait_for(|closed| *closed).await;
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// An id like Meta's: base64 of a small frame that holds the person's phone and a random part.
    fn message_id(&self, phone: &Number, side: Side) -> String {
        let digits = phone.as_str().as_bytes();
        let mut frame = vec![0x1c, 0x18, u8::try_from(digits.len()).unwrap_or(u8::MAX)];
        frame.extend_from_slice(digits);
        let direction = match side {
            Side::Person => 0x12,
            Side::Agent => 0x11,
        };
        frame.extend_from_slice(&[0x15, 0x02, 0x00, direction, 0x18, 0x20]);
        frame.extend_from_slice(format!("{:032X}", self.chance.bits()).as_bytes());
        frame.push(0);
        format!("wamid.{}", STANDARD.encode(frame))
    }
}
