//! Finding and forgetting a person on a data folder that no instance runs on: table and nothing else. No message is answered meanwhile, so
//! nobody hears from the wrong channel.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recado::adapters::absent::{NoMessenger, NoModel, NoTools};
use recado::adapters::log_journal::LogJournal;
use recado::config::roster::Roster;
use recado::domain::{AgentId, Timestamp};
use recado::flow::World;
use serde_json::Value;

use super::base::{self, Base};
use super::channel::ChannelName;
use super::error::StartError;
use super::money::{self, Asked, LedgerError};
use super::people::{self, ForgetError, Gone, Whom};

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// The folder cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Nobody was found.
    #[error(transparent)]
    Forget(#[from] ForgetError),
    /// The ledger cannot be told.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Nothing was ever kept in the folder, and a look must not make it.
    #[error("nobody is known: {} holds no memory; name another data folder with RECADO_DATA_DIR", .0.display())]
    NoMemory(PathBuf),
}

/// Forgets the person of this phone or BSUID, for one agent or for all.
pub async fn forget(
    folder: &Path,
    agents: Arc<Roster>,
    id: &str,
    agent: Option<&str>,
) -> Result<Gone, OfflineError> {
    let whom = whom(folder, id, agent)?;
    let (base, world) = open(folder, &agents).await?;
    let gone = people::forget(&world, &agents, &whom).await;
    base.aws.stop().await.map_err(StartError::from)?;
    Ok(gone?)
}

/// The agents that know the person; nothing of theirs is changed.
pub async fn known(
    folder: &Path,
    agents: Arc<Roster>,
    id: &str,
    agent: Option<&str>,
) -> Result<Vec<AgentId>, OfflineError> {
    let whom = whom(folder, id, agent)?;
    let (base, world) = open(folder, &agents).await?;
    let knowing = people::known(&world, &agents, &whom).await;
    base.aws.stop().await.map_err(StartError::from)?;
    Ok(knowing?)
}

/// Takes the person over until this moment, or gives them back.
pub async fn pause(
    folder: &Path,
    agents: Arc<Roster>,
    (id, agent): (&str, Option<&str>),
    until: Option<Timestamp>,
) -> Result<Vec<AgentId>, OfflineError> {
    let whom = whom(folder, id, agent)?;
    let (base, world) = open(folder, &agents).await?;
    let knowing = people::pause(&world, &agents, &whom, until).await;
    base.aws.stop().await.map_err(StartError::from)?;
    Ok(knowing?)
}

/// What is in the ledger.
pub async fn ledger(
    folder: &Path,
    agents: Arc<Roster>,
    asked: &Asked,
) -> Result<Vec<Value>, OfflineError> {
    let channel = ChannelName::of_folder(folder).unwrap_or(ChannelName::Phone);
    let (base, world) = open(folder, &agents).await?;
    let lines = money::lines(&world, &agents, channel, asked).await;
    base.aws.stop().await.map_err(StartError::from)?;
    Ok(lines?)
}

fn whom(folder: &Path, id: &str, agent: Option<&str>) -> Result<Whom, OfflineError> {
    let channel = ChannelName::of_folder(folder).unwrap_or(ChannelName::Phone);
    Ok(Whom::parse(id, agent, channel)?)
}

async fn open(folder: &Path, agents: &Arc<Roster>) -> Result<(Base, World), OfflineError> {
    if !base::is_in_use(folder) {
        return Err(OfflineError::NoMemory(folder.to_owned()));
    }
    let base = Base::open(Some(folder), agents).await?;
    let journal = Arc::new(LogJournal::new(Arc::clone(&base.hasher)));
    let world = base.world(
        Arc::clone(agents),
        Arc::new(NoModel),
        Arc::new(NoTools),
        Arc::new(NoMessenger),
        journal,
    );
    base::recover(&world).await?;
    Ok((base, world))
}
