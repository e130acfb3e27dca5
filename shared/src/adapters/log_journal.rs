//! The journal on AWS: each step as one log line of hashes and numbers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::adapters::meta::codes::{self, Class, Row};
use crate::adapters::model_advice::advice;
use crate::domain::time::whole_ms;
use crate::domain::{
    AgentId, ConversationId, Hasher, ReplyId, ReplyKind, SpendLimit, Step, Timestamp,
};
use crate::error::ModelErrorClass;
use crate::ports::Journal;

/// Writes the story to the log.
#[derive(Debug, Clone)]
pub struct LogJournal {
    hasher: Arc<Hasher>,
    warnings_only: bool,
    told: Arc<Mutex<BTreeMap<AgentId, Timestamp>>>,
}

/// An agent's own limit concerns everybody it talks with, and is one incident for so long.
const INCIDENT: Duration = Duration::from_hours(1);

impl LogJournal {
    /// A journal whose lines name conversations by `hasher`.
    pub fn new(hasher: Arc<Hasher>) -> Self {
        Self {
            hasher,
            warnings_only: false,
            told: Arc::default(),
        }
    }

    /// A journal that writes only what an operator should see: for a run whose story is told elsewhere.
    pub fn of_warnings(hasher: Arc<Hasher>) -> Self {
        Self {
            warnings_only: true,
            ..Self::new(hasher)
        }
    }

    /// Whether this step tells of an agent's limit that was told of already.
    fn is_told(&self, agent: &AgentId, step: &Step) -> bool {
        let Step::LimitReached {
            limit: SpendLimit::Agent,
            until,
            ..
        } = step
        else {
            return false;
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_told = told
            .get(agent)
            .is_some_and(|last| until.since(*last) < INCIDENT);
        if !is_told {
            told.insert(agent.clone(), *until);
        }
        is_told
    }
}

impl Journal for LogJournal {
    fn note(&self, conversation: &ConversationId, step: &Step) {
        let hash = self.hasher.conversation(conversation);
        let whose = Whose {
            hash: &hash,
            agent: conversation.agent.as_str(),
        };
        if self.is_told(&conversation.agent, step) || warn(&hash, step) || self.warnings_only {
            return;
        }
        if !asked(whose, step) && !operated(whose, step) {
            write(whose, step);
        }
    }
}

/// A line for what an operator should see. Yields whether `step` is of that kind.
fn warn(hash: &str, step: &Step) -> bool {
    match step {
        Step::ModelFailed {
            model,
            purpose,
            class,
            reason,
        } => tracing::warn!(
            conversation.hash = hash,
            model,
            purpose = ?purpose,
            class = ?class,
            reason,
            advice = advice(*class, reason),
            "model failed"
        ),
        Step::ModelIncident {
            model,
            class,
            since,
        } => tracing::error!(
            conversation.hash = hash,
            model,
            class = class.as_str(),
            since_ms = since.ms(),
            "a model is left out: its fallback answers until it is back"
        ),
        Step::Committed {
            reply,
            kind: ReplyKind::Apology,
            answered,
        } => tracing::error!(
            conversation.hash = hash,
            turn = %reply,
            messages = answered.len(),
            "gave up on messages: the person gets the agent's apology; the lines above say what failed"
        ),
        Step::SendRefused { reply, code, again } => refused(hash, *reply, code, *again),
        Step::SendUnknown { reply } => tracing::warn!(
            conversation.hash = hash,
            turn = %reply,
            "no one knows whether the provider has this reply"
        ),
        Step::HandedOff { reply, until } => tracing::warn!(
            conversation.hash = hash,
            turn = %reply,
            until_ms = until.ms(),
            "a person was handed to a human; recado resume gives them back to the agent"
        ),
        Step::LimitReached {
            reply,
            limit,
            until,
        } => tracing::warn!(
            conversation.hash = hash,
            turn = %reply,
            limit = limit.as_str(),
            until_ms = until.ms(),
            "a spending limit is reached: the person is told so, and no model is asked for them until tomorrow"
        ),
        Step::CompactionRefused { reason } => tracing::warn!(
            conversation.hash = hash,
            reason,
            "a compaction was not good enough; nothing changed"
        ),
        _ => return false,
    }
    true
}

/// What passes by itself is told by its code; what does not, with what it means and what to do.
fn refused(hash: &str, reply: ReplyId, code: &str, again: bool) {
    let Row {
        class,
        meaning,
        advice,
        ..
    } = codes::explain(code);
    macro_rules! advise {
        ($message:literal) => {
            tracing::warn!(conversation.hash = hash, turn = %reply, code, meaning, advice, $message)
        };
    }
    match (again, class) {
        (false, _) => advise!("a reply will not be sent"),
        (true, Class::Token) => advise!("a reply waits until this is mended"),
        (true, _) => tracing::warn!(
            conversation.hash = hash,
            turn = %reply,
            code,
            "provider refused a reply for now; it is sent again"
        ),
    }
}

/// Whose step it is, as every line of a story names it.
#[derive(Clone, Copy)]
struct Whose<'a> {
    hash: &'a str,
    agent: &'a str,
}

