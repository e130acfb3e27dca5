//! The log: one line per thing worth knowing, never with words, phones or provider ids in it.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What a log line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON, for CloudWatch.
    Json,
    /// Text on standard error, for a terminal.
    Text,
}

/// What is logged where no filter is set: our own lines, and the libraries' warnings.
const DEFAULT_FILTER: &str =
    "warn,recado=info,recado_cli=info,recado_ingest=info,recado_processor=info,recado_sweeper=info";

/// Starts the log. `info` asks for the default: ours, without what libraries tell at that level. A filter that cannot be read is said to be so and replaced by the default.
pub fn init(form: Form, filter: Option<&str>) {
    let chosen = filter
        .filter(|filter| *filter != "info")
        .map(EnvFilter::try_new);
    let is_wrong = matches!(chosen, Some(Err(_)));
    let filter = match chosen {
        Some(Ok(filter)) => filter,
        _ => EnvFilter::new(DEFAULT_FILTER),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter);
    let started = match form {
        Form::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .finish()
            .try_init(),
        Form::Text => builder
            .with_writer(std::io::stderr)
            .with_target(false)
            .finish()
            .try_init(),
    };
    quiet_panics();
    if started.is_ok() && is_wrong {
        tracing::warn!("RECADO_LOG is not a filter; a right one: RECADO_LOG=warn,recado=debug");
    }
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
