//! Where a local run's messages come from and its answers go, and the mark that keeps the two apart on disk.
//!
//! A folder belongs to one channel. What a simulated person wrote must not be answered to a real phone, and a real
//! person's message must not be answered to the simulated one.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use recado::adapters::meta::send::{AccessToken, FixedToken, GraphSettings};
use recado::config::settings::MetaSettings;
use recado_ingest::{MetaSecrets, MetaSecretsSource};

use super::error::StartError;
use super::server::Secrets;
use crate::private;

/// Holds the channel's name inside the data folder.
pub const MARK_FILE: &str = "recado.channel";
/// The phone's log: a folder that has it and no mark is the phone's.
pub const PHONE_FILE: &str = "phone.jsonl";

/// Where messages come from and answers go.
#[derive(Clone)]
pub enum Channel {
    /// The phone, in this process; it and the handlers trust each other by these.
    Phone(Secrets),
    /// `WhatsApp` itself.
    Meta(Meta),
}

/// The way to Meta.
#[derive(Clone)]
pub struct Meta {
    /// What the webhooks are checked with.
    pub secrets: Arc<dyn MetaSecretsSource>,
    /// Lets us send.
    pub token: Arc<dyn AccessToken>,
    /// Where and how to send.
    pub graph: GraphSettings,
}

/// A channel's name, as settings and the data folder have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelName {
    /// The simulated phone.
    Phone,
    /// `WhatsApp` itself.
    Meta,
}

impl Channel {
    /// Its name.
    pub const fn name(&self) -> ChannelName {
        match self {
            Self::Phone(_) => ChannelName::Phone,
            Self::Meta(_) => ChannelName::Meta,
        }
    }
}

impl Meta {
    /// With secrets that stay as long as the process.
    pub fn of(settings: &MetaSettings) -> Self {
        let secrets = MetaSecrets {
            app_secrets: vec![settings.app_secret.reveal().to_owned()],
            verify_token: settings.verify_token.reveal().to_owned(),
        };
        Self {
            secrets: Arc::new(secrets),
            token: Arc::new(FixedToken(settings.access_token.reveal().to_owned())),
            graph: GraphSettings::new(&settings.graph_url, &settings.graph_version),
        }
    }
}

impl ChannelName {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Phone => "phone",
            Self::Meta => "meta",
        }
    }

    /// The channel that a data folder belongs to, if it was ever used.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        match std::fs::read_to_string(folder.join(MARK_FILE)) {
            Ok(mark) if mark.trim() == Self::Meta.as_str() => Some(Self::Meta),
            Ok(_) => Some(Self::Phone),
            Err(_) => folder.join(PHONE_FILE).exists().then_some(Self::Phone),
        }
    }

    /// Refuses a data folder of another channel.
    pub fn check(self, folder: &Path) -> Result<(), StartError> {
        match Self::of_folder(folder) {
            Some(owner) if owner != self => Err(StartError::OtherChannel {
                folder: folder.to_owned(),
                owner,
                asked: self,
            }),
            _ => Ok(()),
        }
    }

    /// Takes a data folder for this channel, where no other one has it.
    pub fn take(self, folder: &Path) -> Result<(), StartError> {
        self.check(folder)?;
        private::write(&folder.join(MARK_FILE), self.as_str())
            .map_err(|error| StartError::of_folder(folder, error))
    }
}

impl fmt::Display for ChannelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
