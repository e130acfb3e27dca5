//! The embedded DynamoDB: one file (or memory), served over AWS's protocol on a loopback port, on a thread of its own.
//!
//! Its engine runs SQLite on the thread that serves, so it must not share one with the handlers. AWS deletes expired items by
//! itself; here a sweep each minute does.

use std::fs::{File, TryLockError};
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use dynoxide::Database;
use dynoxide::server::serve_with_shutdown;
use thiserror::Error;
use tokio::sync::watch;

use crate::private;

/// Time between two sweeps of expired items.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// How long a stop waits for requests that are still running.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// What every database file begins with.
const FILE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Where the tables are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Gone with the process.
    Memory,
    /// In this file, made if it is not there. Beside it lies a lock file while it is open.
    File(PathBuf),
}

/// Why the embedded DynamoDB could not start, or did not stop well.
#[derive(Debug, Error)]
pub enum DynamoError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: choose another port, or stop what holds this one")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process has the file open.
    #[error("{} is in use by another process: stop that one, or name another file", .0.display())]
    Locked(PathBuf),
    /// The file is there and is something else.
    #[error("{} is not a database: name another file, or move this one away", .0.display())]
    NotADatabase(PathBuf),
    /// The file cannot be read or made.
    #[error("cannot open {}: check that its folder exists and can be written to", .path.display())]
    File {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database engine refused.
    #[error("open the database {path}: {reason}; put a copy of the file back, or name another one")]
    Engine {
        /// The file asked for, or "in memory".
        path: String,
        /// What the engine said.
        reason: String,
    },
    /// The thread or its runtime could not be made.
    #[error("start the database thread")]
    Thread(#[source] std::io::Error),
    /// The server ended on its own.
    #[error("the embedded DynamoDB stopped: {0}")]
    Stopped(String),
}

/// A running embedded DynamoDB. Dropped, it stops soon; stopped, it has stopped and its data are flushed.
#[derive(Debug)]
pub struct Dynamo {
    url: String,
    stop: watch::Sender<bool>,
    thread: JoinHandle<Result<(), DynamoError>>,
}

impl Dynamo {
    /// Opens the data and serves them on the address (port 0 takes a free one).
    pub fn start(data: &Data, address: SocketAddr) -> Result<Self, DynamoError> {
        let (database, lock) = open(data)?;
        let refused = |source| DynamoError::Bind { address, source };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let url = format!("http://{}", listener.local_addr().map_err(refused)?);
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::Builder::new()
            .name("dynamodb".to_owned())
            .spawn(move || serve(listener, database, stopped, lock))
            .map_err(DynamoError::Thread)?;
        Ok(Self { url, stop, thread })
    }

    /// The endpoint URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets running requests finish (for some seconds at most), closes the file and waits until that is done.
    pub async fn stop(self) -> Result<(), DynamoError> {
        self.stop.send_replace(true);
        let thread = self.thread;
        match tokio::task::spawn_blocking(move || thread.join()).await {
            Ok(Ok(result)) => result,
            _ => Err(DynamoError::Stopped("its thread panicked".to_owned())),
        }
    }
}

fn open(data: &Data) -> Result<(Database, Option<File>), DynamoError> {
    let engine = |path: String| {
        move |error: dynoxide::DynoxideError| DynamoError::Engine {
            path,
            reason: error.to_string(),
        }
    };
    match data {
        Data::Memory => Ok((
            Database::memory().map_err(engine("in memory".to_owned()))?,
            None,
        )),
        Data::File(path) => {
            let lock = lock(path)?;
            check_magic(path)?;
            create(path)?;
            let text = path.to_string_lossy().into_owned();
            let database = Database::new(&text).map_err(engine(text.clone()))?;
            Ok((database, Some(lock)))
        }
    }
}

/// The engine itself would let two processes in, each with its own idea of the tables.
fn lock(path: &Path) -> Result<File, DynamoError> {
    let refused = |source| DynamoError::File {
        path: path.to_owned(),
        source,
    };
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    let lock = private::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(lock_path)
        .map_err(refused)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(DynamoError::Locked(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(refused(source)),
    }
}

/// The engine would make the file with the rights of any other; its log and index get those of the file.
fn create(path: &Path) -> Result<(), DynamoError> {
    let file = private::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path);
    file.map(drop).map_err(|source| DynamoError::File {
        path: path.to_owned(),
        source,
    })
}

fn check_magic(path: &Path) -> Result<(), DynamoError> {
    let refused = |source| DynamoError::File {
        path: path.to_owned(),
        source,
    };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused(error)),
    };
    let mut start = Vec::new();
    file.by_ref()
        .take(FILE_MAGIC.len() as u64)
        .read_to_end(&mut start)
        .map_err(refused)?;
    if start.is_empty() || start == FILE_MAGIC {
        Ok(())
    } else {
        Err(DynamoError::NotADatabase(path.to_owned()))
    }
}

