//! Invoking a function over HTTP, at Lambda's own endpoint: what `cargo lambda watch` serves.

use async_trait::async_trait;
use serde_json::Value;

use super::{Invoke, InvokeError};

/// A function behind a Lambda Invoke endpoint.
#[derive(Clone, Debug)]
pub struct HttpInvoke {
    client: reqwest::Client,
    url: String,
}

impl HttpInvoke {
    /// The function of this name at this endpoint (such as `http://127.0.0.1:9000`).
    pub fn new(client: reqwest::Client, endpoint: &str, function: &str) -> Self {
        let endpoint = endpoint.trim_end_matches('/');
        let url = format!("{endpoint}/2015-03-31/functions/{function}/invocations");
        Self { client, url }
    }
}

#[async_trait]
impl Invoke for HttpInvoke {
    async fn invoke(&self, event: Value) -> Result<Value, InvokeError> {
        let unreachable = |error: reqwest::Error| InvokeError::Unreachable(reason(error));
        let response = self
            .client
            .post(&self.url)
            .json(&event)
            .send()
            .await
            .map_err(unreachable)?;
        let status = response.status();
        let function_error = response.headers().get("x-amz-function-error").cloned();
        let body = response.bytes().await.map_err(unreachable)?;
        if let Some(kind) = function_error {
            // The body may quote a message: only its kind is told.
            return Err(InvokeError::Function(
                kind.to_str().unwrap_or("unnamed").to_owned(),
            ));
        }
        if !status.is_success() {
            return Err(InvokeError::Unreachable(format!(
                "status {}",
                status.as_u16()
            )));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body)
            .map_err(|_| InvokeError::Function("its answer is not JSON".to_owned()))
    }
}

/// The error and its causes in a line, without the URL.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut line = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        line = format!("{line}: {error}");
        cause = error.source();
    }
    line
}
