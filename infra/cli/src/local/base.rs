//! What every local process stands on: the folder with its lock, the embedded AWS, the key, table and queues.

use std::path::Path;
use std::sync::Arc;

use recado::adapters::absent::NoTools;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::adapters::dynamo::DynamoStore;
use recado::adapters::hash_key;
use recado::config::roster::Roster;
use recado::domain::Hasher;
use recado::flow::{World, sweep};
use recado::ports::{Chance as _, Clock as _, Journal, Messenger, Model};

use super::error::StartError;
use super::queues::{self, LocalQueues};
use super::table;
use crate::aws::{self, Data, LocalAws};

/// Where the table is kept inside the data folder.
const TABLE_FILE: &str = "recado.db";
/// Conversations looked at when the process starts.
const RECOVERED_MAX: usize = 10_000;

/// Whether the table's file is there and empty. `SQLite` takes that for a new one, and nobody would notice why an agent
/// that knew people knows nobody. The key is made after the table, so that a first start cut short is none of these.
fn was_emptied(folder: &Path) -> bool {
    let is_empty = |name: &str| folder.join(name).metadata().map(|file| file.len() == 0);
    let log = is_empty(&format!("{TABLE_FILE}-wal")).unwrap_or(true);
    log && is_empty(TABLE_FILE).unwrap_or(false) && folder.join(hash_key::FILE).exists()
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
        let is_new = folder.is_none_or(|folder| !folder.join(TABLE_FILE).exists());
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

    /// The flow's ports over it.
    pub fn world(
        &self,
        agents: Arc<Roster>,
        models: Arc<dyn Model>,
        messenger: Arc<dyn Messenger>,
        journal: Arc<dyn Journal>,
    ) -> World {
        World {
            store: self.store.clone(),
            ticks: Arc::new(self.queues.ticks.clone()),
            models,
            tools: Arc::new(NoTools),
            messenger,
            clock: Arc::new(SystemClock),
            chance: Arc::new(SystemChance),
            agents,
            journal,
            hasher: Arc::clone(&self.hasher),
            dead_runs: recado::flow::DeadRuns::default(),
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
            std::fs::create_dir_all(folder).map_err(|source| StartError::Folder {
                folder: folder.to_owned(),
                source,
            })?;
            keep_from_others(folder)?;
            Data::File(folder.join(TABLE_FILE))
        }
    };
    Ok(aws::serve(0, &data, Arc::new(|| SystemClock.now().ms())).await?)
}

/// Conversations are nobody else's business: on Unix only this user may enter the folder.
fn keep_from_others(folder: &Path) -> Result<(), StartError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let only_ours = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder, only_ours).map_err(|source| StartError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
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
