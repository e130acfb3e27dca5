//! A prompt that some provider would refuse, made into one that all take: a flaw of ours must not silence a person.
//!
//! Invariant: what comes out passes [`validate`](super::validate), unless its persona or rules are blank, which nothing
//! can stand in for. A call keeps its result, and none of the person's words is lost.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::validate;
use crate::domain::{AnsweredCall, Carried, Output, Prompt, Round, Turn};
use crate::policy::visible::is_blank;

/// Stands where the person's words should be.
const WORDLESS: &str = "…";
/// Stands for a name that no provider takes.
const SCHEMA_NAME: &str = "answer";

/// The prompt as it can be sent.
pub fn mended(prompt: &Prompt) -> Cow<'_, Prompt> {
    if validate(prompt).is_ok() {
        return Cow::Borrowed(prompt);
    }
    let mut prompt = prompt.clone();
    prompt.memory = prompt.memory.filter(|text| !is_blank(text));
    prompt.notes.retain(|text| !is_blank(text));
    prompt.last.retain(|text| !is_blank(text));
    prompt.rounds.retain(|round| !round.calls.is_empty());
    let mut names = BTreeSet::new();
    prompt.tools.retain(|tool| names.insert(tool.name.clone()));
    let mut history = History::default();
    for turn in std::mem::take(&mut prompt.history) {
        history.add(turn);
    }
    let (turns, open) = history.close();
    prompt.history = turns;
    if let Some(open) = open {
        // Nobody answered these words: they are part of what is to be answered now, with what was called for them.
        prompt.last.splice(0..0, open.said);
        if !open.calls.is_empty() {
            let round = Round {
                calls: open.calls,
                carried: Carried::none(),
            };
            prompt.rounds.insert(0, round);
        }
    }
    if prompt.last.is_empty() {
        prompt.last.push(WORDLESS.to_owned());
    }
    if let Output::Json { name, .. } = &mut prompt.output
        && !super::is_schema_name(name)
    {
        *name = SCHEMA_NAME;
    }
    Cow::Owned(prompt)
}

/// An exchange under way.
#[derive(Default)]
struct Open {
    said: Vec<String>,
    calls: Vec<AnsweredCall>,
}

/// Exchanges in order: the person, what was called, the agent.
#[derive(Default)]
struct History {
    turns: Vec<Turn>,
    open: Option<Open>,
}

impl History {
    fn add(&mut self, turn: Turn) {
        match turn {
            Turn::User(blocks) => {
                let seen = blocks.into_iter().filter(|text| !is_blank(text));
                let mut seen = seen.peekable();
                if seen.peek().is_some() {
                    self.open.get_or_insert_default().said.extend(seen);
                }
            }
            Turn::Calls(calls) => match &mut self.open {
                Some(open) => open.calls.extend(calls),
                None => self.add_late(calls),
            },
            Turn::Assistant(text) if is_blank(&text) => {}
            Turn::Assistant(text) => match (self.open.take(), self.turns.last_mut()) {
                (Some(open), _) => {
                    self.turns.push(Turn::User(open.said));
                    if !open.calls.is_empty() {
                        self.turns.push(Turn::Calls(open.calls));
                    }
                    self.turns.push(Turn::Assistant(text));
                }
                (None, Some(Turn::Assistant(before))) => {
                    before.push_str("\n\n");
                    before.push_str(&text);
                }
                (None, _) => {}
            },
        }
    }
    /// Calls that come after the answer belong before it. Without one their words are gone, and with the words the sense.
    fn add_late(&mut self, calls: Vec<AnsweredCall>) {
        let Some(answer) = self.turns.pop() else {
            return;
        };
        match self.turns.last_mut() {
            Some(Turn::Calls(before)) => before.extend(calls),
            _ if calls.is_empty() => {}
            _ => self.turns.push(Turn::Calls(calls)),
        }
        self.turns.push(answer);
    }

