//! `recado forget`: everything about a person goes.

use crate::client;
use crate::commands::Failure;

/// Asks the instance at `url` to forget the person of this phone. Yields a sentence.
pub async fn forget(url: &str, phone: &str) -> Result<String, Failure> {
    let mut address = reqwest::Url::parse(url)?;
    if let Ok(mut path) = address.path_segments_mut() {
        path.extend(["people", phone, "forget"]);
    }
    let answer = client::ask(client::client()?.post(address)).await?;
    let items = answer["forgotten"].as_u64().unwrap_or_default();
    Ok(format!(
        "Forgotten: {items} items besides the state. What was already sent, the provider's and the model's own \
         copies and the phone's log are outside."
    ))
}
