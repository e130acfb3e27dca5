//! Days and times as people read them, in the agent's time zone.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ZonedDateTime};

use super::language::Language;
use crate::domain::{Agent, Timestamp};

/// `2026-11-30 (segunda-feira)`.
pub fn day(agent: &Agent, at: Timestamp) -> String {
    let local = local(agent, at);
    format!("{} ({})", local.date(), weekday_of(agent, local.date()))
}

/// `2026-11-30`.
pub fn date(agent: &Agent, at: Timestamp) -> String {
    local(agent, at).date().to_string()
}

/// `14:05, segunda-feira, 2026-11-30 (America/Sao_Paulo)`.
pub fn moment(agent: &Agent, at: Timestamp) -> String {
    let local = local(agent, at);
    let zone = local.time_zone().iana_name().unwrap_or("UTC").to_owned();
    format!(
        "{:02}:{:02}, {}, {} ({zone})",
        local.hour(),
        local.minute(),
        weekday_of(agent, local.date()),
        local.date(),
    )
}

/// The day it is there.
pub fn local_date(agent: &Agent, at: Timestamp) -> Date {
    local(agent, at).date()
}

/// When the next day begins there; a day later where the calendar ends.
pub fn next_midnight(agent: &Agent, at: Timestamp) -> Timestamp {
    let begins = local(agent, at)
        .tomorrow()
        .and_then(|tomorrow| tomorrow.start_of_day());
    let ms = begins
        .ok()
        .map(|begins| begins.timestamp().as_millisecond());
    let ms = ms.and_then(|ms| u64::try_from(ms).ok());
    ms.map_or_else(
        || at.plus(std::time::Duration::from_hours(24)),
        Timestamp::from_ms,
    )
}

/// The weekday of a date, in the agent's language.
pub fn weekday_of(agent: &Agent, date: Date) -> &'static str {
    let from_monday = date.weekday().to_monday_zero_offset();
    Language::of(agent).weekday(usize::try_from(from_monday).unwrap_or(0))
}

/// An unknown zone counts as UTC: an agent file is checked where it is read, and a wrong hour is better than no answer.
fn local(agent: &Agent, at: Timestamp) -> ZonedDateTime {
    let zone = TimeZone::get(&agent.time_zone).unwrap_or(TimeZone::UTC);
    let instant = i64::try_from(at.ms())
        .ok()
        .and_then(|ms| Instant::from_millisecond(ms).ok())
        .unwrap_or(Instant::MAX);
    instant.to_zoned_datetime(zone)
}
