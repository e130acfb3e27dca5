//! Which turns the light model gets.

use super::document::Document;
use crate::domain::routing::RoutingRules;
use crate::policy::opt_out::plain;

/// The rules of `[routing]`.
pub(super) fn read(file: &mut Document<'_>) -> RoutingRules {
    RoutingRules {
        threshold: file
            .count("routing", "threshold", RoutingRules::THRESHOLD, 1..=100)
            .value,
        light_chars_max: file
            .count(
                "routing",
                "light_chars_max",
                RoutingRules::LIGHT_CHARS_MAX,
                0..=2000,
            )
            .value,
        main_words: words(file, "main_words", "orçamento"),
        light_words: words(file, "light_words", "segunda via"),
    }
}

/// Words or phrases, folded; none where the list is not there.
fn words(file: &mut Document<'_>, key: &'static str, example: &str) -> Vec<String> {
    let found = file.list("routing", key, example);
    let mut words: Vec<String> = Vec::new();
    for item in found.map(|list| list.value).unwrap_or_default() {
        let word = plain(&item.value);
        let problem = if !word.chars().any(char::is_alphanumeric) {
            format!("holds a word without a letter; for instance {example:?}")
        } else if word.chars().count() > 80 {
            "holds a phrase that is too long to be found; at most 80 characters".to_owned()
        } else if words.contains(&word) {
            format!("{word:?} is listed twice (case and accents do not count)")
        } else {
            words.push(word);
            continue;
        };
        file.mistake("routing", key, item.origin, problem);
    }
    words
}
