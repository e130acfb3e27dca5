//! What every local process stands on: the folder with its lock, the embedded AWS, the key, table and queues.

use std::io;
use std::path::Path;
use std::sync::Arc;

use recado::adapters::cached_breakers::CachedBreakers;
use recado::adapters::cached_ledger::CachedLedger;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::{self, SystemClock};
use recado::adapters::dynamo::DynamoStore;
use recado::adapters::hash_key;
use recado::adapters::toolbox::Source;
use recado::adapters::toolbox::built_in::BuiltInTools;
use recado::config::roster::Roster;
use recado::domain::Hasher;
use recado::flow::{World, sweep};
use recado::ports::{Chance as _, Clock, Journal, Messenger, Model, Tools};

use super::channel::{MARK_FILE, PHONE_FILE};
use super::error::StartError;
use super::queues::{self, LocalQueues};
use super::table;
use crate::aws::{self, Data, LocalAws};
use crate::private;

/// Where the table is kept inside the data folder.
const TABLE_FILE: &str = "recado.db";
/// What is written of it and not yet in it.
const TABLE_LOG: &str = "recado.db-wal";
/// Whatever of a data folder holds words or leads to them; the key closes itself.
const FILES: [&str; 6] = [
    TABLE_FILE,
    TABLE_LOG,
    "recado.db-shm",
    "recado.db.lock",
    PHONE_FILE,
    MARK_FILE,
];
/// Conversations looked at when the process starts.
const RECOVERED_MAX: usize = 10_000;

/// Whether something was ever kept in the folder.
pub fn is_in_use(folder: &Path) -> bool {
    folder.join(TABLE_FILE).exists()
}

/// Whether the table has nothing in it: its file is not there or empty, and so is its log.
fn is_empty(folder: &Path) -> bool {
    let is_empty = |name: &str| {
        let file = folder.join(name).metadata();
        file.map_or(true, |file| file.len() == 0)
    };
    is_empty(TABLE_FILE) && is_empty(TABLE_LOG)
}

/// Whether the table's file is there and empty though the folder was in use. `SQLite` takes that for a new one, and
/// nobody would notice why an agent that knew people knows nobody. The key is made after the table, so that a first
/// start cut short is none of these.
fn was_emptied(folder: &Path) -> bool {
    is_in_use(folder) && is_empty(folder) && folder.join(hash_key::FILE).exists()
}

/// Table and queues, open.
pub struct Base {
    /// The embedded AWS; it holds the folder's lock.
    pub aws: LocalAws,
    /// Stands for people where they must not be named.
    pub hasher: Arc<Hasher>,
    /// The queues.
    pub queues: LocalQueues,
    store: Arc<DynamoStore>,
}

impl Base {
    /// Opens what is in `folder`; without one nothing is kept.
    pub async fn open(folder: Option<&Path>, agents: &Roster) -> Result<Self, StartError> {
        // The folder's lock first: who starts twice is told that, not that the port is taken.
        let is_new = folder.is_none_or(is_empty);
        if let Some(folder) = folder.filter(|folder| was_emptied(folder)) {
            return Err(StartError::TableEmpty(folder.to_owned()));
        }
        let aws = start_aws(folder).await?;
        let hasher = Arc::new(Hasher::new(&match folder {
            Some(folder) if !is_new && !folder.join(hash_key::FILE).exists() => {
                return Err(StartError::KeyGone(folder.to_owned()));
            }
            Some(folder) => hash_key::read_or_create(folder, &SystemChance)?,
            None => random_key(SystemChance),
        }));
        let sdk = queues::sdk_config();
        let store = table::open(&sdk, aws.dynamodb_url(), Arc::clone(&hasher)).await?;
        if let Some(folder) = folder
            && !store.is_of_this_key().await?
        {
            return Err(StartError::KeyOther(folder.to_owned()));
        }
        let delay = agents.window_min();
        let queues = queues::open(&sdk, aws.sqs_url(), delay, Arc::clone(&hasher)).await?;
        Ok(Self {
            aws,
            hasher,
            queues,
            store: Arc::new(store),
        })
    }

    /// The tools that come with the engine, which act on the table.
    pub fn built_in_tools(&self) -> Arc<dyn Source> {
        Arc::new(BuiltInTools::new(self.store.clone(), Arc::new(SystemClock)))
    }

    /// The flow's ports over it.
    pub fn world(
        &self,
        agents: Arc<Roster>,
        models: Arc<dyn Model>,
        tools: Arc<dyn Tools>,
        messenger: Arc<dyn Messenger>,
        journal: Arc<dyn Journal>,
    ) -> World {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let breakers = CachedBreakers::new(self.store.clone(), Arc::clone(&clock));
        let ledger = CachedLedger::new(self.store.clone(), Arc::clone(&clock));
        World {
            store: self.store.clone(),
            ledger: Arc::new(ledger),
            breakers: Arc::new(breakers),
            ticks: Arc::new(self.queues.ticks.clone()),
            models,
            tools,
            messenger,
            clock,
            chance: Arc::new(SystemChance),
            agents,
            journal,
            hasher: Arc::clone(&self.hasher),
            dead_runs: recado::flow::DeadRuns::default(),
            kept_reads: recado::flow::KeptReads::default(),
        }
    }
}

/// The queues live in memory and the leases are those of a process that is dead (the folder is ours alone).
pub async fn recover(world: &World) -> Result<(), StartError> {
    let recovered = sweep::recover(world, RECOVERED_MAX).await?;
    if recovered != sweep::Recovered::default() {
        tracing::info!(
            leases = recovered.leases,
            ticks = recovered.ticks,
            erasures = recovered.erasures,
            "went on where the last run ended"
        );
    }
    Ok(())
}

async fn start_aws(folder: Option<&Path>) -> Result<LocalAws, StartError> {
    let data = match folder {
        None => Data::Memory,
        Some(folder) => {
            prepare(folder).map_err(|error| StartError::of_folder(folder, error))?;
            Data::File(folder.join(TABLE_FILE))
        }
    };
    let started = aws::serve(0, &data, Arc::new(clock::steady())).await;
    if let Some(folder) = folder.filter(|folder| started.is_ok() && private::is_open(folder)) {
        tracing::warn!(
            "other users of this machine may enter the data folder {}; what is kept there is closed to them, and so \
             would be the folder after chmod 700",
            folder.display()
        );
    }
    started.map_err(|error| match folder {
        Some(folder) => StartError::of_aws(folder, error),
        None => error.into(),
    })
}

/// Makes the folder where there is none, and closes the files of earlier runs to other users.
fn prepare(folder: &Path) -> io::Result<()> {
    private::make_folder(folder)?;
    for name in FILES {
        private::close(&folder.join(name))?;
    }
    Ok(())
}

/// A key for a run that keeps nothing.
fn random_key(chance: SystemChance) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&chance.bits().to_be_bytes());
    key[16..].copy_from_slice(&chance.bits().to_be_bytes());
    key
}
