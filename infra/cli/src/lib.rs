//! The operator's program, as a library: the local AWS, the phone and the commands.

pub mod aws;
pub mod bench;
pub mod client;
pub mod commands;
pub mod console;
pub mod dynamo;
pub mod forget;
pub mod ledger;
pub mod local;
pub mod phone;
pub mod poller;
pub mod private;
pub mod say;
pub mod sqs;
pub mod watch;
