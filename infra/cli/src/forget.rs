//! `recado forget`: asks the running instance who knows a person, and to forget them.

use serde_json::Value;

use crate::client;
use crate::commands::Failure;

/// Asks the instance at `url` to forget the person of this phone (or BSUID), for one agent or for all. Yields a
/// sentence.
pub async fn forget(url: &str, phone: &str, agent: Option<&str>) -> Result<String, Failure> {
    let address = address(url, &["people", phone, "forget"], agent)?;
    let answer = client::ask(client::client()?.post(address)).await?;
    let others = answer["others"].as_array().into_iter().flatten();
    let others: Vec<&str> = others.filter_map(Value::as_str).collect();
    let items = answer["forgotten"].as_u64().unwrap_or_default();
    Ok(sentence(items, &others))
}

/// Asks it which agents know the person, and changes nothing. Yields a sentence.
pub async fn known(url: &str, phone: &str, agent: Option<&str>) -> Result<String, Failure> {
    let address = address(url, &["people", phone], agent)?;
    let answer = client::ask(client::client()?.get(address)).await?;
    let agents = answer["agents"].as_array().into_iter().flatten();
    Ok(question(
        agents.filter_map(Value::as_str).map(str::to_owned),
    ))
}

fn address(url: &str, parts: &[&str], agent: Option<&str>) -> Result<reqwest::Url, Failure> {
    let mut address = reqwest::Url::parse(url)?;
    if let Ok(mut path) = address.path_segments_mut() {
        path.extend(parts);
    }
    if let Some(agent) = agent {
        address.query_pairs_mut().append_pair("agent", agent);
    }
    Ok(address)
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

/// What would be done, where these agents know the person.
pub fn question(agents: impl Iterator<Item = String>) -> String {
    let agents: Vec<String> = agents.collect();
    format!(
        "This person is known to: {}. Add --yes to delete every message, answer, fact and summary of them there. \
         Nothing brings it back.",
        agents.join(", ")
    )
}
