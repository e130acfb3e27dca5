//! Anthropic's Messages API.

mod answer;
mod request;

pub(super) use answer::{read, usage};
pub(super) use request::encode;

/// The version of the API that we were written against.
pub(super) const VERSION: &str = "2023-06-01";
