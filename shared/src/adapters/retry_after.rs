//! How long a provider of models or of messages asks us to wait, in every form it is written.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// No run waits longer; what asks for more is tried again after this.
const WAIT_MAX: Duration = Duration::from_mins(2);

/// The wait that was asked for: milliseconds, seconds (whole or not) or a date, at most two minutes.
pub fn wait(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = text(headers, "retry-after-ms").and_then(|text| positive(text, 0.001));
    milliseconds
        .or_else(|| text(headers, RETRY_AFTER.as_str()).and_then(|text| positive(text, 1.0)))
        .or_else(|| until(headers))
        .map(|wait| wait.min(WAIT_MAX))
}

/// What the provider itself says of another try.
pub fn should_retry(headers: &HeaderMap) -> Option<bool> {
    text(headers, "x-should-retry").and_then(|text| text.parse().ok())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::trim)
}

fn positive(text: &str, unit: f64) -> Option<Duration> {
    let seconds = text.parse::<f64>().ok()? * unit;
    let is_wait = seconds.is_finite() && seconds > 0.0;
    is_wait.then(|| Duration::from_secs_f64(seconds.min(WAIT_MAX.as_secs_f64())))
}

/// From the response's own date to the date it names: the provider's clock on both sides, ours on neither.
fn until(headers: &HeaderMap) -> Option<Duration> {
    let date = |name: &str| -> Option<Timestamp> {
        DateTimeParser::new()
            .parse_timestamp(text(headers, name)?)
            .ok()
    };
    let wait = date(RETRY_AFTER.as_str())?.duration_since(date(DATE.as_str())?);
    Duration::try_from(wait).ok().filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn every_form_of_a_wait_is_read() {
        let now = ("date", "Mon, 30 Nov 2026 10:00:00 GMT");
        for (label, pairs, milliseconds) in [
            ("nothing", vec![], None),
            ("seconds", vec![("retry-after", "7")], Some(7000)),
            (
                "parts of a second",
                vec![("retry-after", "0.25")],
                Some(250),
            ),
            (
                "milliseconds first",
                vec![("retry-after", "7"), ("retry-after-ms", "120.5")],
                Some(120),
            ),
            (
                "a date",
                vec![now, ("retry-after", "Mon, 30 Nov 2026 10:00:30 GMT")],
                Some(30_000),
            ),
            (
                "a date that is over",
                vec![now, ("retry-after", "Mon, 30 Nov 2026 09:59:59 GMT")],
                None,
            ),
            (
                "a date against no date",
                vec![("retry-after", "Mon, 30 Nov 2026 10:00:30 GMT")],
                None,
            ),
            ("zero", vec![("retry-after", "0")], None),
            ("negative", vec![("retry-after", "-3")], None),
            ("not a number", vec![("retry-after", "NaN")], None),
            ("endless", vec![("retry-after", "inf")], None),
            ("words", vec![("retry-after", "soon")], None),
            (
                "an hour is too long",
                vec![("retry-after", "3600")],
                Some(120_000),
            ),
            (
                "a date tomorrow too",
                vec![now, ("retry-after", "Tue, 01 Dec 2026 10:00:00 GMT")],
                Some(120_000),
            ),
            (
                "broken milliseconds",
                vec![("retry-after", "2"), ("retry-after-ms", "x")],
                Some(2000),
            ),
        ] {
            let found = wait(&headers(&pairs)).map(|wait| wait.as_millis());
            assert_eq!(found, milliseconds, "{label}");
        }
    }
}
