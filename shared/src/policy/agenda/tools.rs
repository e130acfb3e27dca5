//! The agenda's tools as a model is told of them. All that write can be repeated under their key; asking and ending
//! change nothing by themselves, so that a newer message may still drop them.

use serde_json::{Value, json};

use crate::domain::{Effect, Tool, ToolName};

/// Makes a task.
pub const CREATE_TASK: &str = "create_task";
/// Changes, finishes or cancels one.
pub const UPDATE_TASK: &str = "update_task";
/// Tells what there is.
pub const LIST_TASKS: &str = "list_tasks";
/// Keeps a text.
pub const CREATE_MEMO: &str = "create_memo";
/// Changes one.
pub const UPDATE_MEMO: &str = "update_memo";
/// Makes an appointment.
pub const CREATE_EVENT: &str = "create_calendar_event";
/// Moves, changes or cancels one.
pub const UPDATE_EVENT: &str = "update_calendar_event";
/// Asks the person instead of guessing.
pub const ASK_CLARIFICATION: &str = "ask_clarification";
/// Ends the session.
pub const END_CONVERSATION: &str = "end_conversation";

/// What comes of a question: the answer of the turn carries it, for a turn has one owner of sending.
pub(super) const ASK_NOW: &str = "nothing was sent: put this one question to the person as your answer now, and do nothing else before they reply";
/// What comes of an end.
pub(super) const SAY_GOODBYE: &str =
    "the session ends with this turn: say goodbye in one short line as your answer";

/// All of them, in the order models are told of them.
pub fn declared() -> Vec<Tool> {
    [tasks(), memos(), appointments(), talk()].concat()
}

/// What there is to do.
fn tasks() -> Vec<Tool> {
    vec![
        tool(
            CREATE_TASK,
            "Makes a task for the person.",
            Effect::Write,
            &[
                ("title", "A few words the person would know it by.", true),
                ("due", DAY, false),
                ("priority", PRIORITY, false),
                ("notes", "What else there is to say.", false),
            ],
        ),
        tool(
            UPDATE_TASK,
            "Changes a task: its day, priority, title or notes, or that it is done or cancelled. What is left out stays.",
            Effect::Write,
            &[
                ("task", WHICH, true),
                ("title", "A new title.", false),
                ("due", DAY, false),
                ("priority", PRIORITY, false),
                ("status", "open, done or cancelled.", false),
                ("notes", "New notes, in place of the old ones.", false),
            ],
        ),
        tool(
            LIST_TASKS,
            "Tells what the person has to do; with kind also memos and appointments.",
            Effect::Read,
            &[
                ("kind", "task (where left out), memo, event or all.", false),
                (
                    "status",
                    "open (where left out), done, cancelled or all.",
                    false,
                ),
            ],
        ),
    ]
}

/// What there is to keep.
fn memos() -> Vec<Tool> {
    vec![
        tool(
            CREATE_MEMO,
            "Keeps a text for the person.",
            Effect::Write,
            &[
                ("title", "A few words the person would know it by.", true),
                ("text", "What is to be kept.", true),
            ],
        ),
        tool(
            UPDATE_MEMO,
            "Changes a memo. What is left out stays.",
            Effect::Write,
            &[
                ("memo", WHICH, true),
                ("title", "A new title.", false),
                ("text", "A new text, in place of the old one.", false),
                ("append", "A line to add to its text.", false),
                ("status", "open, done or cancelled.", false),
            ],
        ),
    ]
}

/// What happens at a moment.
fn appointments() -> Vec<Tool> {
    vec![
        tool(
            CREATE_EVENT,
            "Puts an appointment into the person's own agenda. It does not look at anybody else's.",
            Effect::Write,
            &[
                ("title", "A few words the person would know it by.", true),
                ("start", MOMENT, true),
                ("end", MOMENT, false),
                ("notes", "What else there is to say.", false),
            ],
        ),
        tool(
            UPDATE_EVENT,
            "Moves, changes or cancels an appointment. What is left out stays.",
            Effect::Write,
            &[
                ("event", WHICH, true),
                ("title", "A new title.", false),
                ("start", MOMENT, false),
                ("end", MOMENT, false),
                ("status", "open, done or cancelled.", false),
                ("notes", "New notes, in place of the old ones.", false),
            ],
        ),
    ]
}

/// What concerns the conversation itself.
fn talk() -> Vec<Tool> {
    vec![
        tool(
            ASK_CLARIFICATION,
            "For when a wrong guess would cost the person something: ask instead of acting.",
            Effect::Read,
            &[(
                "question",
                "The one question, in the person's language.",
                true,
            )],
        ),
        tool(
            END_CONVERSATION,
            "For when the person has said goodbye and nothing is open: the session ends.",
            Effect::Read,
            &[],
        ),
    ]
}

const DAY: &str = "2026-01-31, or 2026-01-31T16:00 with a time; none takes it away. In the person's own time: work it \
                   out from the note that tells the moment.";
const MOMENT: &str =
    "2026-01-31T16:00, in the person's own time: work it out from the note that tells the moment.";
const PRIORITY: &str = "low, normal or high.";
const WHICH: &str = "Its title or part of it; last for the one made or changed last.";

fn tool(name: &str, description: &str, effect: Effect, arguments: &[(&str, &str, bool)]) -> Tool {
    let properties: serde_json::Map<String, Value> = arguments
        .iter()
        .map(|(name, description, _)| {
            let property = json!({"type": "string", "description": description});
            ((*name).to_owned(), property)
        })
        .collect();
    let required: Vec<&str> = arguments
        .iter()
        .filter(|(_, _, is_required)| *is_required)
        .map(|(name, _, _)| *name)
        .collect();
    Tool {
        name: ToolName::parse(name).unwrap_or_else(|_| unreachable!("it is a name")),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
        effect,
        confirm: false,
        idempotent: true,
    }
}
