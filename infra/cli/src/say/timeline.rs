//! The timeline of a burst: one line per step, in seconds since its first message.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Said;
use crate::ledger::dollars;

/// What is told of a burst, line by line.
pub struct Timeline {
    /// The burst's texts by their messages' ids.
    texts: BTreeMap<String, String>,
    /// When the first step was.
    zero: Option<u64>,
    /// The last step that was told.
    told: u64,
}

impl Timeline {
    /// Nothing is told yet of the messages with these ids and texts, in order.
    pub fn of(ids: &[String], texts: &[String]) -> Self {
        Self {
            texts: ids.iter().cloned().zip(texts.iter().cloned()).collect(),
            zero: None,
            told: 0,
        }
    }

    /// The lines of those of these steps that were not told before.
    pub fn news(&mut self, steps: &[Value]) -> Vec<String> {
        let seq = |step: &Value| step["seq"].as_u64().unwrap_or_default();
        let mut lines = Vec::new();
        for step in steps.iter().filter(|step| seq(step) > self.told) {
            let at = step["at"].as_u64().unwrap_or_default();
            let zero = *self.zero.get_or_insert(at);
            if let Some(line) = line(step, &self.texts, zero) {
                lines.push(format!("{:>8}  {line}", since(at, zero)));
            }
        }
        self.told = steps
            .iter()
            .map(seq)
            .max()
            .unwrap_or_default()
            .max(self.told);
        lines
    }
}

/// The answers and what is remembered.
pub fn ending(said: &Said) -> String {
    let mut page = String::new();
    for reply in said.texts() {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "\n  > {}", reply.replace('\n', "\n  > "));
    }
    if said.texts().is_empty() {
        let _ = writeln!(page, "\n  (no answer)");
    }
    let _ = writeln!(page, "\n{}", remembered(&said.memory));
    page.trim_end().to_owned()
}

/// The line of messages that came too late for a person who was forgotten.
pub fn dropped(count: usize) -> String {
    format!(
        "          dropped    {count} message(s): sent before a forget, or within its second; write again"
    )
}

fn since(at: u64, zero: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a conversation")]
    let seconds = at.saturating_sub(zero) as f64 / 1000.0;
    format!("{seconds:.2} s")
}

fn line(step: &Value, texts: &BTreeMap<String, String>, zero: u64) -> Option<String> {
    let count = |name: &str| step[name].as_u64().unwrap_or_default();
    let word = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
    let messages = step["messages"].as_array().map_or(0, Vec::len);
    Some(match step["step"].as_str()? {
        "received" => {
            let id = word("message");
            let text = texts.get(&id).map_or("…", String::as_str);
            let again = if step["fresh"] == true {
                ""
            } else {
                " (again: nothing to do)"
            };
            format!("received   {text}{again}")
        }
        "held" => {
            let until = since(count("until"), zero);
            format!("held       until {until} ({})", word("reason"))
        }
        "claimed" => format!("claimed    {messages} message(s) as one turn"),
        "routed" => routed(step),
        "model_called" => called(step),
        "model_incident" => format!(
            "incident   {} is left out ({}): its fallback answers until it is back",
            word("model"),
            word("class")
        ),
        "model_recovered" => format!("recovered  {} answers again", word("model")),
        "model_failed" => failed(step),
        "tool_called" => tool(step),
        "booked" => cost(&count)?,
        "superseded" => "superseded by a newer message: the call is dropped".to_owned(),
        "committed" => format!("committed  one reply to {messages} message(s)"),
        "fenced" => "fenced     another run was quicker".to_owned(),
        "sent" => "sent".to_owned(),
        "send_refused" => format!("refused    by the provider, code {}", word("code")),
        "send_unknown" => "unknown    whether the provider has the reply".to_owned(),
        "closed" => format!(
            "closed     {} message(s): {}",
            count("count"),
            word("reason")
        ),
        "compacted" => format!(
            "compacted  {} messages, {} fact(s)",
            count("items"),
            count("facts")
        ),
        "compaction_refused" => format!("compaction refused: {}", word("reason")),
        "forgotten" => format!("forgotten  {} items", count("items")),
        name => aside(name, &word)?,
    })
}

fn failed(step: &Value) -> String {
    let word = |name: &str| step[name].as_str().unwrap_or_default();
    let failed = format!(
        "model      {} failed: {} ({})",
        word("model"),
        word("class"),
        word("reason")
    );
    match step["advice"].as_str() {
        Some(advice) => format!("{failed}: {advice}"),
        None => failed,
    }
}

fn tool(step: &Value) -> String {
    let name = step["tool"].as_str().unwrap_or_default();
    let took_ms = step["took_ms"].as_u64().unwrap_or_default();
    match step["outcome"].as_str().unwrap_or_default() {
        "refused" => format!(
            "tool       {name} is not called: its name or its arguments are wrong, and the model is told so"
        ),
        outcome => format!("tool       {name} in {took_ms} ms: {outcome}"),
    }
}

/// What keeps the agent from answering.
fn aside(name: &str, word: &impl Fn(&str) -> String) -> Option<String> {
    Some(match name {
        "limit_reached" => format!(
            "limit      of the {} is reached for today: the model is not asked",
            word("limit")
        ),
        "handed_off" => "handed off to a human: recado resume gives the person back".to_owned(),
        "paused" => "paused     an operator has taken the person over".to_owned(),
        "resumed" => "resumed    the agent has the person again".to_owned(),
        _ => return None,
    })
}

