//! A chat message as words to compare: folded, without emoji, with its signs kept as words of their own.

use crate::policy::opt_out::plain;

/// The end of a message or of a line, as a word.
pub const BREAK: &str = "\n";

/// Nobody needs more words than these to show that they want much: the rest is not looked at, or a batch of the longest
/// messages would take seconds.
pub const WORDS_MAX: usize = 1_000;

/// The first [`WORDS_MAX`] words of a burst: lower case and plain letters, `;` for whatever parts clauses, `?`, and [`BREAK`] after each line.
/// `whaaat` is `what`, `don't` is `dont`.
pub fn words(texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let before = found.len();
        of_line(&plain(line), &mut found);
        if found.len() > before {
            found.push(BREAK.to_owned());
        }
        if found.len() > WORDS_MAX {
            found.truncate(WORDS_MAX);
            break;
        }
    }
    found
}

fn of_line(line: &str, into: &mut Vec<String>) {
    let signs: Vec<char> = line.chars().collect();
    let mut word = String::new();
    for (at, &sign) in signs.iter().enumerate() {
        let beside = |back: bool| {
            let at = if back {
                at.checked_sub(1)
            } else {
                Some(at + 1)
            };
            at.and_then(|at| signs.get(at))
                .is_some_and(char::is_ascii_digit)
        };
        match sign {
            // 347,80 and 16:30 are one number.
            ',' | '.' | ':' if beside(true) && beside(false) => word.push(sign),
            '\'' | '’' => {}
            _ if sign.is_alphanumeric() => word.push(sign),
            _ => {
                close(&mut word, into);
                match sign {
                    '?' | '%' => into.push(sign.to_string()),
                    ',' | '.' | ';' | ':' | '!' | '(' | ')' => into.push(";".to_owned()),
                    _ => {}
                }
            }
        }
    }
    close(&mut word, into);
}

fn close(word: &mut String, into: &mut Vec<String>) {
    let word = squeezed(&std::mem::take(word));
    if !word.is_empty() {
        into.push(word);
    }
}

/// Three or more of one letter become one: nobody spells `muitooo` so.
fn squeezed(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut short = String::with_capacity(word.len());
    for run in letters.chunk_by(|a, b| a == b) {
        let keep = if run.len() >= 3 && run[0].is_alphabetic() {
            1
        } else {
            run.len()
        };
        short.extend(&run[..keep]);
    }
    short
}

/// `kk`, `jajaja`, `hahah`, `rsrs`, `lol`.
pub fn is_laughter(word: &str) -> bool {
    let only = |signs: &str, least: usize| {
        word.len() >= least && word.chars().all(|letter| signs.contains(letter))
    };
    matches!(
        word,
        "k" | "rs" | "lol" | "lmao" | "rofl" | "hehe" | "xd" | "hue"
    ) || only("k", 2)
        || only("rs", 4)
        || ["ja", "je", "ji", "ha", "he", "hi", "hu"]
            .iter()
            .any(|sound| only(sound, 4) && word.contains(sound))
}

/// Whether a word is a sign and not a word.
pub fn is_sign(word: &str) -> bool {
    matches!(word, ";" | "?" | BREAK)
}

/// Whether a word is a number, with or without a unit: `3`, `347,80`, `16h`, `3x`.
pub fn is_number(word: &str) -> bool {
    word.starts_with(|sign: char| sign.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_becomes_the_words_that_are_meant() {
        for (label, text, right) in [
            ("folded", "AMANHÃ às 9", "amanha as 9 |"),
            ("drawn out", "siiiim muitooo", "sim muito |"),
            ("doubled letters stay", "passo carro", "passo carro |"),
            ("an apostrophe", "I don\u{2019}t, it's", "i dont ; its |"),
            (
                "numbers with signs",
                "R$ 347,80 às 16:30.",
                "r 347,80 as 16:30 ; |",
            ),
            ("a share", "10% off", "10 % off |"),
            ("a list", "pão, leite", "pao ; leite |"),
            ("Spanish marks", "¿qué? ¡sí!", "que ? si ; |"),
            ("emoji", "👍🏽 ok ❤️", "ok |"),
            ("lines", "oi\n\nmarca", "oi | marca |"),
            ("nothing", " \u{200b} ", ""),
        ] {
            let found = words(&[text]).join(" ").replace(BREAK, "|");
            assert_eq!(found, right, "{label}");
        }
    }

    #[test]
    fn laughter_is_no_word() {
        for laughter in [
            "kkk", "kkkkkkk", "rs", "rsrsrs", "jaja", "jajajaj", "haha", "hehehe", "lol",
        ] {
            assert!(is_laughter(laughter), "{laughter}");
        }
        for word in ["haja", "hi", "he", "rs1", "kg", "jeje1", "ok", "carro"] {
            assert!(!is_laughter(word), "{word}");
        }
    }

    #[test]
    fn an_endless_burst_is_looked_at_only_so_far() {
        let long = "marca ".repeat(20_000);
        assert_eq!(words(&[&long, &long]).len(), WORDS_MAX);
    }
}
