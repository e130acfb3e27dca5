//! Handing a conversation to a human: asked for by a tool, done by the commit of the turn that asked.
//!
//! Invariant: nobody is handed over by a turn that was dropped, for the pause comes with the answer that announces it.

use serde_json::json;

use crate::domain::{Agent, Call, Effect, Timestamp, Tool, ToolName, ToolResult};

/// The tool's name.
pub const NAME: &str = "hand_off";

/// The tool as models are told of it. It changes nothing before the commit, so that a newer message may still drop it.
pub fn declared() -> Tool {
    Tool {
        name: ToolName::parse(NAME).unwrap_or_else(|_| unreachable!("it is a name")),
        description: "Hands this conversation to a human of the team: where the person asks for one, or where you must \
                      not decide. You will not be asked again until the team gives it back."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "In a few words, for the team."},
            },
            "required": ["reason"],
            "additionalProperties": false,
        }),
        effect: Effect::Read,
        confirm: false,
        idempotent: true,
    }
}

/// What comes of a call.
pub fn answer(agent: &Agent) -> ToolResult {
    match agent.hand_off_pause {
        Some(_) => ToolResult::Ok(
            "the team takes over once your answer is sent: tell the person so in one short line, and promise no time"
                .to_owned(),
        ),
        None => ToolResult::Error("there is nobody to hand over to".to_owned()),
    }
}

/// Until when the agent keeps quiet after a turn with these calls; `None` where it goes on.
pub fn pause_until(agent: &Agent, calls: &[Call], now: Timestamp) -> Option<Timestamp> {
    let asked = calls.iter().any(|call| {
        call.call.tool.as_str() == NAME && matches!(call.result, Some(ToolResult::Ok(_)))
    });
    let pause = agent.hand_off_pause.filter(|_| asked)?;
    Some(now.plus(pause))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::agent::sample;
    use crate::domain::{Arguments, CallId, ToolCall};

    #[test]
    fn only_a_hand_off_that_was_taken_pauses_and_only_where_the_agent_has_one() {
        let call = |tool: &str, result| Call {
            n: 0,
            effect: Effect::Read,
            call: ToolCall {
                id: CallId::parse("c1").unwrap(),
                tool: ToolName::parse(tool).unwrap(),
                arguments: Arguments::none(),
            },
            result,
        };
        let with = |pause| Agent {
            hand_off_pause: pause,
            ..sample()
        };
        let hours = Some(Duration::from_hours(2));
        let ok = || Some(ToolResult::Ok(String::new()));
        let now = Timestamp::from_ms(1_000);
        for (label, agent, calls, right) in [
            (
                "handed over",
                with(hours),
                vec![call(NAME, ok())],
                Some(now.plus(Duration::from_hours(2))),
            ),
            ("another tool", with(hours), vec![call("book", ok())], None),
            (
                "it failed",
                with(hours),
                vec![call(NAME, Some(ToolResult::Unknown))],
                None,
            ),
            (
                "the file no longer has it",
                with(None),
                vec![call(NAME, ok())],
                None,
            ),
            ("nothing called", with(hours), Vec::new(), None),
        ] {
            assert_eq!(pause_until(&agent, &calls, now), right, "{label}");
        }
    }
}
