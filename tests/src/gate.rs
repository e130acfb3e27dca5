//! A gate before one request to the fake table: what runs into it waits until the test has done its mischief.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::fake_store::{Fault, Faults};

/// Closed before the next request of one kind.
#[derive(Default)]
pub struct Gate {
    closed_for: Mutex<Option<&'static str>>,
    reached: Notify,
    opened: Notify,
}

impl Gate {
    /// An open gate.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Closes it for the next request of this name; the ones after it pass.
    pub fn close(&self, operation: &'static str) {
        *self.closed_for.lock().unwrap() = Some(operation);
    }

    /// Waits until that request stands before it.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }

    /// Lets it pass.
    pub fn open(&self) {
        self.opened.notify_one();
    }
}

#[async_trait]
impl Faults for Gate {
    async fn before(&self, operation: &'static str) -> Fault {
        let here = self
            .closed_for
            .lock()
            .unwrap()
            .take_if(|name| *name == operation)
            .is_some();
        if here {
            self.reached.notify_one();
            self.opened.notified().await;
        }
        Fault::None
    }
}
