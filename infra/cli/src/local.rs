//! Everything in one process: the local AWS, the phone, the handlers, and what feeds them.
//!
//! The handlers are those of the Lambdas; only their surroundings differ: an embedded table in a file, our own SQS
//! server in memory, pollers where AWS has event source mappings, and a loop where it has a schedule.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::adapters::hash_key;
use recado::domain::Hasher;
use recado::flow::{World, sweep};
use recado::ports::{Chance as _, Clock as _, Model};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::aws::{self, Data, LocalAws};
use crate::phone::{self, Phone, PhoneState, Story};

pub mod error;
pub mod invoke;
pub mod memory;
pub mod queues;
pub mod server;
pub mod table;

pub use error::StartError;

/// Where the table is kept inside the data folder.
const TABLE_FILE: &str = "recado.db";
/// Where the phone keeps its log inside the data folder.
const PHONE_FILE: &str = "phone.jsonl";
/// Steps of each conversation's story that are kept.
const STEPS_KEPT: usize = 2_000;
/// How often the sweeper looks; on AWS a schedule does.
const SWEEP_EVERY: Duration = Duration::from_mins(1);
/// Conversations looked at when the process starts.
const RECOVERED_MAX: usize = 10_000;
/// A stop waits this long for what is under way.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// How a local run is set up.
pub struct Options {
    /// Loopback port; 0 takes a free one.
    pub port: u16,
    /// Where everything is kept; `None` keeps nothing.
    pub folder: Option<PathBuf>,
    /// The agents.
    pub agents: Arc<recado::config::roster::Roster>,
    /// The model.
    pub model: Arc<dyn Model>,
}

/// A running process. Stop it, or what is under way is cut off.
pub struct LocalRun {
    url: String,
    aws: LocalAws,
    phone: Phone,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    address_file: Option<PathBuf>,
}

impl LocalRun {
    /// Starts everything. When this returns, a message can be written.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let address = SocketAddr::from(([127, 0, 0, 1], options.port));
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| StartError::Port {
                port: options.port,
                source,
            })?;
        let url = format!(
            "http://{}",
            listener.local_addr().map_err(StartError::Address)?
        );

        let clock = Arc::new(SystemClock);
        let chance = Arc::new(SystemChance);
        let aws = start_aws(options.folder.as_deref()).await?;
        let hasher = Arc::new(Hasher::new(&match &options.folder {
            Some(folder) => hash_key::read_or_create(folder, &*chance)?,
            None => random_key(*chance),
        }));
        let story = Arc::new(Story::new(clock.clone(), &*chance, STEPS_KEPT));
        let secrets = server::Secrets::random(*chance);
        let phone_log = options
            .folder
            .as_ref()
            .map(|folder| folder.join(PHONE_FILE));
        let settings = server::phone_settings(&url, &secrets);
        let phone = Phone::open(
            settings,
            phone_log.as_deref(),
            clock.clone(),
            chance.clone(),
        )?;

        let sdk = queues::sdk_config();
        let opened = table::open(&sdk, aws.dynamodb_url(), Arc::clone(&hasher)).await?;
        let delay = options.agents.window_min();
        let ceiling = options.agents.ceiling_max();
        let grace = recado_sweeper::grace(ceiling);
        let queues = queues::open(&sdk, aws.sqs_url(), delay, Arc::clone(&hasher)).await?;
        let world = World {
            store: Arc::new(opened),
            ticks: Arc::new(queues.ticks.clone()),
            models: options.model,
            messenger: Arc::new(server::messenger(&url, &secrets)?),
            clock,
            chance,
            agents: options.agents,
            journal: story.clone(),
            hasher,
        };

        let memory = Arc::new(memory::TableMemory::new(world.clone()));
        let state = PhoneState {
            phone: phone.clone(),
            story,
            memory,
            window: delay,
            ceiling,
            loopback: true,
        };
        let folder = options
            .folder
            .as_deref()
            .and_then(|folder| folder.canonicalize().ok());
        let router = server::router(&world, &secrets, &state, folder.as_deref());
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(server::serve(listener, router, stopped.clone()));
        recover(&world).await?;
        for poller in queues.pollers(&world) {
            tasks.spawn(poller.run(until(stopped.clone())));
        }
        tasks.spawn(sweep_for_ever(world, grace, stopped));
        phone.start();
        let address_file = leave_address(folder.as_deref(), &url)?;
        Ok(Self {
            url,
            aws,
            phone,
            stop,
            tasks,
            address_file,
        })
    }

    /// Where the page and everything else is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets what is under way end (for some seconds at most) and closes the files.
    pub async fn stop(mut self) -> Result<(), StartError> {
        self.phone.close();
        self.stop.send_replace(true);
        let all_ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_PATIENCE, all_ended)
            .await
            .is_err()
        {
            tracing::warn!("something was still under way; it goes on at the next start");
            self.tasks.shutdown().await;
        }
        self.aws.stop().await?;
        if let Some(file) = &self.address_file {
            // A file that stays is told from a live one by asking its address.
            let _ = std::fs::remove_file(file);
        }
        Ok(())
    }
}

async fn start_aws(folder: Option<&std::path::Path>) -> Result<LocalAws, StartError> {
    let data = match folder {
        None => Data::Memory,
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|source| StartError::Folder {
                folder: folder.to_owned(),
                source,
            })?;
            Data::File(folder.join(TABLE_FILE))
        }
    };
    Ok(aws::serve(0, &data, Arc::new(|| SystemClock.now().ms())).await?)
}

/// Tells other commands of this folder where the instance is.
fn leave_address(
    folder: Option<&std::path::Path>,
    url: &str,
) -> Result<Option<PathBuf>, StartError> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let file = crate::client::address_file(folder);
    std::fs::write(&file, url).map_err(|source| StartError::Folder {
        folder: folder.to_owned(),
        source,
    })?;
    Ok(Some(file))
}

/// A key for a run that keeps nothing.
fn random_key(chance: SystemChance) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&chance.bits().to_be_bytes());
    key[16..].copy_from_slice(&chance.bits().to_be_bytes());
    key
}

/// The queues live in memory and the leases are those of a process that is dead (the folder is ours alone): free
/// them, and tick whatever is pending.
async fn recover(world: &World) -> Result<(), StartError> {
    let dropped = sweep::drop_leases(world, RECOVERED_MAX).await?;
    let swept = recado_sweeper::handle(world, Duration::ZERO).await?;
    if dropped + swept.ticks > 0 {
        tracing::info!(
            leases = dropped,
            ticks = swept.ticks,
            "went on where the last run ended"
        );
    }
    Ok(())
}

async fn sweep_for_ever(world: World, grace: Duration, stopped: watch::Receiver<bool>) {
    let mut stop = std::pin::pin!(until(stopped));
    loop {
        tokio::select! {
            () = &mut stop => return,
            () = world.clock.sleep(SWEEP_EVERY) => {}
        }
        if let Err(error) = recado_sweeper::handle(&world, grace).await {
            tracing::warn!(%error, "a sweep failed; the next one is in a minute");
        }
    }
}

/// Resolves once the run is to stop.
pub(crate) async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a stop too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Kept here so that the phone's module needs to know nothing of the run.
pub use phone::MemoryUnavailable;
