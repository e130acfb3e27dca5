//! The commands and what each is given. Exit codes: 0 done, 1 it failed or a check found mistakes, 2 wrong arguments.

mod bench;
mod forget;
mod ledger;
mod pause;
mod run;
mod say;

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use aws_config::BehaviorVersion;
use clap::{Args, Parser, Subcommand};
use recado::adapters::clock;
use recado::adapters::demo::DemoModel;
use recado::adapters::logging::{self, Form};
use recado::adapters::models::{ApiKey, Endpoint, FixedKey, RoutedModel};
use recado::adapters::toolbox::secrets::FixedToolSecrets;
use recado::config::agent_file;
use recado::config::roster::{self, Roster};
use recado::config::settings::{
    Environment, LocalSettings, ModelAccess, ModelSettings, SettingsError,
};
use recado::ports::Model;

use crate::aws::{self, Data};
use crate::console::{print_error, print_line};
use crate::local::{self, Options, ToolAccess};
use crate::watch::Watch;
use bench::BenchCommand;
use forget::ForgetArguments;
use ledger::LedgerArguments;
use pause::{PauseArguments, ResumeArguments};
use run::RunArguments;
use say::SayArguments;

/// Any failure that ends a command.
pub type Failure = Box<dyn Error + Send + Sync>;

/// An instance that has taken its folder leaves its address there within this time.
const START_PATIENCE: Duration = Duration::from_secs(3);
/// How often that is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);
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
    /// Take a person over: the agent keeps quiet with them for a while.
    Pause(PauseArguments),
    /// Give a person back to the agent.
    Resume(ResumeArguments),
    /// Tell what models and messages have cost.
    Ledger(LedgerArguments),
    /// Serve the local AWS alone: DynamoDB and SQS on one port.
    Aws(AwsArguments),
    /// Measure the policies on a virtual clock, or on written examples.
    Bench {
        #[command(subcommand)]
        command: BenchCommand,
    },
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
        Command::Say(arguments) => say::say(arguments).await,
        Command::Agent {
            command: AgentCommand::Check { file },
        } => check(&file),
        Command::Forget(arguments) => forget::forget(arguments).await,
        Command::Pause(arguments) => pause::pause(arguments).await,
        Command::Resume(arguments) => pause::resume(arguments).await,
        Command::Ledger(arguments) => ledger::ledger(arguments).await,
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
    /// Nothing is kept, so no folder has to be named for it.
    is_ephemeral: bool,
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
    if given.is_ephemeral {
        environment = environment.with("RECADO_DATA_DIR", "none");
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
async fn make(
    settings: &LocalSettings,
    listen: SocketAddr,
    folder: Option<PathBuf>,
    channel: local::Channel,
) -> Result<Options, Failure> {
    let agents = agents(settings)?;
    let model: Arc<dyn Model> = match &settings.model {
        ModelAccess::Demo => Arc::new(DemoModel::new(DEMO_LATENCY)),
        ModelAccess::Providers(models) => {
            let lines = models.lacking(&agents);
            if !lines.is_empty() {
                return Err(SettingsError { lines }.into());
            }
            for warning in agents.warnings() {
                print_error(&format!("recado: {warning}"));
            }
            Arc::new(routed(models)?)
        }
    };
    let tools = tool_access(settings, &agents).await?;
    Ok(Options {
        listen,
        folder,
        agents,
        model,
        tools,
        channel,
    })
}

fn routed(models: &ModelSettings) -> Result<RoutedModel, Failure> {
    let endpoints = models.providers.iter().map(|(provider, settings)| {
        let key = settings.key.as_ref().map(|key| {
            let key = FixedKey(key.reveal().to_owned());
            Arc::new(key) as Arc<dyn ApiKey>
        });
        Endpoint {
            provider: *provider,
            base: settings.base_url.clone(),
            key,
        }
    });
    Ok(RoutedModel::new(models.default, endpoints.collect())?)
}

/// What the tools of these agents need; an error names each secret that is missing.
async fn tool_access(
    settings: &LocalSettings,
    agents: &Roster,
) -> Result<ToolAccess, SettingsError> {
    let needed = agents.tool_secrets();
    let given = &settings.tool_secrets;
    let missing = needed.iter().filter(|(_, name)| !given.contains_key(name));
    let lines: Vec<String> = missing
        .map(|(tool, name)| {
            format!("RECADO_SECRET_{name}: is not set, and the tool {tool} sends it; for instance RECADO_SECRET_{name}=…")
        })
        .collect();
    if !lines.is_empty() {
        return Err(SettingsError { lines });
    }
    for name in given.keys() {
        if !needed.iter().any(|(_, needed)| needed == name) {
            print_error(&format!(
                "recado: RECADO_SECRET_{name}: no tool of any agent sends this secret"
            ));
        }
    }
    let secrets = given
        .iter()
        .map(|(name, secret)| (name.clone(), secret.reveal().to_owned()));
    // Looking for credentials takes a while where there are none.
    let lambda = if agents.has_lambda_tools() {
        Some(aws_config::defaults(BehaviorVersion::latest()).load().await)
    } else {
        None
    };
    Ok(ToolAccess {
        secrets: FixedToolSecrets::new(secrets),
        lambda,
    })
}

fn agents(settings: &LocalSettings) -> Result<Arc<Roster>, SettingsError> {
    let agents = Roster::load(&settings.agent_files, &settings.overrides);
    Ok(Arc::new(agents.map_err(|lines| SettingsError { lines })?))
}

/// `say` and the phone have nothing to do with real people.
const PHONE: Given = Given {
    channel: Some("phone"),
    is_ephemeral: false,
    without: Some("RECADO_META_"),
};

fn check(file: &Path) -> Result<ExitCode, Failure> {
    let text = roster::read_text(file)?;
    let (report, is_right) = agent_file::check_report(&file.display().to_string(), &text);
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
    let aws = aws::serve(arguments.port, &data, Arc::new(clock::steady())).await?;
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

/// A phone as people write it (`+55 11 90000-0001`) as digits; anything else, a BSUID say, as it is.
fn plain_phone(text: &str) -> String {
    let text = text.trim();
    let is_written_out = text
        .chars()
        .all(|sign| sign.is_ascii_digit() || "+-(). ".contains(sign));
    if is_written_out {
        text.chars().filter(char::is_ascii_digit).collect()
    } else {
        text.to_owned()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_may_be_given_as_people_write_it() {
        for (given, phone) in [
            ("5511900000001", "5511900000001"),
            ("+5511900000001", "5511900000001"),
            (" +55 (11) 90000-0001 ", "5511900000001"),
            ("+52.55.0000.0001", "525500000001"),
            ("BR.1000000000000001", "BR.1000000000000001"),
            ("ana", "ana"),
            ("../x?y=1", "../x?y=1"),
            ("", ""),
        ] {
            assert_eq!(plain_phone(given), phone, "{given:?}");
        }
    }
}
