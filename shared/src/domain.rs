//! What the system is about, as plain data: no async, no clock, no chance, no IO.

pub mod agenda;
pub mod agent;
pub mod batch;
pub mod breaker;
pub mod charge;
pub mod conversation;
pub mod event;
pub mod identity;
pub mod ids;
pub mod keyed_hash;
pub mod memory;
pub mod prices;
pub mod prompt;
pub mod provider;
pub mod reply;
pub mod routing;
pub mod step;
pub mod time;
pub mod tool;
pub mod tool_spec;

pub use agenda::{Day, Entry, EntryKind, EntryStatus, Priority};
pub use agent::Agent;
pub use batch::Batch;
pub use breaker::{Breaker, Chosen};
pub use charge::{Booking, Charge, ChargeKind, Counters, Line, Session, SpendLimit, Spent};
pub use conversation::{Lease, OptOut, Sealed, State};
pub use event::{
    ClosedReason, Content, DeliveryStatus, Event, Inbound, ProviderEvent, StatusUpdate,
};
pub use identity::{Ended, Known};
pub use ids::{
    Address, AgentId, Alias, Bsuid, BusinessNumber, CallId, ContactId, ConversationId, EntryId,
    FactId, Kind, MessageId, Phone, ReplyId, RunId, ToolName,
};
pub use keyed_hash::Hasher;
pub use memory::{Exchange, Fact, Memory, PastMessage, Summary};
pub use prices::PriceList;
pub use prompt::{Carried, Finish, ModelReply, Output, Prompt, Round, Turn, Usage};
pub use provider::Provider;
pub use reply::{Reply, ReplyKind, ReplyStatus};
pub use step::{HoldReason, Purpose, Step};
pub use time::Timestamp;
pub use tool::{AnsweredCall, Arguments, AskedCall, Call, Effect, Tool, ToolCall, ToolResult};
pub use tool_spec::{Target, ToolSpec};