/// The thread's work. The lock is let go last, after the file is closed.
fn serve(
    listener: TcpListener,
    database: Database,
    stopped: watch::Receiver<bool>,
    lock: Option<File>,
) -> Result<(), DynamoError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(DynamoError::Thread)?;
    let result = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(DynamoError::Thread)?;
        let shutdown = wait(stopped.clone());
        tokio::select! {
            served = serve_with_shutdown(listener, database.clone(), shutdown) => {
                served.map_err(DynamoError::Stopped)
            }
            () = sweep(&database) => Ok(()),
            () = out_of_patience(stopped) => Ok(()),
        }
    });
    drop(database);
    // Connections that are still open hold the database, too; this ends them, and the last one closes the file.
    runtime.shutdown_timeout(STOP_PATIENCE);
    drop(lock);
    result
}

/// Until a stop is asked for, or the handle is gone.
async fn wait(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn out_of_patience(stopped: watch::Receiver<bool>) {
    wait(stopped).await;
    tokio::time::sleep(STOP_PATIENCE).await;
}

async fn sweep(database: &Database) {
    let mut interval = tokio::time::interval(SWEEP_INTERVAL);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let database = database.clone();
        // On a thread of its own, for between two pages it waits for the requests that this one serves.
        match tokio::task::spawn_blocking(move || database.sweep_ttl()).await {
            Ok(Ok(0)) => {}
            Ok(Ok(deleted)) => tracing::debug!(deleted, "expired items deleted"),
            Ok(Err(error)) => tracing::warn!(%error, "expired items not deleted"),
            Err(error) => tracing::warn!(%error, "the sweep of expired items failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    fn file_in(folder: &tempfile::TempDir) -> Data {
        Data::File(folder.path().join("recado.db"))
    }

    #[tokio::test]
    async fn a_file_can_be_opened_again_once_stopped_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let first = Dynamo::start(&file_in(&folder), loopback()).unwrap();
        let second = Dynamo::start(&file_in(&folder), loopback()).unwrap_err();
        assert!(matches!(second, DynamoError::Locked(_)), "{second}");
        first.stop().await.unwrap();
        Dynamo::start(&file_in(&folder), loopback())
            .unwrap()
            .stop()
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn a_file_that_is_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("recado.db"), "the diary of a cat").unwrap();
        let error = Dynamo::start(&file_in(&folder), loopback()).unwrap_err();
        assert!(matches!(error, DynamoError::NotADatabase(_)), "{error}");
        let kept = std::fs::read_to_string(folder.path().join("recado.db")).unwrap();
        assert_eq!(kept, "the diary of a cat");
    }

    #[tokio::test]
    async fn a_taken_port_and_a_missing_folder_are_told_apart() {
        let first = Dynamo::start(&Data::Memory, loopback()).unwrap();
        let taken = first
            .url()
            .strip_prefix("http://")
            .unwrap()
            .parse()
            .unwrap();
        let error = Dynamo::start(&Data::Memory, taken).unwrap_err();
        assert!(matches!(error, DynamoError::Bind { .. }), "{error}");
        first.stop().await.unwrap();

        let folder = tempfile::tempdir().unwrap();
        let data = Data::File(folder.path().join("missing").join("recado.db"));
        let error = Dynamo::start(&data, loopback()).unwrap_err();
        assert!(matches!(error, DynamoError::File { .. }), "{error}");
    }
}
