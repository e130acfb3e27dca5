//! "Did you mean": the known name that a mistyped one is most likely to stand for.

/// The candidate nearest to `word`, where one is near enough to be worth a question.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = word.to_lowercase();
    // Longer than any name of ours: not a slip of the fingers, and not worth the time.
    if word.is_empty() || word.len() > 80 {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance_if_near(&word, candidate)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits from `word` to `candidate`, or `None` where they are too many to be a slip.
fn distance_if_near(word: &str, candidate: &str) -> Option<usize> {
    let candidate = candidate.to_lowercase();
    let distance = edits(word, &candidate);
    let length = word.chars().count().min(candidate.chars().count());
    // A name without its unit (`give_up` for `give_up_after_s`) is far in edits, yet plainly meant.
    let shortened = length >= 4 && (candidate.starts_with(word) || word.starts_with(&candidate));
    (distance <= (length / 3).max(1) || shortened).then_some(distance)
}

/// Insertions, deletions, substitutions and swaps of two neighbours between two words.
fn edits(one: &str, two: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let two: Vec<char> = two.chars().collect();
    let mut rows = vec![vec![0; two.len() + 1]; one.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=one.len() {
        for j in 1..=two.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(one[i - 1] != two[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == two[j - 2] && one[i - 2] == two[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[one.len()][two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_foreign_word_finds_none() {
        let names = ["window_s", "ceiling_s", "give_up_after_s", "persona"];
        for (label, word, expected) in [
            ("one letter missing", "windw_s", Some("window_s")),
            ("two letters swapped", "cieling_s", Some("ceiling_s")),
            ("another unit", "window_ms", Some("window_s")),
            ("no unit", "give_up", Some("give_up_after_s")),
            ("capitals", "PERSONA", Some("persona")),
            ("another language", "janela", None),
            ("nothing", "", None),
        ] {
            assert_eq!(nearest(word, names), expected, "{label}");
        }
    }

    #[test]
    fn the_nearest_of_two_near_names_is_taken() {
        assert_eq!(nearest("keepp", ["keeper", "keep"]), Some("keep"));
    }
}
