//! What `recado agent check FILE` prints.

use std::collections::BTreeSet;

use super::parse;
use crate::config::nearest::nearest;
use crate::domain::agent::Limits;
use crate::domain::{Agent, Effect, Provider, Target, ToolSpec, Usage};

/// The report on an agent file, one line per mistake, or one line in all, one per tool and what may not be meant so; and
/// whether it is right.
pub fn check_report(label: &str, text: &str) -> (String, bool) {
    match parse(text) {
        Ok(agent) => {
            let tools = agent.tools.iter().map(of_tool);
            let mut lines: Vec<String> =
                std::iter::once(in_one_line(&agent)).chain(tools).collect();
            lines.extend(warnings(&agent));
            (lines.join("\n"), true)
        }
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
    let named = |what: &str, model: &Option<String>| match model {
        Some(model) => format!(" ({what}: {model})"),
        None => String::new(),
    };
    let light = named("light turns", &agent.model.light);
    let fallback = named("fallback", &agent.model.fallback);
    format!(
        "ok: agent {}, {}, {}, {numbers}, window {} s, ceiling {} s, model {}{light}{fallback}, compaction at {} messages to {}",
        agent.id,
        agent.language,
        agent.time_zone,
        agent.timing.window.as_secs_f64(),
        agent.timing.ceiling.as_secs_f64(),
        agent.model.main,
        agent.compaction.trigger,
        agent.compaction.keep,
    )
}

/// What may not work as the file seems to mean it, one line each.
pub fn warnings(agent: &Agent) -> Vec<String> {
    let mut lines = of_providers(agent);
    lines.extend(of_limits(agent));
    lines
}

/// Models with something before a colon that is nearly a provider. They may be right: `llama3.2:3b` is a name, too.
fn of_providers(agent: &Agent) -> Vec<String> {
    let names: BTreeSet<&str> = agent.model.names().collect();
    let doubtful = |name: &str| {
        let (before, _) = name.split_once(':')?;
        let known = Provider::ALL.map(Provider::name);
        let meant = nearest(before, known).filter(|meant| *meant != before)?;
        Some(format!(
            "{before} is no provider, so {name} is a model of the default one; did you mean {meant}:?"
        ))
    };
    names.into_iter().filter_map(doubtful).collect()
}

/// What the limits cannot count, where there are limits. OpenRouter tells what each call costs.
fn of_limits(agent: &Agent) -> Option<String> {
    if agent.limits == Limits::default() {
        return None;
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
    let unknown: BTreeSet<&str> = agent.model.names().filter(is_unknown).collect();
    if unknown.is_empty() {
        return None;
    }
    let names: Vec<&str> = unknown.into_iter().collect();
    Some(format!(
        "no price is known for {}, so calls there count for no limit: give one under [[prices]]",
        names.join(", ")
    ))
}

/// One tool: what it does, what is called, and the secrets that have to be there for it.
fn of_tool(spec: &ToolSpec) -> String {
    let effect = match spec.tool.effect {
        Effect::Read => "read",
        Effect::Write => "write",
    };
    let target = match &spec.target {
        Target::Http(http) => {
            let network = if http.private { " (private)" } else { "" };
            format!("{} {}{network}", http.method.as_str(), http.host)
        }
        Target::Lambda(function) => format!("lambda {function}"),
    };
    let secrets: Vec<&str> = spec.secrets().collect();
    let mut parts = vec![
        effect.to_owned(),
        target,
        format!("{} s", spec.timeout.as_secs()),
    ];
    let more = [
        spec.tool.idempotent.then(|| "idempotent".to_owned()),
        spec.tool
            .confirm
            .then(|| "after the person's yes".to_owned()),
        (!secrets.is_empty()).then(|| format!("secrets {}", secrets.join(", "))),
    ];
    parts.extend(more.into_iter().flatten());
    format!("    tool {}: {}", spec.tool.name, parts.join(", "))
}
