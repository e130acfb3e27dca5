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
    let others = answer["others"].as_array().into_iter().flatten();
    let others: Vec<&str> = others.filter_map(serde_json::Value::as_str).collect();
    let items = answer["forgotten"].as_u64().unwrap_or_default();
    Ok(sentence(items, &others))
}

/// What was done, what is outside, and whom it may have left: memories of other ids that once came in one message with
/// this person's are nobody's to merge, and the operator's to forget too.
pub fn sentence(items: u64, others: &[&str]) -> String {
    let mut told = format!(
        "Forgotten: {items} items besides the state. What was already sent, the provider's and the model's own \
         copies and the phone's log are outside."
    );
    for other in others {
        told.push_str("\nAnother memory came together with this one in a message and is still there: recado forget --phone ");
        told.push_str(other);
        told.push_str(" --yes");
    }
    told
}
