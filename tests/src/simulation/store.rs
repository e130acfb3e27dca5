//! The table as the schedule has it: the fake one behind latency, errors and deaths, and with the witness beside it.

mod calls;
mod request;

use std::sync::Arc;

use async_trait::async_trait;
use recado::domain::batch::Closure;
use recado::domain::memory::Fold;
use recado::domain::reply::Settlement;
use recado::domain::{
    AgentId, Alias, Call, ContactId, ConversationId, DeliveryStatus, Event, Memory, MessageId,
    Reply, ReplyId, RunId, State, Timestamp, ToolResult,
};
use recado::error::StoreError;
use recado::ports::{
    AliasAddition, Appended, Clock as _, Commit, Creation, Erasure, Known, NewCalls, Noted, Peek,
    Release, Store, Swapped, Unrest, Written,
};

use super::clocks::SimClock;
use super::core::Core;
use super::invocation::here;
use super::plan::Fault;
use super::switches::Switches;
use crate::fake_store::FakeStore;

pub use self::request::BetweenReads;
use self::request::number;

/// See the module.
pub struct SimStore {
    core: Arc<Core>,
    table: Arc<FakeStore>,
    switches: Switches,
}

impl SimStore {
    /// Around this table.
    pub fn new(core: Arc<Core>, table: Arc<FakeStore>, switches: Switches) -> Self {
        Self {
            core,
            table,
            switches,
        }
    }
}

#[async_trait]
impl Store for SimStore {
    async fn resolve(&self, agent: &AgentId, aliases: &[Alias]) -> Result<Vec<Known>, StoreError> {
        let apply = self.table.resolve(agent, aliases);
        self.request("resolve", None, false, apply, |_| 0).await
    }

    async fn create_contact(&self, creation: &Creation) -> Result<Written, StoreError> {
        let of = &creation.conversation;
        let apply = self.table.create_contact(creation);
        let see = |written: &Written| {
            self.told(of, || format!("create: {written:?}"));
            if *written == Written::Done {
                let (aliases, sent) = (&creation.state.aliases, creation.event_sent_at);
                self.core
                    .witness(|witness| witness.named(of, aliases, sent));
            }
            number(*written)
        };
        self.request("create_contact", Some(of), true, apply, see)
            .await
    }

    async fn add_alias(&self, addition: &AliasAddition) -> Result<Written, StoreError> {
        let of = &addition.conversation;
        let apply = self.table.add_alias(addition);
        let see = |written: &Written| {
            self.told(of, || format!("add alias: {written:?}"));
            if *written == Written::Done {
                let (alias, sent) = (
                    std::slice::from_ref(&addition.alias),
                    addition.event_sent_at,
                );
                self.core.witness(|witness| witness.named(of, alias, sent));
            }
            number(*written)
        };
        self.request("add_alias", Some(of), true, apply, see).await
    }

    async fn note_meeting(
        &self,
        of: &ConversationId,
        other: &ContactId,
    ) -> Result<Written, StoreError> {
        let apply = self.table.note_meeting(of, other);
        let see = |written: &Written| {
            self.told(of, || format!("meeting: {written:?}"));
            number(*written)
        };
        self.request("note_meeting", Some(of), true, apply, see)
            .await
    }

    async fn append(&self, of: &ConversationId, event: &Event) -> Result<Appended, StoreError> {
        let apply = self.table.append(of, event);
        let see = |appended: &Appended| {
            self.told(of, || format!("append {}: {appended:?}", event.id));
            if *appended == Appended::New {
                let now = self.core.true_ms();
                self.core.witness(|witness| witness.stored(of, event, now));
            }
            *appended as u64
        };
        self.request("append", Some(of), true, apply, see).await
    }

