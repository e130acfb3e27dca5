//! Tools that note every try and every effect, and do what the test tells them to: a source of the toolbox, before the
//! built-in ones, which act on the fake table.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::adapters::toolbox::{Made, Source};
use recado::domain::{Agent, Effect, Tool, ToolName, ToolResult};
use recado::ports::Clock;
use serde_json::json;

/// A write that happens again each time it is tried.
pub const BOOK: &str = "book";
/// A write that happens once for each key.
pub const ADD: &str = "add_item";
/// A read.
pub const HOURS: &str = "opening_hours";

/// What one try does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolBehaviour {
    /// It happens, and says so after this long.
    Act(Duration),
    /// It happens at once, and no answer comes for this long.
    ActSilently(Duration),
    /// It does not happen, and no answer comes for this long.
    LoseSilently(Duration),
    /// It does not happen, and says so.
    Refuse(&'static str),
    /// It happens, and the run panics.
    ActAndPanic,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Try {
    /// Which tool.
    pub tool: String,
    /// With what.
    pub arguments: String,
    /// Under which key.
    pub key: String,
}

/// See the module; nothing is declared until the test says so.
pub struct FakeTools {
    clock: Arc<dyn Clock>,
    declared: Mutex<Vec<Tool>>,
    next: Mutex<VecDeque<ToolBehaviour>>,
    tries: Mutex<Vec<Try>>,
    effects: Mutex<Vec<Try>>,
}

/// The three tools, as their model is told of them.
pub fn declarations() -> Vec<Tool> {
    let tool = |name: &str, description: &str, effect, idempotent| Tool {
        name: ToolName::parse(name).unwrap(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"what": {"type": "string"}},
            "required": ["what"],
        }),
        effect,
        idempotent,
        confirm: false,
    };
    vec![
        tool(BOOK, "Marca um horário.", Effect::Write, false),
        tool(ADD, "Põe um item na lista.", Effect::Write, true),
        tool(HOURS, "Diz a que horas abre.", Effect::Read, true),
    ]
}

impl FakeTools {
    /// Without any.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            declared: Mutex::default(),
            next: Mutex::default(),
            tries: Mutex::default(),
            effects: Mutex::default(),
        }
    }

    /// All three are there from now on.
    pub fn declare(&self) {
        *self.declared.lock().unwrap() = declarations();
    }

    /// All three are there from now on, and [`BOOK`] waits for the person's yes.
    pub fn declare_waiting(&self) {
        self.declare();
        for tool in self.declared.lock().unwrap().iter_mut() {
            tool.confirm = tool.name.as_str() == BOOK;
        }
    }

    /// What the next try does; called again: the one after it.
    pub fn then(&self, behaviour: ToolBehaviour) {
        self.next.lock().unwrap().push_back(behaviour);
    }

    /// Every try so far.
    pub fn tries(&self) -> Vec<Try> {
        self.tries.lock().unwrap().clone()
    }

    /// What really happened, as tool and arguments; the reads are left out.
    pub fn effects(&self) -> Vec<String> {
        let effects = self.effects.lock().unwrap();
        effects
            .iter()
            .map(|one| format!("{} {}", one.tool, one.arguments))
            .collect()
    }

    fn happens(&self, one: Try) {
        let mut effects = self.effects.lock().unwrap();
        let keys: BTreeSet<_> = effects.iter().map(|effect| effect.key.clone()).collect();
        let again = one.tool == ADD && keys.contains(&one.key);
        if one.tool != HOURS && !again {
            effects.push(one);
        }
    }
}

#[async_trait]
impl Source for FakeTools {
    fn declared(&self, _: &Agent) -> Vec<Tool> {
        self.declared.lock().unwrap().clone()
    }

    async fn run(&self, _: &Agent, made: &Made<'_>, _: Duration) -> ToolResult {
        let one = Try {
            tool: made.call.tool.to_string(),
            arguments: made.call.arguments.as_str().to_owned(),
            key: made.key.to_owned(),
        };
        self.tries.lock().unwrap().push(one.clone());
        let next = self.next.lock().unwrap().pop_front();
        match next.unwrap_or(ToolBehaviour::Act(Duration::from_millis(100))) {
            ToolBehaviour::Act(takes) => {
                self.clock.sleep(takes).await;
                let said = format!("{} ok", one.tool);
                self.happens(one);
                ToolResult::Ok(said)
            }
            ToolBehaviour::ActSilently(takes) => {
                self.happens(one);
                self.clock.sleep(takes).await;
                ToolResult::Unknown
            }
            ToolBehaviour::LoseSilently(takes) => {
                self.clock.sleep(takes).await;
                ToolResult::Unknown
            }
            ToolBehaviour::Refuse(why) => ToolResult::Error(why.to_owned()),
            ToolBehaviour::ActAndPanic => {
                self.happens(one);
                panic!("told to")
            }
        }
    }
}
