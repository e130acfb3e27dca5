//! A provider's prompt cache: which prefixes it holds, and what a request costs by them.

use std::collections::BTreeSet;

use super::units::Unit;

/// How a provider caches, in parts of an input token's price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caching {
    /// Whether only what is marked is kept; else everything is.
    is_marked: bool,
    /// No prefix of fewer tokens is kept.
    tokens_min: u32,
    read: f64,
    write: f64,
}

impl Caching {
    /// Every prefix is kept by itself, and writing costs nothing more.
    pub const AUTOMATIC: Self = Self {
        is_marked: false,
        tokens_min: 1_024,
        read: 0.1,
        write: 1.0,
    };
    /// What stands before a mark is kept, and writing it costs a quarter more.
    pub const MARKED: Self = Self {
        is_marked: true,
        tokens_min: 1_024,
        read: 0.1,
        write: 1.25,
    };
}

/// A cache of one provider.
pub struct Cache {
    caching: Caching,
    kept: BTreeSet<String>,
}

impl Cache {
    /// An empty one.
    pub const fn new(caching: Caching) -> Self {
        Self {
            caching,
            kept: BTreeSet::new(),
        }
    }

    /// What the input of a request costs, in input tokens; from then on its prefixes are kept.
    pub fn ask(&mut self, request: &[Unit]) -> f64 {
        let Caching {
            is_marked,
            tokens_min,
            read,
            write,
        } = self.caching;
        let (mut prefix, mut tokens) = (String::new(), 0);
        let (mut found, mut marked) = (0, 0);
        let mut kept = Vec::new();
        for unit in request {
            prefix.push_str(&unit.text);
            tokens += unit.tokens;
            if tokens < tokens_min {
                continue;
            }
            if self.kept.contains(&prefix) {
                found = tokens;
            }
            if unit.is_marked || !is_marked {
                marked = tokens;
                kept.push(prefix.clone());
            }
        }
        self.kept.extend(kept);
        let written = marked.saturating_sub(found);
        let plain = tokens - found.min(tokens) - written.min(tokens - found.min(tokens));
        f64::from(found) * read + f64::from(written) * write + f64::from(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str, tokens: u32, is_marked: bool) -> Unit {
        Unit {
            text: text.to_owned(),
            tokens,
            is_marked,
            is_fixed: false,
        }
    }

    #[test]
    fn a_prefix_is_paid_once_and_read_for_a_tenth() {
        let first = [unit("a", 2_000, true), unit("b", 100, false)];
        let longer = [unit("a", 2_000, true), unit("c", 100, false)];
        let mut marked = Cache::new(Caching::MARKED);
        assert!((marked.ask(&first) - 2_600.0).abs() < 1e-6);
        assert!((marked.ask(&longer) - 300.0).abs() < 1e-6);
        let mut automatic = Cache::new(Caching::AUTOMATIC);
        assert!((automatic.ask(&first) - 2_100.0).abs() < 1e-6);
        assert!((automatic.ask(&first) - 210.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_too_short_or_differs_at_its_beginning_is_paid_in_full() {
        let mut cache = Cache::new(Caching::MARKED);
        for request in [[unit("a", 500, true)], [unit("a", 500, true)]] {
            assert!((cache.ask(&request) - 500.0).abs() < 1e-6);
        }
        cache.ask(&[unit("a", 2_000, true)]);
        let other = [unit("x", 10, false), unit("a", 2_000, true)];
        assert!((cache.ask(&other) - 2_512.5).abs() < 1e-6);
    }
}