    fn close(self) -> (Vec<Turn>, Option<Open>) {
        (self.turns, self.open)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{Arguments, CallId, ToolCall, ToolName, ToolResult};
    use crate::policy::prompt::validate::tests::{agent, calls, prompt, user};

    #[test]
    fn each_flaw_is_mended_and_nothing_said_is_lost() {
        for (label, history, last, expected, begins) in [
            (
                "sound",
                vec![user("a"), agent("b")],
                "oi",
                vec![user("a"), agent("b")],
                "oi",
            ),
            (
                "agent first",
                vec![agent("b"), user("a"), agent("c")],
                "oi",
                vec![user("a"), agent("c")],
                "oi",
            ),
            ("nobody answered", vec![user("a")], "oi", vec![], "a"),
            (
                "two of the person",
                vec![user("a"), user("b"), agent("c")],
                "oi",
                vec![Turn::User(vec!["a".to_owned(), "b".to_owned()]), agent("c")],
                "oi",
            ),
            (
                "two of the agent",
                vec![user("a"), agent("b"), agent("c")],
                "oi",
                vec![user("a"), agent("b\n\nc")],
                "oi",
            ),
            (
                "calls after the answer",
                vec![user("a"), agent("b"), calls()],
                "oi",
                vec![user("a"), calls(), agent("b")],
                "oi",
            ),
            (
                "calls before anybody spoke",
                vec![calls(), user("a"), agent("b")],
                "oi",
                vec![user("a"), agent("b")],
                "oi",
            ),
            (
                "blank words of the agent",
                vec![user("a"), agent(" ")],
                "oi",
                vec![],
                "a",
            ),
            (
                "blank words of the person",
                vec![user(" "), agent("b")],
                "oi",
                vec![],
                "oi",
            ),
            ("nothing to answer", vec![], " ", vec![], WORDLESS),
        ] {
            let flawed = prompt(history, &[last]);
            let mended = mended(&flawed);
            assert_eq!(mended.history, expected, "{label}");
            assert_eq!(mended.last[0], begins, "{label}");
            assert_eq!(validate(&mended), Ok(()), "{label}");
        }
    }

    #[test]
    fn what_was_called_for_words_that_nobody_answered_stays_with_them() {
        let flawed = prompt(vec![user("marca"), calls()], &["e aí?"]);
        let mended = mended(&flawed);
        assert_eq!(mended.last, ["marca", "e aí?"]);
        assert_eq!(mended.rounds.len(), 1);
        assert_eq!(mended.rounds[0].calls.len(), 1);
    }

    #[test]
    fn texts_and_names_that_nobody_takes_are_left_out() {
        let mut flawed = prompt(vec![], &["oi"]);
        flawed.memory = Some("\u{200b}".to_owned());
        flawed.notes = vec![" ".to_owned(), "note".to_owned()];
        flawed.rounds = vec![Round {
            calls: Vec::new(),
            carried: Carried::none(),
        }];
        flawed.output = Output::Json {
            name: "a b",
            schema: serde_json::json!({}),
        };
        let mended = mended(&flawed);
        assert_eq!(validate(&mended), Ok(()));
        assert_eq!((mended.memory.as_ref(), mended.notes.len()), (None, 1));
    }

    fn turns() -> impl Strategy<Value = Turn> {
        let text = || prop_oneof![Just(String::new()), Just(" ".to_owned()), "[a-z]{1,4}"];
        let call = (0..3_u8).prop_map(|n| AnsweredCall {
            call: ToolCall {
                id: CallId::parse(format!("c{n}")).unwrap(),
                tool: ToolName::parse("hours").unwrap(),
                arguments: Arguments::none(),
            },
            result: ToolResult::Unknown,
        });
        prop_oneof![
            vec(text(), 0..3).prop_map(Turn::User),
            text().prop_map(Turn::Assistant),
            vec(call, 0..3).prop_map(Turn::Calls),
        ]
    }

    proptest! {
        #[test]
        fn any_history_is_mended(history in vec(turns(), 0..8), last in vec("[a-z ]{0,2}", 0..3)) {
            let last: Vec<&str> = last.iter().map(String::as_str).collect();
            let flawed = prompt(history, &last);
            let sound = mended(&flawed);
            prop_assert_eq!(validate(&sound), Ok(()));
            let again = mended(&sound);
            prop_assert_eq!(again.as_ref(), sound.as_ref());
            let said = |prompt: &Prompt| -> String {
                let turns = prompt.history.iter().filter_map(|turn| match turn {
                    Turn::User(blocks) => Some(blocks.concat()),
                    _ => None,
                });
                let all = turns.chain(prompt.last.iter().cloned()).collect::<String>();
                all.replace([' ', '…'], "")
            };
            let kept = said(&sound);
            for word in flawed.last.iter().filter(|text| !is_blank(text)) {
                prop_assert!(kept.contains(word.replace(' ', "").as_str()));
            }
            prop_assert_eq!(kept, said(&flawed));
        }
    }
}
