//! The commands and what each is given. Exit codes: 0 done, 1 it failed or a check found mistakes, 2 wrong arguments.

mod bench;
mod run;

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::adapters::demo::DemoModel;
use recado::adapters::logging::{self, Form};
use recado::adapters::openai::{FixedKey, OpenAiModel, OpenAiSettings};
use recado::config::agent_file;
use recado::config::roster::Roster;
use recado::config::settings::{Environment, LocalSettings, ModelAccess, SettingsError};
use recado::domain::Alias;
use recado::ports::{Clock as _, Model};

use crate::aws::{self, Data};
use crate::local::{self, ChannelName, LocalRun, Options, Secrets};
use crate::say::{self, Burst};
use crate::watch::Watch;
use crate::{client, forget};
use bench::BenchCommand;
use run::RunArguments;

/// Any failure that ends a command.
pub type Failure = Box<dyn Error + Send + Sync>;

/// How long the demo model pretends to think.
const DEMO_LATENCY: Duration = Duration::from_millis(300);

/// An AI agent on WhatsApp that waits until a thought is finished, remembers, and answers once.
#[derive(Debug, Parser)]
#[command(name = "recado", version, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start everything in this process, for the built-in phone or for WhatsApp (what happens without a command).
    Run(RunArguments),
    /// Write one burst of messages and wait for the answer.
    Say(SayArguments),
    /// Check an agent file: every mistake with its line.
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Forget everything about a person.
    Forget(ForgetArguments),
    /// Serve the local AWS alone: DynamoDB and SQS on one port.
    Aws(AwsArguments),
    /// Measure the policies on a virtual clock.
    Bench {
        #[command(subcommand)]
        command: BenchCommand,
    },
}

#[derive(Debug, Args)]
struct SayArguments {
    /// Print one JSON object instead of a timeline.
    #[arg(long)]
    json: bool,
    /// Milliseconds between one message and the next.
    #[arg(long, default_value_t = 0, value_name = "N")]
    gap_ms: u64,
    /// Who writes: digits with the country code.
    #[arg(long, default_value = "5511900000001", value_name = "P")]
    phone: String,
    /// In a process of its own that keeps nothing.
    #[arg(long)]
    ephemeral: bool,
    /// The messages, one argument each.
    #[arg(required = true, value_name = "TEXT")]
    texts: Vec<String>,
}

#[derive(Debug, Args)]
struct ForgetArguments {
    /// Whom: digits with the country code, or the BSUID of a person without a phone.
    #[arg(long, value_name = "P")]
    phone: String,
    /// Only what this agent knows; without it what every agent knows.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Do it; without this it only says what would be done.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
struct AwsArguments {
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 8788)]
    port: u16,
    /// Keep the tables in this file; without it they are gone at the end.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Make table and queues, and call the functions that `cargo lambda watch` serves at this address
    /// (`http://127.0.0.1:9000`) as event source mappings and the schedule do on AWS.
    #[arg(long, value_name = "URL")]
    watch: Option<String>,
}

#[derive(Debug, Subcommand)]
enum AgentCommand {
    /// Tell every mistake of a file with its line; exit code 1 where there is one.
    Check {
        /// The agent file (TOML).
        file: PathBuf,
    },
}

/// Performs a command.
pub async fn perform(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command.unwrap_or(Command::Run(arguments.run)) {
        Command::Run(arguments) => run::run(arguments).await,
        Command::Say(arguments) => say(arguments).await,
        Command::Agent {
            command: AgentCommand::Check { file },
        } => check(&file),
        Command::Forget(arguments) => forget(arguments).await,
        Command::Aws(arguments) => serve_aws(arguments).await,
        Command::Bench { command } => bench::bench(command),
    }
}

