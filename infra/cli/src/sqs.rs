//! An SQS server of our own, for the local AWS: FIFO queues with their group lock, deduplication, delay and dead letters.
//!
//! The queues are a pure state machine (`queue`, `queues`); `actions` gives it SQS's JSON, `http` the wire and the long poll.
//! All delivery state is in memory, on purpose: the table holds what is pending, and after a restart the sweeper re-ticks it. A
//! second store on disk could only disagree with the table. AWS's limits on calls and on messages in flight do not apply here.

mod actions;
mod batch;
pub mod deduplication;
pub mod http;
pub mod message;
pub mod names;
pub mod queue;
pub mod queues;
mod receipt;
pub mod refusal;
mod rules;
pub mod settings;
pub mod stored;
mod wire;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tables;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::HeaderMap;
use axum::response::Response;
use thiserror::Error;
use tokio::net::TcpListener;

use http::Api;

/// The time in milliseconds since 1970: the server's only clock, given by the caller.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Longest request: ten bodies of a mebibyte together, every character escaped.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Why the server could not start, or stopped by itself.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: choose another port, or stop what holds this one")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The listener failed while serving.
    #[error("serve sqs")]
    Serve(#[source] std::io::Error),
}

/// An SQS server on its own port.
pub struct SqsServer {
    listener: TcpListener,
    url: String,
    api: Arc<Api>,
}

impl SqsServer {
    /// Listens on the address (port 0 takes a free one). Nothing is answered before `serve`.
    pub async fn bind(address: SocketAddr, now: Now) -> Result<Self, ServerError> {
        let (listener, url) = listen(address).await?;
        let api = Arc::new(Api::new(&url, now));
        Ok(Self { listener, url, api })
    }

    /// The endpoint URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until the future resolves; then waiting receives end at once, and running requests finish.
    pub async fn serve(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServerError> {
        let router = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
            .with_state(Arc::clone(&self.api));
        let api = self.api;
        let stopping = async move {
            shutdown.await;
            api.stop_waiting();
        };
        axum::serve(self.listener, router)
            .with_graceful_shutdown(stopping)
            .await
            .map_err(ServerError::Serve)
    }
}

/// A listener on the address, and the URL under which it is reached.
pub(crate) async fn listen(address: SocketAddr) -> Result<(TcpListener, String), ServerError> {
    let refused = |source| ServerError::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    Ok((listener, format!("http://{bound}")))
}

async fn answer(State(api): State<Arc<Api>>, headers: HeaderMap, body: Bytes) -> Response {
    api.answer(&headers, &body).await
}
