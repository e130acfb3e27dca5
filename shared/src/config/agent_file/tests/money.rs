//! What an agent file says of money and sessions.

use super::*;
use crate::domain::Usage;
use crate::domain::agent::Limits;

fn mistakes(text: &str) -> Vec<String> {
    let found = parse(&format!("{LEAST}{text}")).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn limits_sessions_and_prices_reach_the_agent() {
    let text = format!(
        r#"{LEAST}
        [limits]
        conversation_day_usd = 0.5
        agent_day_usd = 20
        [session]
        gap_h = 12
        advice_after = 20
        [[prices]]
        model = "gpt-5.4-mini"
        input = 1
        cache_read = 0.1
        output = 6.5
        [[prices]]
        model = "gpt-6-luna"
        input = 9
        output = 9
        [texts]
        over_limit = "amanhã"
    "#
    );
    let agent = parse(&text).unwrap();
    let limits = Limits {
        conversation_day_micro_usd: Some(500_000),
        agent_day_micro_usd: Some(20_000_000),
    };
    assert_eq!(agent.limits, limits);
    assert_eq!(agent.session.gap, Duration::from_hours(12));
    assert_eq!(agent.session.advice_after, 20);
    assert_eq!(agent.texts.over_limit, "amanhã");
    let usage = Usage {
        input_uncached: 10,
        output: 2,
        ..Usage::default()
    };
    let cost = |model| agent.prices.cost(model, &usage);
    assert_eq!(cost("gpt-5.4-mini-2026-03-17"), Some(23));
    assert_eq!(cost("gpt-6-luna"), Some(108), "replaced");
    assert_eq!(cost("claude-opus-5-5"), Some(80), "built in");
}

#[test]
fn without_a_word_there_is_no_limit_and_no_advice() {
    let agent = parse(LEAST).unwrap();
    assert_eq!(agent.limits, Limits::default());
    assert_eq!(agent.session.gap, Duration::from_hours(6));
    assert_eq!(agent.session.advice_after, 0);
    assert!(agent.texts.over_limit.starts_with("Cheguei ao meu limite"));
}

#[test]
fn a_wrong_price_or_limit_is_told_with_a_right_one() {
    for (text, told) in [
        (
            "[limits]\nagent_day_usd = 0",
            "limits.agent_day_usd: must be US dollars from 0.01 to 100000, not 0; for instance agent_day_usd = 20",
        ),
        (
            "[[prices]]\ninput = 1\noutput = 1",
            "prices: a price needs the model's name; for instance model = \"gpt-5.4-mini\"",
        ),
        (
            "[[prices]]\nmodel = \"a\"\ninput = 1",
            "prices: output of \"a\" must be the dollars for a million tokens; for instance output = 0.75",
        ),
        (
            "[[prices]]\nmodel = \"a\"\ninput = 1\noutput = 1\ncache_read = \"1\"",
            "prices: cache_read of \"a\" must be the dollars for a million tokens; for instance cache_read = 0.75",
        ),
        (
            "[[prices]]\nmodel = \"a\"\ninput = 1\noutput = 1\ncached = 1",
            "prices: unknown key; known here: model, input, cache_read, cache_write, output",
        ),
        (
            "[prices]\nmodel = \"a\"",
            "prices: must come as [[prices]] on a line of its own, its settings below it",
        ),
    ] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with(told), "{}\nnot {told}", found[0]);
    }
}

#[test]
fn a_foreign_language_needs_the_line_only_where_there_is_a_limit() {
    let texts = "language = \"fr\"\n[texts]\napology = \"a\"\nopted_out = \"b\"\nrefusal = \"c\"\n";
    assert_eq!(mistakes(texts), [""; 0]);
    let found = mistakes(&format!("{texts}[limits]\nagent_day_usd = 1\n"));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("write over_limit under [texts]"),
        "{found:?}"
    );
}

#[test]
fn a_check_asks_whether_a_provider_was_meant() {
    for (model, meant) in [
        ("opnai:gpt-6-luna", Some("openai:?")),
        ("OpenAI:gpt-6-luna", Some("openai:?")),
        ("antropic:claude-haiku-4-5", Some("anthropic:?")),
        ("openai:gpt-6-luna", None),
        ("llama3.2:3b", None),
        ("ft:gpt-4o:acme", None),
        ("openrouter:deepseek/deepseek-r1:free", None),
    ] {
        let text = format!("{LEAST}[model]\nmain = \"{model}\"\n");
        let (report, is_right) = check_report("a.toml", &text);
        assert!(is_right, "{report}");
        let asked = report.split_once("did you mean ").map(|(_, meant)| meant);
        assert_eq!(asked, meant, "{model}: {report}");
    }
}

#[test]
fn a_check_says_which_models_no_limit_can_count() {
    let report = |text: &str| check_report("a.toml", &format!("{LEAST}{text}")).0;
    let limits = "[limits]\nagent_day_usd = 1\n[model]\n";
    let unknown = "no price is known for ";
    for (label, text, names) in [
        ("no limit", "[model]\nmain = \"maxi\"", None),
        ("listed", "main = \"openai:gpt-6-luna\"", None),
        ("its provider tells", "main = \"openrouter:x/y\"", None),
        (
            "one of two",
            "main = \"gpt-6-luna\"\nlight = \"mini\"",
            Some("mini"),
        ),
        ("both", "main = \"b\"\nfallback = \"a\"", Some("a, b")),
    ] {
        let text = if label == "no limit" {
            text.to_owned()
        } else {
            format!("{limits}{text}")
        };
        let report = report(&text);
        let told = report.split_once(unknown).map(|(_, rest)| rest);
        let told = told
            .and_then(|rest| rest.split_once(", so calls there"))
            .map(|(names, _)| names);
        assert_eq!(told, names, "{label}: {report}");
        let is_last = report
            .lines()
            .last()
            .is_some_and(|line| line.starts_with(unknown));
        assert_eq!(is_last, names.is_some(), "{label}: {report}");
    }
}
