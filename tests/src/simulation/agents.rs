//! The agent of a schedule, whose file may change while runs are under way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::domain::{Agent, AgentId, BusinessNumber};
use recado::ports::Agents;

/// See the module.
pub struct SimAgents {
    first: Agent,
    now: Mutex<Arc<Agent>>,
}

/// Window, ceiling and patience of each version of the file, in seconds; the first is the one that it begins with.
const VERSIONS: [Option<(u64, u64, u64)>; 4] = [
    None,
    Some((5, 8, 300)),
    Some((9, 40, 60)),
    Some((6, 20, 120)),
];

/// The longest ceiling of them.
pub const CEILING_MAX_MS: u64 = 40_000;

impl SimAgents {
    /// With the file that it begins with.
    pub fn new(first: Agent) -> Self {
        let now = Mutex::new(Arc::new(first.clone()));
        Self { first, now }
    }

    /// Puts a version in place, and yields it.
    pub fn change(&self, version: usize) -> Arc<Agent> {
        let mut agent = self.first.clone();
        if let Some((window, ceiling, patience)) = VERSIONS[version] {
            agent.timing.window = Duration::from_secs(window);
            agent.timing.ceiling = Duration::from_secs(ceiling);
            agent.timing.give_up_after = Duration::from_secs(patience);
        }
        let agent = Arc::new(agent);
        *self.now.lock().unwrap() = Arc::clone(&agent);
        agent
    }
}

#[async_trait]
impl Agents for SimAgents {
    async fn by_number(&self, _number: &BusinessNumber) -> Option<Arc<Agent>> {
        Some(Arc::clone(&self.now.lock().unwrap()))
    }

    async fn by_id(&self, id: &AgentId) -> Option<Arc<Agent>> {
        let now = Arc::clone(&self.now.lock().unwrap());
        (now.id == *id).then_some(now)
    }
}
