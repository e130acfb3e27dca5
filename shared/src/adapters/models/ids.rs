//! Ids of calls as one request names them: each once, of the signs that the provider takes. A call that another
//! provider's model asked for may have an id that this one refuses, or one that stands in the request already.

use std::collections::BTreeSet;

use crate::domain::CallId;

/// No provider takes longer ones.
const LENGTH_MAX: usize = 64;

/// The ids given so far. The same calls in the same order get the same ids.
pub(super) struct WireIds {
    taken: BTreeSet<String>,
    takes: fn(char) -> bool,
}

impl WireIds {
    /// None given yet; `takes` tells which signs may stand in one.
    pub fn new(takes: fn(char) -> bool) -> Self {
        Self {
            taken: BTreeSet::new(),
            takes,
        }
    }

    /// The id of a call in this request: its own, wherever that will do.
    pub fn give(&mut self, own: &CallId) -> String {
        let fit = |sign: char| if (self.takes)(sign) { sign } else { '_' };
        let plain: String = own.as_str().chars().map(fit).collect();
        let numbered = (2..).map(|n: u32| {
            let end = format!("_{n}");
            let begin = plain.len().min(LENGTH_MAX - end.len());
            format!("{}{end}", &plain[..begin])
        });
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        let id = candidates.find(|id| !self.taken.contains(id));
        let id = id.unwrap_or_else(|| unreachable!("there are enough numbers"));
        self.taken.insert(id.clone());
        id
    }

    /// Takes ids that cannot be changed; false, and none is taken, where one of them is given already.
    pub fn reserve(&mut self, own: &[&CallId]) -> bool {
        let wanted: BTreeSet<&str> = own.iter().map(|id| id.as_str()).collect();
        if wanted.len() < own.len() || wanted.iter().any(|id| self.taken.contains(*id)) {
            return false;
        }
        self.taken.extend(wanted.into_iter().map(str::to_owned));
        true
    }
}

/// What Anthropic takes.
pub(super) fn is_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-')
}

/// What everybody else takes.
pub(super) fn is_any(_: char) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_stays_where_it_can() {
        let id = |text: &str| CallId::parse(text).unwrap();
        let mut ids = WireIds::new(is_word);
        for (own, given) in [
            ("toolu_1", "toolu_1"),
            ("functions.book:0", "functions_book_0"),
            ("functions.book.0", "functions_book_0_2"),
            ("toolu_1", "toolu_1_2"),
            ("toolu_1", "toolu_1_3"),
        ] {
            assert_eq!(ids.give(&id(own)), given, "{own}");
        }
        assert!(!ids.reserve(&[&id("x"), &id("toolu_1")]), "one is given");
        assert!(!ids.reserve(&[&id("y"), &id("y")]), "twice at once");
        assert!(ids.reserve(&[&id("x")]));
        assert_eq!(ids.give(&id("x")), "x_2");
        assert_eq!(WireIds::new(is_any).give(&id("f.b:0")), "f.b:0");
    }

    proptest! {
        #[test]
        fn no_two_are_equal_and_all_are_taken(own in proptest::collection::vec("[!-~]{1,3}|[a~]{62,64}", 0..40)) {
            let mut ids = WireIds::new(is_word);
            let mut seen = BTreeSet::new();
            for text in own {
                let given = ids.give(&CallId::parse(text).unwrap());
                prop_assert!(given.len() <= LENGTH_MAX && given.chars().all(is_word));
                prop_assert!(seen.insert(given));
            }
        }
    }
}
