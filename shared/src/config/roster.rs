//! The agents of this installation, found by their number or their id.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::agent_file::{self, Mistake, Overrides};
use crate::domain::{Agent, AgentId, BusinessNumber};
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
        // A wrong variable is wrong for every agent, and told once.
        let mut told = std::collections::BTreeSet::new();
        problems.retain(|problem| told.insert(problem.clone()));
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

    /// The smallest window in use: the longest delay that the queue of ticks may have.
    pub fn window_min(&self) -> Duration {
        self.agents()
            .map(|agent| agent.timing.window)
            .min()
            .unwrap_or_default()
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

/// The agent files that `path` stands for, in the order of their names.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot_read = |error: std::io::Error| {
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

fn read(file: &Path, overrides: &Overrides) -> Result<Agent, Vec<String>> {
    let label = file.display().to_string();
    let bytes = fs::read(file).map_err(|error| {
        vec![format!(
            "RECADO_AGENT_FILE: cannot read {label}: {error}; give the path of an agent file, for instance agents/recepcao.toml"
        )]
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        vec![format!(
            "{label}: is not UTF-8 text; save it again as UTF-8"
        )]
    })?;
    agent_file::parse_with(&text, overrides).map_err(|mistakes| lines(&label, &mistakes))
}

fn lines(label: &str, mistakes: &[Mistake]) -> Vec<String> {
    mistakes
        .iter()
        .map(|mistake| mistake.in_file(label))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(id: &str, numbers: &[&str]) -> Agent {
        agent_file::parse(&format!(
            "id = {id:?}\npersona = \"x\"\nnumbers = {numbers:?}"
        ))
        .unwrap()
    }

    fn number(text: &str) -> BusinessNumber {
        BusinessNumber::parse(text).unwrap()
    }

    #[tokio::test]
    async fn a_number_finds_its_agent_and_any_other_the_one_without_numbers() {
        let roster = Roster::new(vec![agent("rest", &[]), agent("one", &["1", "2"])]).unwrap();
        for (label, asked, expected) in [("its own", "2", "one"), ("any other", "3", "rest")] {
            let found = roster.by_number(&number(asked)).await.unwrap();
            assert_eq!(found.id.as_str(), expected, "{label}");
        }
        assert!(
            roster
                .by_id(&AgentId::parse("one").unwrap())
                .await
                .is_some()
        );
        assert!(
            roster
                .by_id(&AgentId::parse("two").unwrap())
                .await
                .is_none()
        );
    }

    #[tokio::test]
    async fn a_number_of_nobody_finds_nobody() {
        let roster = Roster::new(vec![agent("one", &["1"])]).unwrap();
        assert!(roster.by_number(&number("3")).await.is_none());
    }

    #[test]
    fn agents_that_could_be_taken_for_each_other_are_refused() {
        for (label, agents, expected) in [
            (
                "one id",
                vec![agent("a", &["1"]), agent("a", &["2"])],
                "agent a: two agents have this id",
            ),
            (
                "one number",
                vec![agent("a", &["1"]), agent("b", &["1"])],
                "agent b: number 1 already belongs to agent a",
            ),
            (
                "two without numbers",
                vec![agent("a", &[]), agent("b", &[])],
                "agent b: like agent a it lists no numbers",
            ),
            ("none", vec![], "no agent"),
        ] {
            let problems = Roster::new(agents).unwrap_err();
            assert_eq!(problems.len(), 1, "{label}: {problems:?}");
            assert!(problems[0].starts_with(expected), "{label}: {problems:?}");
        }
    }

    #[test]
    fn without_a_path_the_embedded_agent_answers() {
        let roster = Roster::load(&[], &Overrides::none()).unwrap();
        assert_eq!(roster.agents().count(), 1);
        assert_eq!(roster.window_min(), Duration::from_secs(5));
    }

    #[test]
    fn a_folder_gives_each_of_its_agent_files_and_every_mistake_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let load = || Roster::load(&[folder.path().to_owned()], &Overrides::none());
        assert!(load().unwrap_err()[0].contains("holds no .toml file"));

        write("a.toml", "id = \"a\"\npersona = \"x\"\nnumbers = [\"1\"]");
        write(
            "b.toml",
            "id = \"b\"\npersona = \"x\"\n[timing]\nwindow_s = 2",
        );
        write("notes.txt", "not an agent");
        let roster = load().unwrap();
        assert_eq!(roster.agents().count(), 2);
        assert_eq!(roster.window_min(), Duration::from_secs(2));

        write("b.toml", "id = \"b\"\npersona = \"\"");
        fs::write(folder.path().join("c.toml"), [0xff, 0xfe]).unwrap();
        let problems = load().unwrap_err();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0].contains("b.toml:2:11: persona: is blank"),
            "{problems:?}"
        );
        assert!(problems[1].contains("c.toml: is not UTF-8"), "{problems:?}");
    }

    #[test]
    fn a_file_that_is_not_there_is_told_with_the_setting_that_names_it() {
        let problems =
            Roster::load(&["nowhere/agent.toml".into()], &Overrides::none()).unwrap_err();
        assert!(
            problems[0].starts_with("RECADO_AGENT_FILE: cannot read nowhere/agent.toml"),
            "{problems:?}"
        );
    }
}
