//! A log that a test can read.

use std::io;
use std::sync::{Arc, Mutex};

/// Keeps what is written to it. Clones share it.
#[derive(Clone, Default)]
pub struct KeptLog(pub Arc<Mutex<Vec<u8>>>);

impl io::Write for KeptLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
