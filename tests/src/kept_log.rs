//! A log that a test can read.

use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::subscriber::DefaultGuard;
use tracing::{Level, Subscriber};
use tracing_subscriber::fmt::MakeWriter;

/// Keeps what is written to it. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct KeptLog(Arc<Mutex<Vec<u8>>>);

impl KeptLog {
    /// Keeps what this thread logs at `level` and above, while the guard lives.
    pub fn start(level: Level) -> (Self, DefaultGuard) {
        let log = Self::default();
        let guard = tracing::subscriber::set_default(log.subscriber(level));
        (log, guard)
    }

    /// The log of the whole process at `INFO` and above, kept since somebody first asked for it.
    pub fn of_process() -> &'static Self {
        static LOG: OnceLock<KeptLog> = OnceLock::new();
        LOG.get_or_init(|| {
            let log = Self::default();
            tracing::subscriber::set_global_default(log.subscriber(Level::INFO)).unwrap();
            log
        })
    }

    /// All that is kept.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// All that is kept, which is then kept no longer.
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }

    fn subscriber(&self, level: Level) -> impl Subscriber + use<> {
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(level)
            .with_writer(self.clone())
            .finish()
    }
}

impl io::Write for KeptLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for KeptLog {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
