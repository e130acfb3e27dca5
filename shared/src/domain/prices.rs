//! What models and messages cost, as an installation knows it. What is not listed is unknown, never free.

use std::sync::Arc;

use super::ids::Address;
use super::prompt::Usage;
use super::provider::DEMO;

/// Prices of one model, in millionths of a US dollar for a million tokens (a price list's dollars, times a million).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// The name it is listed by; a name that only adds a date or a version to it is the same model. With a `*` at its
    /// end: every name that begins so.
    pub model: String,
    /// Input in full.
    pub input: u64,
    /// Input read from the cache; absent where the source gives none.
    pub cache_read: Option<u64>,
    /// Input written to the cache; absent where the source gives none.
    pub cache_write: Option<u64>,
    /// Output.
    pub output: u64,
}

impl Price {
    /// How much of `name` this entry names, in bytes; `None` where it is of another model.
    fn fits(&self, name: &str) -> Option<usize> {
        if let Some(begin) = self.model.strip_suffix('*') {
            return name.starts_with(begin).then_some(begin.len());
        }
        let rest = name.strip_prefix(self.model.as_str())?;
        is_edition(rest).then_some(self.model.len())
    }

    /// What a call cost; `None` where it has tokens that this entry has no price for.
    fn cost(&self, usage: &Usage) -> Option<u64> {
        let part = |tokens: u64, price: Option<u64>| match tokens {
            0 => Some(0),
            tokens => Some(u128::from(tokens) * u128::from(price?)),
        };
        let sum = part(usage.input_uncached, Some(self.input))?
            .saturating_add(part(usage.input_cache_read, self.cache_read)?)
            .saturating_add(part(usage.input_cache_write, self.cache_write)?)
            .saturating_add(part(usage.output, Some(self.output))?);
        // To the nearest millionth.
        u64::try_from(sum.saturating_add(500_000) / 1_000_000).ok()
    }
}

/// Whether what follows a model's name is a date or a word for the newest: `-2026-03-17`, `-20250929`, `@20250929`,
/// `-latest`. A digit or two is another model (`claude-opus-5` and `claude-opus-5-5`).
fn is_edition(rest: &str) -> bool {
    if rest.is_empty() || rest == "-latest" {
        return true;
    }
    let Some(date) = rest.strip_prefix(['-', '@']) else {
        return false;
    };
    let digits = date.chars().take_while(char::is_ascii_digit).count();
    digits >= 4
        && date
            .chars()
            .all(|sign| sign.is_ascii_digit() || sign == '-')
}

/// The channel's fee for a message, in millionths of a US dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fee {
    /// The country's calling code, or the digits that begin its numbers; empty is everywhere.
    pub calling_code: String,
    /// What kind of message; ours are all of `service`.
    pub category: String,
    /// How much.
    pub micro_usd: u64,
}

/// The kind of message that Recado sends: words within the window after the person's own.
pub const SERVICE: &str = "service";

/// Everything that has a price. Clones share it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceList(Arc<Listed>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Listed {
    prices: Vec<Price>,
    fees: Vec<Fee>,
}

impl PriceList {
    /// These prices and fees.
    pub fn new(prices: Vec<Price>, fees: Vec<Fee>) -> Self {
        Self(Arc::new(Listed { prices, fees }))
    }

    /// The list with more prices, each in the place of one for the same name.
    #[must_use]
    pub fn with(&self, prices: Vec<Price>) -> Self {
        let is_kept = |old: &&Price| !prices.iter().any(|new| new.model == old.model);
        let kept: Vec<Price> = self.0.prices.iter().filter(is_kept).cloned().collect();
        let all = kept.into_iter().chain(prices).collect();
        Self::new(all, self.0.fees.clone())
    }

    /// The prices of a model as its provider names it: those of the longest name that fits.
    pub fn price_of(&self, name: &str) -> Option<&Price> {
        let fitting = self.0.prices.iter().filter_map(|price| {
            let length = price.fits(name)?;
            Some((length, price))
        });
        fitting
            .max_by_key(|(length, _)| *length)
            .map(|(_, price)| price)
    }

    /// What a call to this model cost; `None` where that is unknown. The demo model is ours and free.
    pub fn cost(&self, name: &str, usage: &Usage) -> Option<u64> {
        if name == DEMO {
            return Some(0);
        }
        self.price_of(name)?.cost(usage)
    }

