//! What reads gave to a run that was dropped, so that the run after it need not make them again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::{Call, ConversationId, Effect, Timestamp, ToolCall, ToolResult};

/// After this long the world may have changed.
const FRESH: Duration = Duration::from_mins(1);

/// Bytes of results that a process keeps; the oldest go first.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The results of reads that dropped runs made, in this process alone: where the next run comes to another one, its reads
/// are simply made. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct KeptReads(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    reads: VecDeque<Read>,
    bytes: usize,
}

#[derive(Debug)]
struct Read {
    of: ConversationId,
    call: ToolCall,
    result: ToolResult,
    at: Timestamp,
    bytes: usize,
}

impl KeptReads {
    /// Keeps the reads among a dropped run's calls.
    pub(super) fn keep(&self, of: &ConversationId, calls: &[Call], now: Timestamp) {
        let mut kept = self.kept();
        kept.retain(|read| read.of != *of && is_fresh(read, now));
        for call in calls.iter().filter(|call| call.effect == Effect::Read) {
            let Some(result @ ToolResult::Ok(text)) = &call.result else {
                continue;
            };
            let bytes = text.len() + call.call.arguments.as_str().len();
            kept.bytes += bytes;
            kept.reads.push_back(Read {
                of: of.clone(),
                call: call.call.clone(),
                result: result.clone(),
                at: now,
                bytes,
            });
        }
        while kept.bytes > BYTES_MAX
            && let Some(oldest) = kept.reads.pop_front()
        {
            kept.bytes -= oldest.bytes;
        }
    }

    /// What this very read gave less than a minute ago.
    pub(super) fn find(
        &self,
        of: &ConversationId,
        call: &ToolCall,
        now: Timestamp,
    ) -> Option<ToolResult> {
        let kept = self.kept();
        let mut reads = kept.reads.iter();
        let found = reads
            .find(|read| read.of == *of && is_fresh(read, now) && read.call.asks_the_same(call));
        found.map(|read| read.result.clone())
    }

    /// Nothing of this conversation is kept any longer.
    pub(super) fn drop_of(&self, of: &ConversationId) {
        self.kept().retain(|read| read.of != *of);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn retain(&mut self, stays: impl Fn(&Read) -> bool) {
        self.reads.retain(stays);
        self.bytes = self.reads.iter().map(|read| read.bytes).sum();
    }
}

/// A clock that was set back must not make it last.
fn is_fresh(read: &Read, now: Timestamp) -> bool {
    (read.at..read.at.plus(FRESH)).contains(&now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Arguments, CallId, ToolName};

    fn call(tool: &str, arguments: &str, effect: Effect, said: &str) -> Call {
        Call {
            n: 0,
            effect,
            call: ToolCall {
                id: CallId::parse("call_1").unwrap(),
                tool: ToolName::parse(tool).unwrap(),
                arguments: Arguments::parse(arguments).unwrap(),
            },
            result: Some(ToolResult::Ok(said.to_owned())),
        }
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_ms(1_000_000 + seconds * 1000)
    }

    #[test]
    fn a_read_is_found_for_a_minute_by_who_asks_the_same() {
        let kept = KeptReads::default();
        let of = |text: &str| ConversationId::parse(text).unwrap();
        let (ana, bia) = (of("recepcao#5511900000001"), of("recepcao#5511900000002"));
        let read = call("hours", r#"{"a":1,"b":2}"#, Effect::Read, "9 to 6");
        let write = call("book", "{}", Effect::Write, "done");
        let failed = Call {
            result: Some(ToolResult::Error("no".to_owned())),
            ..call("menu", "{}", Effect::Read, "")
        };
        kept.keep(&ana, &[read.clone(), write.clone(), failed.clone()], at(0));
        let turned = call("hours", r#"{"b":2,"a":1}"#, Effect::Read, "").call;
        for (label, of, call, now, is_found) in [
            ("the same call", &ana, &read.call, at(59), true),
            ("its arguments in another order", &ana, &turned, at(1), true),
            ("a minute later", &ana, &read.call, at(60), false),
            (
                "the clock was set back",
                &ana,
                &read.call,
                Timestamp::from_ms(1),
                false,
            ),
            ("somebody else", &bia, &read.call, at(1), false),
            ("a write", &ana, &write.call, at(1), false),
            ("a read that failed", &ana, &failed.call, at(1), false),
        ] {
            assert_eq!(kept.find(of, call, now).is_some(), is_found, "{label}");
        }
        kept.drop_of(&ana);
        assert_eq!(kept.find(&ana, &read.call, at(1)), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let kept = KeptReads::default();
        let long = "x".repeat(60_000);
        for n in 0..200 {
            let of = ConversationId::parse(&format!("recepcao#55119{n:08}")).unwrap();
            kept.keep(&of, &[call("hours", "{}", Effect::Read, &long)], at(0));
        }
        let kept = kept.kept();
        assert!(kept.bytes <= BYTES_MAX);
        assert!(kept.reads.len() > 60);
    }
}
