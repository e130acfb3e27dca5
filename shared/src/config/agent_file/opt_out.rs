//! The words that opt a person out.

use super::document::Document;
use crate::policy::opt_out::plain;

/// What people write to be left alone. "cancelar" is not among them: it is mostly about an appointment.
const OPT_OUT_WORDS: [&str; 7] = [
    "stop",
    "parar",
    "pare",
    "sair",
    "descadastrar",
    "unsubscribe",
    "baja",
];

/// The words of `[opt_out]`, folded, or the default ones.
pub(super) fn read(file: &mut Document<'_>) -> Vec<String> {
    let Some(found) = file.list("opt_out", "words", "parar") else {
        return OPT_OUT_WORDS.map(str::to_owned).to_vec();
    };
    if found.value.is_empty() {
        file.mistake("opt_out", "words", found.origin,
            "must hold at least one word, or nobody could make the agent stop; for instance words = [\"parar\", \"stop\"]");
    }
    let mut words: Vec<String> = Vec::new();
    for item in found.value {
        let word = plain(&item.value);
        let problem = if !word.chars().any(char::is_alphanumeric) {
            "holds a word without a letter; for instance \"parar\"".to_owned()
        } else if !word.chars().all(|c| c.is_alphanumeric() || c == ' ') {
            // Signs around a person's word are passed over, so a word with signs would never be found.
            format!(
                "{:?} holds more than letters, digits and spaces; for instance \"parar\"",
                item.value
            )
        } else if word.chars().count() > 40 {
            // It must be the WHOLE message of a person who wants to stop: nobody writes that much.
            format!(
                "{:?} is too long to be a whole message that says stop; at most 40 characters",
                item.value
            )
        } else if words.contains(&word) {
            format!("{word:?} is listed twice (case and accents do not count)")
        } else {
            words.push(word);
            continue;
        };
        file.mistake("opt_out", "words", item.origin, problem);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_word_loses_case_accents_and_extra_space() {
        for (written, word) in [
            ("PARAR", "parar"),
            (" Não  Quero ", "nao quero"),
            ("Ｓｔｏｐ", "stop"),
            ("  ", ""),
        ] {
            assert_eq!(plain(written), word);
        }
    }
}
