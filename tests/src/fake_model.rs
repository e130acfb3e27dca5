//! A model that answers about what it was asked and does what the test tells it to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{
    AskedCall, CallId, Carried, Finish, ModelReply, Output, Prompt, Timestamp, Usage,
};
use recado::error::{ModelError, ModelErrorClass};
use recado::ports::{Clock, Model};
use serde_json::json;

const COMPACTION_TAKES: Duration = Duration::from_millis(500);

/// What one call does.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// Answers `ouvi: a / b / c` after this long.
    Answer(Duration),
    /// Answers with these words after this long.
    Say(Duration, String),
    /// Answers with these words after this long, cut at the cap of output tokens.
    Break(Duration, String),
    /// Asks for these calls after this long, each a tool's name and its arguments as they are written.
    Call(Duration, Vec<(&'static str, &'static str)>),
    /// Fails after this long.
    Fail(Duration, ModelErrorClass),
    /// Asks to wait for so long.
    Throttle(Duration),
    /// Fails after this long, and reports its tokens as an answer would.
    FailMetered(Duration, ModelErrorClass),
    /// Panics.
    Panic,
}

/// Answers with what it heard; a list of behaviours comes first, then the usual one.
pub struct ScriptedModel {
    clock: Arc<dyn Clock>,
    next: Mutex<VecDeque<Behaviour>>,
    usual: Mutex<Behaviour>,
    each: Mutex<BTreeMap<String, Behaviour>>,
    asked: Mutex<Vec<(Timestamp, String)>>,
    prompts: Mutex<Vec<Prompt>>,
    models: Mutex<Vec<String>>,
    reported: Mutex<u64>,
    metered: Mutex<Usage>,
    compaction: Mutex<Behaviour>,
    compacts_not: Mutex<Option<(String, ModelErrorClass)>>,
    compactors: Mutex<Vec<String>>,
}

impl ScriptedModel {
    /// Answers after one second.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            next: Mutex::default(),
            usual: Mutex::new(Behaviour::Answer(Duration::from_secs(1))),
            each: Mutex::default(),
            asked: Mutex::default(),
            prompts: Mutex::default(),
            models: Mutex::default(),
            reported: Mutex::new(100),
            metered: Mutex::default(),
            compacts_not: Mutex::default(),
            compactors: Mutex::default(),
            compaction: Mutex::new(Behaviour::Say(
                COMPACTION_TAKES,
                r#"{"summary":"A pessoa conversou com a recepção.","facts":[]}"#.to_owned(),
            )),
        }
    }

    /// What the next call does; called again: the one after it.
    pub fn then(&self, behaviour: Behaviour) {
        self.next.lock().unwrap().push_back(behaviour);
    }

    /// What every call does that nothing else was said about.
    pub fn usually(&self, behaviour: Behaviour) {
        *self.usual.lock().unwrap() = behaviour;
    }

    /// What every call of this model does from now on that nothing else was said about; without one, the usual.
    pub fn does(&self, model: &str, behaviour: impl Into<Option<Behaviour>>) {
        let mut each = self.each.lock().unwrap();
        match behaviour.into() {
            Some(behaviour) => drop(each.insert(model.to_owned(), behaviour)),
            None => drop(each.remove(model)),
        }
    }

    /// Which model was asked for an answer, and when, each time so far.
    pub fn asked(&self) -> Vec<(Timestamp, String)> {
        self.asked.lock().unwrap().clone()
    }

    /// What a compaction is answered with.
    pub fn compacts_to(&self, json: &str) {
        self.does_when_compacting(Behaviour::Say(COMPACTION_TAKES, json.to_owned()));
    }

    /// What every compaction does from now on.
    pub fn does_when_compacting(&self, behaviour: Behaviour) {
        *self.compaction.lock().unwrap() = behaviour;
    }

    /// This model fails at every compaction from now on, another does not.
    pub fn cannot_compact(&self, model: &str, class: ModelErrorClass) {
        *self.compacts_not.lock().unwrap() = Some((model.to_owned(), class));
    }

    /// The models that were asked for a compaction, in order.
    pub fn compactors(&self) -> Vec<String> {
        self.compactors.lock().unwrap().clone()
    }

    fn when_compacting(&self, model: &str) -> Behaviour {
        self.compactors.lock().unwrap().push(model.to_owned());
        match &*self.compacts_not.lock().unwrap() {
            Some((this, class)) if this == model => Behaviour::Fail(COMPACTION_TAKES, *class),
            _ => self.compaction.lock().unwrap().clone(),
        }
    }

    /// What every call reports as its input tokens from now on; 0 is no report.
    pub fn reports(&self, tokens: u64) {
        *self.reported.lock().unwrap() = tokens;
    }

    /// All tokens that were reported so far, of failures too.
    pub fn metered(&self) -> Usage {
        *self.metered.lock().unwrap()
    }

    fn meter(&self) -> Usage {
        let usage = Usage {
            input_uncached: *self.reported.lock().unwrap(),
            output: 20,
            ..Usage::default()
        };
        let mut sum = self.metered.lock().unwrap();
        sum.input_uncached += usage.input_uncached;
        sum.output += usage.output;
        usage
    }

    /// The models that were asked for an answer, in order.
    pub fn models(&self) -> Vec<String> {
        self.models.lock().unwrap().clone()
    }

    /// Every request so far that asked for an answer.
    pub fn prompts(&self) -> Vec<Prompt> {
        let all = self.prompts.lock().unwrap();
        all.iter()
            .filter(|prompt| prompt.output == Output::Text)
            .cloned()
            .collect()
    }

    /// Every request so far that asked for a compaction.
    pub fn compactions(&self) -> Vec<Prompt> {
        let all = self.prompts.lock().unwrap();
        all.iter()
            .filter(|prompt| prompt.output != Output::Text)
            .cloned()
            .collect()
    }
}

