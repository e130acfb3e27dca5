//! Why a local run cannot start: each with one line that says what to do.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use recado::adapters::hash_key::HashKeyError;
use recado::adapters::meta::send::GraphSettingsError;
use recado::error::StoreError;
use recado::flow::FlowError;

use super::channel::ChannelName;
use crate::aws::AwsError;
use crate::dynamo::DynamoError;
use crate::phone::PhoneError;

/// Why a local run cannot start (or did not end well).
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken, or the address is not of this machine.
    #[error(
        "{address} cannot be listened on: stop what uses it, or choose another port with --port (RECADO_PORT), or \
         another address of this machine with --listen (RECADO_LISTEN)"
    )]
    Port {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The phone is not for the world.
    #[error(
        "{0} can be reached from other machines, and the phone's page is for this machine only: give --listen or \
         RECADO_LISTEN=127.0.0.1, or serve WhatsApp itself with --channel meta (RECADO_CHANNEL=meta)"
    )]
    BeyondThisMachine(SocketAddr),
    /// What is in the folder came by the other channel.
    #[error(
        "the data folder {} belongs to channel {owner}, and what channel {asked} brings must not mix with it: name \
         another folder with RECADO_DATA_DIR",
        folder.display()
    )]
    OtherChannel {
        /// Which.
        folder: PathBuf,
        /// Whose it is.
        owner: ChannelName,
        /// Who wants it.
        asked: ChannelName,
    },
    /// No HTTP client for tools.
    #[error("the HTTP client for tools cannot be made")]
    Tools(#[source] recado::error::Source),
    /// Two tools of one name.
    #[error("{0}")]
    ToolNames(String),
    /// The listener has no address.
    #[error("the listener's address cannot be read")]
    Address(#[source] io::Error),
    /// The data folder, or what it should lie in, is something else.
    #[error(
        "{} is no folder, and the data folder must be one: name another, for instance RECADO_DATA_DIR=.recado",
        .0.display()
    )]
    NoFolder(PathBuf),
    /// The data folder cannot be made.
    #[error(
        "the data folder {} cannot be made: name one where this user may write, for instance RECADO_DATA_DIR=.recado",
        folder.display()
    )]
    FolderNotMade {
        /// Which.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The data folder is there and cannot be used.
    #[error(
        "the data folder {} cannot be written to: let this user write there, or name another one, for instance \
         RECADO_DATA_DIR=.recado",
        folder.display()
    )]
    FolderNotWritable {
        /// Which.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has the folder.
    #[error("another recado runs on {}: stop it, or name another folder with RECADO_DATA_DIR", .0.display())]
    SecondProcess(PathBuf),
    /// The key is gone from beside a table that was written under it.
    #[error(
        "{0}/hash.key is gone, and with it what keeps forgotten people forgotten: put it back, or move the whole folder away and start anew"
    )]
    KeyGone(PathBuf),
    /// The key is not the one that the table was written under.
    #[error(
        "{0}/hash.key is not the key that {0}/recado.db was written under, and with that one went what keeps forgotten \
         people forgotten: put it back, or move the whole folder away and start anew"
    )]
    KeyOther(PathBuf),
    /// The table's file has nothing in it though the folder was in use.
    #[error(
        "{0}/recado.db is empty, though this folder was in use: put a copy of it back, or delete it and start with an \
         empty memory"
    )]
    TableEmpty(PathBuf),
    /// The table's file is damaged, or not to be had.
    #[error(
        "{}/recado.db cannot be used ({reason}): put a copy of the whole folder back, or move the folder away and \
         start with an empty memory",
        folder.display()
    )]
    TableDamaged {
        /// Which folder.
        folder: PathBuf,
        /// What the engine said.
        reason: String,
    },
    /// The local AWS.
    #[error(transparent)]
    Aws(#[from] AwsError),
    /// The key that stands for people.
    #[error(transparent)]
    HashKey(#[from] HashKeyError),
    /// The phone.
    #[error(transparent)]
    Phone(#[from] PhoneError),
    /// The sender.
    #[error(transparent)]
    Sender(#[from] GraphSettingsError),
    /// The table's file opens and its engine refuses all the same.
    #[error(
        "the table cannot be used: free some space where the disk is full, else put a copy of the whole data folder \
         back, or move the folder away and start with an empty memory"
    )]
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
    #[error(
        "what the last run left cannot be taken up: free some space where the disk is full, else put a copy of the \
         whole data folder back, or move the folder away and start with an empty memory"
    )]
    Recover(#[from] FlowError),
}

impl StartError {
    /// What this failure to make or to write something in the data folder means.
    pub fn of_folder(folder: &Path, source: io::Error) -> Self {
        let folder = folder.to_owned();
        let is_other = |path: &&Path| path.exists() && !path.is_dir();
        if let Some(other) = folder.ancestors().find(is_other) {
            return Self::NoFolder(other.to_owned());
        }
        if folder.is_dir() {
            Self::FolderNotWritable { folder, source }
        } else {
            Self::FolderNotMade { folder, source }
        }
    }

    /// Why the local AWS cannot start on this data folder.
    pub fn of_aws(folder: &Path, error: AwsError) -> Self {
        match error {
            AwsError::Dynamo(DynamoError::Locked(_)) => Self::SecondProcess(folder.to_owned()),
            AwsError::Dynamo(DynamoError::File { source, .. }) => Self::of_folder(folder, source),
            AwsError::Dynamo(DynamoError::Engine { reason, .. }) => Self::TableDamaged {
                folder: folder.to_owned(),
                reason,
            },
            other => Self::Aws(other),
        }
    }
}
