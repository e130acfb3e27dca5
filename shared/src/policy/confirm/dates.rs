//! The days in a call's arguments, and what people may say of them. The twelfth of a month is another day than one of
//! December: a number is not said again because a date has it somewhere.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Words before the number of a day.
const DAY_WORDS: [&str; 5] = ["dia", "el", "day", "the", "on"];

/// Year, month and day, as written.
type Parts = [String; 3];

/// The days that arguments name as `2026-12-01`.
pub struct Dates(Vec<Parts>);

impl Dates {
    /// Of all values, however deep.
    pub fn of(arguments: &Map<String, Value>) -> Self {
        let mut found = Vec::new();
        arguments.values().for_each(|one| collect(one, &mut found));
        Self(found)
    }

    /// A text of words and spaces without these days, said whole: `01 12`, `1 12 2026`, `2026 12 01`.
    pub fn without(&self, words: &str) -> String {
        let mut rest = words.to_owned();
        if self.are_several() {
            return rest;
        }
        for [year, month, day] in &self.0 {
            let (short_day, short_month) = (bare(day), bare(month));
            for said in [
                format!(" {year} {month} {day} "),
                format!(" {day} {month} {year} "),
                format!(" {short_day} {short_month} {year} "),
                format!(" {day} {month} "),
                format!(" {short_day} {month} "),
                format!(" {short_day} {short_month} "),
            ] {
                rest = rest.replace(&said, "  ");
            }
        }
        rest
    }

    fn are_several(&self) -> bool {
        self.0.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// Whether a day of the month is named that is not the one and only day here.
    pub fn is_another_day(&self, words: &str) -> bool {
        let words: Vec<&str> = words.split_whitespace().collect();
        let is_other = |pair: &[&str]| {
            DAY_WORDS.contains(&pair[0])
                && pair[1].bytes().all(|sign| sign.is_ascii_digit())
                && (self.are_several()
                    || self.0.iter().all(|[_, _, day]| bare(day) != bare(pair[1])))
        };
        !self.0.is_empty() && words.windows(2).any(is_other)
    }
}

/// The text, in small letters, with the months of its days left out, and each day in both its forms.
pub fn without_months(text: &str) -> String {
    let mut rest = text.to_owned();
    for [year, month, day] in within(text) {
        let (date, said) = (
            format!("{year}-{month}-{day}"),
            format!("{year} {day} {} ", bare(&day)),
        );
        // The `T` before a time is no part of its hour.
        rest = rest.replace(&format!("{date}t"), &said);
        rest = rest.replace(&date, &said);
    }
    rest
}

/// The times of a text as people write them: `16:00` is `16h`, and `09:30` is `9h30`.
pub fn hours(text: &str) -> Vec<String> {
    let said = times(text).into_iter().flat_map(|[hour, minute]| {
        let minute = if minute == "00" { "" } else { &minute };
        [
            format!("{hour}h{minute}"),
            format!("{}h{minute}", bare(&hour)),
        ]
    });
    said.collect()
}

/// The words that tell nothing for sure, for the arguments have several days or several times: the end said alone may be
/// another beginning.
pub fn ambiguous(arguments: &str) -> Vec<String> {
    let days: BTreeSet<Parts> = within(arguments).into_iter().collect();
    let times: BTreeSet<[String; 2]> = times(arguments).into_iter().collect();
    let mut words = Vec::new();
    if days.len() > 1 {
        let each = |day: String| [bare(&day).to_owned(), day];
        words.extend(days.into_iter().flat_map(|[_, _, day]| each(day)));
    }
    if times.len() > 1 {
        words.extend(hours(arguments));
        words.extend(times.into_iter().flatten());
    }
    words
}

/// Hour and minute of each time in a text.
fn times(text: &str) -> Vec<[String; 2]> {
    const FORM: &[u8] = b"00:00";
    let times = text.as_bytes().windows(FORM.len()).filter(|bytes| {
        let mut pairs = bytes.iter().zip(FORM);
        pairs.all(|(sign, form)| match form {
            b':' => *sign == b':',
            _ => sign.is_ascii_digit(),
        })
    });
    let part = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect();
    times
        .map(|time| [part(&time[..2]), part(&time[3..])])
        .collect()
}

fn bare(number: &str) -> &str {
    number.trim_start_matches('0')
}

fn collect(value: &Value, found: &mut Vec<Parts>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|one| collect(one, found)),
        Value::Array(items) => items.iter().for_each(|one| collect(one, found)),
        Value::String(text) => found.extend(within(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The days inside a text.
fn within(text: &str) -> Vec<Parts> {
    const FORM: &[u8] = b"0000-00-00";
    let is_day = |bytes: &&[u8]| {
        let mut pairs = bytes.iter().zip(FORM);
        pairs.all(|(sign, form)| match form {
            b'-' => *sign == b'-',
            _ => sign.is_ascii_digit(),
        })
    };
    let days = text.as_bytes().windows(FORM.len()).filter(is_day);
    let part = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect();
    days.map(|day| [part(&day[..4]), part(&day[5..7]), part(&day[8..])])
        .collect()
}
