//! Finds or makes the contact of a message: read, decide, write, and read again where someone else was faster.

use super::Failure;
use crate::domain::{AgentId, ContactId, ConversationId, Inbound, Known, State};
use crate::error::StoreError;
use crate::flow::World;
use crate::policy::identity::{self, Addition, Decision};
use crate::ports::{AliasAddition, Creation, Written};

/// Lost writes in a row after which an event is given back to the provider. Each of them means that another delivery
/// or an erasure got ahead, so a handful is already a crowd.
const ROUNDS_MAX: usize = 8;

/// Finds or makes the contact; `None` where the message belongs to an erased life.
pub(super) async fn find_or_create(
    world: &World,
    agent: &AgentId,
    inbound: &Inbound,
) -> Result<Option<ContactId>, Failure> {
    let mut taken: Vec<ContactId> = Vec::new();
    let mut refused: Option<(Vec<Known>, ContactId)> = None;
    for _ in 0..ROUNDS_MAX {
        let known = world.store.resolve(agent, &inbound.aliases).await?;
        // A creation was refused and nothing about the aliases has changed: what stands in the way is a state of
        // that very id, which the aliases no longer name (a recycled number).
        if let Some((before, contact)) = refused.take()
            && before == known
        {
            taken.push(contact);
        }
        let decision = identity::decide(agent, &known, inbound.sent_at, &taken, &world.hasher);
        match decision.ok_or(Failure::NoAlias)? {
            Decision::Late => return Ok(None),
            Decision::Conflict { take, other } => {
                log_conflict(world, agent, &take, &other);
                note_meeting(world, agent, &take, &other).await?;
                return Ok(Some(take));
            }
            Decision::Known { contact, add } => {
                if add_all(world, agent, &contact, add, inbound).await? == Written::Done
                    || is_full(world, agent, &contact).await?
                {
                    return Ok(Some(contact));
                }
            }
            Decision::Create {
                contact,
                aliases,
                stale,
            } => {
                let creation = Creation {
                    conversation: ConversationId {
                        agent: agent.clone(),
                        contact: contact.clone(),
                    },
                    state: State::new(aliases, world.clock.now()),
                    event_sent_at: inbound.sent_at,
                    stale,
                };
                if world.store.create_contact(&creation).await? == Written::Done {
                    return Ok(Some(contact));
                }
                refused = Some((known, contact));
            }
        }
    }
    Err(Failure::Contended)
}

async fn add_all(
    world: &World,
    agent: &AgentId,
    contact: &ContactId,
    add: Vec<Addition>,
    inbound: &Inbound,
) -> Result<Written, StoreError> {
    for Addition { alias, stale } in add {
        let addition = AliasAddition {
            conversation: ConversationId {
                agent: agent.clone(),
                contact: contact.clone(),
            },
            alias,
            stale,
            event_sent_at: inbound.sent_at,
        };
        if world.store.add_alias(&addition).await? == Written::Lost {
            return Ok(Written::Lost);
        }
    }
    Ok(Written::Done)
}

/// Whether the contact has as many aliases as one can have: then its message is taken, and the new alias is not kept.
async fn is_full(world: &World, agent: &AgentId, contact: &ContactId) -> Result<bool, StoreError> {
    let conversation = ConversationId {
        agent: agent.clone(),
        contact: contact.clone(),
    };
    let peek = world.store.peek(&conversation, 1).await?;
    let is_full = peek
        .state
        .is_some_and(|state| state.aliases.len() >= State::ALIASES_MAX);
    if is_full {
        tracing::warn!(
            conversation.hash = world.hasher.conversation(&conversation),
            most = State::ALIASES_MAX,
            "a person has too many ids; the newest is not kept"
        );
    }
    Ok(is_full)
}

/// Nothing is merged, but who forgets one of the two has to hear of the other.
async fn note_meeting(
    world: &World,
    agent: &AgentId,
    take: &ContactId,
    other: &ContactId,
) -> Result<(), StoreError> {
    for (one, met) in [(take, other), (other, take)] {
        let conversation = ConversationId {
            agent: agent.clone(),
            contact: one.clone(),
        };
        world.store.note_meeting(&conversation, met).await?;
    }
    Ok(())
}

fn log_conflict(world: &World, agent: &AgentId, take: &ContactId, other: &ContactId) {
    let hash = |contact: &ContactId| {
        world.hasher.conversation(&ConversationId {
            agent: agent.clone(),
            contact: contact.clone(),
        })
    };
    tracing::warn!(
        conversation.hash = hash(take),
        other.hash = hash(other),
        "the ids of one message name two contacts; the phone's takes it, nothing is merged"
    );
}
