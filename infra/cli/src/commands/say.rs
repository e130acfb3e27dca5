//! `recado say`: one burst through the instance that runs, or through one of its own.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::config::settings::{Environment, LocalSettings};
use recado::ports::Clock as _;

use super::{Failure, LOOK_EVERY, PHONE, START_PATIENCE, make, plain_phone, settings};
use crate::client;
use crate::console::print_line;
use crate::local::{self, ChannelName, LocalRun, Secrets, StartError};
use crate::say::{self, Burst};

const NO_PHONE: &str = "this installation answers on WhatsApp and has no phone: write to its number, or add \
                        --ephemeral for a phone that keeps nothing";

#[derive(Debug, Args)]
pub struct SayArguments {
    /// Print one JSON object instead of a timeline.
    #[arg(long)]
    json: bool,
    /// Milliseconds between one message and the next.
    #[arg(long, default_value_t = 0, value_name = "N")]
    gap_ms: u64,
    /// Who writes: a phone with its country code.
    #[arg(long, default_value = "5511900000001", value_name = "P")]
    phone: String,
    /// In a process of its own that keeps nothing.
    #[arg(long)]
    ephemeral: bool,
    /// The messages, one argument each.
    #[arg(required = true, value_name = "TEXT")]
    texts: Vec<String>,
}

pub async fn say(arguments: SayArguments) -> Result<ExitCode, Failure> {
    let settings = settings(true, &PHONE)?;
    let burst = Burst {
        phone: plain_phone(&arguments.phone),
        texts: arguments.texts,
        gap: Duration::from_millis(arguments.gap_ms),
    };
    let tell = |line: &str| {
        if !arguments.json {
            print_line(line);
        }
    };
    let folder = (!arguments.ephemeral).then(|| settings.data_dir.clone());
    let said = match instance(&settings, folder).await? {
        Instance::Running(url) => say::say(&url, &burst, tell).await?,
        Instance::Own(run) => {
            let said = say::say(run.url(), &burst, tell).await;
            run.stop().await?;
            said?
        }
    };
    print_line(&if arguments.json {
        said.json()
    } else {
        said.ending()
    });
    Ok(if said.is_whole() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Through what a burst goes.
enum Instance {
    /// The one that runs on the folder, at its address.
    Running(String),
    /// One of its own.
    Own(Box<LocalRun>),
}

/// The instance that runs on this folder, or a new one. Of two that start at once, one has the folder first and leaves
/// its address a moment later, so that is waited for.
async fn instance(settings: &LocalSettings, folder: Option<PathBuf>) -> Result<Instance, Failure> {
    let deadline = SystemClock.now().plus(START_PATIENCE);
    loop {
        if let Some(folder) = &folder
            && let Some(running) = client::running(folder).await
        {
            if running.channel != ChannelName::Phone.as_str() {
                return Err(NO_PHONE.into());
            }
            return Ok(Instance::Running(running.url));
        }
        let asked = Environment::of_process();
        if folder.is_some() && asked.get("RECADO_CHANNEL") == Some(ChannelName::Meta.as_str()) {
            return Err(NO_PHONE.into());
        }
        let channel = local::Channel::Phone(Secrets::random(SystemChance));
        let options = make(settings, local::loopback(0), folder.clone(), channel).await?;
        match LocalRun::start(options).await {
            Err(StartError::SecondProcess(_)) if SystemClock.now() < deadline => {
                SystemClock.sleep(LOOK_EVERY).await;
            }
            started => return Ok(Instance::Own(Box::new(started?))),
        }
    }
}
