//! Finding a person by phone or BSUID, for every agent of the installation, and forgetting them.

use recado::config::roster::Roster;
use recado::domain::{AgentId, Alias, ConversationId, Phone, Timestamp};
use recado::flow::World;
use recado::flow::forget::{self, Forgotten};
use recado::flow::{self, FlowError};
use recado::policy::identity;
use recado::ports::Agents as _;

use super::channel::ChannelName;
use crate::phone::people;

/// Whom an operator means.
pub struct Whom {
    aliases: Vec<Alias>,
    agent: Option<String>,
    /// What was given: for sentences.
    kind: &'static str,
}

/// What is gone.
#[derive(Debug, PartialEq, Eq)]
pub struct Gone {
    /// Items besides the states.
    pub items: u64,
    /// The agents that knew the person.
    pub agents: Vec<AgentId>,
    /// Ids of other memories that came together with this one in a message and are still there.
    pub others: Vec<Alias>,
}

/// Why nobody was forgotten: a sentence without any id of a person.
#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    /// Not an id of a person.
    #[error(
        "{0}, for instance 5511900000001 (or the BSUID of a person without a phone, for instance BR.1000000000000001)"
    )]
    NoId(String),
    /// No agent has this id.
    #[error("no agent {agent:?} is here; the agents are: {known}")]
    NoAgent {
        /// What was asked for.
        agent: String,
        /// All of them.
        known: String,
    },
    /// No agent knows them.
    #[error("nobody of this {0} is known")]
    Nobody(&'static str),
    /// The table.
    #[error(transparent)]
    Table(#[from] FlowError),
}

impl Whom {
    /// The person of this phone or BSUID, for one agent or for all.
    pub fn parse(id: &str, agent: Option<&str>, channel: ChannelName) -> Result<Self, ForgetError> {
        let agent = agent.map(str::to_owned);
        match Alias::parse(id) {
            Ok(Alias::Phone(phone)) => Ok(Self {
                aliases: aliases(&phone, channel),
                agent,
                kind: "phone",
            }),
            Ok(bsuid) => Ok(Self {
                aliases: vec![bsuid],
                agent,
                kind: "BSUID",
            }),
            Err(error) => {
                let error = Phone::parse(id).err().unwrap_or(error);
                Err(ForgetError::NoId(error.to_string()))
            }
        }
    }
}

/// What a phone's owner may be known by.
pub fn aliases(phone: &Phone, channel: ChannelName) -> Vec<Alias> {
    let mut aliases = vec![Alias::Phone(identity::canonical(phone))];
    // Only the simulated provider derives one from the other.
    if channel == ChannelName::Phone {
        aliases.extend(Alias::parse(&people::bsuid(phone)));
    }
    aliases
}

/// Forgets the person, agent by agent. After a failure it can be asked for again.
pub async fn forget(world: &World, agents: &Roster, whom: &Whom) -> Result<Gone, ForgetError> {
    let mut gone = Gone {
        items: 0,
        agents: Vec::new(),
        others: Vec::new(),
    };
    let mut met = Vec::new();
    for agent in meant(agents, whom.agent.as_deref()).await? {
        for conversation in conversations(world, &agent, &whom.aliases).await? {
            let forgotten = forget::forget(world, &conversation).await?;
            if let Forgotten::Gone { items, met: others } = forgotten {
                gone.items += items;
                let of_agent = |contact| ConversationId {
                    agent: agent.clone(),
                    contact,
                };
                met.extend(others.into_iter().map(of_agent));
                if !gone.agents.contains(&agent) {
                    gone.agents.push(agent.clone());
                }
            }
        }
    }
    if gone.agents.is_empty() {
        return Err(ForgetError::Nobody(whom.kind));
    }
    for conversation in met {
        let lives = world
            .store
            .peek(&conversation, 1)
            .await
            .map_err(FlowError::from)?;
        let alias = lives
            .state
            .and_then(|state| state.aliases.into_iter().next());
        gone.others
            .extend(alias.filter(|alias| !gone.others.contains(alias)));
    }
    Ok(gone)
}

/// Takes the person over from every agent meant until this moment, or gives them back. Yields the agents that know them.
pub async fn pause(
    world: &World,
    agents: &Roster,
    whom: &Whom,
    until: Option<Timestamp>,
) -> Result<Vec<AgentId>, ForgetError> {
    let mut knowing = Vec::new();
    for agent in meant(agents, whom.agent.as_deref()).await? {
        for conversation in conversations(world, &agent, &whom.aliases).await? {
            if flow::pause::set(world, &conversation, until).await? && !knowing.contains(&agent) {
                knowing.push(agent.clone());
            }
        }
    }
    if knowing.is_empty() {
        return Err(ForgetError::Nobody(whom.kind));
    }
    Ok(knowing)
}

/// The agents that know the person; nothing is changed.
pub async fn known(
    world: &World,
    agents: &Roster,
    whom: &Whom,
) -> Result<Vec<AgentId>, ForgetError> {
    let mut knowing = Vec::new();
    for agent in meant(agents, whom.agent.as_deref()).await? {
        if !conversations(world, &agent, &whom.aliases)
            .await?
            .is_empty()
        {
            knowing.push(agent);
        }
    }
    if knowing.is_empty() {
        return Err(ForgetError::Nobody(whom.kind));
    }
    Ok(knowing)
}

/// The conversations of a person, with every agent meant.
pub async fn conversations_of(
    world: &World,
    agents: &Roster,
    whom: &Whom,
) -> Result<Vec<ConversationId>, ForgetError> {
    let mut all = Vec::new();
    for agent in meant(agents, whom.agent.as_deref()).await? {
        all.extend(conversations(world, &agent, &whom.aliases).await?);
    }
    if all.is_empty() {
        return Err(ForgetError::Nobody(whom.kind));
    }
    Ok(all)
}

/// The agent of this id, or all of them.
pub async fn meant(agents: &Roster, asked: Option<&str>) -> Result<Vec<AgentId>, ForgetError> {
    let Some(asked) = asked else {
        return Ok(agents.agents().map(|agent| agent.id.clone()).collect());
    };
    let found = match AgentId::parse(asked) {
        Ok(id) => agents.by_id(&id).await,
        Err(_) => None,
    };
    if let Some(agent) = found {
        return Ok(vec![agent.id.clone()]);
    }
    let known: Vec<&str> = agents.agents().map(|agent| agent.id.as_str()).collect();
    Err(ForgetError::NoAgent {
        agent: asked.to_owned(),
        known: known.join(", "),
    })
}

async fn conversations(
    world: &World,
    agent: &AgentId,
    aliases: &[Alias],
) -> Result<Vec<ConversationId>, FlowError> {
    let known = world.store.resolve(agent, aliases).await?;
    let contacts = identity::living(agent, &known, &world.hasher);
    Ok(contacts
        .into_iter()
        .map(|contact| ConversationId {
            agent: agent.clone(),
            contact,
        })
        .collect())
}
