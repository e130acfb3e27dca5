//! The agent file: TOML in, a `domain::Agent` out, or every mistake with its place and a right value.
//!
//! Each setting is named, with its default and its bounds, in exactly one line of this file.

mod built_in;
mod document;
mod mistake;
mod money;
mod opt_out;
mod overrides;
mod place;
mod report;
mod routing;
mod texts;
mod tools;

pub use mistake::{Mistake, Position};
pub use overrides::Overrides;
pub use report::{check_report, warnings};

use std::time::Duration;

use crate::domain::agent::{Budget, CompactionRules, ModelChoice, Timing};
use crate::domain::{Agent, AgentId, BusinessNumber};
use crate::policy::visible::is_invisible;
use document::{Document, Found, Origin};

/// The embedded agent, commented for copying.
pub const DEFAULT_AGENT_FILE: &str = include_str!("default_agent.toml");

/// Beyond this a persona would no longer fit beside a conversation in any prompt.
const PERSONA_CHARS_MAX: usize = 40_000;
/// What one transaction can answer or fold, with room for the items that go with it.
const KEEP_MAX: usize = 80;
/// A model, for examples.
const MODEL: &str = "gpt-5.6-luna";
/// Nobody waits longer for an answer to their first message.
const CEILING_MAX: Duration = Duration::from_mins(5);

/// Reads an agent file as it stands.
pub fn parse(text: &str) -> Result<Agent, Vec<Mistake>> {
    parse_with(text, &Overrides::none())
}

/// Reads an agent file with some of its settings replaced.
pub fn parse_with(text: &str, overrides: &Overrides) -> Result<Agent, Vec<Mistake>> {
    let mut file = Document::open(text, overrides);
    let id = read_id(&mut file);
    let example = "Você é a recepcionista da Barbearia Exemplo.";
    let persona = file.required_text("", "persona", PERSONA_CHARS_MAX, example);
    let language = read_language(&mut file);
    let time_zone = read_time_zone(&mut file);
    let numbers = read_numbers(&mut file);
    let timing = read_timing(&mut file);
    let model = read_model(&mut file, overrides.default_model());
    let routing = routing::read(&mut file);
    let budget = read_budget(&mut file);
    let compaction = read_compaction(&mut file);
    let built_in = built_in::read(&mut file);
    let (session, limits) = (money::session(&mut file), money::limits(&mut file));
    let prices = money::prices(&mut file);
    let opt_out_words = opt_out::read(&mut file);
    let texts = texts::read(&mut file, &language);
    let tools = tools::read(&mut file);
    let mistakes = file.close();
    match (id, persona, texts) {
        (Some(id), Some(persona), Some(texts)) if mistakes.is_empty() => Ok(Agent {
            id,
            persona: persona.value.trim().to_owned(),
            language: language.value,
            time_zone,
            numbers,
            timing,
            model,
            routing,
            budget,
            compaction,
            agenda: built_in.agenda,
            hand_off_pause: built_in.hand_off_pause,
            session,
            limits,
            prices,
            opt_out_words,
            texts,
            tools,
        }),
        _ => Err(mistakes),
    }
}

/// The embedded agent, with some of its settings replaced.
pub fn default_agent(overrides: &Overrides) -> Result<Agent, Vec<Mistake>> {
    parse_with(DEFAULT_AGENT_FILE, overrides)
}

fn read_id(file: &mut Document<'_>) -> Option<AgentId> {
    let found = file.required_text("", "id", usize::MAX, "recepcao")?;
    match AgentId::parse(found.value) {
        Ok(id) => Some(id),
        Err(error) => {
            let message = format!("{}; for instance id = \"recepcao\"", error.problem);
            file.mistake("", "id", found.origin, message);
            None
        }
    }
}

fn read_language(file: &mut Document<'_>) -> Found<String> {
    checked(file, "language", "pt-BR", place::language)
}

fn read_time_zone(file: &mut Document<'_>) -> String {
    checked(file, "time_zone", "America/Sao_Paulo", place::time_zone).value
}

/// A text at the top of the file that `check` brings to its usual spelling.
fn checked(
    file: &mut Document<'_>,
    key: &'static str,
    default: &str,
    check: fn(&str) -> Result<String, String>,
) -> Found<String> {
    let default_from = |origin| Found {
        value: default.to_owned(),
        origin,
    };
    let known = file.has("", key);
    let Some(found) = file.text("", key, usize::MAX, default) else {
        return default_from(if known {
            Origin::Wrong
        } else {
            Origin::Default
        });
    };
    match check(&found.value) {
        Ok(value) => Found {
            value,
            origin: found.origin,
        },
        Err(problem) => {
            file.mistake("", key, found.origin, problem);
            default_from(Origin::Wrong)
        }
    }
}

fn read_numbers(file: &mut Document<'_>) -> Vec<BusinessNumber> {
    let mut numbers: Vec<BusinessNumber> = Vec::new();
    let found = file.list("", "numbers", "106540352242922");
    for item in found.map(|list| list.value).unwrap_or_default() {
        let text = item.value.trim();
        match BusinessNumber::parse(text) {
            Ok(number) if numbers.contains(&number) => {
                file.mistake(
                    "",
                    "numbers",
                    item.origin,
                    format!("{text} is listed twice"),
                );
            }
            Ok(number) => numbers.push(number),
            Err(error) => file.mistake("", "numbers", item.origin, error.problem),
        }
    }
    numbers
}

