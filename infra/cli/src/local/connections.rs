//! What listens on a port that anybody may reach: a bounded number of connections, none of them held by silence.
//!
//! Each connection has one file descriptor. Without a bound those who connect and say nothing take them all, and then
//! not even the table can be opened.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

/// What one listener bears.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; those beyond wait in the system's queue. Default 150: macOS gives a process 256 files.
    pub connections_max: usize,
    /// A connection that has sent no whole head of a request for this long ends, also between two requests. Default 10 s.
    pub head_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 150,
            head_timeout: Duration::from_secs(10),
        }
    }
}

/// Where accepting fails for want of something, it is tried again after this.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Serves until the run is to stop, then until the requests that have begun are answered.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stopped: watch::Receiver<bool>,
    limits: Limits,
) {
    let mut connections = JoinSet::new();
    let mut stop = pin!(super::until(stopped.clone()));
    loop {
        let has_room = connections.len() < limits.connections_max;
        tokio::select! {
            () = &mut stop => break,
            Some(ended) = connections.join_next() => seen(ended),
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, router.clone(), stopped.clone(), limits));
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "no connection can be accepted for a moment");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    while let Some(ended) = connections.join_next().await {
        seen(ended);
    }
}

fn seen(ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        tracing::error!("a request ended in a panic");
    }
}

/// Who connected went away again.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

async fn connection(
    stream: TcpStream,
    router: Router,
    stopped: watch::Receiver<bool>,
    limits: Limits,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout);
    let service = TowerToHyperService::new(router);
    let mut serving = pin!(http.serve_connection(TokioIo::new(stream), service));
    // How a connection ended is the other side's affair: what was asked on it has its own answer and log line.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = super::until(stopped) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const LIMITS: Limits = Limits {
        connections_max: 8,
        head_timeout: Duration::from_millis(400),
    };

    struct Server {
        address: std::net::SocketAddr,
        stop: watch::Sender<bool>,
        serving: JoinSet<()>,
    }

    async fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(1_200)).await;
            "done"
        };
        let router = Router::new()
            .route("/quick", get(async || "here"))
            .route("/slow", get(slow))
            .route(
                "/panics",
                get(async || -> &'static str { panic!("told to") }),
            );
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, router, stopped, LIMITS));
        Server {
            address,
            stop,
            serving,
        }
    }

    impl Server {
        async fn open(&self, sent: &str) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            stream
        }

        async fn get(&self, path: &str) -> String {
            let asked =
                format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
            all(self.open(&asked).await).await
        }
    }

    /// What comes until the other side ends it; it has five seconds.
    async fn all(mut stream: TcpStream) -> String {
        let mut read = Vec::new();
        let reading = stream.read_to_end(&mut read);
        let read_all = tokio::time::timeout(Duration::from_secs(5), reading).await;
        let _ = read_all.expect("the connection ends");
        String::from_utf8(read).unwrap()
    }

    #[tokio::test]
    async fn those_who_say_nothing_do_not_keep_others_out() {
        let server = start().await;
        let mut silent = Vec::new();
        for n in 0..40 {
            let sent = [
                "",
                "GET / HT",
                "GET /quick HTTP/1.1\r\nhost: localhost\r\nx-a: ",
            ][n % 3];
            silent.push(server.open(sent).await);
        }
        assert!(server.get("/quick").await.ends_with("here"));
        for stream in silent {
            all(stream).await;
        }
    }

    #[tokio::test]
    async fn a_connection_is_kept_for_a_next_request_and_not_for_ever() {
        let server = start().await;
        let ask = "GET /quick HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let mut stream = server.open(ask).await;
        tokio::time::sleep(LIMITS.head_timeout / 2).await;
        stream.write_all(ask.as_bytes()).await.unwrap();
        assert_eq!(all(stream).await.matches("200 OK").count(), 2);
    }

    #[tokio::test]
    async fn an_answer_takes_its_time_and_a_panic_ends_one_connection_only() {
        let server = start().await;
        assert_eq!(server.get("/panics").await, "");
        assert!(
            server.get("/slow").await.ends_with("done"),
            "longer than the head may take"
        );
    }

    #[tokio::test]
    async fn a_stop_answers_what_was_asked_and_takes_nothing_new() {
        let mut server = start().await;
        let idle = server.open("").await;
        let slow = server
            .open("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.stop.send(true).unwrap();
        assert_eq!(all(idle).await, "");
        assert!(all(slow).await.ends_with("done"));
        server.serving.join_next().await.unwrap().unwrap();
        assert!(TcpStream::connect(server.address).await.is_err());
    }
}
