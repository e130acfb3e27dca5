//! `recado bench prompts`: what ten exchanges in a row cost against ten single ones, by what a provider's cache can keep
//! of the very requests we send.
//!
//! Our policies choose the context and our adapters write the requests; a model of each provider's cache reads them.
//! Prices are in input tokens: a read costs a tenth of one, a marked write a quarter more, an answer's token six.

mod cache;
mod conversation;
mod print;
mod units;

use std::time::Duration;

use recado::adapters::models::Asked;
use recado::domain::Prompt;
use recado::domain::provider::Provider;
use serde::Serialize;

use cache::{Cache, Caching};
use conversation::Shape;
use units::{Unit, units};

/// Exchanges of a conversation.
pub const EXCHANGES: usize = 10;

/// What an answer's token costs, in input tokens: as for most small models.
const ANSWER_TOKEN: f64 = 6.0;

/// Between two exchanges: soon enough for every cache, and too late for every one.
const WARM: Duration = Duration::from_secs(90);
const COLD: Duration = Duration::from_hours(3);

/// A model of each way to cache.
const MODELS: [(&str, Provider, &str, Caching); 3] = [
    (
        "OpenAI, automatic",
        Provider::OpenAi,
        "gpt-5.4-mini",
        Caching::AUTOMATIC,
    ),
    (
        "OpenAI, marked",
        Provider::OpenAi,
        "gpt-5.6",
        Caching::MARKED,
    ),
    (
        "Anthropic, marked",
        Provider::Anthropic,
        "claude-haiku-4-5",
        Caching::MARKED,
    ),
];

/// What one model costs in one shape of conversation.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Who talks about what.
    pub shape: &'static str,
    /// Whose cache.
    pub model: &'static str,
    /// Tokens of the first and of the last request, by our estimate.
    pub tokens: (u32, u32),
    /// The least share of a request's tokens that stood at the beginning of the request before, byte for byte.
    pub known_percent_min: f64,
    /// The least share of a request's tokens that stand at the beginning of the next one, byte for byte.
    pub kept_percent_min: f64,
    /// Whether what two people's requests begin with (tools, rules, persona) is the same, byte for byte.
    pub fixed_part_is_shared: bool,
    /// Ten in a row against ten single ones, answers included.
    pub all: Times,
    /// The same of the input alone.
    pub input: Times,
}

/// Ten exchanges in a row, as a multiple of ten single ones with a warm cache.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Times {
    /// The cache holds what it can.
    pub warm: f64,
    /// Each exchange comes too late for the cache.
    pub cold: f64,
    /// Everything is sent again without a budget, and no cache is there.
    pub naive: f64,
}

/// The whole report.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// A row for each shape and model.
    pub rows: Vec<Row>,
}

/// Measures every shape on every model.
pub fn measure() -> Report {
    let mut rows = Vec::new();
    for shape in conversation::shapes() {
        for (model, provider, name, caching) in MODELS {
            let asked = Asked {
                provider,
                model: name,
            };
            rows.push(row(&shape, model, asked, caching));
        }
    }
    Report { rows }
}

fn row(shape: &Shape, model: &'static str, asked: Asked<'_>, caching: Caching) -> Row {
    let encoded = |prompts: Vec<Prompt>| -> Vec<Vec<Unit>> {
        let bodies = prompts.iter().map(|prompt| asked.encode(prompt));
        bodies.map(|body| units(&body)).collect()
    };
    let in_a_row = encoded(shape.in_a_row(WARM));
    let slowly = encoded(shape.in_a_row(COLD));
    let everything = encoded(shape.without_a_budget().in_a_row(WARM));
    let single = encoded(shape.single());
    // Somebody else's request has just warmed what is the same for all people.
    let stranger = &encoded(shape.of_another_person().single())[0];
    let answers = f64::from(shape.answer_tokens()) * ANSWER_TOKEN;
    let price = |requests: &[Vec<Unit>], lasts: bool| {
        let mut cache = Cache::new(caching);
        let mut sum = 0.0;
        for request in requests {
            if !lasts {
                cache = Cache::new(caching);
            }
            cache.ask(stranger);
            sum += cache.ask(request);
        }
        sum
    };
    let uncached: u32 = everything.iter().flatten().map(|unit| unit.tokens).sum();
    let single_warm = price(&single, false);
    let (warm, cold) = (price(&in_a_row, true), price(&slowly, false));
    let times = |answers: f64| Times {
        warm: (warm + answers) / (single_warm + answers),
        cold: (cold + answers) / (single_warm + answers),
        naive: (f64::from(uncached) + answers) / (single_warm + answers),
    };
    Row {
        shape: shape.label,
        model,
        tokens: (
            tokens(&in_a_row[0]),
            in_a_row.last().map_or(0, |last| tokens(last)),
        ),
        known_percent_min: percent_min(&in_a_row, |_, after| after),
        kept_percent_min: percent_min(&in_a_row, |before, _| before),
        fixed_part_is_shared: fixed_part_is_shared(&in_a_row[0], stranger),
        all: times(answers),
        input: times(0.0),
    }
}

fn tokens(request: &[Unit]) -> u32 {
    request.iter().map(|unit| unit.tokens).sum()
}

/// What two requests in a row begin with alike, as the least share of one of them.
fn percent_min(requests: &[Vec<Unit>], of: fn(u32, u32) -> u32) -> f64 {
    let share = |pair: &[Vec<Unit>]| {
        let [before, after] = pair else { return 100.0 };
        let same = before
            .iter()
            .zip(after)
            .take_while(|(one, other)| one.text == other.text)
            .count();
        let whole = of(tokens(before), tokens(after)).max(1);
        f64::from(tokens(&after[..same])) * 100.0 / f64::from(whole)
    };
    requests.windows(2).map(share).fold(100.0, f64::min)
}

/// Everything before a person's own words.
fn fixed_part_is_shared(one: &[Unit], other: &[Unit]) -> bool {
    let fixed = |request: &[Unit]| -> Vec<String> {
        let fixed = request.iter().take_while(|unit| unit.is_fixed);
        fixed.map(|unit| unit.text.clone()).collect()
    };
    !fixed(one).is_empty() && fixed(one) == fixed(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M10: what changes with every request stands behind everything that does not.
    #[test]
    fn two_turns_in_a_row_begin_alike_and_ten_cost_at_most_twice_ten_single_ones() {
        for row in measure().rows {
            let label = format!("{}, {}", row.shape, row.model);
            // All but the notes; of the next request that is the more the less is said anew.
            assert!(row.kept_percent_min >= 80.0, "{label}: {row:?}");
            let says_little = row.shape.contains("short");
            assert!(
                !says_little || row.known_percent_min >= 80.0,
                "{label}: {row:?}"
            );
            assert!(row.fixed_part_is_shared, "{label}: {row:?}");
            assert!(row.all.warm <= 2.0, "{label}: {row:?}");
            for times in [row.all, row.input] {
                let is_cheapest = times.warm <= times.cold && times.warm <= times.naive;
                assert!(is_cheapest, "{label}: {row:?}");
            }
        }
    }
}
