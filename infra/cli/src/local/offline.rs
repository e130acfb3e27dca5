//! `forget` on a data folder that no instance runs on: table and nothing else. No message is answered meanwhile, so
//! nobody hears from the wrong channel.

use std::path::Path;
use std::sync::Arc;

use recado::adapters::absent::{NoMessenger, NoModel};
use recado::adapters::log_journal::LogJournal;
use recado::config::roster::Roster;

use super::base::{self, Base};
use super::channel::ChannelName;
use super::error::StartError;
use super::people::{self, ForgetError, Gone, Whom};

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// The folder cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Nobody was forgotten.
    #[error(transparent)]
    Forget(#[from] ForgetError),
}

/// Forgets the person of this phone or BSUID, for one agent or for all.
pub async fn forget(
    folder: &Path,
    agents: Arc<Roster>,
    id: &str,
    agent: Option<&str>,
) -> Result<Gone, OfflineError> {
    let channel = ChannelName::of_folder(folder).unwrap_or(ChannelName::Phone);
    let whom = Whom::parse(id, agent, channel)?;
    let base = Base::open(Some(folder), &agents).await?;
    let journal = Arc::new(LogJournal::new(Arc::clone(&base.hasher)));
    let world = base.world(
        Arc::clone(&agents),
        Arc::new(NoModel),
        Arc::new(NoMessenger),
        journal,
    );
    base::recover(&world).await?;
    let gone = people::forget(&world, &agents, &whom).await;
    base.aws.stop().await.map_err(StartError::from)?;
    Ok(gone?)
}
