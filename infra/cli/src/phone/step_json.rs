//! A step of the story as JSON, for the page and the command line: one flat object, its name under `step`, every
//! moment in milliseconds since 1970 and every duration in milliseconds.

use recado::adapters::model_advice::advice;
use recado::domain::time::whole_ms;
use recado::domain::{HoldReason, Purpose, ReplyKind, Step};
use recado::error::ModelErrorClass;
use serde_json::{Map, Value, json};

use super::story::Told;

/// The whole of a told step: `seq`, `at`, `agent`, `contact`, `step` and the step's own fields.
pub fn told(told: &Told) -> Map<String, Value> {
    let mut fields = match step(&told.step) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.insert("seq".to_owned(), json!(told.seq));
    fields.insert("at".to_owned(), json!(told.at));
    fields.insert("agent".to_owned(), json!(told.conversation.agent));
    fields.insert("contact".to_owned(), json!(told.conversation.contact));
    fields
}

/// The step's name and its own fields.
pub fn step(step: &Step) -> Value {
    match step {
        Step::Received { event, fresh } => {
            json!({ "step": "received", "message": event, "fresh": fresh })
        }
        Step::Held { until, reason } => {
            json!({ "step": "held", "until": until, "reason": hold_reason(*reason) })
        }
        Step::Claimed { reply, batch } => {
            json!({ "step": "claimed", "reply": reply, "messages": batch })
        }
        Step::Routed { .. }
        | Step::ModelCalled { .. }
        | Step::ModelFailed { .. }
        | Step::ModelIncident { .. }
        | Step::ModelRecovered { .. }
        | Step::ToolCalled { .. } => outside(step),
        Step::Superseded { reply } => json!({ "step": "superseded", "reply": reply }),
        Step::Committed {
            reply,
            kind,
            answered,
        } => json!({
            "step": "committed",
            "reply": reply,
            "kind": reply_kind(*kind),
            "messages": answered,
        }),
        Step::Fenced { reply } => json!({ "step": "fenced", "reply": reply }),
        Step::Sent { reply } => json!({ "step": "sent", "reply": reply }),
        Step::SendRefused { reply, code, again } => {
            json!({ "step": "send_refused", "reply": reply, "code": code, "again": again })
        }
        Step::SendUnknown { reply } => json!({ "step": "send_unknown", "reply": reply }),
        Step::Closed { events, reason } => {
            json!({ "step": "closed", "count": events, "reason": reason.as_str() })
        }
        Step::Compacted { items, facts } => {
            json!({ "step": "compacted", "items": items, "facts": facts })
        }
        Step::CompactionRefused { reason } => {
            json!({ "step": "compaction_refused", "reason": reason })
        }
        Step::HandedOff { reply, until } => {
            json!({ "step": "handed_off", "reply": reply, "until": until })
        }
        Step::LimitReached { .. } | Step::Booked { .. } => money(step),
        Step::Paused { until } => json!({ "step": "paused", "until": until }),
        Step::Resumed => json!({ "step": "resumed" }),
        Step::Forgotten { items } => json!({ "step": "forgotten", "items": items }),
    }
}

/// What models and tools did.
fn outside(step: &Step) -> Value {
    match step {
        Step::Routed { model, routed } => json!({
            "step": "routed",
            "model": model,
            "route": routed.route.as_str(),
            "score": routed.score,
            "threshold": routed.threshold,
            "why": routed.why(),
        }),
        Step::ModelCalled {
            model,
            purpose,
            why,
            usage,
            took,
        } => json!({
            "step": "model_called",
            "model": model,
            "purpose": purpose_word(*purpose),
            "why": why.as_str(),
            "after": why.after().map(ModelErrorClass::as_str),
            "input_tokens": usage.input(),
            "cached_tokens": usage.input_cache_read,
            "output_tokens": usage.output,
            "took_ms": whole_ms(*took),
        }),
        Step::ModelFailed {
            model,
            purpose,
            class,
            reason,
        } => json!({
            "step": "model_failed",
            "model": model,
            "purpose": purpose_word(*purpose),
            "class": class.as_str(),
            "reason": reason,
            "advice": advice(*class, reason),
        }),
        Step::ModelIncident {
            model,
            class,
            since,
        } => json!({
            "step": "model_incident",
            "model": model,
            "class": class.as_str(),
            "since": since,
        }),
        Step::ModelRecovered { model, since } => {
            json!({ "step": "model_recovered", "model": model, "since": since })
        }
        Step::ToolCalled {
            reply,
            tool,
            effect,
            outcome,
            took,
        } => json!({
            "step": "tool_called",
            "reply": reply,
            "tool": tool,
            "effect": effect,
            "outcome": outcome,
            "took_ms": whole_ms(*took),
        }),
        _ => Value::Null,
    }
}