    async fn peek(&self, of: &ConversationId, pending_max: usize) -> Result<Peek, StoreError> {
        let mut looked_ms = 0;
        let see = |peek: &Peek| {
            looked_ms = self.core.true_ms();
            peek.pending.len() as u64
        };
        let apply = self.table.peek(of, pending_max);
        let mut peek = self.request("peek", Some(of), false, apply, see).await?;
        let clock = SimClock(Arc::clone(&self.core)).now();
        self.core
            .witness(|witness| witness.looked(here(), looked_ms, clock));
        self.switches.peek(&mut peek);
        self.switches.seal(&mut peek, |id| self.stored(of, id));
        Ok(peek)
    }

    async fn swap_state(
        &self,
        of: &ConversationId,
        expected: u64,
        state: &State,
    ) -> Result<Swapped, StoreError> {
        let apply = self.table.swap_state(of, expected, state);
        let see = |swapped: &Swapped| {
            let done = *swapped == Swapped::Done;
            self.told(of, || {
                let lease = state.lease.map(|lease| lease.run);
                format!(
                    "state {expected} -> {}, lease {lease:?}: {done}",
                    state.version
                )
            });
            if done {
                self.core.witness(|witness| witness.claimed(of, state));
            }
            u64::from(done)
        };
        self.request("swap_state", Some(of), true, apply, see).await
    }

    async fn release(&self, of: &ConversationId, release: &Release) -> Result<Written, StoreError> {
        let apply = self.table.release(of, release);
        let see = |written: &Written| {
            self.told(of, || format!("release: {written:?}"));
            number(*written)
        };
        let given = self.request("release", Some(of), true, apply, see).await;
        self.switches.looked_after();
        given
    }

    async fn close(
        &self,
        of: &ConversationId,
        expected: u64,
        closure: &Closure,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let apply = async {
            let before = self.state(of);
            let written = self.table.close(of, expected, closure, now).await?;
            if written == Written::Done {
                let now = self.core.true_ms();
                self.core
                    .witness(|witness| witness.closed(of, closure, before.as_ref(), now));
            }
            Ok(written)
        };
        let see = |written: &Written| {
            self.told(of, || {
                format!(
                    "close {:?} as {:?}: {written:?}",
                    ids(&closure.events),
                    closure.reason
                )
            });
            number(*written)
        };
        let given = self.request("close", Some(of), true, apply, see).await;
        self.switches.looked_after();
        given
    }

    async fn delete_late(
        &self,
        of: &ConversationId,
        events: &[MessageId],
    ) -> Result<Written, StoreError> {
        let apply = self.table.delete_late(of, events);
        let see = |written: &Written| {
            self.told(of, || format!("delete late {:?}: {written:?}", ids(events)));
            number(*written)
        };
        self.request("delete_late", Some(of), true, apply, see)
            .await
    }

    async fn load(&self, of: &ConversationId) -> Result<Memory, StoreError> {
        let see = |memory: &Memory| memory.items() as u64;
        self.request("load", Some(of), false, self.table.load(of), see)
            .await
    }

    async fn commit(&self, of: &ConversationId, commit: &Commit) -> Result<Written, StoreError> {
        let apply = async {
            let before = self.state(of);
            let written = self.table.commit(of, commit).await?;
            if written == Written::Done {
                let now = self.core.true_ms();
                self.core
                    .witness(|witness| witness.committed(of, commit, before.as_ref(), now, here()));
            }
            Ok(written)
        };
        let see = |written: &Written| {
            self.told(of, || {
                let (id, kind) = (commit.reply.id, commit.reply.kind);
                format!(
                    "commit {id} {kind:?} of {:?}: {written:?}",
                    ids(&commit.answered)
                )
            });
            number(*written)
        };
        self.request("commit", Some(of), true, apply, see).await
    }

    async fn calls(&self, of: &ConversationId, reply: ReplyId) -> Result<Vec<Call>, StoreError> {
        self.read_calls(of, reply).await
    }

    async fn store_calls(
        &self,
        of: &ConversationId,
        new: &NewCalls,
    ) -> Result<Written, StoreError> {
        self.write_calls(of, new).await
    }

    async fn store_result(
        &self,
        of: &ConversationId,
        place: (ReplyId, u16),
        result: &ToolResult,
    ) -> Result<Written, StoreError> {
        self.write_result(of, place, result).await
    }

