//! The log: one line per thing worth knowing, never with words, phones or provider ids in it.

use std::io::IsTerminal as _;

use tracing::{Level, Metadata};
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

/// What a log line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON, for CloudWatch.
    Json,
    /// Text on standard error, for a terminal.
    Text,
}

/// What is logged where no filter is set.
const DEFAULT_LEVEL: Level = Level::INFO;

/// The embedded table warns of every condition that does not hold, which is what conditions are for.
const EMBEDDED_TABLE: &str = "dynoxide";

/// Starts the log. A filter that cannot be read is said to be so and replaced by the default.
pub fn init(form: Form, filter: Option<&str>) {
    let chosen = filter.map(str::parse::<Targets>);
    let is_wrong = matches!(chosen, Some(Err(_)));
    let chosen = match chosen {
        Some(Ok(filter)) => filter,
        _ => Targets::new().with_default(DEFAULT_LEVEL),
    };
    let filter = chosen.and(filter_fn(may_be_told));
    let started = match form {
        Form::Json => {
            let lines = fmt::layer()
                .log_internal_errors(false)
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .with_span_list(false);
            registry().with(lines.with_filter(filter)).try_init()
        }
        Form::Text => {
            let lines = fmt::layer()
                // Where nobody reads standard error any more, telling so there would be a panic.
                .log_internal_errors(false)
                .with_writer(std::io::stderr)
                .with_ansi(std::io::stderr().is_terminal())
                .with_target(false);
            registry().with(lines.with_filter(filter)).try_init()
        }
    };
    quiet_panics();
    if started.is_ok() && is_wrong {
        tracing::warn!("RECADO_LOG is not a filter; a right one: RECADO_LOG=recado=debug");
    }
}

/// Libraries tell whole requests at their finer levels, with the words in them: whatever filter is set, only their
/// warnings get through.
fn may_be_told(line: &Metadata<'_>) -> bool {
    let target = line.target();
    let is_ours = target
        .split("::")
        .next()
        .is_some_and(|krate| krate == "recado" || krate.starts_with("recado_"));
    let least = if target.starts_with(EMBEDDED_TABLE) {
        Level::ERROR
    } else {
        Level::WARN
    };
    is_ours || *line.level() <= least
}

/// A panic's message can hold what it panicked over (a slice of somebody's text), so only its place is told.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(
            || "an unknown place".to_owned(),
            |place| format!("{}:{}", place.file(), place.line()),
        );
        tracing::error!(place, "panic");
    }));
}
