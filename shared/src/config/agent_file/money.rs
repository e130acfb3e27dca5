//! What an agent may cost in a day, what its models cost beyond the built-in list, and when a session ends.

use std::time::Duration;

use super::document::Document;
use crate::config::prices;
use crate::domain::PriceList;
use crate::domain::agent::{Limits, SessionRules};
use crate::domain::prices::Price;

/// What a price may be called in the file.
const COLUMNS: [&str; 5] = ["model", "input", "cache_read", "cache_write", "output"];
/// A gap of up to a week, in hours.
const GAP_H: std::ops::RangeInclusive<u32> = 1..=168;

/// Reads `[limits]`.
pub(super) fn limits(file: &mut Document<'_>) -> Limits {
    let conversation = file.dollars("limits", "conversation_day_usd", "0.50");
    let agent = file.dollars("limits", "agent_day_usd", "20");
    Limits {
        conversation_day_micro_usd: conversation.and_then(prices::millionths),
        agent_day_micro_usd: agent.and_then(prices::millionths),
    }
}

/// Reads `[session]`.
pub(super) fn session(file: &mut Document<'_>) -> SessionRules {
    let gap_h = file.count("session", "gap_h", 6, GAP_H).value;
    SessionRules {
        gap: Duration::from_hours(u64::from(gap_h)),
        advice_after: file.count("session", "advice_after", 0, 0..=1000).value,
    }
}

/// The built-in prices, with those of `[[prices]]`.
pub(super) fn prices(file: &mut Document<'_>) -> PriceList {
    let mut listed: Vec<Price> = Vec::new();
    for row in file.rows("prices", &COLUMNS) {
        let Some(model) = row.text("model").filter(|name| !name.trim().is_empty()) else {
            let example = "a price needs the model's name; for instance model = \"gpt-5.4-mini\"";
            file.mistake("", "prices", row.origin, example);
            continue;
        };
        let mut price_of = |column: &'static str, is_needed: bool| {
            let is_there = row.has(column);
            let price = row.number(column).and_then(prices::millionths);
            if price.is_none() && (is_there || is_needed) {
                let message = format!(
                    "{column} of {model:?} must be the dollars for a million tokens; for instance {column} = 0.75"
                );
                file.mistake("", "prices", row.origin, message);
            }
            price
        };
        let (input, output) = (price_of("input", true), price_of("output", true));
        let cache_read = price_of("cache_read", false);
        let cache_write = price_of("cache_write", false);
        let (Some(input), Some(output)) = (input, output) else {
            continue;
        };
        if listed.iter().any(|price| price.model == model) {
            let message = format!("{model:?} has two prices");
            file.mistake("", "prices", row.origin, message);
        }
        listed.push(Price {
            model: model.to_owned(),
            input,
            cache_read,
            cache_write,
            output,
        });
    }
    prices::built_in().with(listed)
}
