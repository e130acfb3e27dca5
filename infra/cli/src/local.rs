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
use crate::phone::{self, Phone, PhoneError, PhoneState, Story};

pub mod error;
pub mod invoke;
pub mod journal;
pub mod memory;
pub mod queues;
pub mod server;
pub mod table;

pub use error::StartError;
use queues::LocalQueues;
pub use server::Secrets;

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
/// A stop waits this long for runs that are under way; what is cut off goes on at the next start.
const RUNS_PATIENCE: Duration = Duration::from_secs(2);
/// Then this long for requests: pages that stay open, and clients that never end what they began.
const REQUESTS_PATIENCE: Duration = Duration::from_millis(500);

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
    /// What phone and handlers trust each other by.
    pub secrets: Secrets,
}

/// What ends when: a run under way still has to send by the server, so the server ends last.
struct Stop {
    workers: watch::Sender<bool>,
    server: watch::Sender<bool>,
}

/// The other ends.
struct Stopped {
    workers: watch::Receiver<bool>,
    server: watch::Receiver<bool>,
}

/// A running process. Stop it, or what is under way is cut off.
pub struct LocalRun {
    url: String,
    aws: LocalAws,
    phone: Phone,
    stop: Stop,
    workers: JoinSet<()>,
    server: JoinSet<()>,
    address_file: Option<PathBuf>,
}

impl LocalRun {
    /// Starts everything. When this returns, a message can be written.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        // The folder's lock first: who starts twice is told that, not that the port is taken.
        let aws = start_aws(options.folder.as_deref()).await?;
        let (listener, url) = listen(options.port).await?;
        let clock = Arc::new(SystemClock);
        let chance = Arc::new(SystemChance);
        let hasher = Arc::new(Hasher::new(&match &options.folder {
            Some(folder) => hash_key::read_or_create(folder, &*chance)?,
            None => random_key(*chance),
        }));
        let story = Arc::new(Story::new(clock.clone(), &*chance, STEPS_KEPT));
        let secrets = options.secrets;
        let phone = open_phone(&url, &secrets, options.folder.as_deref())?;
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
            journal: Arc::new(journal::LocalJournal::new(
                story.clone(),
                Arc::clone(&hasher),
            )),
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
        let (stop, stopped) = stops();
        let mut server = JoinSet::new();
        server.spawn(server::serve(listener, router, stopped.server));
        recover(&world).await?;
        let workers = work(world, &queues, grace, &stopped.workers);
        phone.start();
        let address_file = leave_address(folder.as_deref(), &url)?;
        Ok(Self {
            url,
            aws,
            phone,
            stop,
            workers,
            server,
            address_file,
        })
    }

    /// Where the page and everything else is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets what is under way end (for some seconds at most) and closes the files.
    pub async fn stop(mut self) -> Result<(), StartError> {
        self.stop.workers.send_replace(true);
        if !ended(&mut self.workers, RUNS_PATIENCE).await {
            tracing::warn!("something was still under way; it goes on at the next start");
        }
        self.phone.close();
        self.stop.server.send_replace(true);
        ended(&mut self.server, REQUESTS_PATIENCE).await;
        self.aws.stop().await?;
        if let Some(file) = &self.address_file {
            // A file that stays is told from a live one by asking its address.
            let _ = std::fs::remove_file(file);
        }
        Ok(())
    }
}

/// Waits for the tasks and cuts off what is left. Yields whether all of them ended by themselves.
async fn ended(tasks: &mut JoinSet<()>, patience: Duration) -> bool {
    let all = async { while tasks.join_next().await.is_some() {} };
    let is_ended = tokio::time::timeout(patience, all).await.is_ok();
    tasks.shutdown().await;
    is_ended
}

async fn listen(port: u16) -> Result<(TcpListener, String), StartError> {
    let bound = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await;
    let listener = bound.map_err(|source| StartError::Port { port, source })?;
    let address = listener.local_addr().map_err(StartError::Address)?;
    Ok((listener, format!("http://{address}")))
}

fn open_phone(
    url: &str,
    secrets: &Secrets,
    folder: Option<&std::path::Path>,
) -> Result<Phone, PhoneError> {
    let settings = server::phone_settings(url, secrets);
    let log = folder.map(|folder| folder.join(PHONE_FILE));
    let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
    Phone::open(settings, log.as_deref(), clock, chance)
}

/// Starts what works on the queues, and the sweeper.
fn work(
    world: World,
    queues: &LocalQueues,
    grace: Duration,
    stopped: &watch::Receiver<bool>,
) -> JoinSet<()> {
    let mut workers = JoinSet::new();
    for poller in queues.pollers(&world) {
        workers.spawn(poller.run(until(stopped.clone())));
    }
    workers.spawn(sweep_for_ever(world, grace, stopped.clone()));
    workers
}

fn stops() -> (Stop, Stopped) {
    let (workers, workers_stopped) = watch::channel(false);
    let (server, server_stopped) = watch::channel(false);
    let stopped = Stopped {
        workers: workers_stopped,
        server: server_stopped,
    };
    (Stop { workers, server }, stopped)
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

/// The queues live in memory and the leases are those of a process that is dead (the folder is ours alone).
async fn recover(world: &World) -> Result<(), StartError> {
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
