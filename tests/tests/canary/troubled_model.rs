//! Models in trouble: one panics over somebody's words, one is not there, one answers errors that quote what it was
//! asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use recado::adapters::demo::DemoModel;
use recado::adapters::models::{Endpoint, FixedKey, HttpModel};
use recado::domain::{ModelReply, Prompt, Provider};
use recado::error::ModelError;
use recado::ports::Model;
use recado_tests::local_server::serve;
use tokio::net::TcpListener;

/// The word in a message that decides what becomes of it.
pub const PANIC: &str = "entre em pânico";
/// See [`PANIC`].
pub const REFUSED: &str = "conexão recusada";
/// See [`PANIC`].
pub const FAILING: &str = "responda com erro";

/// Chooses by what it is asked.
pub struct TroubledModel {
    refused: HttpModel,
    failing: HttpModel,
    demo: DemoModel,
}

impl TroubledModel {
    /// With a server of its own whose errors quote `words`.
    pub async fn start(words: &'static str) -> Self {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nowhere = closed.local_addr().unwrap();
        drop(closed);
        let asked = Arc::new(AtomicUsize::new(0));
        let router = Router::new()
            .fallback(move |State(asked): State<Arc<AtomicUsize>>| async move {
                answer(asked.fetch_add(1, Ordering::SeqCst), words)
            })
            .with_state(asked);
        let failing = serve(router).await;
        Self {
            refused: api(&format!("http://{nowhere}/v1")),
            failing: api(&format!("{failing}/v1")),
            demo: DemoModel::new(Duration::from_millis(20)),
        }
    }
}

fn api(base: &str) -> HttpModel {
    let endpoint = Endpoint {
        provider: Provider::OpenAi,
        base: base.to_owned(),
        key: Some(Arc::new(FixedKey("no key".to_owned()))),
    };
    HttpModel::new(endpoint).unwrap()
}

/// Each time another kind of trouble.
fn answer(n: usize, words: &str) -> impl IntoResponse + use<> {
    let error = format!(
        r#"{{"error":{{"message":"{words}","type":"{words}","code":"{words}","param":"{words}"}}}}"#
    );
    match n % 5 {
        0 => (StatusCode::INTERNAL_SERVER_ERROR, error),
        1 => (StatusCode::OK, words.to_owned()),
        2 => (StatusCode::OK, error),
        3 => (StatusCode::BAD_REQUEST, error),
        _ => (StatusCode::TOO_MANY_REQUESTS, error),
    }
}

#[async_trait]
impl Model for TroubledModel {
    async fn converse(
        &self,
        model: &str,
        prompt: &Prompt,
        timeout: Duration,
    ) -> Result<ModelReply, ModelError> {
        let words = prompt.last.join(" ");
        assert!(!words.contains(PANIC), "over {words}");
        if words.contains(REFUSED) {
            self.refused.converse(model, prompt, timeout).await
        } else if words.contains(FAILING) {
            self.failing.converse(model, prompt, timeout).await
        } else {
            self.demo.converse(model, prompt, timeout).await
        }
    }
}
