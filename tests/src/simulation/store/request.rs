//! One request to the table: the way there, the request itself with whatever the witness makes of it, and the way back.

use std::panic::resume_unwind;
use std::sync::Arc;

use async_trait::async_trait;
use recado::domain::{ConversationId, Event, MessageId, State};
use recado::error::StoreError;
use recado::ports::Written;

use super::SimStore;
use crate::fake_store::{self, Faults};
use crate::simulation::core::Core;
use crate::simulation::invocation::{Role, role};
use crate::simulation::plan::Fault;
use crate::simulation::requests::Fate;

/// Lets time pass between the two reads of a resolve that is no snapshot.
pub struct BetweenReads(pub Arc<Core>);

#[async_trait]
impl Faults for BetweenReads {
    async fn before(&self, operation: &'static str) -> fake_store::Fault {
        if operation == "resolve.aliases" {
            if self.0.pick(0..2) == 0 {
                self.0.some_moments(None, 5_000).await;
            }
            self.0.before(operation, None, false).await;
        }
        fake_store::Fault::None
    }
}

impl SimStore {
    pub(super) fn stored(&self, of: &ConversationId, id: &MessageId) -> Option<Event> {
        self.table
            .touch(|table| table.people.get(of)?.events.get(id)?.event.clone())
    }

    pub(super) fn state(&self, of: &ConversationId) -> Option<State> {
        self.table
            .touch(|table| table.people.get(of)?.state.clone())
    }

    /// One request: the way there, the request itself with whatever the witness makes of it, and the way back.
    pub(super) async fn request<T: Send>(
        &self,
        operation: &'static str,
        of: Option<&ConversationId>,
        writes: bool,
        apply: impl Future<Output = Result<T, StoreError>> + Send,
        see: impl FnOnce(&T) -> u64 + Send,
    ) -> Result<T, StoreError> {
        let fate = self.core.before(operation, of, writes).await;
        if fate == Fate::FailBefore {
            self.core.trace(operation, 1);
            self.core.tell(of, || format!("{operation}: fails"));
            return Err(failed(operation));
        }
        self.may_panic(operation, of);
        let given = apply.await;
        let outcome = given.as_ref().map_or(2, see);
        self.core.trace(operation, outcome);
        if let (true, Some(of)) = (writes, of) {
            self.look_at_state(of);
            self.core.happened(of);
        }
        self.may_panic(operation, of);
        self.core.after().await;
        if fate == Fate::FailAfter {
            self.core
                .tell(of, || format!("{operation}: its answer is lost"));
            return Err(failed(operation));
        }
        given
    }

    /// A client that panics, in whoever has to live with it: the operator's command ends, and so may a look for unrest.
    fn may_panic(&self, operation: &'static str, of: Option<&ConversationId>) {
        let lives = matches!(
            role(),
            Some(Role::Processor | Role::Compactor | Role::Ingest)
        );
        let (Some(of), true) = (of, lives) else {
            return;
        };
        if self.core.strikes(Fault::PortPanics, 60) {
            let core = &self.core;
            core.tell(Some(of), || format!("{operation}: panics"));
            core.witness(|witness| witness.panicked(core.true_ms()));
            core.breaks(None, 330_000);
            // Without the panic hook: this one is on purpose.
            resume_unwind(Box::new("told to"));
        }
    }

    fn look_at_state(&self, of: &ConversationId) {
        let now = self.core.true_ms();
        self.table.touch(|table| {
            let state = table
                .people
                .get(of)
                .and_then(|person| person.state.as_ref());
            self.core.witness(|witness| witness.state(of, state, now));
        });
    }

    pub(super) fn told(&self, of: &ConversationId, text: impl FnOnce() -> String) {
        self.core.tell(Some(of), text);
    }
}

fn failed(operation: &'static str) -> StoreError {
    let source = "injected".into();
    StoreError::Unavailable { operation, source }
}

/// A number for the trace.
pub(super) fn number(written: Written) -> u64 {
    match written {
        Written::Done => 10,
        Written::Lost => 11,
    }
}
