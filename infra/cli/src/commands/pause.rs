//! `recado pause` and `recado resume`: a human takes a person over from the agent, and gives them back.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use recado::adapters::clock::SystemClock;
use recado::domain::Timestamp;
use recado::ports::Clock as _;
use serde_json::Value;

use super::{Failure, PHONE, agents, plain_phone, settings};
use crate::client;
use crate::console::print_line;
use crate::local::offline;

#[derive(Debug, Args)]
pub struct PauseArguments {
    #[command(flatten)]
    whom: ResumeArguments,
    /// For how long, in hours.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=720))]
    hours: u32,
}

#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// Whom: a phone with its country code, or the BSUID of a person without one.
    #[arg(long, value_name = "P")]
    phone: String,
    /// Only for this agent; without it for every agent that knows them.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

pub async fn pause(arguments: PauseArguments) -> Result<ExitCode, Failure> {
    let hours = Duration::from_hours(u64::from(arguments.hours));
    let agents = set(&arguments.whom, Some(SystemClock.now().plus(hours))).await?;
    print_line(&format!(
        "{agents}: quiet with this person for {} h, or until recado resume. What they write meanwhile is not answered.",
        arguments.hours
    ));
    Ok(ExitCode::SUCCESS)
}

pub async fn resume(arguments: ResumeArguments) -> Result<ExitCode, Failure> {
    let agents = set(&arguments, None).await?;
    print_line(&format!(
        "{agents}: answers this person again, from their next message on."
    ));
    Ok(ExitCode::SUCCESS)
}

/// Yields the agents that know the person, by name.
async fn set(whom: &ResumeArguments, until: Option<Timestamp>) -> Result<String, Failure> {
    // It sends nothing, so it needs no secrets of a channel.
    let settings = settings(true, &PHONE)?;
    let phone = plain_phone(&whom.phone);
    let agent = whom.agent.as_deref();
    let Some(instance) = client::running(&settings.data_dir).await else {
        let (folder, agents) = (&settings.data_dir, agents(&settings)?);
        let knowing = offline::pause(folder, agents, (&phone, agent), until).await?;
        let names: Vec<String> = knowing.iter().map(ToString::to_string).collect();
        return Ok(names.join(", "));
    };
    let mut address = reqwest::Url::parse(&instance.url)?;
    if let Ok(mut path) = address.path_segments_mut() {
        path.extend(["people", &phone, "pause"]);
    }
    let until = until.map(|until| until.ms().to_string());
    let asked = [("agent", agent), ("until", until.as_deref())];
    for (name, value) in asked {
        if let Some(value) = value {
            address.query_pairs_mut().append_pair(name, value);
        }
    }
    let answer = client::ask(client::client()?.post(address)).await?;
    let knowing = answer["agents"].as_array().into_iter().flatten();
    let names: Vec<&str> = knowing.filter_map(Value::as_str).collect();
    Ok(names.join(", "))
}
