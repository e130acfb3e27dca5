//! The one place that starts a task, so that a panic in it is seen.

use std::future::Future;

use tokio::task::JoinHandle;

/// Starts `task` on the current runtime; a panic in it is logged with the task's name.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one file that spawns"
)]
pub fn spawn<F>(name: &'static str, task: F) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let watched = tokio::spawn(task);
    tokio::spawn(async move {
        if let Err(error) = watched.await
            && error.is_panic()
        {
            tracing::error!(task = name, "a background task ended in a panic");
        }
    })
}
