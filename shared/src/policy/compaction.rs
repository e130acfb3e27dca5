//! When and how old turns become memory: which prefix goes, what the model is asked, and what of its answer is kept.
//!
//! Invariant: of what a prompt can hold, the newest [`CompactionRules::keep`] messages and the newest exchange never go,
//! and what it cannot hold does go; one compaction is one prefix that fits one transaction; nothing reaches the memory
//! that the code has not checked.

mod again;
pub mod check;
mod gate;
pub mod request;
mod schema;

pub use again::is_asked_for;
pub use check::{Refusal, check};
pub use request::prompt;

use crate::domain::agent::CompactionRules;
use crate::domain::{Exchange, Memory, ReplyId};

/// Messages, replies and calls of one compaction (a full batch with all its calls may be a few more): with its facts, its summary and the check of the state they share one
/// transaction of [`TRANSACTION_ITEMS_MAX`].
pub const SPAN_ITEMS_MAX: usize = 90;
/// Bytes stored of one compaction's span. A transaction has room for 4 MB of items, and nothing says that those which it
/// only deletes or empties do not count; what is left is for the turn that goes alone (3.5 MB where all of it is full).
pub const SPAN_BYTES_MAX: usize = 3 * 1024 * 1024;
/// Facts written or retired by one compaction.
pub const OPERATIONS_MAX: usize = 8;
/// What a DynamoDB transaction holds.
pub const TRANSACTION_ITEMS_MAX: usize = 100;

/// One compaction: the oldest exchanges of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How many exchanges go, from the oldest.
    pub exchanges: usize,
    /// Their messages and replies.
    pub items: usize,
    /// Everything stored of them: messages, replies and calls.
    pub stored: usize,
    /// The newest that goes.
    pub through: ReplyId,
}

impl Plan {
    /// The exchanges that go, oldest first.
    pub fn span<'a>(&self, memory: &'a Memory) -> &'a [Exchange] {
        &memory.exchanges[..self.exchanges.min(memory.exchanges.len())]
    }

    /// Facts that may be written or retired with it: what its transaction has room for.
    pub fn operations_max(&self) -> usize {
        let room = TRANSACTION_ITEMS_MAX.saturating_sub(self.stored + 2);
        room.min(OPERATIONS_MAX)
    }
}

