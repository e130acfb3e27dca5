//! The phone: people's phones and their provider in one, for a run without WhatsApp.
//!
//! On one side it is the provider: it signs webhooks exactly as Meta does, takes sends on a Graph-like endpoint,
//! keeps its own log on disk and can be asked what it received. On the other side it is what a person sees: the
//! chat page, with the story of the conversation beside it. The back end talks to it over HTTP only, so nothing
//! in the flow knows that no real WhatsApp is there.
//!
//! `people` gives each phone its BSUID and name; `records` is the log, `book` what it adds up to; `envelope` the
//! webhooks; `provider` ties these together and `courier` delivers; `graph` is the send endpoint; `story` and
//! `step_json` tell each conversation's steps; `live` streams them; `guard` and `routes` are the HTTP side.

mod answer;
mod book;
mod courier;
mod envelope;
mod graph;
pub mod guard;
mod live;
mod memory;
mod page;
pub mod people;
mod provider;
mod records;
mod routes;
pub mod step_json;
mod story;

pub use book::{ChatMessage, Progress, Side};
pub use memory::{MemoryReader, MemoryUnavailable};
pub use provider::{Found, Phone, PhoneError, Settings};
pub use routes::{PhoneState, router};
pub use story::{Chapter, Story, Told};