/// A line of a story: what is told, and of whom.
macro_rules! tell {
    ($whose:expr, $message:literal $(, $($fields:tt)+)?) => {
        tracing::info!(
            conversation.hash = $whose.hash,
            agent.id = $whose.agent,
            $($($fields)+,)?
            $message
        )
    };
}

/// A line for what was asked of a model or a tool, in names and numbers: a call holds the person's words, and a model's
/// cues hold none of them.
fn asked(whose: Whose<'_>, step: &Step) -> bool {
    match step {
        Step::ModelCalled {
            model,
            purpose,
            why,
            usage,
            took,
        } => tell!(
            whose,
            "model answered",
            model = model.as_str(),
            purpose = ?purpose,
            why = why.as_str(),
            after = why.after().map(ModelErrorClass::as_str),
            input_tokens = usage.input(),
            cached_tokens = usage.input_cache_read,
            output_tokens = usage.output,
            duration_ms = whole_ms(*took)
        ),
        Step::ToolCalled {
            reply,
            tool,
            effect,
            outcome,
            took,
        } => tell!(
            whose,
            "tool called",
            turn = %reply,
            tool = tool.as_str(),
            effect = ?effect,
            outcome,
            duration_ms = whole_ms(*took)
        ),
        Step::Routed { model, routed } => tell!(
            whose,
            "model chosen",
            model,
            route = routed.route.as_str(),
            score = routed.score,
            threshold = routed.threshold,
            why = routed.why()
        ),
        _ => return false,
    }
    true
}

/// A line for what concerns an operator and goes well.
fn operated(whose: Whose<'_>, step: &Step) -> bool {
    match step {
        Step::Paused { until } => tell!(
            whose,
            "an operator has taken a person over",
            until_ms = until.ms()
        ),
        Step::ModelRecovered { model, since } => tell!(
            whose,
            "a model that was left out is back",
            model,
            since_ms = since.ms()
        ),
        Step::Resumed => tell!(whose, "the agent has the person again"),
        _ => return false,
    }
    true
}

/// A line for what goes as it should. Message ids hold a phone, so messages are only counted.
fn write(whose: Whose<'_>, step: &Step) {
    match step {
        Step::Received { fresh, .. } => tell!(whose, "message received", fresh = fresh),
        Step::Held { until, reason } => tracing::debug!(
            conversation.hash = whose.hash,
            until_ms = until.ms(),
            reason = ?reason,
            "tick held"
        ),
        Step::Claimed { reply, batch } => {
            tell!(whose, "batch claimed", turn = %reply, messages = batch.len());
        }
        Step::Superseded { reply } => {
            tell!(whose, "run superseded by a newer message", turn = %reply);
        }
        Step::Committed {
            reply,
            kind,
            answered,
        } => tell!(
            whose,
            "reply committed",
            turn = %reply,
            kind = ?kind,
            messages = answered.len()
        ),
        Step::Fenced { reply } => tell!(whose, "commit refused: the run was fenced", turn = %reply),
        Step::Sent { reply } => tell!(whose, "reply sent", turn = %reply),
        Step::Closed { events, reason } => tell!(
            whose,
            "messages closed without an answer",
            messages = events,
            reason = reason.as_str()
        ),
        Step::Compacted { items, facts } => {
            tell!(whose, "turns compacted", items = items, facts = facts);
        }
        Step::Forgotten { items } => tell!(whose, "person forgotten", items = items),
        Step::ModelCalled { .. }
        | Step::ModelFailed { .. }
        | Step::ModelIncident { .. }
        | Step::ModelRecovered { .. }
        | Step::ToolCalled { .. }
        | Step::Routed { .. }
        | Step::SendRefused { .. }
        | Step::SendUnknown { .. }
        | Step::HandedOff { .. }
        | Step::LimitReached { .. }
        | Step::Booked { .. }
        | Step::Paused { .. }
        | Step::Resumed
        | Step::CompactionRefused { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_limit_is_told_once_an_hour_and_a_conversations_each_time() {
        let journal = LogJournal::new(Arc::new(Hasher::new(b"a key for tests only")));
        let agent = |id: &str| AgentId::parse(id).unwrap();
        let reached = |limit, minutes: u64| Step::LimitReached {
            reply: ReplyId::from_parts(1, 1),
            limit,
            until: Timestamp::from_ms(minutes * 60_000),
        };
        for (label, id, limit, minutes, is_told) in [
            ("the first", "a", SpendLimit::Agent, 60, false),
            (
                "somebody else, soon after",
                "a",
                SpendLimit::Agent,
                65,
                true,
            ),
            ("another agent", "b", SpendLimit::Agent, 65, false),
            ("a conversation", "a", SpendLimit::Conversation, 65, false),
            (
                "the same one again",
                "a",
                SpendLimit::Conversation,
                66,
                false,
            ),
            ("an hour later", "a", SpendLimit::Agent, 120, false),
        ] {
            let step = reached(limit, minutes);
            assert_eq!(journal.is_told(&agent(id), &step), is_told, "{label}");
        }
    }
}
