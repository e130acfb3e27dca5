//! The kinds of settings: texts, lists, seconds and counts, each with what is said where one is wrong.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Document, Found, Origin, Raw};
use crate::policy::visible::is_blank;

impl Document<'_> {
    /// A text that is not blank and at most `chars_max` characters long.
    pub fn text(
        &mut self,
        section: &'static str,
        key: &'static str,
        chars_max: usize,
        example: &str,
    ) -> Option<Found<String>> {
        let (raw, origin) = self.raw(section, key)?;
        let shown = Self::example(key, origin, &format!("{example:?}"), example);
        let value = match raw {
            Raw::Text(text) => text,
            other => {
                let kind = other.kind();
                return self.wrong(
                    section,
                    key,
                    origin,
                    format!("must be text in quotes, not {kind}; for instance {shown}"),
                );
            }
        };
        let length = value.chars().count();
        if is_blank(&value) {
            return self.wrong(
                section,
                key,
                origin,
                format!("is blank; for instance {shown}"),
            );
        }
        if let Some(c) = value.chars().find(|c| c.is_control() && !c.is_whitespace()) {
            let code = u32::from(c);
            let problem = format!("holds the control character U+{code:04X}; take it out");
            return self.wrong(section, key, origin, problem);
        }
        if length > chars_max {
            return self.wrong(
                section,
                key,
                origin,
                format!("is {length} characters long; at most {chars_max} fit"),
            );
        }
        Some(Found { value, origin })
    }

    /// A text that must be there.
    pub fn required_text(
        &mut self,
        section: &'static str,
        key: &'static str,
        chars_max: usize,
        example: &str,
    ) -> Option<Found<String>> {
        // After a syntax error the setting may well stand in the part that could not be read.
        if !self.has(section, key) && !self.is_broken() {
            self.mistake(
                section,
                key,
                Origin::File(0),
                format!("is missing; for instance {key} = {example:?}"),
            );
        }
        self.text(section, key, chars_max, example)
    }

    /// A list of texts; each comes with its own place.
    pub fn list(
        &mut self,
        section: &'static str,
        key: &'static str,
        example: &str,
    ) -> Option<Found<Vec<Found<String>>>> {
        let (raw, origin) = self.raw(section, key)?;
        let Raw::List(items) = raw else {
            return self.wrong(
                section,
                key,
                origin,
                format!(
                    "must be a list, not {}; for instance {key} = [{example:?}]",
                    raw.kind()
                ),
            );
        };
        let mut value = Vec::new();
        for (offset, item) in items {
            let origin = Origin::File(offset);
            match item {
                Raw::Text(text) => value.push(Found {
                    value: text,
                    origin,
                }),
                other => self.mistake(
                    section,
                    key,
                    origin,
                    format!(
                        "must hold texts in quotes, not {}; for instance {key} = [{example:?}]",
                        other.kind()
                    ),
                ),
            }
        }
        Some(Found { value, origin })
    }

    /// A number of seconds, parts of a second included.
    pub fn seconds(
        &mut self,
        section: &'static str,
        key: &'static str,
        default: u32,
        range: RangeInclusive<u32>,
    ) -> Found<Duration> {
        let (low, high) = (*range.start(), *range.end());
        let wanted = format!("{low} to {high} seconds");
        let read = |digits: &str| {
            let seconds = digits.parse().ok()?;
            (f64::from(low)..=f64::from(high))
                .contains(&seconds)
                .then_some(())?;
            let exact = Duration::try_from_secs_f64(seconds).ok()?;
            Some(Duration::from_millis(
                u64::try_from(exact.as_millis()).ok()?,
            ))
        };
        let default_value = Duration::from_secs(u64::from(default));
        self.number(
            section,
            key,
            &default.to_string(),
            &wanted,
            default_value,
            read,
        )
    }

    /// A whole number.
    pub fn count<N>(
        &mut self,
        section: &'static str,
        key: &'static str,
        default: N,
        range: RangeInclusive<N>,
    ) -> Found<N>
    where
        N: Copy + PartialOrd + std::fmt::Display + std::str::FromStr,
    {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        let read = |digits: &str| digits.parse().ok().filter(|number| range.contains(number));
        self.number(section, key, &default.to_string(), &wanted, default, read)
    }

    /// A sum of US dollars from a hundredth to 100,000; absent where it is not set.
    pub fn dollars(
        &mut self,
        section: &'static str,
        key: &'static str,
        example: &str,
    ) -> Option<f64> {
        let read = |digits: &str| {
            let dollars: f64 = digits.parse().ok()?;
            (0.01..=100_000.0)
                .contains(&dollars)
                .then_some(Some(dollars))
        };
        let wanted = "US dollars from 0.01 to 100000";
        self.number(section, key, example, wanted, None, read).value
    }

    fn number<T>(
        &mut self,
        section: &'static str,
        key: &'static str,
        example: &str,
        wanted: &str,
        default: T,
        read: impl Fn(&str) -> Option<T>,
    ) -> Found<T> {
        let Some((raw, origin)) = self.raw(section, key) else {
            return Found {
                value: default,
                origin: Origin::Default,
            };
        };
        let shown = Self::example(key, origin, example, example);
        let problem = match (&raw, origin) {
            (Raw::Number(digits), _) | (Raw::Text(digits), Origin::Environment(_)) => {
                if let Some(value) = read(digits) {
                    return Found { value, origin };
                }
                format!("must be {wanted}, not {digits}; for instance {shown}")
            }
            (Raw::Text(_), _) => {
                format!("must be {wanted}, without quotes or unit; for instance {shown}")
            }
            (other, _) => format!(
                "must be {wanted}, not {}; for instance {shown}",
                other.kind()
            ),
        };
        self.mistake(section, key, origin, problem);
        Found {
            value: default,
            origin: Origin::Wrong,
        }
    }

    /// How this setting is written where it was set.
    pub fn example(key: &str, origin: Origin, in_file: &str, in_environment: &str) -> String {
        match origin {
            Origin::Environment(variable) => format!("{variable}={in_environment}"),
            _ => format!("{key} = {in_file}"),
        }
    }

    fn wrong<T>(&mut self, section: &str, key: &str, origin: Origin, message: String) -> Option<T> {
        self.mistake(section, key, origin, message);
        None
    }
}
