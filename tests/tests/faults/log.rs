//! What everything in this process has logged: it must tell nothing of anybody, however things fail.

use std::io;
use std::sync::{Mutex, Once};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps what is logged from now on.
pub fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::INFO)
            .with_writer(|| Log)
            .finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
}

/// No panic, and none of these words.
pub fn check(banned: &[&str]) {
    let log = LOG.lock().unwrap().clone();
    let log = String::from_utf8(log).unwrap();
    for banned in banned.iter().chain(&["panic"]) {
        let line = log.lines().find(|line| line.contains(banned));
        assert!(line.is_none(), "{banned:?} in the log: {line:?}");
    }
}

/// The newest lines.
pub fn newest(lines: usize) -> String {
    let log = LOG.lock().unwrap().clone();
    let log = String::from_utf8(log).unwrap();
    let all: Vec<&str> = log.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
