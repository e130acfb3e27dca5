//! Keys of the ledger's rows.

use jiff::civil::Date;

use super::NOT_A_KEY;
use crate::domain::ids::IdError;
use crate::domain::{AgentId, ChargeKind, ConversationId, Hasher};

/// Where an agent's day is counted.
pub(in super::super) fn ledger_partition(agent: &AgentId, day: Date) -> String {
    format!("{agent}#ledger#{day}")
}

/// Where a conversation's costs are counted, by a keyed hash only.
pub(in super::super) fn spend_partition(hasher: &Hasher, of: &ConversationId) -> String {
    let hash = hasher.hash("spend", &of.key());
    format!("{}#spend#{hash}", of.agent)
}

/// A row of an agent's day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct DayKey {
    /// 0 to 7.
    pub shard: u32,
    pub model: String,
    pub kind: ChargeKind,
}

impl DayKey {
    pub(in super::super) fn encode(&self) -> String {
        format!("{}#{}#{}", self.shard, self.model, self.kind.as_str())
    }

    pub(in super::super) fn decode(key: &str) -> Result<Self, IdError> {
        let (shard, model, kind) = parts(key)?;
        let shard = shard.parse().map_err(|_| NOT_A_KEY)?;
        Ok(Self { shard, model, kind })
    }
}

/// A row of a conversation's costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct SpendKey {
    pub day: Date,
    pub model: String,
    pub kind: ChargeKind,
}

impl SpendKey {
    pub(in super::super) fn encode(&self) -> String {
        format!("{}#{}#{}", self.day, self.model, self.kind.as_str())
    }

    pub(in super::super) fn decode(key: &str) -> Result<Self, IdError> {
        let (day, model, kind) = parts(key)?;
        let day = day.parse().map_err(|_| NOT_A_KEY)?;
        Ok(Self { day, model, kind })
    }
}

/// A model's name may hold anything; what stands before and behind it holds no `#`.
fn parts(key: &str) -> Result<(&str, String, ChargeKind), IdError> {
    let (first, rest) = key.split_once('#').ok_or(NOT_A_KEY)?;
    let (model, kind) = rest.rsplit_once('#').ok_or(NOT_A_KEY)?;
    let kind = ChargeKind::parse(kind).ok_or(NOT_A_KEY)?;
    Ok((first, model.to_owned(), kind))
}
