//! The agents of this installation, found by their number or their id.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use async_trait::async_trait;

use super::agent_file::{self, Mistake, Overrides};
use crate::domain::{Agent, AgentId, BusinessNumber, Target, ToolName};
use crate::ports::Agents;

/// Agents of which no two can be meant at once.
#[derive(Debug, Clone)]
pub struct Roster {
    by_id: BTreeMap<AgentId, Arc<Agent>>,
    by_number: BTreeMap<BusinessNumber, Arc<Agent>>,
    /// The one agent that answers every other number.
    catch_all: Option<Arc<Agent>>,
}

impl Roster {
    /// A roster of these agents. Each error is one line: an id or a number given twice, two agents
    /// without numbers, no agent at all.
    pub fn new(agents: Vec<Agent>) -> Result<Self, Vec<String>> {
        let mut roster = Self {
            by_id: BTreeMap::new(),
            by_number: BTreeMap::new(),
            catch_all: None,
        };
        let mut problems = Vec::new();
        if agents.is_empty() {
            problems.push("no agent: an installation needs at least one".to_owned());
        }
        for agent in agents {
            let agent = Arc::new(agent);
            let id = &agent.id;
            if roster.by_id.insert(id.clone(), agent.clone()).is_some() {
                problems.push(format!(
                    "agent {id}: two agents have this id; give each its own"
                ));
                continue;
            }
            for number in &agent.numbers {
                if let Some(other) = roster.by_number.insert(number.clone(), agent.clone()) {
                    problems.push(format!(
                        "agent {id}: number {number} already belongs to agent {}; list it in one of them",
                        other.id
                    ));
                }
            }
            if !agent.numbers.is_empty() {
                continue;
            }
            if let Some(other) = roster.catch_all.replace(agent.clone()) {
                problems.push(format!(
                    "agent {id}: like agent {} it lists no numbers, and only one agent can answer all the others; \
                     set numbers in one of them",
                    other.id
                ));
            }
        }
        if problems.is_empty() {
            Ok(roster)
        } else {
            Err(problems)
        }
    }

    /// Reads agents from texts, each with the name of its file. Each error is one line that starts with that name.
    pub fn of_texts(files: &[(&str, &str)], overrides: &Overrides) -> Result<Self, Vec<String>> {
        let mut agents = Vec::new();
        let mut problems = Vec::new();
        for (name, text) in files {
            match agent_file::parse_with(text, overrides) {
                Ok(agent) => agents.push(agent),
                Err(mistakes) => problems.extend(lines(name, &mistakes)),
            }
        }
        without_repeats(&mut problems);
        if problems.is_empty() {
            Self::new(agents)
        } else {
            Err(problems)
        }
    }

    /// Reads the agents of these files; a folder stands for every `.toml` file in it, and no path at
    /// all for the embedded agent. Each error is one line that starts with its file.
    pub fn load(paths: &[PathBuf], overrides: &Overrides) -> Result<Self, Vec<String>> {
        if paths.is_empty() {
            let agent = agent_file::default_agent(overrides)
                .map_err(|mistakes| lines("the embedded agent", &mistakes))?;
            return Self::new(vec![agent]);
        }
        let mut agents = Vec::new();
        let mut problems = Vec::new();
        for path in paths {
            match files_of(path) {
                Ok(files) => {
                    for file in files {
                        match read(&file, overrides) {
                            Ok(agent) => agents.push(agent),
                            Err(found) => problems.extend(found),
                        }
                    }
                }
                Err(problem) => problems.push(problem),
            }
        }
        without_repeats(&mut problems);
        if problems.is_empty() {
            Self::new(agents)
        } else {
            Err(problems)
        }
    }

    /// Every agent, in the order of their ids.
    pub fn agents(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.by_id.values()
    }

