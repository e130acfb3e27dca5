//! The tools of a schedule, and when its model asks for them: which turns write hangs on their first message, so that a
//! later run of the same thought asks for the same.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{
    Agent, AskedCall, CallId, ConversationId, Effect, Prompt, Tool, ToolCall, ToolName, ToolResult,
};
use recado::ports::Tools;
use serde_json::json;

use super::core::Core;
use super::plan::Fault;
use super::switches::Switches;
use super::words::{Canary, canaries};

/// A write that happens again each time it is tried.
const BOOK: &str = "book";
/// A write that happens once for each key.
const ADD: &str = "add_item";
/// A read.
const LOOK: &str = "look";

/// See the module.
pub struct SimTools {
    doing: Doing,
    has_any: bool,
    are_declared: AtomicBool,
}

/// What tools do, which may outlive the call.
#[derive(Clone)]
struct Doing {
    core: Arc<Core>,
    switches: Switches,
    keys: Arc<Mutex<BTreeSet<String>>>,
}

impl SimTools {
    /// With all its tools, or with none.
    pub fn new(core: Arc<Core>, has_any: bool, switches: Switches) -> Self {
        Self {
            doing: Doing {
                core,
                switches,
                keys: Arc::default(),
            },
            has_any,
            are_declared: AtomicBool::new(true),
        }
    }

    /// Whether the agent's file names them from now on.
    pub fn declare(&self, are_declared: bool) {
        self.are_declared.store(are_declared, Ordering::Relaxed);
    }
}

impl Doing {
    /// It happens, unless it did under this key and the tool knows keys.
    fn happens(&self, of: &ConversationId, call: &ToolCall, key: &str) {
        let tool = call.tool.as_str();
        let key = if self.switches.holds("idempotency_key") {
            key.to_owned()
        } else {
            format!("{key}#{}", self.core.pick(0..1 << 40))
        };
        let is_new = self.keys.lock().unwrap().insert(key);
        if tool == LOOK || (tool == ADD && !is_new) {
            return;
        }
        let effect = format!("{tool} {}", call.arguments.as_str());
        self.core
            .tell(Some(of), || format!("the tool does it: {effect}"));
        self.core.witness(|witness| witness.effect(of, &effect));
    }
}

#[async_trait]
impl Tools for SimTools {
    async fn declared(&self, _agent: &Agent) -> Vec<Tool> {
        if !self.has_any || !self.are_declared.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let tool = |name: &str, effect, idempotent| Tool {
            name: ToolName::parse(name).expect("a name"),
            description: "of a schedule".to_owned(),
            parameters: json!({"type": "object"}),
            effect,
            confirm: false,
            idempotent: idempotent || !self.doing.switches.holds("unknown_not_repeated"),
        };
        vec![
            tool(BOOK, Effect::Write, false),
            tool(ADD, Effect::Write, true),
            tool(LOOK, Effect::Read, true),
        ]
    }

    async fn run(
        &self,
        of: &ConversationId,
        call: &ToolCall,
        key: &str,
        timeout: Duration,
    ) -> ToolResult {
        let core = &self.doing.core;
        core.elsewhere(core.pick(20..200)).await;
        core.trace("tool", 0);
        if core.strikes(Fault::ToolRefuses, 6) {
            return ToolResult::Error("told to".to_owned());
        }
        let silence = u64::try_from(timeout.as_millis()).unwrap_or(0);
        if core.strikes(Fault::ToolLost, 6) {
            // Others wait behind it, where there are fewer processors than people.
            core.trouble(None, 2 * silence + 20_000);
            core.elsewhere(silence).await;
            return ToolResult::Unknown;
        }
        if core.strikes(Fault::ToolLate, 4) {
            let after = Duration::from_millis(silence + core.pick(0..200_000));
            let (doing, of) = (self.doing.clone(), of.clone());
            let (call, key) = (call.clone(), key.to_owned());
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                doing.happens(&of, &call, &key);
            });
            core.trouble(None, 2 * silence + 20_000);
            core.elsewhere(silence).await;
            return ToolResult::Unknown;
        }
        self.doing.happens(of, call, key);
        if core.strikes(Fault::ToolTimedOut, 6) {
            // Others wait behind it, where there are fewer processors than people.
            core.trouble(None, 2 * silence + 20_000);
            core.elsewhere(silence).await;
            return ToolResult::Unknown;
        }
        core.elsewhere(core.pick(20..200)).await;
        ToolResult::Ok(format!("feito: {}", call.arguments.as_str()))
    }
}

/// What the model asks for before it answers. `waits` tells whether a message is still unanswered.
pub fn asks(
    core: &Core,
    prompt: &Prompt,
    turns_with_tools: u32,
    waits: impl Fn(Canary) -> bool,
) -> Vec<AskedCall> {
    let mut heard = prompt.last.iter().flat_map(|text| canaries(text));
    let Some(first) = heard.find(|canary| waits(*canary)) else {
        return Vec::new();
    };
    if prompt.tools.is_empty() || prompt.words_only || first.0 % 10 >= turns_with_tools {
        return Vec::new();
    }
    let called = |tool: &str| {
        let pairs = prompt.rounds.iter().flat_map(|round| &round.calls);
        pairs.filter(|pair| pair.call.tool.as_str() == tool).count()
    };
    let mut calls = Vec::new();
    let mut ask = |tool: &str, arguments: String| {
        calls.push(AskedCall {
            id: CallId::parse(format!("call_{}", calls.len())).expect("an id"),
            tool: tool.to_owned(),
            arguments,
        });
    };
    let what = |canary: Canary| format!(r#"{{"what":"{canary}"}}"#);
    if core.strikes(Fault::BadCall, 6) {
        let bad = [("voar", "{}"), (BOOK, "{\"what\":"), ("a b", "[]")];
        let (tool, arguments) = bad[usize::try_from(core.pick(0..3)).unwrap_or(0)];
        ask(tool, arguments.to_owned());
    }
    let again = core.strikes(Fault::BadCall, 8);
    // A look, one of the writes or both, by the message; the same again where it errs.
    let (looks, books, adds) = [
        (false, true, false),
        (true, false, true),
        (true, true, true),
        (false, false, true),
    ][usize::try_from(first.0 / 10 % 4).unwrap_or(0)];
    for (tool, wanted) in [(LOOK, looks), (BOOK, books), (ADD, adds)] {
        if wanted && (called(tool) == 0 || (again && called(tool) < 3)) {
            ask(tool, what(first));
        }
    }
    calls
}
