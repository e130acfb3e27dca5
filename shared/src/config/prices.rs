//! The list of prices that comes with the program: one file, each entry with its source.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::domain::PriceList;
use crate::domain::prices::{Fee, Price};

/// The file.
const BUILT_IN: &str = include_str!("prices.toml");

/// A price list's dollars for a million tokens are as many millionths for one token; this many are told apart.
const MILLION: f64 = 1e6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    prices: Vec<Entry>,
    #[serde(default)]
    send: Vec<SendEntry>,
    #[serde(default)]
    aws: Vec<AwsEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "source and date are for readers and tests")
)]
struct Entry {
    model: String,
    provider: String,
    input: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    output: f64,
    source: String,
    read_on: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "source and date are for readers and tests")
)]
struct SendEntry {
    calling_code: String,
    category: String,
    usd: f64,
    source: String,
    read_on: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "source and date are for readers and tests")
)]
struct AwsEntry {
    name: String,
    usd_per_million: f64,
    source: String,
    read_on: String,
}

/// What AWS takes in us-east-1, in dollars for a million: for what is told of costs, and for nothing that is counted.
pub fn of_aws(name: &str) -> Option<f64> {
    let file: File = toml::from_str(BUILT_IN).ok()?;
    let entry = file.aws.into_iter().find(|entry| entry.name == name)?;
    Some(entry.usd_per_million)
}

/// The prices that come with the program.
pub fn built_in() -> PriceList {
    static LIST: OnceLock<PriceList> = OnceLock::new();
    // It is read by a test: an installation never meets one that cannot be.
    let read =
        || toml::from_str(BUILT_IN).map_or_else(|_| PriceList::default(), |file| list(&file));
    LIST.get_or_init(read).clone()
}

fn list(file: &File) -> PriceList {
    let price = |entry: &Entry| {
        Some(Price {
            model: entry.model.clone(),
            input: millionths(entry.input)?,
            cache_read: entry.cache_read.and_then(millionths),
            cache_write: entry.cache_write.and_then(millionths),
            output: millionths(entry.output)?,
        })
    };
    let fee = |entry: &SendEntry| {
        Some(Fee {
            calling_code: entry.calling_code.clone(),
            category: entry.category.clone(),
            micro_usd: millionths(entry.usd)?,
        })
    };
    PriceList::new(
        file.prices.iter().filter_map(price).collect(),
        file.send.iter().filter_map(fee).collect(),
    )
}

/// A sum of dollars in millionths; `None` where it is negative or beyond any price.
pub(crate) fn millionths(dollars: f64) -> Option<u64> {
    let micro = (dollars * MILLION).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative, and in range"
    )]
    (0.0..1e15).contains(&micro).then_some(micro as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Provider, Usage};

    #[test]
    fn every_entry_has_a_page_of_its_provider_and_a_day() {
        let file: File = toml::from_str(BUILT_IN).unwrap();
        assert!(file.prices.len() > 5);
        let pages = [
            (Provider::OpenAi, "https://developers.openai.com/"),
            (Provider::Anthropic, "https://platform.claude.com/"),
        ];
        for entry in &file.prices {
            let (provider, page) = pages
                .iter()
                .find(|(provider, _)| provider.to_string() == entry.provider)
                .unwrap();
            assert!(
                entry.source.starts_with(page),
                "{provider}: {}",
                entry.source
            );
            let day: Result<jiff::civil::Date, _> = entry.read_on.parse();
            assert!(day.is_ok(), "{}: {}", entry.model, entry.read_on);
            // A slip of the point would show.
            assert!(entry.input < entry.output, "{}", entry.model);
            assert!(entry.cache_read.is_none_or(|read| read < entry.input));
            assert!(entry.cache_write.is_none_or(|write| write > entry.input));
        }
        for fee in &file.send {
            assert!(fee.source.starts_with("https://developers.facebook.com/"));
            assert!(fee.read_on.parse::<jiff::civil::Date>().is_ok());
        }
        let readme = include_str!("../../../README.md");
        for entry in &file.aws {
            assert!(readme.contains(&entry.source), "{}", entry.source);
            assert!(entry.read_on.parse::<jiff::civil::Date>().is_ok());
            assert!(of_aws(&entry.name).is_some_and(|price| price > 0.0));
        }
    }

    #[test]
    fn the_list_prices_a_call_as_its_source_does() {
        let usage = Usage {
            input_uncached: 1_000,
            input_cache_read: 2_000,
            input_cache_write: 400,
            output: 100,
            cost_micro_usd: None,
        };
        let list = built_in();
        let by_hand = 100 + 20 + 50 + 50;
        assert_eq!(list.cost("gpt-6-luna", &usage), Some(by_hand));
        assert_eq!(
            list.cost("gpt-5.4-mini", &usage),
            None,
            "no source, no price"
        );
        assert_eq!(
            list.cost("claude-opus-5-5", &usage),
            Some(4_000 + 400 + 2_000 + 2_000)
        );
    }
}
