//! The line of each step in the operator's log. A process of its own: a log statement first met by another test's
//! thread, which has no log, may stay silent for all.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::log_journal::LogJournal;
use recado::domain::routing::{Cue, Reason, Route, Routed};
use recado::domain::{
    AgentId, Chosen, ClosedReason, ContactId, ConversationId, Effect, Hasher, HoldReason,
    MessageId, Purpose, ReplyId, ReplyKind, SpendLimit, Step, Timestamp, ToolName, Usage,
};
use recado::error::ModelErrorClass;
use recado::ports::Journal as _;
use recado_tests::kept_log::KeptLog;
use tracing::Level;

const UNTIL: Timestamp = Timestamp::from_ms(90_000);
const TOOK: Duration = Duration::from_millis(420);

fn of_models() -> Vec<Step> {
    let model = || "main".to_owned();
    vec![
        Step::Routed {
            model: model(),
            routed: Routed {
                route: Route::Main,
                score: 12,
                threshold: 8,
                reasons: vec![Reason {
                    cue: Cue::Acts,
                    points: 12,
                }],
            },
        },
        Step::ModelCalled {
            model: model(),
            purpose: Purpose::Answer,
            why: Chosen::Fallback(ModelErrorClass::Transient),
            usage: Usage {
                input_uncached: 10,
                input_cache_read: 5,
                input_cache_write: 1,
                output: 7,
                cost_micro_usd: None,
            },
            took: TOOK,
        },
        Step::ModelFailed {
            model: model(),
            purpose: Purpose::Compaction,
            class: ModelErrorClass::Auth,
            reason: "status 401".to_owned(),
        },
        Step::ModelIncident {
            model: model(),
            class: ModelErrorClass::Quota,
            since: UNTIL,
        },
        Step::ModelRecovered {
            model: model(),
            since: UNTIL,
        },
        Step::ToolCalled {
            reply: reply(),
            tool: ToolName::parse("book").unwrap(),
            effect: Effect::Write,
            outcome: "ok",
            took: TOOK,
        },
        Step::CompactionRefused {
            reason: "too short",
        },
        Step::Compacted { items: 3, facts: 2 },
    ]
}

fn of_replies() -> Vec<Step> {
    let refused = |code: &str, again| Step::SendRefused {
        reply: reply(),
        code: code.to_owned(),
        again,
    };
    let committed = |kind| Step::Committed {
        reply: reply(),
        kind,
        answered: messages(),
    };
    vec![
        Step::Received {
            event: messages().remove(0),
            fresh: true,
        },
        Step::Held {
            until: UNTIL,
            reason: HoldReason::Window,
        },
        Step::Claimed {
            reply: reply(),
            batch: messages(),
        },
        Step::Superseded { reply: reply() },
        committed(ReplyKind::Answer),
        committed(ReplyKind::Apology),
        Step::Fenced { reply: reply() },
        Step::Sent { reply: reply() },
        refused("131047", false),
        refused("190", true),
        refused("130429", true),
        Step::SendUnknown { reply: reply() },
    ]
}

fn of_people() -> Vec<Step> {
    vec![
        Step::LimitReached {
            reply: reply(),
            limit: SpendLimit::Conversation,
            until: UNTIL,
        },
        Step::HandedOff {
            reply: reply(),
            until: UNTIL,
        },
        Step::Paused { until: UNTIL },
        Step::Resumed,
        Step::Closed {
            events: 2,
            reason: ClosedReason::Paused,
        },
        Step::Forgotten { items: 7 },
    ]
}

fn reply() -> ReplyId {
    ReplyId::from_parts(1, 1)
}

fn messages() -> Vec<MessageId> {
    vec![MessageId::parse("wamid.m1").unwrap()]
}

#[test]
fn each_step_is_one_line_of_names_and_numbers() {
    let (log, _guard) = KeptLog::start(Level::DEBUG);
    let hasher = Arc::new(Hasher::new(&[9; 32]));
    let journal = LogJournal::new(Arc::clone(&hasher));
    let conversation = ConversationId {
        agent: AgentId::parse("recepcao").unwrap(),
        contact: ContactId::parse("5511900000001").unwrap(),
    };
    let hash = hasher.conversation(&conversation);
    let mut told = Vec::new();
    for step in [of_models(), of_replies(), of_people()].concat() {
        journal.note(&conversation, &step);
        let line = log.take();
        assert_eq!(line.lines().count(), 1, "{step:?}: {line:?}");
        let (_time, line) = line.split_once(' ').unwrap();
        let line = line.trim().replace("recado::adapters::log_journal: ", "");
        told.push(line.replace(&hash, "HASH"));
    }
    insta::assert_snapshot!(told.join("\n"));
}
