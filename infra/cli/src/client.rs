//! How a command finds the running instance of a data folder and talks to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use crate::commands::Failure;

/// A running instance answers at once, or it is not there.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// Where a running instance leaves its address.
pub fn address_file(folder: &Path) -> PathBuf {
    folder.join("recado.url")
}

/// An instance that runs.
pub struct Running {
    /// Where it answers to commands.
    pub url: String,
    /// `phone` or `meta`.
    pub channel: String,
}

/// The instance that runs on this folder, if one does.
pub async fn running(folder: &Path) -> Option<Running> {
    let url = std::fs::read_to_string(address_file(folder)).ok()?;
    let url = url.trim().to_owned();
    let client = client().ok()?;
    let health = client
        .get(format!("{url}/health"))
        .timeout(HEALTH_TIMEOUT)
        .send()
        .await
        .ok()?;
    let answer: Value = health.json().await.ok()?;
    // A file left by a process that was killed may name a port that something else has now.
    let folder = folder.canonicalize().ok()?;
    let is_ours = answer["folder"] == folder.to_string_lossy().as_ref();
    let channel = answer["channel"].as_str().unwrap_or("phone").to_owned();
    is_ours.then_some(Running { url, channel })
}

/// A client for this machine: no proxy set for the outside world.
pub fn client() -> Result<reqwest::Client, Failure> {
    Ok(reqwest::Client::builder().no_proxy().build()?)
}

/// Sends a request and reads its answer. An address can hold a phone, so an error does not tell it.
pub async fn ask(request: reqwest::RequestBuilder) -> Result<Value, Failure> {
    let answer = request.send().await;
    read(answer.map_err(|error| gone(&error))?).await
}

fn gone(error: &reqwest::Error) -> Failure {
    let how = if error.is_connect() {
        "does not listen any more"
    } else {
        "ended in the middle of an answer"
    };
    format!("the running instance {how}; what was written goes on at its next start").into()
}

/// The JSON of an answer; anything but 2xx is an error with the sentence it came with.
async fn read(response: reqwest::Response) -> Result<Value, Failure> {
    let status = response.status();
    let answer: Value = response.json().await.unwrap_or_default();
    if status.is_success() {
        return Ok(answer);
    }
    let sentence = answer["error"].as_str().unwrap_or(match status {
        StatusCode::NOT_FOUND => "not found",
        _ => "the running instance refused",
    });
    Err(sentence.to_owned().into())
}