/// What things cost, in millionths of a US dollar.
fn money(step: &Step) -> Value {
    match step {
        Step::LimitReached {
            reply,
            limit,
            until,
        } => json!({
            "step": "limit_reached",
            "reply": reply,
            "limit": limit.as_str(),
            "until": until,
        }),
        Step::Booked { reply, total } => json!({
            "step": "booked",
            "reply": reply,
            "calls": total.calls,
            "micro_usd": total.micro_usd,
            "unknown": total.calls_of_unknown_cost,
            "estimated_micro_usd": total.estimated_micro_usd,
        }),
        _ => Value::Null,
    }
}

const fn hold_reason(reason: HoldReason) -> &'static str {
    match reason {
        HoldReason::Window => "window",
        HoldReason::Leased => "leased",
        HoldReason::Backoff => "backoff",
        HoldReason::Contended => "contended",
        HoldReason::SendLater => "send_later",
        HoldReason::ShortOfTime => "short_of_time",
        HoldReason::FutureVersion => "future_version",
    }
}

const fn purpose_word(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Answer => "answer",
        Purpose::Compaction => "compaction",
    }
}

const fn reply_kind(kind: ReplyKind) -> &'static str {
    match kind {
        ReplyKind::Answer => "answer",
        ReplyKind::OptOut => "opt_out",
        ReplyKind::Apology => "apology",
        ReplyKind::OverLimit => "over_limit",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use recado::domain::routing::{Cue, Reason, Route, Routed};
    use recado::domain::{AgentId, Chosen, ContactId, ConversationId, Timestamp, Usage};

    use super::*;

    #[test]
    fn a_chosen_model_is_told_with_points_and_the_names_of_cues() {
        let routed = Routed {
            route: Route::Main,
            score: 12,
            threshold: 8,
            reasons: vec![
                Reason {
                    cue: Cue::Clauses,
                    points: 2,
                },
                Reason {
                    cue: Cue::Acts,
                    points: 10,
                },
            ],
        };
        let model = "big".to_owned();
        assert_eq!(
            step(&Step::Routed { model, routed }),
            json!({
                "step": "routed", "model": "big", "route": "main", "score": 12, "threshold": 8,
                "why": "clauses 2, acts 10",
            })
        );
    }

    #[test]
    fn a_told_step_is_one_flat_object() {
        let step = Step::ModelCalled {
            model: "demo".to_owned(),
            purpose: Purpose::Answer,
            why: Chosen::Fallback(ModelErrorClass::Transient),
            usage: Usage {
                input_uncached: 10,
                input_cache_read: 5,
                input_cache_write: 1,
                output: 7,
                cost_micro_usd: None,
            },
            took: Duration::from_millis(420),
        };
        let conversation = ConversationId {
            agent: AgentId::parse("recepcao").unwrap(),
            contact: ContactId::parse("5511900000001").unwrap(),
        };
        let at = Timestamp::from_ms(1_000);
        let json = Value::Object(told(&Told {
            seq: 3,
            at,
            conversation,
            step,
        }));
        assert_eq!(
            json,
            json!({
                "seq": 3, "at": 1000, "agent": "recepcao", "contact": "5511900000001",
                "step": "model_called", "model": "demo", "purpose": "answer", "why": "fallback", "after": "transient",
                "input_tokens": 16, "cached_tokens": 5, "output_tokens": 7, "took_ms": 420,
            })
        );
    }
}
