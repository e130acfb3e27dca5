//! The provider of a schedule: it accepts, refuses, loses and keeps silent, and sends statuses when it likes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{Address, Alias, DeliveryStatus, MessageId, ReplyId, StatusUpdate};
use recado::error::{SendError, Verdict};
use recado::ports::{LookUp, Messenger, Outgoing};
use tokio::sync::mpsc::UnboundedSender;

use super::core::Core;
use super::invocation::whose;
use super::plan::Fault;

/// A status webhook, to be delivered after so many milliseconds.
pub type Status = (u64, StatusUpdate);

/// See the module.
pub struct SimMessenger {
    core: Arc<Core>,
    has: Mutex<BTreeMap<ReplyId, u32>>,
    statuses: UnboundedSender<Status>,
}

impl SimMessenger {
    /// Its status webhooks leave by `statuses`.
    pub fn new(core: Arc<Core>, statuses: UnboundedSender<Status>) -> Self {
        Self {
            core,
            has: Mutex::default(),
            statuses,
        }
    }

    fn accept(&self, outgoing: &Outgoing) {
        let core = &self.core;
        *self.has.lock().unwrap().entry(outgoing.reply).or_default() += 1;
        core.tell(whose().as_ref(), || {
            format!("the provider accepts {}", outgoing.reply)
        });
        core.witness(|witness| witness.accepted(outgoing.reply));
        for (after_ms, status) in self.plan_statuses() {
            let update = status_of(outgoing, status);
            // Nobody listens any more at the very end.
            let _ = self.statuses.send((after_ms, update));
        }
    }

    fn plan_statuses(&self) -> Vec<(u64, DeliveryStatus)> {
        let core = &self.core;
        let mut statuses = vec![(core.pick(300..2_500), DeliveryStatus::Sent)];
        if core.strikes(Fault::StatusOdd, 3) {
            match core.pick(0..4) {
                0 => statuses[0].0 = core.pick(0..60),
                1 => statuses[0].0 = core.pick(20_000..200_000),
                2 => statuses.push((core.pick(1_000..60_000), DeliveryStatus::Sent)),
                _ => statuses.clear(),
            }
        }
        if core.strikes(Fault::StatusFailed, 6) {
            let failed = DeliveryStatus::Failed("131047".to_owned());
            statuses.push((core.pick(500..8_000), failed));
        }
        statuses
    }

    /// What goes wrong with a send before the provider has it.
    fn refused(&self) -> Option<SendError> {
        let core = &self.core;
        if core.strikes(Fault::SendRefused, 4) {
            core.trouble(None, 80_000);
            let verdict = match core.pick(0..2) {
                0 => Verdict::Retry,
                _ => Verdict::RetryAfter(Duration::from_secs(4)),
            };
            return Some(SendError::Refused {
                code: "130429".to_owned(),
                verdict,
            });
        }
        if core.strikes(Fault::SendUnreachable, 4) {
            core.trouble(None, 80_000);
            return Some(SendError::NotConnected("injected".into()));
        }
        core.strikes(Fault::SendFailed, 8)
            .then(|| SendError::Refused {
                code: "131026".to_owned(),
                verdict: Verdict::GiveUp,
            })
    }
}

fn status_of(outgoing: &Outgoing, status: DeliveryStatus) -> StatusUpdate {
    let alias = match &outgoing.to {
        Address::Phone(phone) => Alias::Phone(phone.clone()),
        Address::Bsuid(bsuid) => Alias::Bsuid(bsuid.clone()),
    };
    StatusUpdate {
        reply: outgoing.reply,
        aliases: vec![alias],
        number: outgoing.number.clone(),
        message: MessageId::parse(format!("sent.{}", outgoing.reply)).expect("short and plain"),
        status,
    }
}

#[async_trait]
impl Messenger for SimMessenger {
    async fn send(&self, outgoing: &Outgoing) -> Result<String, SendError> {
        let core = &self.core;
        core.elsewhere(core.pick(20..250)).await;
        core.trace("send", 0);
        if let Some(refused) = self.refused() {
            return Err(refused);
        }
        let silent = || SendError::OutcomeUnknown("injected".into());
        if core.strikes(Fault::SendLost, 6) {
            core.trouble(None, 20_000);
            core.witness(|witness| witness.silent(outgoing.reply));
            core.elsewhere(8_000).await;
            return Err(silent());
        }
        self.accept(outgoing);
        if core.strikes(Fault::SendTimedOut, 6) {
            core.trouble(None, 20_000);
            core.witness(|witness| witness.silent(outgoing.reply));
            core.elsewhere(8_000).await;
            return Err(silent());
        }
        core.elsewhere(core.pick(20..120)).await;
        Ok(format!("sent.{}", outgoing.reply))
    }

    async fn look_up(&self, reply: ReplyId) -> LookUp {
        let core = &self.core;
        core.elsewhere(core.pick(20..200)).await;
        if core.swarm.on(Fault::LookUpBlind) {
            return LookUp::CannotTell;
        }
        if self.has.lock().unwrap().contains_key(&reply) {
            LookUp::Sent(format!("sent.{reply}"))
        } else {
            LookUp::NotReceived
        }
    }
}
