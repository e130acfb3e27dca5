//! What a call cost, what a conversation may cost in a day, and where its sessions begin.
//!
//! Invariant: an unknown cost is never counted as a known one, and a limit is reached by known costs alone.

use std::time::Duration;

use jiff::civil::Date;

use super::agenda::tools::END_CONVERSATION;
use super::prompt::calendar;
use super::tokens;
use crate::domain::agent::{Limits, SessionRules};
use crate::domain::prices::PriceList;
use crate::domain::{
    Agent, Batch, Call, Charge, ChargeKind, ModelReply, Prompt, Provider, Session, SpendLimit,
    Spent, State, Timestamp, ToolResult, Usage,
};

/// After the line that says so, messages are closed without another one for this long.
const QUIET: Duration = Duration::from_hours(1);

/// The agent's local day.
pub fn today(agent: &Agent, now: Timestamp) -> Date {
    calendar::local_date(agent, now)
}

/// What an answer cost: the provider's own figure, else by the list.
pub fn charge(prices: &PriceList, kind: ChargeKind, reply: &ModelReply) -> Charge {
    metered(prices, kind, &reply.model, reply.usage)
}

/// The same of whatever else was metered.
pub fn metered(prices: &PriceList, kind: ChargeKind, model: &str, usage: Usage) -> Charge {
    // Who reports no tokens has not told what it cost.
    let is_told = usage.input() > 0 || usage.output > 0;
    let listed = || {
        if is_told {
            prices.cost(model, &usage)
        } else {
            is_free(prices, model).then_some(0)
        }
    };
    Charge {
        model: model.to_owned(),
        kind,
        usage,
        micro_usd: usage.cost_micro_usd.or_else(listed),
        is_estimate: false,
    }
}

/// Whether no number of tokens would cost anything.
fn is_free(prices: &PriceList, model: &str) -> bool {
    let many = Usage {
        input_uncached: 1_000_000,
        output: 1_000_000,
        ..Usage::default()
    };
    prices.cost(model, &many) == Some(0)
}

/// What a call that was dropped has cost, as far as it can be told: all of its input, and of its output the share that
/// would be written by then, if the whole cap took the whole time that the call was given.
pub fn dropped(
    prices: &PriceList,
    (model, prompt): (&str, &Prompt),
    factor: f64,
    (elapsed, timeout): (Duration, Duration),
) -> Charge {
    let share = elapsed.as_secs_f64() / timeout.as_secs_f64().max(0.001);
    let cap = f64::from(prompt.output_tokens_max);
    let tokens = |count: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of tokens: not negative, and far below 2^53"
        )]
        let whole = count.max(0.0).round() as u64;
        whole
    };
    let usage = Usage {
        input_uncached: tokens(f64::from(tokens::prompt(prompt)) * factor),
        output: tokens(cap * share.min(1.0)),
        ..Usage::default()
    };
    // The provider never named it.
    let (_, name) = Provider::of(model, Provider::OpenAi);
    Charge {
        model: name.to_owned(),
        kind: ChargeKind::Discarded,
        usage,
        micro_usd: prices.cost(name, &usage),
        is_estimate: true,
    }
}

/// What the conversation has cost today, with `more` on top; nothing changes where nothing was paid.
pub fn spent(before: Option<Spent>, today: Date, more: u64) -> Option<Spent> {
    match before {
        // A clock that stepped back over midnight must not open the day anew.
        Some(before) if more == 0 || before.day >= today => Some(Spent {
            micro_usd: before.micro_usd.saturating_add(more),
            ..before
        }),
        None if more == 0 => None,
        _ => Some(Spent {
            day: today,
            micro_usd: more,
        }),
    }
}

/// Whether the conversation has cost as much today as it may.
pub fn of_conversation(limits: &Limits, spent: Option<Spent>, today: Date) -> Option<SpendLimit> {
    let limit = limits.conversation_day_micro_usd?;
    let spent = spent.filter(|spent| spent.day >= today)?;
    (spent.micro_usd >= limit).then_some(SpendLimit::Conversation)
}

/// Whether all conversations together have.
pub fn of_agent(limits: &Limits, spent: u64) -> Option<SpendLimit> {
    let limit = limits.agent_day_micro_usd?;
    (spent >= limit).then_some(SpendLimit::Agent)
}

/// Until when messages are closed after the line that says that a limit is reached: an hour, or midnight of the agent's
/// place where that is sooner.
pub fn limited_until(agent: &Agent, now: Timestamp) -> Timestamp {
    now.plus(QUIET).min(calendar::next_midnight(agent, now))
}

/// The session that the turn of `batch` belongs to, once it is answered with these calls.
pub fn session(rules: &SessionRules, state: &State, batch: &Batch, calls: &[Call]) -> Session {
    let began_at = batch.events().first().map(|event| event.sent_at);
    let began_at = began_at.unwrap_or_default();
    let silence = state.last_inbound_at.map(|last| began_at.since(last));
    let goes_on = state
        .session
        .filter(|session| !session.is_over && silence.is_some_and(|gap| gap < rules.gap));
    let before = goes_on.unwrap_or(Session {
        began_at,
        exchanges: 0,
        is_over: false,
    });
    Session {
        exchanges: before.exchanges.saturating_add(1),
        is_over: calls.iter().any(takes_leave),
        ..before
    }
}

fn takes_leave(call: &Call) -> bool {
    call.call.tool.as_str() == END_CONVERSATION && matches!(call.result, Some(ToolResult::Ok(_)))
}

/// Whether the turn of `batch` is so late in its session that a new one is better begun.
pub fn is_long(rules: &SessionRules, state: &State, batch: &Batch) -> bool {
    let session = session(rules, state, batch, &[]);
    rules.advice_after > 0 && session.exchanges > rules.advice_after
}

#[cfg(test)]
mod tests;
