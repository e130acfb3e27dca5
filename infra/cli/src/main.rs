//! `recado`: the operator's program. `cargo run` starts everything in one process.

use std::process::ExitCode;

use clap::Parser as _;
use recado_cli::commands::{self, Arguments};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // The handlers need little; a few workers serve a laptop and a small server alike.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(commands::perform(arguments)),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            commands::complain(&*error);
            ExitCode::FAILURE
        }
    }
}