    async fn mark_sending(
        &self,
        of: &ConversationId,
        reply: &Reply,
        token: RunId,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let apply = self.table.mark_sending(of, reply, token, now);
        let see = |written: &Written| {
            self.told(of, || format!("mark sending {}: {written:?}", reply.id));
            if *written == Written::Done {
                let now = self.core.true_ms();
                self.core.witness(|witness| witness.marked(reply.id, now));
            }
            number(*written)
        };
        self.request("mark_sending", Some(of), true, apply, see)
            .await
    }

    async fn settle(
        &self,
        of: &ConversationId,
        reply: ReplyId,
        token: Option<RunId>,
        settlement: &Settlement,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let apply = self.table.settle(of, reply, token, settlement, now);
        let see = |written: &Written| {
            self.told(of, || {
                format!("settle {reply} as {:?}: {written:?}", settlement.status())
            });
            number(*written)
        };
        self.request("settle", Some(of), true, apply, see).await
    }

    async fn note_status(
        &self,
        of: &ConversationId,
        reply: ReplyId,
        status: &DeliveryStatus,
        now: Timestamp,
    ) -> Result<Noted, StoreError> {
        let apply = self.table.note_status(of, reply, status, now);
        let see = |noted: &Noted| {
            self.told(of, || format!("status {reply} {status:?}: {noted:?}"));
            u64::from(*noted != Noted::Nothing)
        };
        self.request("note_status", Some(of), true, apply, see)
            .await
    }

    async fn fold(
        &self,
        of: &ConversationId,
        fold: &Fold,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let apply = self.table.fold(of, fold, now);
        let see = |written: &Written| {
            self.told(of, || {
                format!("fold {:?}: {written:?}", ids(&fold.messages))
            });
            if *written == Written::Done {
                self.core.witness(|witness| witness.folded(of, fold));
            }
            number(*written)
        };
        self.request("fold", Some(of), true, apply, see).await
    }

    async fn unrest(&self, before: Timestamp, limit: usize) -> Result<Vec<Unrest>, StoreError> {
        let see = |unrest: &Vec<Unrest>| unrest.len() as u64;
        let apply = self.table.unrest(before, limit);
        self.request("unrest", None, false, apply, see).await
    }

    async fn begin_erasure(&self, erasure: &Erasure, expected: u64) -> Result<Written, StoreError> {
        let of = &erasure.conversation;
        let apply = self.table.begin_erasure(erasure, expected);
        let see = |written: &Written| {
            self.told(of, || {
                format!("begin erasure at version {expected}: {written:?}")
            });
            if *written == Written::Done {
                let now = self.core.true_ms();
                self.core.witness(|witness| witness.erased(erasure, now));
                self.core.count(Fault::Forget);
            }
            number(*written)
        };
        self.request("begin_erasure", Some(of), true, apply, see)
            .await
    }

    async fn erasure(
        &self,
        agent: &AgentId,
        of: &ConversationId,
    ) -> Result<Option<Erasure>, StoreError> {
        let apply = self.table.erasure(agent, of);
        self.request("erasure", Some(of), false, apply, |_| 0).await
    }

    async fn erase(&self, erasure: &Erasure) -> Result<u64, StoreError> {
        let of = &erasure.conversation;
        let see = |gone: &u64| {
            self.told(of, || format!("erase: {gone} items"));
            *gone
        };
        self.request("erase", Some(of), true, self.table.erase(erasure), see)
            .await
    }

    async fn end_erasure(&self, erasure: &Erasure) -> Result<(), StoreError> {
        let of = &erasure.conversation;
        let see = |(): &()| {
            self.told(of, || "the erasure is done".to_owned());
            0
        };
        let apply = self.table.end_erasure(erasure);
        self.request("end_erasure", Some(of), true, apply, see)
            .await
    }
}

/// Ids in a few letters.
fn ids(events: &[MessageId]) -> Vec<&str> {
    events.iter().map(MessageId::as_str).collect()
}
