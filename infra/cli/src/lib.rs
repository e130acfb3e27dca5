//! The operator's program, as a library: the local AWS, the phone and the commands.

pub mod aws;
pub mod dynamo;
pub mod phone;
pub mod poller;
pub mod sqs;
