//! The examples, as they stand in `tests/routing`.

use recado::domain::routing::Route;
use recado::policy::routing::Written;

const EXAMPLES: &str = include_str!("../../../../../tests/routing/examples.tsv");
const TUNING: &str = include_str!("../../../../../tests/routing/tuning.tsv");
const FRESH: &str = include_str!("../../../../../tests/routing/fresh.tsv");

/// What an example was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// To tune the policy.
    Tuned,
    /// For nothing: it measures.
    HeldOut,
    /// Written after the tuning.
    Fresh,
}

impl Part {
    /// In the order they are shown.
    pub const ALL: [Self; 3] = [Self::Tuned, Self::HeldOut, Self::Fresh];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tuned => "tuned",
            Self::HeldOut => "held out",
            Self::Fresh => "fresh",
        }
    }
}

/// One written turn, and where it should go.
pub struct Example {
    /// What it was used for.
    pub part: Part,
    /// `pt`, `es` or `en`.
    pub language: &'static str,
    /// Where it should go.
    pub route: Route,
    /// The messages of the burst.
    pub texts: Vec<&'static str>,
    /// What the person wrote before.
    pub before: Option<&'static str>,
    /// What was answered to that.
    pub answered: Option<&'static str>,
}

impl Example {
    /// As the policy takes it.
    pub fn written(&self) -> Written<'static> {
        Written {
            texts: self.texts.clone(),
            before: self.before.into_iter().collect(),
            answered: self.answered,
            language: self.language,
        }
    }
}

/// All of them. Of `examples.tsv`, those of one language and route take turns to tune and to be held out.
pub fn all() -> Vec<Example> {
    let mut seen: Vec<(&str, Route)> = Vec::new();
    let mut in_turns = |mut example: Example| {
        let kind = (example.language, example.route);
        let earlier = seen.iter().filter(|other| **other == kind).count();
        seen.push(kind);
        if earlier % 2 == 1 {
            example.part = Part::HeldOut;
        }
        example
    };
    let read = |table, part| rows(table).filter_map(move |row| read(row, part));
    let halved: Vec<Example> = read(EXAMPLES, Part::Tuned).map(&mut in_turns).collect();
    let rest = read(TUNING, Part::Tuned).chain(read(FRESH, Part::Fresh));
    halved.into_iter().chain(rest).collect()
}

/// The rows that hold an example.
pub fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    let rows = table.lines();
    rows.filter(|row| !row.trim().is_empty() && !row.starts_with('#'))
}

/// One row: language, route, messages, and what came before.
fn read(row: &'static str, part: Part) -> Option<Example> {
    let mut cells = row.split('\t');
    let language = cells.next()?;
    let route = match cells.next()? {
        "light" => Route::Light,
        "main" => Route::Main,
        _ => return None,
    };
    let texts = cells.next()?.split(" | ").collect();
    let mut rest = cells.map(|cell| (!cell.is_empty()).then_some(cell));
    Some(Example {
        part,
        language,
        route,
        texts,
        before: rest.next().flatten(),
        answered: rest.next().flatten(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_an_example() {
        let all = all();
        assert_eq!(
            all.len(),
            [EXAMPLES, TUNING, FRESH]
                .map(|table| rows(table).count())
                .iter()
                .sum::<usize>()
        );
        for example in &all {
            assert!(super::super::LANGUAGES.contains(&example.language));
            assert!(!example.texts.is_empty());
        }
    }

    #[test]
    fn the_halves_are_equal_and_nothing_stands_twice() {
        let all = all();
        let of = |part| all.iter().filter(|example| example.part == part).count();
        assert!(rows(EXAMPLES).count() >= 240 && of(Part::Fresh) >= 60);
        assert_eq!(of(Part::HeldOut) * 2, rows(EXAMPLES).count());
        let mut texts: Vec<_> = all
            .iter()
            .map(|example| {
                (
                    example.language,
                    &example.texts,
                    example.before,
                    example.answered,
                )
            })
            .collect();
        texts.sort();
        let many = texts.len();
        texts.dedup();
        assert_eq!(texts.len(), many);
    }
}
