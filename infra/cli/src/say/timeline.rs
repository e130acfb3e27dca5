//! The timeline of a burst: one line per step, in seconds since its first message.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Said;

/// Prints it, the answers and what is remembered.
pub fn print(said: &Said) -> String {
    let texts: BTreeMap<&str, &str> = said
        .messages
        .iter()
        .filter_map(|message| Some((message["id"].as_str()?, message["text"].as_str()?)))
        .collect();
    let zero = said
        .steps
        .iter()
        .filter_map(|step| step["at"].as_u64())
        .min()
        .unwrap_or_default();
    let mut page = String::new();
    for step in &said.steps {
        if let Some(line) = line(step, &texts, zero) {
            let at = since(step["at"].as_u64().unwrap_or(zero), zero);
            // Writing to a String cannot fail.
            let _ = writeln!(page, "{at:>8}  {line}");
        }
    }
    for reply in said.texts() {
        let _ = writeln!(page, "\n  > {}", reply.replace('\n', "\n  > "));
    }
    if said.texts().is_empty() {
        let _ = writeln!(page, "\n  (no answer)");
    }
    let _ = writeln!(page, "\n{}", remembered(&said.memory));
    page.trim_end().to_owned()
}

fn since(at: u64, zero: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a conversation")]
    let seconds = at.saturating_sub(zero) as f64 / 1000.0;
    format!("{seconds:.2} s")
}

fn line(step: &Value, texts: &BTreeMap<&str, &str>, zero: u64) -> Option<String> {
    let count = |name: &str| step[name].as_u64().unwrap_or_default();
    let word = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
    let messages = step["messages"].as_array().map_or(0, Vec::len);
    Some(match step["step"].as_str()? {
        "received" => {
            let id = word("message");
            let text = texts.get(id.as_str()).copied().unwrap_or("…");
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
        "model_called" => format!(
            "model      {} in {} ms, {} + {} tokens ({})",
            word("model"),
            count("took_ms"),
            count("input_tokens"),
            count("output_tokens"),
            word("purpose")
        ),
        "model_failed" => format!("model      failed: {} ({})", word("class"), word("reason")),
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
        _ => return None,
    })
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
