//! A provider that keeps what it accepted and does what the test tells it to.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{Address, ReplyId, Timestamp};
use recado::error::{SendError, Verdict};
use recado::ports::{Clock, LookUp, Messenger, Outgoing};

/// What one send does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendBehaviour {
    /// Accepted.
    Accept,
    /// Refused with this code; tried again later or not.
    Refuse(&'static str, Verdict),
    /// No connection.
    Unreachable,
    /// Accepted, and the answer is lost.
    AcceptSilently,
    /// Not accepted, and no answer comes.
    LoseSilently,
    /// Not accepted: the client panics.
    Panic,
}

/// A text that reached the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// When.
    pub at: Timestamp,
    /// The reply it belongs to.
    pub reply: ReplyId,
    /// Whom it reached: a phone or a BSUID.
    pub to: String,
    /// The words.
    pub text: String,
}

/// Accepts, unless told otherwise.
pub struct FakeMessenger {
    clock: Arc<dyn Clock>,
    next: Mutex<VecDeque<SendBehaviour>>,
    usual: Mutex<SendBehaviour>,
    tries: AtomicUsize,
    delivered: Mutex<Vec<(Outgoing, Timestamp)>>,
    can_be_asked: Mutex<bool>,
}

impl FakeMessenger {
    /// A provider that accepts and can be asked.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            next: Mutex::default(),
            usual: Mutex::new(SendBehaviour::Accept),
            tries: AtomicUsize::new(0),
            delivered: Mutex::default(),
            can_be_asked: Mutex::new(true),
        }
    }

    /// What the next send does; called again: the one after it.
    pub fn then(&self, behaviour: SendBehaviour) {
        self.next.lock().unwrap().push_back(behaviour);
    }

    /// What sends do that were not told otherwise.
    pub fn usually(&self, behaviour: SendBehaviour) {
        *self.usual.lock().unwrap() = behaviour;
    }

    /// Sends that were tried since this was asked last.
    pub fn take_tries(&self) -> usize {
        self.tries.swap(0, Ordering::Relaxed)
    }

    /// Whether a look-up gets an answer.
    pub fn can_be_asked(&self, can: bool) {
        *self.can_be_asked.lock().unwrap() = can;
    }

    /// Everything accepted, in order.
    pub fn delivered(&self) -> Vec<Delivered> {
        let all = self.delivered.lock().unwrap();
        all.iter()
            .map(|(outgoing, at)| Delivered {
                at: *at,
                reply: outgoing.reply,
                to: match &outgoing.to {
                    Address::Phone(phone) => phone.as_str().to_owned(),
                    Address::Bsuid(bsuid) => bsuid.as_str().to_owned(),
                },
                text: outgoing.text.clone(),
            })
            .collect()
    }

    /// The words of everything accepted, in order.
    pub fn texts(&self) -> Vec<String> {
        self.delivered().into_iter().map(|one| one.text).collect()
    }
}

#[async_trait]
impl Messenger for FakeMessenger {
    async fn send(&self, outgoing: &Outgoing) -> Result<String, SendError> {
        self.clock.sleep(Duration::from_millis(100)).await;
        self.tries.fetch_add(1, Ordering::Relaxed);
        let next = self.next.lock().unwrap().pop_front();
        let behaviour = next.unwrap_or_else(|| self.usual.lock().unwrap().clone());
        let silent = || SendError::OutcomeUnknown("no answer".into());
        match behaviour {
            SendBehaviour::Refuse(code, verdict) => {
                return Err(SendError::Refused {
                    code: code.to_owned(),
                    verdict,
                });
            }
            SendBehaviour::Unreachable => {
                return Err(SendError::NotConnected("connection refused".into()));
            }
            SendBehaviour::Panic => panic!("told to"),
            SendBehaviour::LoseSilently => return Err(silent()),
            SendBehaviour::Accept | SendBehaviour::AcceptSilently => {
                let now = self.clock.now();
                self.delivered.lock().unwrap().push((outgoing.clone(), now));
            }
        }
        if behaviour == SendBehaviour::AcceptSilently {
            Err(silent())
        } else {
            Ok("wamid.fake".to_owned())
        }
    }

    async fn look_up(&self, reply: ReplyId) -> LookUp {
        if !*self.can_be_asked.lock().unwrap() {
            return LookUp::CannotTell;
        }
        let all = self.delivered.lock().unwrap();
        let has = all.iter().any(|(outgoing, _)| outgoing.reply == reply);
        if has {
            LookUp::Sent("wamid.fake".to_owned())
        } else {
            LookUp::NotReceived
        }
    }
}
