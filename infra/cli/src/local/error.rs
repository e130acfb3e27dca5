//! Why a local run cannot start: each with one line that says what to do.

use std::io;
use std::path::PathBuf;

use recado::adapters::hash_key::HashKeyError;
use recado::adapters::meta::send::GraphSettingsError;
use recado::error::StoreError;
use recado::flow::FlowError;

use crate::aws::AwsError;
use crate::dynamo::DynamoError;
use crate::phone::PhoneError;

/// Why a local run cannot start (or did not end well).
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken.
    #[error(
        "port {port} cannot be listened on: stop what uses it, or choose another one with --port"
    )]
    Port {
        /// Which.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The listener has no address.
    #[error("the listener's address cannot be read")]
    Address(#[source] io::Error),
    /// The data folder cannot be made.
    #[error("the data folder {} cannot be made: name another one with RECADO_DATA_DIR", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has the folder.
    #[error("another recado runs on {}: stop it, or name another folder with RECADO_DATA_DIR", .0.display())]
    SecondProcess(PathBuf),
    /// The local AWS.
    #[error(transparent)]
    Aws(AwsError),
    /// The key that stands for people.
    #[error(transparent)]
    HashKey(#[from] HashKeyError),
    /// The phone.
    #[error(transparent)]
    Phone(#[from] PhoneError),
    /// The sender.
    #[error(transparent)]
    Sender(#[from] GraphSettingsError),
    /// The table.
    #[error(transparent)]
    Table(#[from] StoreError),
    /// A queue.
    #[error("the local queue {queue} cannot be made: {reason}")]
    Queue {
        /// Which.
        queue: &'static str,
        /// What SQS said.
        reason: String,
    },
    /// What was left from the last run cannot be taken up.
    #[error("what the last run left cannot be taken up")]
    Recover(#[from] FlowError),
}

impl From<AwsError> for StartError {
    fn from(error: AwsError) -> Self {
        match error {
            AwsError::Dynamo(DynamoError::Locked(file)) => {
                Self::SecondProcess(file.parent().map(PathBuf::from).unwrap_or(file))
            }
            other => Self::Aws(other),
        }
    }
}
