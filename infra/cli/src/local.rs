//! Everything in one process: the local AWS, the phone or the way to WhatsApp, the handlers, and what feeds them.
//!
//! The handlers are those of the Lambdas; only their surroundings differ: an embedded table in a file, our own SQS
//! server in memory, pollers where AWS has event source mappings, and a loop where it has a schedule.

use std::net::{Ipv4Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::config::roster::Roster;
use recado::flow::World;
use recado::ports::Model;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::aws::LocalAws;
use crate::phone::{self, Phone, Story};
use crate::private;

pub mod base;
pub mod channel;
mod connections;
pub mod error;
pub mod front;
pub mod invoke;
pub mod journal;
pub mod memory;
pub mod money;
pub mod offline;
pub mod operator;
pub mod people;
pub mod queues;
pub mod server;
pub mod table;
pub mod tools;

use base::Base;
pub use channel::{Channel, ChannelName, Meta};
pub use error::StartError;
use front::Front;
use operator::Operator;
use queues::LocalQueues;
pub use server::Secrets;
pub use tools::ToolAccess;

/// Steps of each conversation's story that are kept.
const STEPS_KEPT: usize = 2_000;
/// How often the sweeper looks; on AWS a schedule does.
const SWEEP_EVERY: Duration = Duration::from_mins(1);
/// A stop waits this long for runs that are under way; what is cut off goes on at the next start.
const RUNS_PATIENCE: Duration = Duration::from_secs(2);
/// Then this long for requests: pages that stay open, and clients that never end what they began.
const REQUESTS_PATIENCE: Duration = Duration::from_millis(500);

/// How a local run is set up.
pub struct Options {
    /// Where to listen; port 0 takes a free one. Beyond this machine only with the channel Meta.
    pub listen: SocketAddr,
    /// Where everything is kept; `None` keeps nothing.
    pub folder: Option<PathBuf>,
    /// The agents.
    pub agents: Arc<Roster>,
    /// The model.
    pub model: Arc<dyn Model>,
    /// What the agents' tools need.
    pub tools: ToolAccess,
    /// Where messages come from and answers go.
    pub channel: Channel,
}

/// Loopback with this port; 0 takes a free one.
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
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
    public_url: String,
    aws: LocalAws,
    phone: Option<Phone>,
    stop: Stop,
    workers: JoinSet<()>,
    server: JoinSet<()>,
    address_file: Option<PathBuf>,
}

impl LocalRun {
    /// Starts everything. When this returns, a message can be written.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let channel = options.channel.name();
        if channel == ChannelName::Phone && !options.listen.ip().is_loopback() {
            return Err(StartError::BeyondThisMachine(options.listen));
        }
        if let Some(folder) = &options.folder {
            channel.check(folder)?;
        }
        let base = Base::open(options.folder.as_deref(), &options.agents).await?;
        if let Some(folder) = &options.folder {
            channel.take(folder)?;
        }
        let (listener, public_url) = listen(options.listen).await?;
        let story = Arc::new(Story::new(Arc::new(SystemClock), &SystemChance, STEPS_KEPT));
        let front = Front::open(options.channel, &public_url, options.folder.as_deref())?;
        let world = base.world(
            Arc::clone(&options.agents),
            options.model,
            tools::open(
                options.tools,
                &options.agents,
                &base.hasher,
                base.built_in_tools(),
            )?,
            front.messenger(&public_url)?,
            front.journal(&story, &base.hasher),
        );
        let operator = Operator {
            world: world.clone(),
            agents: Arc::clone(&options.agents),
            channel,
        };
        let folder = options.folder.and_then(|folder| folder.canonicalize().ok());
        let routers = front.routers(&operator, &story, folder.as_deref());
        let (stop, stopped) = stops();
        let mut server = JoinSet::new();
        let (url, private) = match routers.private {
            None => (public_url.clone(), None),
            Some(router) => {
                let (listener, url) = listen(loopback(0)).await?;
                (url, Some((listener, router)))
            }
        };
        // Before anything is answered: who finds the instance there may rely on its address being here.
        let address_file = leave_address(folder.as_deref(), &url)?;
        if let Some((listener, router)) = private {
            server.spawn(server::serve(listener, router, stopped.server.clone()));
        }
        server.spawn(server::serve(
            listener,
            routers.public,
            stopped.server.clone(),
        ));
        base::recover(&world).await?;
        let grace = recado_sweeper::grace(options.agents.ceiling_max());
        let workers = work(world, &base.queues, grace, &stopped.workers);
        let phone = front.start();
        Ok(Self {
            url,
            public_url,
            aws: base.aws,
            phone,
            stop,
            workers,
            server,
            address_file,
        })
    }

    /// Where the operator's commands find the instance; with the phone the page is here too. Always loopback.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where the webhook is: the same address with the phone, the one listened on with Meta.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// Lets what is under way end (for some seconds at most) and closes the files.
    pub async fn stop(mut self) -> Result<(), StartError> {
        self.stop.workers.send_replace(true);
        if !ended(&mut self.workers, RUNS_PATIENCE).await {
            tracing::warn!("something was still under way; it goes on at the next start");
        }
        if let Some(phone) = &self.phone {
            phone.close();
        }
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

async fn listen(address: SocketAddr) -> Result<(TcpListener, String), StartError> {
    let bound = TcpListener::bind(address).await;
    let listener = bound.map_err(|source| StartError::Port { address, source })?;
    let address = listener.local_addr().map_err(StartError::Address)?;
    Ok((listener, format!("http://{address}")))
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

/// Tells other commands of this folder where the instance is.
fn leave_address(folder: Option<&Path>, url: &str) -> Result<Option<PathBuf>, StartError> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let file = crate::client::address_file(folder);
    private::write(&file, url).map_err(|error| StartError::of_folder(folder, error))?;
    Ok(Some(file))
}

async fn sweep_for_ever(world: World, grace: Duration, stopped: watch::Receiver<bool>) {
    let mut stop = std::pin::pin!(until(stopped));
    loop {
        tokio::select! {
            () = &mut stop => return,
            () = world.clock.sleep(SWEEP_EVERY) => {}
        }
        // A panic must not be the end of all sweeps.
        let sweeping = AssertUnwindSafe(recado_sweeper::handle(&world, grace));
        match sweeping.catch_unwind().await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a sweep failed; the next one is in a minute"),
            Err(_panic) => tracing::error!("a sweep panicked; the next one is in a minute"),
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
