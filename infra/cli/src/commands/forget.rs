//! `recado forget`: everything about a person goes, where they are known and it is meant.

use std::process::ExitCode;

use clap::Args;
use recado::adapters::clock::SystemClock;
use recado::config::settings::LocalSettings;
use recado::domain::Alias;
use recado::ports::Clock as _;

use super::{Failure, LOOK_EVERY, PHONE, START_PATIENCE, agents, plain_phone, settings};
use crate::console::print_line;
use crate::local::StartError;
use crate::local::offline::{self, OfflineError};
use crate::{client, forget};

#[derive(Debug, Args)]
pub struct ForgetArguments {
    /// Whom: a phone with its country code, or the BSUID of a person without one.
    #[arg(long, value_name = "P")]
    phone: String,
    /// Only what this agent knows; without it what every agent knows.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Do it; without this it only says who knows the person.
    #[arg(long)]
    yes: bool,
}

pub async fn forget(arguments: ForgetArguments) -> Result<ExitCode, Failure> {
    // It sends nothing, so it needs no secrets of a channel.
    let settings = settings(true, &PHONE)?;
    let deadline = SystemClock.now().plus(START_PATIENCE);
    let sentence = loop {
        match once(&settings, &arguments).await {
            // Another process has just taken the folder; a moment later it can be asked.
            Err(error) if is_taken(&error) && SystemClock.now() < deadline => {
                SystemClock.sleep(LOOK_EVERY).await;
            }
            sentence => break sentence?,
        }
    };
    print_line(&sentence);
    Ok(ExitCode::SUCCESS)
}

async fn once(settings: &LocalSettings, arguments: &ForgetArguments) -> Result<String, Failure> {
    let phone = &plain_phone(&arguments.phone);
    let agent = arguments.agent.as_deref();
    if let Some(instance) = client::running(&settings.data_dir).await {
        return if arguments.yes {
            forget::forget(&instance.url, phone, agent).await
        } else {
            forget::known(&instance.url, phone, agent).await
        };
    }
    let (folder, agents) = (&settings.data_dir, agents(settings)?);
    Ok(if arguments.yes {
        let gone = offline::forget(folder, agents, phone, agent).await?;
        let others: Vec<&str> = gone.others.iter().map(Alias::as_str).collect();
        forget::sentence(gone.items, &others)
    } else {
        let knowing = offline::known(folder, agents, phone, agent).await?;
        forget::question(knowing.iter().map(ToString::to_string))
    })
}

fn is_taken(error: &Failure) -> bool {
    matches!(
        error.downcast_ref(),
        Some(OfflineError::Start(StartError::SecondProcess(_)))
    )
}