fn read_timing(file: &mut Document<'_>) -> Timing {
    let window = file.seconds("timing", "window_s", 5, 1..=60);
    let ceiling = file.seconds("timing", "ceiling_s", 20, 1..=300);
    let give_up_after = file.seconds("timing", "give_up_after_s", 300, 1..=3600);
    // A run has 120 s; what is left after the models belongs to reading, committing and sending.
    let model_budget = file.seconds("timing", "model_budget_s", 75, 1..=90);
    let model_timeout = file.seconds("timing", "model_timeout_s", 60, 1..=90);
    let seconds = |duration: Duration| format!("{} s", duration.as_secs_f64());
    if ceiling.value < window.value {
        blame(
            file,
            "timing",
            [("ceiling_s", ceiling.origin), ("window_s", window.origin)],
            &format!(
                "the ceiling ({}) must not be under the window ({}); four windows is a good ceiling",
                seconds(ceiling.value),
                seconds(window.value)
            ),
            &(window.value * 4).min(CEILING_MAX).as_secs().to_string(),
        );
    }
    if model_budget.value < model_timeout.value {
        let keys = [
            ("model_timeout_s", model_timeout.origin),
            ("model_budget_s", model_budget.origin),
        ];
        blame(
            file,
            "timing",
            keys,
            &format!(
                "the timeout of one call ({}) must not be over the budget of all calls ({})",
                seconds(model_timeout.value),
                seconds(model_budget.value)
            ),
            &model_budget.value.as_secs_f64().to_string(),
        );
    }
    Timing {
        window: window.value,
        ceiling: ceiling.value,
        give_up_after: give_up_after.value,
        model_budget: model_budget.value,
        model_timeout: model_timeout.value,
    }
}

/// Notes that two settings do not go together at the one that was set: a variable first, then the first key in the file.
/// `right` is a value of the first key that would do.
fn blame(
    file: &mut Document<'_>,
    section: &'static str,
    keys: [(&'static str, Origin); 2],
    problem: &str,
    right: &str,
) {
    if keys.iter().any(|(_, origin)| *origin == Origin::Wrong) {
        return;
    }
    let of_variable = keys
        .iter()
        .find(|(_, origin)| matches!(origin, Origin::Environment(_)));
    let in_file = keys
        .iter()
        .find(|(_, origin)| matches!(origin, Origin::File(_)));
    if let Some((key, origin)) = of_variable.or(in_file) {
        let [(mended, _), _] = keys;
        // Who sets variables has no file at hand.
        let variable = Overrides::variable(section, mended);
        let shown = match (origin, variable) {
            (Origin::Environment(_), Some(variable)) => format!("{variable}={right}"),
            _ => format!("{mended} = {right}"),
        };
        file.mistake(
            section,
            key,
            *origin,
            format!("{problem}; for instance {shown}"),
        );
    }
}

fn read_model(file: &mut Document<'_>, default: &str) -> ModelChoice {
    ModelChoice {
        main: read_model_name(file, "main").unwrap_or_else(|| default.to_owned()),
        light: read_model_name(file, "light"),
        compaction: read_model_name(file, "compaction"),
        fallback: read_model_name(file, "fallback"),
    }
}

/// The name of a model, as the provider calls it: one word, or every call would be refused.
fn read_model_name(file: &mut Document<'_>, key: &'static str) -> Option<String> {
    let found = file.text("model", key, 200, MODEL)?;
    let name = found.value.trim();
    if name.chars().any(is_invisible) {
        let right = Document::example(key, found.origin, &format!("{MODEL:?}"), MODEL);
        let message =
            format!("{name:?} is not the name of a model, which is one word; for instance {right}");
        file.mistake("model", key, found.origin, message);
        return None;
    }
    Some(name.to_owned())
}

fn read_budget(file: &mut Document<'_>) -> Budget {
    Budget {
        history_tokens_max: file
            .count("budget", "history_tokens_max", 3000, 200..=200_000)
            .value,
        messages_max: file.count("budget", "messages_max", 60, 2..=400).value,
        facts_max: file.count("budget", "facts_max", 30, 0..=400).value,
        // OpenAI refuses an answer of under 16 tokens.
        output_tokens_max: file
            .count("budget", "output_tokens_max", 1024, 16..=32_000)
            .value,
    }
}

fn read_compaction(file: &mut Document<'_>) -> CompactionRules {
    let trigger = file.count("compaction", "trigger", 40, 3..=400);
    let keep = file.count("compaction", "keep", 20, 2..=KEEP_MAX);
    if trigger.value <= keep.value {
        let keys = [("keep", keep.origin), ("trigger", trigger.origin)];
        blame(
            file,
            "compaction",
            keys,
            &format!(
                "keep ({}) must be less than trigger ({}), else there is nothing to compact; half of it is a good value",
                keep.value, trigger.value
            ),
            &(trigger.value / 2).clamp(2, KEEP_MAX).to_string(),
        );
    }
    CompactionRules {
        trigger: trigger.value,
        keep: keep.value,
        summary_words_max: file
            .count("compaction", "summary_words_max", 200, 20..=1000)
            .value,
        fact_chars_max: file
            .count("compaction", "fact_chars_max", 160, 40..=1000)
            .value,
    }
}

#[cfg(test)]
mod tests;
