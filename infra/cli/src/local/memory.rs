//! What the page and `recado say` show as remembered: read from the table like any run reads it.

use async_trait::async_trait;
use recado::domain::{ConversationId, Memory, Phone, Reply, State};
use recado::flow::World;
use recado::policy::identity;
use recado::ports::Peek;
use serde_json::{Value, json};

use super::channel::ChannelName;
use super::people;
use crate::phone::{MemoryReader, MemoryUnavailable};

/// Pending messages shown.
const PENDING_MAX: usize = 81;

/// Reads memory from the table.
pub struct TableMemory {
    world: World,
}

impl TableMemory {
    /// Over this installation.
    pub const fn new(world: World) -> Self {
        Self { world }
    }

    /// The conversation of a phone with the agent that answers the phone's business number.
    async fn conversation(&self, phone: &str) -> Result<Option<ConversationId>, MemoryUnavailable> {
        let unavailable = |error: &dyn std::fmt::Display| MemoryUnavailable(error.to_string());
        let phone = Phone::parse(phone).map_err(|error| unavailable(&error))?;
        let number = super::server::number();
        let Some(agent) = self.world.agents.by_number(&number).await else {
            return Ok(None);
        };
        let aliases = people::aliases(&phone, ChannelName::Phone);
        let known = self.world.store.resolve(&agent.id, &aliases).await;
        let known = known.map_err(|error| unavailable(&error))?;
        let contact = identity::living(&agent.id, &known, &self.world.hasher)
            .into_iter()
            .next();
        Ok(contact.map(|contact| ConversationId {
            agent: agent.id.clone(),
            contact,
        }))
    }
}

#[async_trait]
impl MemoryReader for TableMemory {
    async fn read(&self, phone: &str) -> Result<Value, MemoryUnavailable> {
        let Some(conversation) = self.conversation(phone).await? else {
            return Ok(show(&Memory::default(), &Peek::default()));
        };
        let store = &self.world.store;
        let peek = store.peek(&conversation, PENDING_MAX).await;
        let peek = peek.map_err(|error| MemoryUnavailable(error.to_string()))?;
        let memory = store.load(&conversation).await;
        let memory = memory.map_err(|error| MemoryUnavailable(error.to_string()))?;
        Ok(show(&memory, &peek))
    }
}

fn show(memory: &Memory, peek: &Peek) -> Value {
    let mut recent = Vec::new();
    for exchange in &memory.exchanges {
        for message in &exchange.messages {
            recent.push(json!({ "who": "person", "text": message.text, "at": message.sent_at }));
        }
        if let Some(answer) = &exchange.answer {
            let at = exchange.reply.made_at_ms();
            recent.push(json!({ "who": "agent", "text": answer, "at": at }));
        }
    }
    let facts: Vec<Value> = memory
        .facts
        .iter()
        .map(|f| json!({ "text": f.text, "said_at": f.said_at }))
        .collect();
    json!({
        "recent": recent,
        "facts": facts,
        "summary": memory.summary.as_ref().map(|summary| &summary.text),
        "state": peek.state.as_ref().map_or_else(|| json!({}), |state| show_state(state, peek)),
    })
}

fn show_state(state: &State, peek: &Peek) -> Value {
    json!({
        "version": state.version,
        "pending": peek.pending.len(),
        "outbox": peek.outbox.iter().map(|r: &Reply| r.status.as_str()).collect::<Vec<_>>(),
        "attempts": state.attempts,
        "hold_until": state.hold_until,
        "opted_out": state.opt_out.is_some(),
        "paused_until": state.paused_until,
        "last_inbound_at": state.last_inbound_at,
        "token_factors": state.token_factors,
    })
}
