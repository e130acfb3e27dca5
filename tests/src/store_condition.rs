//! Condition expressions taken apart into terms, so that a term can be left out.

/// A condition: terms joined by AND and OR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// One term, as it is written.
    Term(String),
    /// All of them.
    And(Vec<Condition>),
    /// Any of them.
    Or(Vec<Condition>),
}

impl Condition {
    /// Takes a condition apart. OR binds weaker than AND, brackets bind strongest.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        for (word, join) in [(" OR ", Self::Or as fn(_) -> _), (" AND ", Self::And)] {
            let parts = split(text, word);
            if parts.len() > 1 {
                return join(parts.into_iter().map(Self::parse).collect());
            }
        }
        match text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'))
        {
            Some(inner) => Self::parse(inner),
            None => Self::Term(text.to_owned()),
        }
    }

    /// How many terms it has.
    pub fn terms(&self) -> usize {
        match self {
            Self::Term(_) => 1,
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::terms).sum(),
        }
    }

    /// The n-th term as it is written.
    pub fn term(&self, n: usize) -> Option<&str> {
        match self {
            Self::Term(text) => (n == 0).then_some(text),
            Self::And(parts) | Self::Or(parts) => {
                let mut n = n;
                for part in parts {
                    if n < part.terms() {
                        return part.term(n);
                    }
                    n -= part.terms();
                }
                None
            }
        }
    }

    /// The condition without its n-th term; `None` where that was all of it.
    pub fn without(&self, n: usize) -> Option<String> {
        let (parts, word) = match self {
            Self::Term(_) if n == 0 => return None,
            Self::Term(text) => return Some(text.clone()),
            Self::And(parts) => (parts, " AND "),
            Self::Or(parts) => (parts, " OR "),
        };
        let mut left = Vec::new();
        let mut before = 0;
        for part in parts {
            let terms = part.terms();
            // A number no term has leaves the part whole.
            let own = n.checked_sub(before).filter(|n| *n < terms);
            let text = part.without(own.unwrap_or(usize::MAX));
            left.extend(text.map(|text| match part {
                Self::Term(_) => text,
                _ => format!("({text})"),
            }));
            before += terms;
        }
        (!left.is_empty()).then(|| left.join(word))
    }
}

/// The parts of `text` between `word`s that stand outside all brackets.
fn split<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ' ' if depth == 0 && at >= from && text[at..].starts_with(word) => {
                parts.push(&text[from..at]);
                from = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_can_be_left_out() {
        let text = "attribute_not_exists(#item) OR (#at < :at AND NOT contains(#lives, :life))";
        let condition = Condition::parse(text);
        let left: Vec<_> = (0..condition.terms())
            .map(|n| condition.without(n))
            .collect();
        let expected = [
            "(#at < :at AND NOT contains(#lives, :life))",
            "attribute_not_exists(#item) OR (NOT contains(#lives, :life))",
            "attribute_not_exists(#item) OR (#at < :at)",
        ];
        assert_eq!(left, expected.map(|text| Some(text.to_owned())));
        assert_eq!(condition.term(1), Some("#at < :at"));
    }

    #[test]
    fn the_only_term_leaves_nothing() {
        assert_eq!(Condition::parse("#version = :expected").without(0), None);
        let list = Condition::parse("#status IN (:from0, :from1) AND #token = :token");
        assert_eq!(
            list.without(1).as_deref(),
            Some("#status IN (:from0, :from1)")
        );
    }
}
