//! Tool calls on their way to the table.

use recado::domain::{Call, ConversationId, ReplyId, ToolResult};
use recado::error::StoreError;
use recado::ports::{NewCalls, Store as _, Written};

use super::{SimStore, ids, number};

impl SimStore {
    pub(super) async fn read_calls(
        &self,
        of: &ConversationId,
        reply: ReplyId,
    ) -> Result<Vec<Call>, StoreError> {
        let apply = self.table.calls(of, reply);
        let see = |calls: &Vec<Call>| calls.len() as u64;
        let calls = self.request("calls", Some(of), false, apply, see).await?;
        Ok(self.switches.calls(calls))
    }

    pub(super) async fn write_calls(
        &self,
        of: &ConversationId,
        new: &NewCalls,
    ) -> Result<Written, StoreError> {
        let apply = async {
            let before = self.state(of);
            let there = self.table.calls(of, new.reply).await?;
            let written = self.table.store_calls(of, new).await?;
            // A repeat whose first try was applied finds its own work, and writes nothing.
            let repeats = new.calls.iter().all(|call| there.contains(call));
            if written == Written::Done && !repeats {
                let taken = |call: &Call| there.iter().any(|old| old.n == call.n && old != call);
                if new.calls.iter().any(taken) {
                    let (law, detail) = ("a call is stored once", new.reply.to_string());
                    self.core.broken(law, Some(of), detail);
                }
                let now = self.core.true_ms();
                self.core
                    .witness(|witness| witness.calls(of, new, before.as_ref(), now));
            }
            Ok(written)
        };
        let see = |written: &Written| {
            self.told(of, || {
                let seal = new.seal.as_ref().map(|seal| ids(&seal.events));
                let numbers: Vec<_> = new.calls.iter().map(|call| call.n).collect();
                let reply = new.reply;
                format!("calls {numbers:?} of {reply}, seal {seal:?}: {written:?}")
            });
            number(*written)
        };
        self.request("store_calls", Some(of), true, apply, see)
            .await
    }

    fn result(&self, of: &ConversationId, place: (ReplyId, u16)) -> Option<ToolResult> {
        self.table
            .touch(|table| table.people.get(of)?.calls.get(&place)?.call.result.clone())
    }

    pub(super) async fn write_result(
        &self,
        of: &ConversationId,
        place: (ReplyId, u16),
        result: &ToolResult,
    ) -> Result<Written, StoreError> {
        let apply = async {
            let was_there = self.table.touch(|table| {
                let person = table.people.get(of);
                person.is_some_and(|person| person.calls.contains_key(&place))
            });
            let before = self.result(of, place);
            let written = self.table.store_result(of, place, result).await?;
            let after = self.result(of, place);
            if before.is_some() && before != after {
                let detail = format!("{before:?} became {after:?}");
                let law = "what a model was told of a call stays";
                self.core.broken(law, Some(of), detail);
            }
            if written == Written::Done && !was_there {
                let law = "nothing that is gone comes back with its result";
                self.core
                    .broken(law, Some(of), format!("{}#{}", place.0, place.1));
            }
            if written == Written::Done {
                self.core
                    .witness(|witness| witness.result(of, place, result));
            }
            Ok(written)
        };
        let see = |written: &Written| {
            self.told(of, || {
                let (reply, n) = place;
                format!("result of {reply}#{n}, {result:?}: {written:?}")
            });
            number(*written)
        };
        self.request("store_result", Some(of), true, apply, see)
            .await
    }
}
