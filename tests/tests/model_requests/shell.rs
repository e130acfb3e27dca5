//! The client against a small server on this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use recado::adapters::models::{ApiKey, Endpoint, FixedKey, HttpModel};
use recado::domain::Provider;
use recado::error::{ModelError, ModelErrorClass, Source};
use recado::ports::Model;
use recado_tests::local_server;
use serde_json::json;

/// What the server saw: the authorization header of each request.
type Seen = Arc<Mutex<Vec<String>>>;

/// Answers with `status` unless the key is `new`.
async fn serve(refused: StatusCode) -> (String, Seen) {
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let answer = move |headers: HeaderMap, body: String| async move {
        let key = headers["authorization"].to_str().unwrap().to_owned();
        noted.lock().unwrap().push(key.clone());
        if body.contains("devagar") {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        if key != "Bearer new" {
            return (
                refused,
                json!({"error": {"message": "sk-old is wrong"}}).to_string(),
            );
        }
        let output =
            json!([{"type": "message", "content": [{"type": "output_text", "text": "Oi!"}]}]);
        let reply = json!({"status": "completed", "model": "gpt-x", "output": output});
        (StatusCode::OK, reply.to_string())
    };
    let url = local_server::serve(Router::new().route("/v1/responses", post(answer))).await;
    (format!("{url}/v1/"), seen)
}

/// A secret that was replaced: `old` until someone asks again.
struct Rotated;

#[async_trait]
impl ApiKey for Rotated {
    async fn current(&self) -> Result<Option<String>, Source> {
        Ok(Some("old".to_owned()))
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source> {
        assert_eq!(refused, "old");
        Ok(Some("new".to_owned()))
    }
}

fn endpoint(base: &str, key: Arc<dyn ApiKey>) -> Endpoint {
    Endpoint {
        provider: Provider::OpenAi,
        base: base.to_owned(),
        key: Some(key),
    }
}

async fn asked(
    base: &str,
    key: Arc<dyn ApiKey>,
    said: &str,
    timeout: Duration,
) -> Result<String, ModelError> {
    let model = HttpModel::new(endpoint(base, key)).unwrap();
    let mut prompt = super::shapes::first();
    prompt.last = vec![said.to_owned()];
    model
        .converse("gpt-sample", &prompt, timeout)
        .await
        .map(|reply| reply.text)
}

const LONG: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_replaced_key_is_read_again_once() {
    let (base, seen) = serve(StatusCode::UNAUTHORIZED).await;
    assert_eq!(
        asked(&base, Arc::new(Rotated), "oi", LONG).await.unwrap(),
        "Oi!"
    );
    assert_eq!(*seen.lock().unwrap(), ["Bearer old", "Bearer new"]);
}

#[tokio::test]
async fn a_key_that_stays_wrong_is_not_tried_again() {
    let (base, seen) = serve(StatusCode::UNAUTHORIZED).await;
    let error = asked(&base, Arc::new(FixedKey("old".to_owned())), "oi", LONG)
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Auth);
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_failure_of_the_provider_is_asked_once_and_told_without_its_words() {
    let (base, seen) = serve(StatusCode::BAD_GATEWAY).await;
    let error = asked(&base, Arc::new(FixedKey("old".to_owned())), "oi", LONG)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "model call failed (Transient): status 502, from openai"
    );
    assert_eq!(
        seen.lock().unwrap().len(),
        1,
        "the ladder of attempts is elsewhere"
    );
}

#[tokio::test]
async fn a_slow_answer_is_given_up() {
    let (base, _) = serve(StatusCode::OK).await;
    let key = Arc::new(FixedKey("new".to_owned()));
    let error = asked(&base, key, "devagar", Duration::from_millis(200))
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Transient);
}

#[tokio::test]
async fn no_server_is_transient_and_its_address_stays_untold() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let key = Arc::new(FixedKey("sk-secret".to_owned()));
    let error = asked(&format!("http://{address}"), key, "oi", LONG)
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Transient);
    let told = format!("{error} {error:?}");
    assert!(
        !told.contains(&address.to_string())
            && !told.contains("sk-secret")
            && !told.contains("responses")
    );
}

#[test]
fn a_base_that_is_no_address_is_refused() {
    for base in ["", "api.openai.com/v1", "ftp://x/v1", "http://"] {
        let endpoint = endpoint(base, Arc::new(FixedKey(String::new())));
        assert!(HttpModel::new(endpoint).is_err(), "{base}");
    }
}
