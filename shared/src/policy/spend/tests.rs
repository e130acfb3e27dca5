//! Tables of what calls cost, of limits and of sessions, with each boundary named.

use super::*;
use crate::domain::agent::sample;
use crate::domain::prices::Price;
use crate::domain::{
    Address, Arguments, BusinessNumber, CallId, Carried, Content, Effect, Event, Finish, MessageId,
    Output, Phone, ToolCall, ToolName,
};

/// Monday, 30 November 2026, 23:30 in São Paulo.
const LATE: Timestamp = Timestamp::from_ms(1_796_092_200_000);

fn prices() -> PriceList {
    let price = |model: &str, input| Price {
        model: model.to_owned(),
        input,
        cache_read: None,
        cache_write: None,
        output: 10 * input,
    };
    PriceList::new(vec![price("mini", 1_000_000), price("own*", 0)], Vec::new())
}

fn usage(input: u64, output: u64, cost: Option<u64>) -> Usage {
    Usage {
        input_uncached: input,
        output,
        cost_micro_usd: cost,
        ..Usage::default()
    }
}

fn day(day: i8) -> Date {
    jiff::civil::date(2026, 11, day)
}

#[expect(clippy::unnecessary_wraps, reason = "as the state has it")]
fn on(day_of_month: i8, micro_usd: u64) -> Option<Spent> {
    Some(Spent {
        day: day(day_of_month),
        micro_usd,
    })
}

#[test]
fn a_call_costs_what_its_provider_says_else_what_the_list_says_else_nobody_knows() {
    for (label, model, usage, cost) in [
        (
            "the provider's own figure",
            "mini",
            usage(5, 1, Some(3)),
            Some(3),
        ),
        (
            "of a model that is not listed",
            "maxi",
            usage(5, 1, Some(3)),
            Some(3),
        ),
        ("by the list", "mini", usage(5, 1, None), Some(15)),
        ("not listed", "maxi", usage(5, 1, None), None),
        ("no report of tokens", "mini", usage(0, 0, None), None),
        (
            "no report, and free all the same",
            "own:7b",
            usage(0, 0, None),
            Some(0),
        ),
    ] {
        let reply = ModelReply {
            text: "x".to_owned(),
            calls: Vec::new(),
            carried: Carried::none(),
            finish: Finish::Complete,
            usage,
            model: model.to_owned(),
        };
        let charge = charge(&prices(), ChargeKind::Answer, &reply);
        assert_eq!(charge.micro_usd, cost, "{label}");
        assert!(!charge.is_estimate, "{label}");
    }
}

#[test]
fn a_dropped_call_costs_its_input_and_the_share_of_its_time() {
    let prompt = Prompt {
        tools: Vec::new(),
        rules: "rules of some length".to_owned(),
        persona: "a persona".to_owned(),
        memory: None,
        history: Vec::new(),
        last: vec!["oi, queria marcar".to_owned()],
        notes: Vec::new(),
        rounds: Vec::new(),
        pause: None,
        words_only: false,
        output: Output::Text,
        output_tokens_max: 600,
        person_key: "k".to_owned(),
    };
    let input = u64::from(tokens::prompt(&prompt));
    for (label, elapsed_s, output) in [
        ("at once", 0, 0),
        ("a tenth of the time", 6, 60),
        ("all of it", 60, 600),
        ("beyond it", 90, 600),
    ] {
        let times = (Duration::from_secs(elapsed_s), Duration::from_mins(1));
        let charge = dropped(&prices(), ("openai:mini", &prompt), 2.0, times);
        assert_eq!(charge.usage, usage(2 * input, output, None), "{label}");
        assert_eq!(charge.micro_usd, Some(2 * input + 10 * output), "{label}");
        assert_eq!(charge.model, "mini");
        assert_eq!(
            (charge.kind, charge.is_estimate),
            (ChargeKind::Discarded, true)
        );
    }
    let none = dropped(
        &prices(),
        ("maxi", &prompt),
        1.0,
        (Duration::ZERO, Duration::ZERO),
    );
    assert_eq!(none.micro_usd, None);
}

#[test]
fn what_is_spent_is_of_one_day() {
    for (label, before, today, more, after) in [
        ("the first", None, 30, 5, on(30, 5)),
        ("nothing paid yet", None, 30, 0, None),
        ("more on the same day", on(30, 5), 30, 2, on(30, 7)),
        ("a new day", on(29, 5), 30, 2, on(30, 2)),
        ("a new day without a cost", on(29, 5), 30, 0, on(29, 5)),
        ("the clock stepped back", on(30, 5), 29, 2, on(30, 7)),
        ("beyond count", on(30, u64::MAX), 30, 1, on(30, u64::MAX)),
    ] {
        assert_eq!(spent(before, day(today), more), after, "{label}");
    }
}

