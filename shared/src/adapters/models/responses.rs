//! The Responses API of `OpenAI`, and of whatever speaks it behind another base address.

mod answer;
mod calls;
mod request;

pub(super) use answer::{read, usage};
pub(super) use request::encode;
