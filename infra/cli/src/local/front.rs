//! What faces people: the phone in this process, or the way to WhatsApp; and what each of them serves where.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::adapters::meta::send::GraphMessenger;
use recado::domain::Hasher;
use recado::ports::{Journal, Messenger};

use super::channel::{Channel, Meta, PHONE_FILE};
use super::error::StartError;
use super::journal::LocalJournal;
use super::memory::TableMemory;
use super::operator::{self, Operator};
use super::server::{self, Secrets};
use crate::phone::{Phone, PhoneState, Story};

/// The side of a run that faces people.
pub enum Front {
    /// The phone and what it and the handlers trust each other by.
    Phone(Phone, Secrets),
    /// `WhatsApp` itself.
    Meta(Meta),
}

/// Who may ask for what.
pub struct Routers {
    /// On the address that is listened on.
    pub public: Router,
    /// On a loopback port of its own, where the public address is not for operators.
    pub private: Option<Router>,
}

impl Front {
    /// Opens the phone, whose provider is at `url`; to Meta nothing is opened yet.
    pub fn open(channel: Channel, url: &str, folder: Option<&Path>) -> Result<Self, StartError> {
        let secrets = match channel {
            Channel::Meta(meta) => return Ok(Self::Meta(meta)),
            Channel::Phone(secrets) => secrets,
        };
        let settings = server::phone_settings(url, &secrets);
        let log = folder.map(|folder| folder.join(PHONE_FILE));
        let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
        let phone = Phone::open(settings, log.as_deref(), clock, chance)?;
        Ok(Self::Phone(phone, secrets))
    }

    /// The way back to people.
    pub fn messenger(&self, url: &str) -> Result<Arc<dyn Messenger>, StartError> {
        Ok(Arc::new(match self {
            Self::Phone(_, secrets) => server::messenger(url, secrets)?,
            Self::Meta(meta) => GraphMessenger::new(&meta.graph, Arc::clone(&meta.token))?,
        }))
    }

    /// The phone's page tells the story to who plays with it; who serves people reads the log.
    pub fn journal(&self, story: &Arc<Story>, hasher: &Arc<Hasher>) -> Arc<dyn Journal> {
        let (story, hasher) = (Arc::clone(story), Arc::clone(hasher));
        Arc::new(match self {
            Self::Phone(..) => LocalJournal::of_warnings(story, hasher),
            Self::Meta(_) => LocalJournal::of_all(story, hasher),
        })
    }

    /// What is served.
    pub fn routers(
        &self,
        operator: &Operator,
        story: &Arc<Story>,
        folder: Option<&Path>,
    ) -> Routers {
        match self {
            Self::Phone(phone, secrets) => {
                let state = PhoneState {
                    phone: phone.clone(),
                    story: Arc::clone(story),
                    memory: Arc::new(TableMemory::new(operator.world.clone())),
                    window: operator.agents.window_min(),
                    ceiling: operator.agents.ceiling_max(),
                    loopback: true,
                };
                Routers {
                    public: server::with_phone(operator, secrets, state, folder),
                    private: None,
                }
            }
            Self::Meta(meta) => Routers {
                public: server::public(&operator.world, Arc::clone(&meta.secrets)),
                private: Some(
                    operator::router(operator, folder).merge(operator::story(Arc::clone(story))),
                ),
            },
        }
    }

    /// Lets the phone deliver what people wrote. Yields it, so that it can be closed.
    pub fn start(self) -> Option<Phone> {
        match self {
            Self::Phone(phone, _) => {
                phone.start();
                Some(phone)
            }
            Self::Meta(_) => None,
        }
    }
}
