//! `recado forget`: everything about a person goes.

use crate::client;
use crate::commands::Failure;

/// Asks the instance at `url` to forget the person of this phone (or BSUID), for one agent or for all. Yields a
/// sentence.
pub async fn forget(url: &str, phone: &str, agent: Option<&str>) -> Result<String, Failure> {
    let mut address = reqwest::Url::parse(url)?;
    if let Ok(mut path) = address.path_segments_mut() {
        path.extend(["people", phone, "forget"]);
    }
    if let Some(agent) = agent {
        address.query_pairs_mut().append_pair("agent", agent);
    }
    let answer = client::ask(client::client()?.post(address)).await?;
    Ok(sentence(answer["forgotten"].as_u64().unwrap_or_default()))
}

/// What was done, and what is outside.
pub fn sentence(items: u64) -> String {
    format!(
        "Forgotten: {items} items besides the state. What was already sent, the provider's and the model's own \
         copies and the phone's log are outside."
    )
}