/// Prints why a command failed: one line, or one for each mistake in the settings.
pub fn complain(error: &(dyn Error + 'static)) {
    if let Some(settings) = error.downcast_ref::<SettingsError>() {
        for line in &settings.lines {
            print_error(&format!("recado: {line}"));
        }
        return;
    }
    let mut line = format!("recado: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        line = format!("{line}: {cause}");
        source = cause.source();
    }
    print_error(&line);
}

/// What the command line says in the place of the environment.
#[derive(Default)]
struct Given {
    channel: Option<&'static str>,
    /// Variables that begin so do not concern the command.
    without: Option<&'static str>,
}

/// Settings, with their warnings shown and the log begun; a `quiet` command logs warnings only, unless asked for more.
fn settings(quiet: bool, given: &Given) -> Result<LocalSettings, Failure> {
    let mut environment = Environment::of_process();
    if let Some(channel) = given.channel {
        environment = environment.with("RECADO_CHANNEL", channel);
    }
    if let Some(prefix) = given.without {
        environment = environment.without(prefix);
    }
    let settings = LocalSettings::read(&environment)?;
    // A command that prints what it found out is not to be drowned in what usually goes well.
    let is_asked = environment.get("RECADO_LOG").is_some();
    let filter = if quiet && !is_asked {
        "warn"
    } else {
        &settings.log
    };
    logging::init(Form::Text, Some(filter));
    for warning in &settings.warnings {
        print_error(&format!("recado: {warning}"));
    }
    Ok(settings)
}

/// What a process is made of.
fn make(
    settings: &LocalSettings,
    listen: SocketAddr,
    folder: Option<PathBuf>,
    channel: local::Channel,
) -> Result<Options, Failure> {
    let model: Arc<dyn Model> = match &settings.model {
        ModelAccess::Demo => Arc::new(DemoModel::new(DEMO_LATENCY)),
        ModelAccess::Api { base_url, key } => {
            let access = OpenAiSettings {
                base: base_url.clone(),
                ..OpenAiSettings::default()
            };
            Arc::new(OpenAiModel::new(
                &access,
                Arc::new(FixedKey(key.reveal().to_owned())),
            )?)
        }
    };
    Ok(Options {
        listen,
        folder,
        agents: agents(settings)?,
        model,
        channel,
    })
}

fn agents(settings: &LocalSettings) -> Result<Arc<Roster>, SettingsError> {
    let agents = Roster::load(&settings.agent_files, &settings.overrides);
    Ok(Arc::new(agents.map_err(|lines| SettingsError { lines })?))
}

/// `say` and the phone have nothing to do with real people.
const PHONE: Given = Given {
    channel: Some("phone"),
    without: Some("RECADO_META_"),
};
const NO_PHONE: &str = "this installation answers on WhatsApp and has no phone: write to its number, or add \
                        --ephemeral for a phone that keeps nothing";

async fn say(arguments: SayArguments) -> Result<ExitCode, Failure> {
    let settings = settings(true, &PHONE)?;
    let burst = Burst {
        phone: arguments.phone,
        texts: arguments.texts,
        gap: Duration::from_millis(arguments.gap_ms),
    };
    let folder = (!arguments.ephemeral).then(|| settings.data_dir.clone());
    let running = match &folder {
        Some(folder) => client::running(folder).await,
        None => None,
    };
    let said = if let Some(instance) = running {
        if instance.channel != ChannelName::Phone.as_str() {
            return Err(NO_PHONE.into());
        }
        say::say(&instance.url, &burst).await?
    } else {
        let asked = Environment::of_process();
        if folder.is_some() && asked.get("RECADO_CHANNEL") == Some(ChannelName::Meta.as_str()) {
            return Err(NO_PHONE.into());
        }
        let channel = local::Channel::Phone(Secrets::random(SystemChance));
        let options = make(&settings, local::loopback(0), folder, channel)?;
        let run = LocalRun::start(options).await?;
        let said = say::say(run.url(), &burst).await;
        run.stop().await?;
        said?
    };
    print_line(&if arguments.json {
        said.json()
    } else {
        said.timeline()
    });
    Ok(if said.is_whole() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn forget(arguments: ForgetArguments) -> Result<ExitCode, Failure> {
    if !arguments.yes {
        print_line(
            "This deletes every message, answer, fact and summary of this person, for every agent or for the one of \
             --agent. Nothing brings it back. Add --yes to do it.",
        );
        return Ok(ExitCode::SUCCESS);
    }
    // It sends nothing, so it needs no secrets of a channel.
    let settings = settings(true, &PHONE)?;
    let (phone, agent) = (&arguments.phone, arguments.agent.as_deref());
    let forgotten = if let Some(instance) = client::running(&settings.data_dir).await {
        forget::forget(&instance.url, phone, agent).await?
    } else {
        let agents = agents(&settings)?;
        let gone = local::offline::forget(&settings.data_dir, agents, phone, agent).await?;
        {
            let others: Vec<&str> = gone.others.iter().map(Alias::as_str).collect();
            forget::sentence(gone.items, &others)
        }
    };
    print_line(&forgotten);
    Ok(ExitCode::SUCCESS)
}

fn check(file: &std::path::Path) -> Result<ExitCode, Failure> {
    let label = file.display().to_string();
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{label} cannot be read as UTF-8 text: {error}"))?;
    let (report, is_right) = agent_file::check_report(&label, &text);
    print_line(report.trim_end());
    Ok(if is_right {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn serve_aws(arguments: AwsArguments) -> Result<ExitCode, Failure> {
    let window = if arguments.watch.is_some() {
        agents(&settings(false, &Given::default())?)?.window_min()
    } else {
        logging::init(Form::Text, None);
        Duration::ZERO
    };
    let data = arguments.file.map_or(Data::Memory, Data::File);
    let aws = aws::serve(arguments.port, &data, Arc::new(|| SystemClock.now().ms())).await?;
    print_line(&format!(
        "The local AWS is ready: {} (DynamoDB and SQS)",
        aws.url()
    ));
    print_line(&format!(
        "  export AWS_ENDPOINT_URL={} AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local",
        aws.url()
    ));
    let Some(endpoint) = arguments.watch else {
        aws.run(stop_signal()).await?;
        return Ok(ExitCode::SUCCESS);
    };
    let watch = Watch::start(&aws, &endpoint, window).await?;
    for line in watch.environment() {
        print_line(&format!("  export {line}"));
    }
    let stopped = aws.run(stop_signal()).await;
    watch.stop().await;
    stopped?;
    Ok(ExitCode::SUCCESS)
}

/// Resolves at Ctrl-C, and at the signal that a service manager sends.
async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}

#[expect(clippy::print_stdout, reason = "what a command has to say")]
fn print_line(line: &str) {
    println!("{line}");
}

#[expect(clippy::print_stderr, reason = "what a command has to complain of")]
fn print_error(line: &str) {
    eprintln!("{line}");
}
