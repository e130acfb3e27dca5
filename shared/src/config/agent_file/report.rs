//! What `recado agent check FILE` prints.

use super::parse;
use crate::domain::Agent;

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
