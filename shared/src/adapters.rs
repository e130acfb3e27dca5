//! The outside: AWS, providers and models, behind the ports.

pub mod absent;
pub mod cached_breakers;
pub mod cached_ledger;
pub mod chance;
pub mod clock;
pub mod demo;
pub mod dynamo;
pub mod hash_key;
pub mod log_journal;
pub mod logging;
pub mod meta;
pub mod model_advice;
pub mod models;
mod retry_after;
pub mod secrets;
pub mod spawn;
pub mod sqs;
pub mod toolbox;