    /// What may not work as its files seem to mean it, one line each.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let of = |agent: &Arc<Agent>| {
            let lines = agent_file::warnings(agent).into_iter();
            lines
                .map(|line| format!("agent {}: {line}", agent.id))
                .collect::<Vec<_>>()
        };
        self.agents().flat_map(of)
    }

    /// The tools that send a secret, each with its secret's name.
    pub fn tool_secrets(&self) -> Vec<(ToolName, String)> {
        let specs = self.agents().flat_map(|agent| &agent.tools);
        let named = specs.flat_map(|spec| {
            let name = spec.tool.name.clone();
            spec.secrets()
                .map(move |secret| (name.clone(), secret.to_owned()))
        });
        named.collect()
    }

    /// Whether some agent has a tool that is a Lambda function.
    pub fn has_lambda_tools(&self) -> bool {
        let mut specs = self.agents().flat_map(|agent| &agent.tools);
        specs.any(|spec| matches!(spec.target, Target::Lambda(_)))
    }

    /// The smallest window in use: the longest delay that the queue of ticks may have.
    pub fn window_min(&self) -> Duration {
        self.agents()
            .map(|agent| agent.timing.window)
            .min()
            .unwrap_or_default()
    }

    /// The longest ceiling in use: what has waited longer than that is for the sweeper.
    pub fn ceiling_max(&self) -> Duration {
        self.agents()
            .map(|agent| agent.timing.ceiling)
            .max()
            .unwrap_or_default()
    }

    /// Refuses agents whose window is smaller than the delay of the queue of ticks: they would answer
    /// later than they promise. Each error is one line.
    pub fn check_delay(&self, delay: Duration) -> Result<(), Vec<String>> {
        let problems: Vec<String> = self
            .agents()
            .filter(|agent| agent.timing.window < delay)
            .map(|agent| {
                format!(
                    "agent {}: its window ({} s) is smaller than the delay of the queue of ticks ({} s); \
                     raise timing.window_s, or deploy with a smaller delay",
                    agent.id,
                    agent.timing.window.as_secs_f64(),
                    delay.as_secs_f64()
                )
            })
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}

#[async_trait]
impl Agents for Roster {
    async fn by_number(&self, number: &BusinessNumber) -> Option<Arc<Agent>> {
        self.by_number
            .get(number)
            .or(self.catch_all.as_ref())
            .cloned()
    }

    async fn by_id(&self, id: &AgentId) -> Option<Arc<Agent>> {
        self.by_id.get(id).cloned()
    }
}

/// A wrong variable is wrong for every agent, and told once.
fn without_repeats(problems: &mut Vec<String>) {
    let mut told = BTreeSet::new();
    problems.retain(|problem| told.insert(problem.clone()));
}

/// The agent files that `path` stands for, in the order of their names.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot_read = |error: io::Error| {
        format!(
            "RECADO_AGENT_FILE: cannot read the folder {}: {error}",
            path.display()
        )
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot_read)? {
        let file = entry.map_err(cannot_read)?.path();
        if file
            .extension()
            .is_some_and(|extension| extension == "toml")
            && file.is_file()
        {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!(
            "RECADO_AGENT_FILE: the folder {} holds no .toml file; put one there, for instance recepcao.toml",
            path.display()
        ));
    }
    Ok(files)
}

/// The text of one agent file. An error is one line that says what to give.
pub fn read_text(file: &Path) -> Result<String, String> {
    let label = file.display();
    let example = "give the path of an agent file, for instance agents/recepcao.toml";
    if file.is_dir() {
        return Err(format!("{label} is a folder; {example}"));
    }
    let bytes = fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{label} is not there; {example}"),
        _ => format!("{label} cannot be read ({error}); {example}"),
    })?;
    String::from_utf8(bytes)
        .map_err(|_| format!("{label} is not UTF-8 text; save it again as UTF-8"))
}

fn read(file: &Path, overrides: &Overrides) -> Result<Agent, Vec<String>> {
    let text = read_text(file).map_err(|problem| vec![format!("RECADO_AGENT_FILE: {problem}")])?;
    let label = file.display().to_string();
    agent_file::parse_with(&text, overrides).map_err(|mistakes| lines(&label, &mistakes))
}

fn lines(label: &str, mistakes: &[Mistake]) -> Vec<String> {
    mistakes
        .iter()
        .map(|mistake| mistake.in_file(label))
        .collect()
}

#[cfg(test)]
mod tests;