#[async_trait]
impl Model for ScriptedModel {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        self.prompts.lock().unwrap().push(prompt.clone());
        let is_compaction = prompt.output != Output::Text;
        if !is_compaction {
            self.models.lock().unwrap().push(model.to_owned());
        }
        let behaviour = if is_compaction {
            self.when_compacting(model)
        } else {
            let next = self.next.lock().unwrap().pop_front();
            let now = self.clock.now();
            self.asked.lock().unwrap().push((now, model.to_owned()));
            let own = || self.each.lock().unwrap().get(model).cloned();
            let usual = || self.usual.lock().unwrap().clone();
            next.or_else(own).unwrap_or_else(usual)
        };
        let is_metered = matches!(behaviour, Behaviour::FailMetered(..));
        let finish = match behaviour {
            Behaviour::Break(..) => Finish::Cut,
            _ => Finish::Complete,
        };
        let retry_after = match behaviour {
            Behaviour::Throttle(asks) => Some(asks),
            _ => None,
        };
        let (takes, outcome) = match behaviour {
            Behaviour::Answer(takes) => {
                let heard = format!("ouvi: {}", prompt.last.join(" / "));
                (takes, Ok((heard, Vec::new())))
            }
            Behaviour::Say(takes, words) | Behaviour::Break(takes, words) => {
                (takes, Ok((words, Vec::new())))
            }
            Behaviour::Call(takes, calls) => (takes, Ok((String::new(), asked(&calls)))),
            Behaviour::Fail(takes, class) | Behaviour::FailMetered(takes, class) => {
                (takes, Err(class))
            }
            Behaviour::Throttle(_) => (Duration::from_millis(100), Err(ModelErrorClass::Throttled)),
            Behaviour::Panic => panic!("told to"),
        };
        self.clock.sleep(takes.min(timeout)).await;
        if takes > timeout {
            return Err(ModelError::new(ModelErrorClass::Transient, "timeout"));
        }
        let (text, calls) = outcome.map_err(|class| {
            let metered = is_metered.then(|| Box::new(self.meter().metered(model)));
            ModelError {
                retry_after,
                metered,
                ..ModelError::new(class, "told to")
            }
        })?;
        // As a provider's own items: of use to nobody else.
        let carried = calls.iter().map(|_| json!({ "of": model })).collect();
        let usage = self.meter();
        Ok(ModelReply {
            text,
            calls,
            carried: Carried::new(model, carried),
            finish,
            usage,
            model: model.to_owned(),
        })
    }
}

fn asked(calls: &[(&str, &str)]) -> Vec<AskedCall> {
    let call = |(n, (tool, arguments)): (usize, &(&str, &str))| AskedCall {
        id: CallId::parse(format!("call_{n}")).unwrap(),
        tool: (*tool).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    calls.iter().enumerate().map(call).collect()
}