#[test]
fn a_limit_is_reached_by_what_was_spent_on_its_day() {
    let limits = Limits {
        conversation_day_micro_usd: Some(100),
        agent_day_micro_usd: Some(1_000),
    };
    for (label, spent, is_reached) in [
        ("nothing", None, false),
        ("just under", on(30, 99), false),
        ("at it", on(30, 100), true),
        ("beyond", on(30, 101), true),
        ("yesterday", on(29, 500), false),
    ] {
        let reached = of_conversation(&limits, spent, day(30));
        assert_eq!(reached.is_some(), is_reached, "{label}");
    }
    assert_eq!(of_agent(&limits, 999), None);
    assert_eq!(of_agent(&limits, 1_000), Some(SpendLimit::Agent));
    let none = Limits::default();
    assert_eq!(of_conversation(&none, on(30, u64::MAX), day(30)), None);
    assert_eq!(of_agent(&none, u64::MAX), None);
}

#[test]
fn the_quiet_ends_after_an_hour_or_at_midnight() {
    let agent = sample();
    let an_hour = Duration::from_hours(1);
    let early = LATE.minus(Duration::from_hours(2));
    assert_eq!(limited_until(&agent, early), early.plus(an_hour));
    let half_an_hour = Duration::from_mins(30);
    assert_eq!(limited_until(&agent, LATE), LATE.plus(half_an_hour));
    assert_eq!(today(&agent, LATE), day(30));
    let after = LATE.plus(half_an_hour);
    assert_eq!(today(&agent, after), jiff::civil::date(2026, 12, 1));
}

fn batch(sent_at: Timestamp) -> Batch {
    Batch::from_pending(vec![Event {
        id: MessageId::parse("wamid.1").unwrap(),
        reply_to: Address::Phone(Phone::parse("5511900000001").unwrap()),
        number: BusinessNumber::parse("100").unwrap(),
        sent_at,
        arrived_at: sent_at,
        content: Content::Text("oi".to_owned()),
        closed: None,
    }])
}

fn farewell(result: Option<ToolResult>) -> Call {
    Call {
        n: 0,
        effect: Effect::Read,
        call: ToolCall {
            tool: ToolName::parse(END_CONVERSATION).unwrap(),
            arguments: Arguments::parse("{}").unwrap(),
            id: CallId::parse("call_1").unwrap(),
        },
        result,
    }
}

#[test]
fn a_session_ends_by_silence_or_leave() {
    let rules = sample().session;
    let began_at = LATE.minus(Duration::from_hours(9));
    let ended = ToolResult::Ok("bye".to_owned());
    for (label, is_over, silence_h, calls, exchanges) in [
        ("goes on", false, 1, vec![], 8),
        ("just under the gap", false, 5, vec![], 8),
        ("at the gap", false, 6, vec![], 1),
        ("they took leave", true, 1, vec![], 1),
        (
            "they take leave now",
            false,
            1,
            vec![farewell(Some(ended))],
            8,
        ),
        ("a leave that failed", false, 1, vec![farewell(None)], 8),
    ] {
        let mut state = State::new(Vec::new(), began_at);
        state.last_inbound_at = Some(LATE.minus(Duration::from_hours(silence_h)));
        state.session = Some(Session {
            began_at,
            exchanges: 7,
            is_over,
        });
        let next = session(&rules, &state, &batch(LATE), &calls);
        assert_eq!(next.exchanges, exchanges, "{label}");
        let began = if exchanges == 1 { LATE } else { began_at };
        assert_eq!(next.began_at, began, "{label}");
        assert_eq!(next.is_over, label == "they take leave now", "{label}");
    }
}

#[test]
fn advice_comes_after_so_many_exchanges_and_never_by_default() {
    let mut rules = sample().session;
    let mut state = State::new(Vec::new(), LATE);
    state.last_inbound_at = Some(LATE);
    for (advice_after, behind, is_due) in [
        (0, 500, false),
        (20, 19, false),
        (20, 20, true),
        (20, 21, true),
    ] {
        rules.advice_after = advice_after;
        state.session = Some(Session {
            began_at: LATE,
            exchanges: behind,
            is_over: false,
        });
        assert_eq!(is_long(&rules, &state, &batch(LATE)), is_due, "{behind}");
    }
}
