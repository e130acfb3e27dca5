//! The little language that the lexicons are written in.
//!
//! A pattern is words with spaces between. `a|b` is either; `cobr*` is every word that begins so; `marc~` is a verb as one
//! asks for it (`marca`, `marque`, `marcar`; with the pronouns that Spanish hangs on); `#` is a number; `..` stands for up
//! to three words that are no signs; `;` and `?` are themselves, and `$` is the end of a clause.

use std::ops::Range;

use super::words::{is_number, is_sign};

/// Words that `..` may stand for.
const GAP_MAX: usize = 3;

/// How verbs end where something is asked for.
#[derive(Debug)]
pub struct Endings {
    /// What follows the stem.
    pub verb: Vec<&'static str>,
    /// What may follow that.
    pub pronoun: Vec<&'static str>,
}

impl Endings {
    /// Whether a verb can end so.
    fn fit(&self, ending: &str) -> bool {
        let is_verb = |ending: &str| self.verb.contains(&ending);
        let without = |pronoun: &&str| ending.strip_suffix(*pronoun).is_some_and(is_verb);
        is_verb(ending) || self.pronoun.iter().any(without)
    }
}

/// One way to say something.
#[derive(Debug)]
pub struct Pattern(Vec<Part>);

#[derive(Debug)]
enum Part {
    Gap,
    End,
    OneOf(Vec<Word>),
}

#[derive(Debug)]
enum Word {
    Number,
    Start(&'static str),
    Verb(&'static str),
    Whole(&'static str),
}

impl Pattern {
    /// Reads a pattern; every text is one.
    pub fn parse(text: &'static str) -> Self {
        let word = |text: &'static str| match (text.strip_suffix('*'), text.strip_suffix('~')) {
            _ if text == "#" => Word::Number,
            (Some(start), _) => Word::Start(start),
            (None, Some(stem)) => Word::Verb(stem),
            (None, None) => Word::Whole(text),
        };
        let part = |part: &'static str| match part {
            ".." => Part::Gap,
            "$" => Part::End,
            words => Part::OneOf(words.split('|').map(word).collect()),
        };
        Self(text.split_ascii_whitespace().map(part).collect())
    }
}

/// Where each of `patterns` is found in `words`; the longest wins, and no word counts twice.
pub fn spans(patterns: &[Pattern], words: &[String], endings: &Endings) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let fits = |pattern: &Pattern| fit(&pattern.0, &words[at..], endings);
        match patterns.iter().filter_map(fits).max() {
            Some(length) if length > 0 => {
                found.push(at..at + length);
                at += length;
            }
            _ => at += 1,
        }
    }
    found
}

/// How many words, from the first on, the parts cover; `None` where they do not fit.
fn fit(parts: &[Part], words: &[String], endings: &Endings) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(0);
    };
    match part {
        Part::Gap => {
            let signs = words.iter().position(|word| is_sign(word));
            let most = GAP_MAX.min(signs.unwrap_or(words.len()));
            (0..=most).find_map(|skipped| {
                fit(rest, &words[skipped..], endings).map(|length| skipped + length)
            })
        }
        Part::End => {
            let is_end = words.first().is_none_or(|word| is_sign(word));
            is_end.then(|| fit(rest, words, endings))?
        }
        Part::OneOf(alternatives) => {
            let (word, words) = words.split_first()?;
            let fits = alternatives.iter().any(|one| is(one, word, endings));
            fits.then(|| fit(rest, words, endings).map(|length| length + 1))?
        }
    }
}

fn is(wanted: &Word, word: &str, endings: &Endings) -> bool {
    match wanted {
        Word::Number => is_number(word),
        Word::Start(start) => word.starts_with(start),
        Word::Verb(stem) => word
            .strip_prefix(stem)
            .is_some_and(|ending| endings.fit(ending)),
        Word::Whole(whole) => *whole == word,
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn each_sign_of_a_pattern_means_what_it_says() {
        let endings = Endings {
            verb: vec!["a", "ar"],
            pronoun: vec!["me"],
        };
        for (label, pattern, text, found) in [
            (
                "whole words",
                "vale a pena",
                "nao vale a pena",
                &[(1, 4)][..],
            ),
            ("not in order", "vale a pena", "a pena vale", &[][..]),
            ("either", "oi|ola", "ola", &[(0, 1)][..]),
            ("a start", "cobr*", "me cobraram", &[(1, 2)][..]),
            ("a verb", "marc~", "marca", &[(0, 1)][..]),
            ("a noun of the same stem", "marc~", "marcas", &[][..]),
            ("a verb with its pronoun", "marc~", "marcame", &[(0, 1)][..]),
            ("a number", "ate #", "ate 80", &[(0, 2)][..]),
            (
                "a gap",
                "cobr* .. vezes",
                "cobraram isso duas vezes",
                &[(0, 4)][..],
            ),
            ("a gap too wide", "a .. e", "a b b b b e", &[][..]),
            ("no gap over a sign", "a .. c", "a, c", &[][..]),
            (
                "the end of a clause",
                "ela $",
                "pra ela, ela nao",
                &[(1, 2)][..],
            ),
            ("twice", "oi", "oi oi", &[(0, 1), (1, 2)][..]),
        ] {
            let patterns = [Pattern::parse(pattern)];
            let spans = spans(&patterns, &words(&[text]), &endings).into_iter();
            let spans: Vec<_> = spans.map(|span| (span.start, span.end)).collect();
            assert_eq!(spans, found, "{label}");
        }
    }
}