/// The prefix that goes now; `None` where it is not due or no whole exchange can go. `outgrown` exchanges go in any case:
/// no prompt will hold them for long (see [`context::outgrown`](crate::policy::context::outgrown)).
pub fn plan(memory: &Memory, rules: &CompactionRules, outgrown: usize) -> Option<Plan> {
    let is_due = memory.items() >= rules.trigger;
    let spare = if is_due {
        memory.items().saturating_sub(rules.keep)
    } else {
        0
    };
    let newest = memory.exchanges.len().checked_sub(1)?;
    let candidates = &memory.exchanges[..newest.max(outgrown).min(newest + 1)];
    let mut plan = None;
    let (mut items, mut stored, mut bytes) = (0, 0, 0);
    for (at, exchange) in candidates.iter().enumerate() {
        items += exchange.items();
        stored += exchange.stored();
        bytes += exchange.bytes();
        let is_too_much = stored > SPAN_ITEMS_MAX || bytes > SPAN_BYTES_MAX;
        // The fullest turn of all, with its calls, goes alone.
        if (items > spare && at >= outgrown) || (is_too_much && at > 0) {
            break;
        }
        plan = Some(Plan {
            exchanges: at + 1,
            items,
            stored,
            through: exchange.reply,
        });
    }
    plan
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{Arguments, Batch, Call, CallId, Effect, ToolCall, ToolName, ToolResult};
    use crate::policy::context::tests::{exchange, memory, reply};

    const RULES: CompactionRules = CompactionRules {
        trigger: 40,
        keep: 20,
        summary_words_max: 200,
        fact_chars_max: 160,
    };

    /// Exchanges of these sizes; the reply counts as one.
    fn of(sizes: &[usize]) -> Memory {
        let exchanges = (1..).zip(sizes).map(|(number, size)| {
            exchange(
                number,
                &vec!["x"; size.saturating_sub(1)],
                (*size > 0).then_some("y"),
            )
        });
        memory(exchanges.collect())
    }

    #[test]
    fn a_prefix_goes_and_the_newest_stay() {
        for (label, sizes, gone) in [
            ("nothing there", vec![], None),
            ("one short of due", vec![3; 13], None),
            ("just due", vec![2; 20], Some((10, 20))),
            (
                "to a turn's edge, at least 20 stay",
                vec![3; 14],
                Some((7, 21)),
            ),
            ("a long backlog takes several", vec![2; 100], Some((45, 90))),
            ("a turn over the edge stays", vec![15, 30, 5], Some((1, 15))),
            (
                "the newest exchange never goes",
                vec![10, 81],
                Some((1, 10)),
            ),
            ("alone it stays", vec![81], None),
            ("a full batch goes", vec![81, 20], Some((1, 81))),
        ] {
            let plan = plan(&of(&sizes), &RULES, 0);
            assert_eq!(
                plan.map(|plan| (plan.exchanges, plan.items)),
                gone,
                "{label}"
            );
        }
        assert_eq!(plan(&of(&[2; 20]), &RULES, 0).unwrap().through, reply(10));
    }

    /// A turn of pages and of calls, each as long as one may be.
    fn full(number: u64, pages: usize, calls: u16) -> Exchange {
        let page = "x".repeat(32 * 1024);
        let mut full = exchange(number, &vec![&*page; pages], Some(&"é".repeat(4_096)));
        let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(Arguments::BYTES_MAX - 8));
        full.calls = (0..calls)
            .map(|n| Call {
                n,
                effect: Effect::Read,
                call: ToolCall {
                    id: CallId::parse(format!("c{n}")).unwrap(),
                    tool: ToolName::parse("look").unwrap(),
                    arguments: Arguments::parse(&arguments).unwrap(),
                },
                result: Some(ToolResult::Ok("x".repeat(ToolResult::BYTES_MAX))),
            })
            .collect();
        full
    }

    #[test]
    fn one_transaction_holds_a_span_however_long_its_texts() {
        let gone = |pages, calls| {
            let memory = memory((1..=60).map(|number| full(number, pages, calls)).collect());
            plan(&memory, &RULES, 0).map(|plan| plan.exchanges)
        };
        assert_eq!(gone(1, 0), Some(45), "90 items are 1.9 MB");
        assert_eq!(gone(1, 12), Some(3), "90 items would be 6 MB");
        let largest = full(1, Batch::MAX, Call::MAX.try_into().unwrap());
        assert!(largest.bytes() < 3_800_000, "{}", largest.bytes());
        let memory = memory(vec![largest, full(2, 20, 0)]);
        assert_eq!(plan(&memory, &RULES, 0).unwrap().exchanges, 1, "alone");
    }

    #[test]
    fn what_no_prompt_holds_goes_before_there_are_many() {
        for (label, sizes, outgrown, gone) in [
            ("few but long ones", vec![2; 6], 4, Some((4, 8))),
            (
                "and more where there are many too",
                vec![2; 20],
                4,
                Some((10, 20)),
            ),
            (
                "a full batch before one question",
                vec![72, 2],
                1,
                Some((1, 72)),
            ),
            (
                "the newest too, where it never fits",
                vec![5],
                1,
                Some((1, 5)),
            ),
            ("a prefix at a time", vec![50, 50, 2], 2, Some((1, 50))),
            ("more than there is", vec![2], 9, Some((1, 2))),
            ("nothing there", vec![], 3, None),
        ] {
            let plan = plan(&of(&sizes), &RULES, outgrown);
            assert_eq!(
                plan.map(|plan| (plan.exchanges, plan.items)),
                gone,
                "{label}"
            );
        }
    }

    proptest! {
        #[test]
        fn enough_stays_and_one_transaction_holds_it(sizes in vec(1_usize..82, 1..80), keep in 0_usize..60, more in 1_usize..60) {
            let rules = CompactionRules { trigger: keep + more, keep, ..RULES };
            let memory = of(&sizes);
            if let Some(plan) = plan(&memory, &rules, 0) {
                prop_assert!(memory.items() - plan.items >= keep);
                prop_assert!(plan.exchanges < memory.exchanges.len());
                prop_assert!(plan.stored + plan.operations_max() + 2 <= TRANSACTION_ITEMS_MAX);
                prop_assert!(plan.operations_max() >= 5);
                prop_assert_eq!(plan.items, plan.span(&memory).iter().map(Exchange::items).sum::<usize>());
            }
        }
    }
}
