//! A chat message as words to compare: folded, without emoji, with its signs kept as words of their own.

use crate::policy::opt_out::plain;

/// The end of a message or of a line, as a word.
pub const BREAK: &str = "\n";

/// The words of a burst: lower case and plain letters, `;` for whatever parts clauses, `?`, and [`BREAK`] after each line.
/// `whaaat` is `what`, `don't` is `dont`.
pub fn words(texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let before = found.len();
        of_line(&plain(line), &mut found);
        if found.len() > before {
            found.push(BREAK.to_owned());
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
                    '?' => into.push("?".to_owned()),
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