fn called(step: &Value) -> String {
    let count = |name: &str| step[name].as_u64().unwrap_or_default();
    let word = |name: &str| step[name].as_str().unwrap_or_default();
    let why = match (word("why"), word("after")) {
        ("fallback", class) => format!(", since the one before failed: {class}"),
        ("breaker_open", class) => format!(", since the one before is left out: {class}"),
        ("probe", _) => ", to see whether it is back".to_owned(),
        _ => String::new(),
    };
    format!(
        "model      {} in {} ms, {} + {} tokens ({}{why})",
        word("model"),
        count("took_ms"),
        count("input_tokens"),
        count("output_tokens"),
        word("purpose"),
    )
}

fn routed(step: &Value) -> String {
    let count = |name: &str| step[name].as_u64().unwrap_or_default();
    let word = |name: &str| step[name].as_str().unwrap_or_default();
    format!(
        "routed     {} ({} of {} points: {})",
        word("route"),
        count("score"),
        count("threshold"),
        word("why")
    )
}

/// What a run has cost; nothing where it was free.
fn cost(count: &impl Fn(&str) -> u64) -> Option<String> {
    let (micro_usd, unknown) = (count("micro_usd"), count("unknown"));
    let known = (micro_usd > 0).then(|| format!("US$ {}", dollars(micro_usd)));
    let unknown = (unknown > 0).then(|| format!("{unknown} call(s) of unknown price"));
    let parts: Vec<String> = known.into_iter().chain(unknown).collect();
    let estimated = if count("estimated_micro_usd") > 0 {
        ", part of it an estimate"
    } else {
        ""
    };
    (!parts.is_empty()).then(|| format!("cost       {}{estimated}", parts.join(" and ")))
}

fn remembered(memory: &Value) -> String {
    let count = |name: &str| memory[name].as_array().map_or(0, Vec::len);
    let mut line = format!(
        "remembered: {} recent message(s), {} fact(s)",
        count("recent"),
        count("facts")
    );
    for fact in memory["facts"].as_array().into_iter().flatten() {
        let _ = write!(line, "\n  - {}", fact["text"].as_str().unwrap_or_default());
    }
    if let Some(summary) = memory["summary"].as_str() {
        let _ = write!(line, "\n  summary: {summary}");
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_with_what_came_of_it() {
        for (outcome, told) in [
            ("ok", "tool       hours in 5 ms: ok"),
            (
                "refused",
                "tool       hours is not called: its name or its arguments are wrong, and the model is told so",
            ),
        ] {
            let step =
                json!({ "step": "tool_called", "tool": "hours", "outcome": outcome, "took_ms": 5 });
            assert_eq!(line(&step, &BTreeMap::new(), 0).unwrap(), told);
        }
    }

    #[test]
    fn a_model_that_stands_in_for_another_is_told_with_the_reason() {
        let line = |step: Value| line(&step, &BTreeMap::new(), 0).unwrap();
        let incident =
            json!({ "step": "model_incident", "model": "big", "class": "quota", "since": 1 });
        assert_eq!(
            line(incident),
            "incident   big is left out (quota): its fallback answers until it is back"
        );
        for (why, after, told) in [
            ("first", None, "(answer)"),
            (
                "fallback",
                Some("quota"),
                "(answer, since the one before failed: quota)",
            ),
            (
                "breaker_open",
                Some("auth"),
                "(answer, since the one before is left out: auth)",
            ),
            ("probe", None, "(answer, to see whether it is back)"),
        ] {
            let called = json!({
                "step": "model_called", "model": "small", "purpose": "answer", "why": why, "after": after,
                "took_ms": 5, "input_tokens": 3, "output_tokens": 2,
            });
            let right = format!("model      small in 5 ms, 3 + 2 tokens {told}");
            assert_eq!(line(called), right);
        }
        let recovered = json!({ "step": "model_recovered", "model": "big", "since": 1 });
        assert_eq!(line(recovered), "recovered  big answers again");
    }

    #[test]
    fn a_chosen_model_is_told_with_its_reasons() {
        let mut timeline = Timeline::of(&[], &[]);
        let step = json!({
            "seq": 1, "at": 0, "step": "routed", "model": "big", "route": "main", "score": 12, "threshold": 8,
            "why": "acts 10, clauses 2",
        });
        assert_eq!(
            timeline.news(&[step]),
            ["  0.00 s  routed     main (12 of 8 points: acts 10, clauses 2)"]
        );
    }

    #[test]
    fn each_step_is_told_once_and_a_failure_with_what_to_do() {
        let strings = |texts: [&str; 1]| texts.map(str::to_owned);
        let mut timeline = Timeline::of(&strings(["wamid.1"]), &strings(["oi"]));
        let mut steps = vec![
            json!({ "seq": 7, "at": 1_000, "step": "received", "message": "wamid.1", "fresh": true }),
        ];
        assert_eq!(timeline.news(&steps), ["  0.00 s  received   oi"]);
        assert_eq!(timeline.news(&steps), Vec::<String>::new());
        steps.push(json!({
            "seq": 9, "at": 6_500, "step": "model_failed", "model": "big", "class": "auth", "reason": "status 401", "advice": "check the key",
        }));
        assert_eq!(
            timeline.news(&steps),
            ["  5.50 s  model      big failed: auth (status 401): check the key"]
        );
    }
}
