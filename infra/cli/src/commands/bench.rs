//! `recado bench`: what is measured on a virtual clock, or on written examples.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{Failure, print_line};
use crate::bench::turns::algorithm::Delays;
use crate::bench::turns::{self, Options};
use crate::bench::{prompts, routing};

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure when the policy answers, against simpler ways to decide it.
    #[command(long_about = ABOUT, after_long_help = DEFINITIONS)]
    Turns(TurnsArguments),
    /// Measure what ten exchanges in a row cost against ten single ones.
    #[command(long_about = PROMPTS)]
    Prompts(PromptsArguments),
    /// Hold the choice between the light and the main model against written examples.
    #[command(long_about = ROUTING)]
    Routing(RoutingArguments),
}

const PROMPTS: &str = "\
Measure what ten exchanges in a row cost against ten single ones.

Our policies choose what the requests hold and our adapters write them, as they do for a provider; a
model of the provider's cache reads them: what it holds costs a tenth, what is marked for it a
quarter more, and nothing under 1,024 tokens is held. Tokens are our estimate, and an answer's token
costs six of the input's. Warm: 90 s apart. Cold: hours apart, so that only what other people share
is found. No key and no network is used.";

const ROUTING: &str = "\
Hold the choice between the light and the main model against written examples.

The examples are in tests/routing: what people write to shops, clinics, gyms and assistants in
Portuguese, Spanish and English, each with the model it should go to. Half of examples.tsv, and
tuning.tsv, tuned the rules; the other half (held out) did not, and fresh.tsv was written after
that. Only the misses of the tuned part are shown: the others are to measure with.";

#[derive(Debug, Args)]
pub struct RoutingArguments {
    /// Print one JSON object instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct PromptsArguments {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

const ABOUT: &str = "\
Measure when the policy answers, against simpler ways to decide it.

People who write in pieces are drawn from a seed, and each way to take turns is given the same
messages and the same model calls. No clock is read, nothing is waited for, no network is used:
the same arguments give the same figures on every machine.

  recado        our policies, called as they are: due after the window or at the ceiling; a watch
                (every second, and just before the ceiling) drops the call for a newer message
                until a tool has written or the ceiling has passed
  delayed jobs  a job for each message after the window; only the newest acts; the ceiling is
                looked at when a job wakes; where a run is at work it tries again every 3 s;
                whether the answer is still wanted is asked once, at its end
  fixed N s     the first message opens a window of N s; what is there at its end is answered,
                and never dropped";

const DEFINITIONS: &str = "\
How people write (an assumption, the same for all):
  A thought has 1 to 6 fragments (35, 25, 20, 10, 6 and 4 % of thoughts), 0.5 to 6 s apart. A
  fragment is stored 0.05 to 0.3 s after it was sent, 3 % of them 1 to 30 s later than that, and
  5 % are delivered twice within 5 s. Single: nobody writes on. Chained: twenty thoughts in a row,
  the next a lognormal time (median 10 s, sigma 1) after the last fragment, whether that was
  answered or not. The model takes 2 to 12 s; 20 % of runs write with a tool, at 20 to 80 % of the
  run. What machinery takes is the same for all: 20 ms to wake, 30 ms to claim, 50 ms to commit,
  50 ms to send.

What the figures mean:
  split thoughts          their fragments are answered by more than one reply; one reply to several
                          thoughts splits none
  replies that ignore     a message of that conversation was stored before the reply was sent, and
                          is neither in its batch nor in an earlier reply's
  discarded               calls that were dropped or whose answer was thrown away, and how long
                          they had worked
  last fragment to start  from the moment the person sent a thought's last fragment to the
                          beginning of the run whose reply answers it; to sent: to that reply
  first pending to start  from the moment a run's oldest message was stored to the run's beginning,
                          dropped runs too
  p50, p95, p99           nearest rank over thoughts";

#[derive(Debug, Args)]
pub struct TurnsArguments {
    /// Thoughts of each kind, single and chained.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    thoughts: u32,
    /// Decides every message and every call.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Seconds of silence after the newest message, 1 to 60.
    #[arg(
        long,
        value_name = "S",
        default_value_t = 5.0,
        allow_negative_numbers = true
    )]
    window: f64,
    /// Seconds after the first message, up to 300, not under the window.
    #[arg(
        long,
        value_name = "S",
        default_value_t = 20.0,
        allow_negative_numbers = true
    )]
    ceiling: f64,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    json: bool,
    /// Write a picture of the figures to this file, too.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Measures and prints.
pub fn bench(command: BenchCommand) -> Result<ExitCode, Failure> {
    match command {
        BenchCommand::Turns(arguments) => bench_turns(arguments),
        BenchCommand::Prompts(arguments) => {
            let report = prompts::measure();
            print_line(&if arguments.json {
                report.json()
            } else {
                report.table()
            });
            Ok(ExitCode::SUCCESS)
        }
        BenchCommand::Routing(arguments) => {
            let report = routing::measure();
            print_line(&if arguments.json {
                report.json()
            } else {
                report.table()
            });
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn bench_turns(arguments: TurnsArguments) -> Result<ExitCode, Failure> {
    let report = turns::measure(&Options {
        thoughts: arguments.thoughts.try_into()?,
        seed: arguments.seed,
        window: seconds("--window", arguments.window)?,
        ceiling: seconds("--ceiling", arguments.ceiling)?,
        delays: Delays::TYPICAL,
    })?;
    if let Some(file) = arguments.svg {
        std::fs::write(&file, report.svg())
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    }
    print_line(&if arguments.json {
        report.json()
    } else {
        report.table()
    });
    Ok(ExitCode::SUCCESS)
}

fn seconds(name: &str, value: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| format!("{name} takes a number of seconds, not {value}"))
}
