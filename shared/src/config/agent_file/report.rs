//! What `recado agent check FILE` prints.

use std::collections::BTreeSet;

use super::parse;
use crate::domain::agent::Limits;
use crate::domain::{Agent, Provider, Usage};

/// The report on an agent file, one line per mistake or one line in all, and whether it is right.
pub fn check_report(label: &str, text: &str) -> (String, bool) {
    match parse(text) {
        Ok(agent) => (in_one_line(&agent), true),
        Err(mistakes) => {
            let lines: Vec<String> = mistakes
                .iter()
                .map(|mistake| mistake.in_file(label))
                .collect();
            (lines.join("\n"), false)
        }
    }
}

fn in_one_line(agent: &Agent) -> String {
    let numbers = match agent.numbers.as_slice() {
        [] => "every number that no other agent has".to_owned(),
        [one] => format!("number {one}"),
        several => format!("{} numbers", several.len()),
    };
    format!(
        "ok: agent {}, {}, {}, {numbers}, window {} s, ceiling {} s, model {}, compaction at {} messages to {}",
        agent.id,
        agent.language,
        agent.time_zone,
        agent.timing.window.as_secs_f64(),
        agent.timing.ceiling.as_secs_f64(),
        agent.model.main,
        agent.compaction.trigger,
        agent.compaction.keep,
    ) + &of_limits(agent)
}

/// What the limits cannot count, where there are limits. OpenRouter tells what each call costs.
fn of_limits(agent: &Agent) -> String {
    if agent.limits == Limits::default() {
        return String::new();
    }
    let is_unknown = |name: &&str| {
        let (provider, model) = Provider::of(name, Provider::OpenAi);
        let many = Usage {
            input_uncached: 1,
            output: 1,
            ..Usage::default()
        };
        provider != Provider::OpenRouter && agent.prices.cost(model, &many).is_none()
    };
    let models = &agent.model;
    let others = [&models.light, &models.fallback, &models.compaction];
    let besides = others.into_iter().filter_map(Option::as_deref);
    let unknown: BTreeSet<&str> = std::iter::once(models.main.as_str())
        .chain(besides)
        .filter(is_unknown)
        .collect();
    if unknown.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = unknown.into_iter().collect();
    format!(
        "\nno price is known for {}, so its calls count for no limit: give one under [[prices]]",
        names.join(", ")
    )
}
