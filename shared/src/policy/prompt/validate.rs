//! The last look at a request: what any provider would refuse is found here, before it costs a call, and [`mended`].
//!
//! Invariant: a prompt that passes has no blank text, alternating roles, a user turn first and words in its last turn,
//! and calls only between the person's words and the agent's.

mod mended;

use std::collections::BTreeSet;

pub use mended::mended;

use crate::domain::{Output, Prompt, Turn};
use crate::policy::visible::is_blank;

/// What is wrong with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Rules, persona, memory, a block, an answer or a note without a visible character.
    #[error("blank {0}")]
    Blank(&'static str),
    /// A user turn without blocks.
    #[error("a user turn without blocks")]
    EmptyTurn,
    /// The history begins with the agent.
    #[error("the history does not begin with the person")]
    BeginsWithAgent,
    /// Two turns of one side in a row; the last turn counts as the person's.
    #[error("two turns of the same side in a row")]
    NotAlternating,
    /// Calls that stand anywhere but between the person and the agent, or none of them.
    #[error("calls out of their place")]
    Calls,
    /// Nothing to answer.
    #[error("no last turn")]
    NoLastTurn,
    /// Two tools of one name.
    #[error("two tools of one name")]
    RepeatedTool,
    /// The name of the answer's schema is empty, too long or holds a character that providers refuse.
    #[error("a schema name that providers refuse")]
    SchemaName,
}

/// Whether every provider will take the prompt's form.
pub fn validate(prompt: &Prompt) -> Result<(), Flaw> {
    seen("rules", &prompt.rules)?;
    seen("persona", &prompt.persona)?;
    prompt
        .memory
        .iter()
        .try_for_each(|text| seen("memory", text))?;
    alternates(&prompt.history)?;
    if prompt.rounds.iter().any(|round| round.calls.is_empty()) {
        return Err(Flaw::Calls);
    }
    if prompt.last.is_empty() {
        return Err(Flaw::NoLastTurn);
    }
    prompt
        .last
        .iter()
        .try_for_each(|text| seen("block", text))?;
    prompt
        .notes
        .iter()
        .try_for_each(|text| seen("note", text))?;
    let mut names = BTreeSet::new();
    if !prompt.tools.iter().all(|tool| names.insert(&tool.name)) {
        return Err(Flaw::RepeatedTool);
    }
    match &prompt.output {
        Output::Json { name, .. } if !is_schema_name(name) => Err(Flaw::SchemaName),
        Output::Json { .. } | Output::Text => Ok(()),
    }
}

/// Whether the history begins with the person, ends with the agent, and has calls only in between.
fn alternates(history: &[Turn]) -> Result<(), Flaw> {
    let mut agent_spoke_last = true;
    let mut called = false;
    for (at, turn) in history.iter().enumerate() {
        if let Turn::Calls(calls) = turn {
            if agent_spoke_last || called || calls.is_empty() {
                return Err(Flaw::Calls);
            }
            called = true;
            continue;
        }
        let is_agent = matches!(turn, Turn::Assistant(_));
        if at == 0 && is_agent {
            return Err(Flaw::BeginsWithAgent);
        }
        if called && !is_agent {
            return Err(Flaw::Calls);
        }
        if is_agent == agent_spoke_last {
            return Err(Flaw::NotAlternating);
        }
        (agent_spoke_last, called) = (is_agent, false);
        match turn {
            Turn::User(blocks) if blocks.is_empty() => return Err(Flaw::EmptyTurn),
            Turn::User(blocks) => blocks.iter().try_for_each(|text| seen("block", text))?,
            Turn::Assistant(text) => seen("answer", text)?,
            Turn::Calls(_) => {}
        }
    }
    if agent_spoke_last {
        Ok(())
    } else {
        Err(Flaw::NotAlternating)
    }
}

fn seen(what: &'static str, text: &str) -> Result<(), Flaw> {
    if is_blank(text) {
        Err(Flaw::Blank(what))
    } else {
        Ok(())
    }
}

fn is_schema_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn user(text: &str) -> Turn {
        Turn::User(vec![text.to_owned()])
    }

    pub fn agent(text: &str) -> Turn {
        Turn::Assistant(text.to_owned())
    }

    pub fn prompt(history: Vec<Turn>, last: &[&str]) -> Prompt {
        Prompt {
            tools: Vec::new(),
            rules: "rules".to_owned(),
            persona: "persona".to_owned(),
            memory: None,
            history,
            last: last.iter().map(|text| (*text).to_owned()).collect(),
            notes: Vec::new(),
            rounds: Vec::new(),
            pause: None,
            words_only: false,
            output: Output::Text,
            output_tokens_max: 100,
            person_key: "key".to_owned(),
        }
    }

    pub fn calls() -> Turn {
        use crate::domain::{AnsweredCall, Arguments, CallId, ToolCall, ToolName, ToolResult};
        let call = ToolCall {
            id: CallId::parse("c").unwrap(),
            tool: ToolName::parse("hours").unwrap(),
            arguments: Arguments::none(),
        };
        let result = ToolResult::Unknown;
        Turn::Calls(vec![AnsweredCall { call, result }])
    }

    #[test]
    fn calls_stand_between_the_person_and_the_agent() {
        let of = |history| validate(&prompt(history, &["oi"]));
        assert_eq!(of(vec![user("a"), calls(), agent("b")]), Ok(()));
        for history in [
            vec![calls(), agent("b")],
            vec![user("a"), agent("b"), calls()],
            vec![user("a"), calls(), user("b"), agent("c")],
            vec![user("a"), calls(), calls(), agent("c")],
            vec![user("a"), Turn::Calls(Vec::new()), agent("c")],
        ] {
            assert_eq!(of(history), Err(Flaw::Calls));
        }
        assert_eq!(of(vec![user("a"), calls()]), Err(Flaw::NotAlternating));
    }

    #[test]
    fn each_flaw_is_named() {
        for (label, history, last, expected) in [
            ("first message", vec![], vec!["oi"], Ok(())),
            (
                "one exchange",
                vec![user("a"), agent("b")],
                vec!["oi"],
                Ok(()),
            ),
            (
                "agent first",
                vec![agent("b")],
                vec!["oi"],
                Err(Flaw::BeginsWithAgent),
            ),
            (
                "two of the person",
                vec![user("a"), user("b")],
                vec!["oi"],
                Err(Flaw::NotAlternating),
            ),
            (
                "two of the agent",
                vec![user("a"), agent("b"), agent("c")],
                vec!["oi"],
                Err(Flaw::NotAlternating),
            ),
            (
                "person before the last turn",
                vec![user("a")],
                vec!["oi"],
                Err(Flaw::NotAlternating),
            ),
            (
                "empty turn",
                vec![Turn::User(vec![]), agent("b")],
                vec!["oi"],
                Err(Flaw::EmptyTurn),
            ),
            (
                "blank block",
                vec![user(" "), agent("b")],
                vec!["oi"],
                Err(Flaw::Blank("block")),
            ),
            (
                "blank answer",
                vec![user("a"), agent("\u{200b}")],
                vec!["oi"],
                Err(Flaw::Blank("answer")),
            ),
            (
                "blank last block",
                vec![],
                vec!["oi", "\n"],
                Err(Flaw::Blank("block")),
            ),
            ("nothing to answer", vec![], vec![], Err(Flaw::NoLastTurn)),
        ] {
            assert_eq!(validate(&prompt(history, &last)), expected, "{label}");
        }
    }
}