    /// The fee for one message to this address; `None` where it is unknown.
    pub fn fee(&self, to: &Address) -> Option<u64> {
        let digits = match to {
            Address::Phone(phone) => phone.as_str(),
            Address::Bsuid(_) => "",
        };
        let fitting =
            self.0.fees.iter().filter(|fee| {
                fee.category == SERVICE && digits.starts_with(fee.calling_code.as_str())
            });
        fitting
            .max_by_key(|fee| fee.calling_code.len())
            .map(|fee| fee.micro_usd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Bsuid, Phone};

    fn price(model: &str, input: u64) -> Price {
        Price {
            model: model.to_owned(),
            input,
            cache_read: Some(input / 10),
            cache_write: None,
            output: 6 * input,
        }
    }

    fn list() -> PriceList {
        let prices = vec![
            price("gpt-5", 1),
            price("gpt-5-mini", 2),
            price("claude-opus-5", 3),
            price("local*", 0),
        ];
        PriceList::new(prices, Vec::new())
    }

    #[test]
    fn a_model_has_the_price_of_the_longest_name_that_fits() {
        for (name, input) in [
            ("gpt-5", Some(1)),
            ("gpt-5-2025-08-07", Some(1)),
            ("gpt-5-latest", Some(1)),
            ("gpt-5-mini", Some(2)),
            ("gpt-5-mini-2025-08-07", Some(2)),
            ("gpt-5-nano", None),
            ("gpt-5.4", None),
            ("gpt-5-pro-2025-10-06", None),
            ("claude-opus-5-20260724", Some(3)),
            ("claude-opus-5@20260724", Some(3)),
            ("claude-opus-5-5", None),
            ("local", Some(0)),
            ("local:7b", Some(0)),
            ("", None),
        ] {
            let found = list();
            let found = found.price_of(name).map(|price| price.input);
            assert_eq!(found, input, "{name}");
        }
    }

    #[test]
    fn a_cost_is_known_to_the_nearest_millionth_or_not_at_all() {
        let list = list().with(vec![Price {
            input: 750_000,
            cache_read: Some(75_000),
            output: 4_500_000,
            ..price("mini", 0)
        }]);
        let usage = |uncached, read, write, output| Usage {
            input_uncached: uncached,
            input_cache_read: read,
            input_cache_write: write,
            output,
            cost_micro_usd: None,
        };
        for (label, name, usage, cost) in [
            ("by tokens", "mini", usage(408, 0, 0, 38), Some(306 + 171)),
            ("from the cache", "mini", usage(0, 1_000, 0, 0), Some(75)),
            ("half a millionth", "mini", usage(2, 0, 0, 0), Some(2)),
            ("no price for writes", "mini", usage(1, 0, 1, 1), None),
            ("nothing", "mini", usage(0, 0, 0, 0), Some(0)),
            ("no such model", "maxi", usage(1, 0, 0, 0), None),
            ("ours", DEMO, usage(9, 9, 9, 9), Some(0)),
            (
                "beyond count",
                "mini",
                usage(u64::MAX, 0, 0, u64::MAX),
                None,
            ),
        ] {
            assert_eq!(list.cost(name, &usage), cost, "{label}");
        }
    }

    #[test]
    fn an_entry_replaces_one_of_the_same_name_alone() {
        let list = list().with(vec![price("gpt-5", 9), price("new", 8)]);
        let input = |name| list.price_of(name).map(|price| price.input);
        assert_eq!(input("gpt-5"), Some(9));
        assert_eq!(input("gpt-5-mini"), Some(2));
        assert_eq!(input("new"), Some(8));
    }

    #[test]
    fn a_fee_is_that_of_the_longest_calling_code() {
        let fee = |code: &str, category: &str, micro_usd| Fee {
            calling_code: code.to_owned(),
            category: category.to_owned(),
            micro_usd,
        };
        let fees = vec![
            fee("55", SERVICE, 5),
            fee("1", SERVICE, 1),
            fee("1809", SERVICE, 2),
        ];
        let list = PriceList::new(Vec::new(), fees);
        let to = |text: &str| Address::Phone(Phone::parse(text).unwrap());
        assert_eq!(list.fee(&to("5511900000001")), Some(5));
        assert_eq!(list.fee(&to("18090000001")), Some(2));
        assert_eq!(list.fee(&to("12125550001")), Some(1));
        assert_eq!(list.fee(&to("525500000001")), None);
        let bsuid = Address::Bsuid(Bsuid::parse("BR.1abc").unwrap());
        assert_eq!(list.fee(&bsuid), None);
        let marketing = PriceList::new(Vec::new(), vec![fee("55", "marketing", 9)]);
        assert_eq!(marketing.fee(&to("5511900000001")), None);
    }
}
