//! How many tokens a text will cost, without a model's own table: that would weigh tens of megabytes in a Lambda and
//! fit one family of models only.
//!
//! Invariant: a part of a text is never estimated above the whole, so cutting always makes it cheaper, and a learnt
//! factor never leaves [`FACTOR_MIN`] to [`FACTOR_MAX`].

use super::tools::words;
use crate::domain::{AnsweredCall, Output, Prompt, State, Tool, Turn};

/// What the framing of one message costs beside its words: role, delimiters.
pub const MESSAGE_OVERHEAD: u32 = 4;
/// The smallest factor that is believed.
pub const FACTOR_MIN: f64 = 0.5;
/// The largest factor that is believed.
pub const FACTOR_MAX: f64 = 3.0;
/// The safety margin on top of the learnt factor.
pub const MARGIN: f64 = 1.2;
/// How much the newest call weighs in the factor.
const LEARNING_RATE: f64 = 0.3;

// Hundredths of a token for each class of characters: start values, corrected per conversation by the factor.
const WORD: u64 = 106;
const LETTER_OF_LONG_WORD: u64 = 17;
const LONG_WORD_LETTERS: u64 = 6;
const THREE_DIGITS: u64 = 100;
const PUNCTUATION: u64 = 85;
const EMOJI: u64 = 190;
const OTHER_LETTER: u64 = 90;

/// What a character is to a tokenizer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Digit,
    Emoji,
    OtherLetter,
    Punctuation,
    /// An accent that belongs to the letter before it, or an emoji's variant.
    Attached,
    Space,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            '0'..='9' => Self::Digit,
            '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' => Self::Attached,
            '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' => Self::Emoji,
            _ if c.is_whitespace() => Self::Space,
            '\u{0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' if c.is_alphabetic() => Self::Word,
            _ if c.is_alphabetic() => Self::OtherLetter,
            _ => Self::Punctuation,
        }
    }
}

/// Tokens of `text` by classes of characters, before any learnt factor. Blank text costs nothing.
pub fn estimate(text: &str) -> u32 {
    let mut hundredths: u64 = 0;
    let mut letters: u64 = 0;
    let mut digits: u64 = 0;
    for class in text.chars().map(Class::of) {
        if class == Class::Attached {
            continue;
        }
        if class != Class::Word {
            hundredths += word(std::mem::take(&mut letters));
        }
        if class != Class::Digit {
            hundredths += std::mem::take(&mut digits).div_ceil(3) * THREE_DIGITS;
        }
        match class {
            Class::Word => letters += 1,
            Class::Digit => digits += 1,
            Class::Emoji => hundredths += EMOJI,
            Class::OtherLetter => hundredths += OTHER_LETTER,
            Class::Punctuation => hundredths += PUNCTUATION,
            Class::Attached | Class::Space => {}
        }
    }
    hundredths += word(letters) + digits.div_ceil(3) * THREE_DIGITS;
    u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
}

/// Hundredths of a token for a word of `letters`.
const fn word(letters: u64) -> u64 {
    if letters == 0 {
        return 0;
    }
    WORD + letters.saturating_sub(LONG_WORD_LETTERS) * LETTER_OF_LONG_WORD
}

/// Tokens of `text` as a message of its own.
pub fn message(text: &str) -> u32 {
    MESSAGE_OVERHEAD.saturating_add(estimate(text))
}

/// Tokens of a whole request, before any learnt factor: what a reported usage is compared with.
pub fn prompt(prompt: &Prompt) -> u32 {
    let history = prompt.history.iter().map(turn);
    let rounds = prompt.rounds.iter().flat_map(|round| &round.calls);
    let tools = prompt.tools.iter().map(declaration);
    let schema = match &prompt.output {
        Output::Text => 0,
        Output::Json { schema, .. } => message(&schema.to_string()),
    };
    [&prompt.rules, &prompt.persona]
        .into_iter()
        .chain(&prompt.memory)
        .chain(&prompt.last)
        .chain(&prompt.notes)
        .map(|text| message(text))
        .chain(history)
        .chain(rounds.map(answered))
        .chain(tools)
        .fold(schema, u32::saturating_add)
}

/// Tokens of one past turn.
pub fn turn(turn: &Turn) -> u32 {
    match turn {
        Turn::User(blocks) => blocks.iter().map(|text| message(text)).sum(),
        Turn::Calls(calls) => calls.iter().map(answered).sum(),
        Turn::Assistant(text) => message(text),
    }
}

/// Tokens of a call and its result.
pub fn answered(pair: &AnsweredCall) -> u32 {
    let call = message(pair.call.arguments.as_str());
    let name = estimate(pair.call.tool.as_str());
    call.saturating_add(name)
        .saturating_add(message(&words(&pair.result)))
}

fn declaration(tool: &Tool) -> u32 {
    message(&tool.description)
        .saturating_add(estimate(tool.name.as_str()))
        .saturating_add(estimate(&tool.parameters.to_string()))
}

/// The factor learnt for `model` in this conversation; 1 where none was.
pub fn factor(state: &State, model: &str) -> f64 {
    believed(state.token_factors.get(model).copied().unwrap_or(1.0))
}

/// The factor after a call that was estimated at `estimate` tokens and reported as `actual`. A missing report (zero)
/// teaches nothing.
pub fn learn(factor: f64, actual: u64, estimate: u32) -> f64 {
    let factor = believed(factor);
    if actual == 0 || estimate == 0 {
        return factor;
    }
    let actual = f64::from(u32::try_from(actual).unwrap_or(u32::MAX));
    let ratio = actual / f64::from(estimate);
    believed((1.0 - LEARNING_RATE) * factor + LEARNING_RATE * ratio)
}

/// An estimate as it counts against a budget: times the factor, plus the margin.
pub fn budgeted(estimate: u32, factor: f64) -> u32 {
    // The epsilon keeps an allowance of exactly the budget from rounding above it.
    whole((f64::from(estimate) * believed(factor) * MARGIN - 1e-6).ceil())
}

/// The largest estimate that stays within `budget` tokens.
pub fn allowance(budget: u32, factor: f64) -> u32 {
    whole((f64::from(budget) / (believed(factor) * MARGIN)).floor())
}

fn believed(factor: f64) -> f64 {
    if factor.is_finite() {
        factor.clamp(FACTOR_MIN, FACTOR_MAX)
    } else {
        1.0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range just before"
)]
fn whole(value: f64) -> u32 {
    value.clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_class_has_its_price() {
        for (label, text, tokens) in [
            ("nothing", "", 0),
            ("blank", " \n\t ", 0),
            ("a short word", "oi", 2),
            ("a long word", "desentupimento", 3),
            ("accents do not split a word", "ação", 2),
            ("loose accents neither", "ac\u{327}a\u{303}o", 2),
            ("three digits are one token", "123", 1),
            ("four are two", "1234", 2),
            ("a CPF", "123.456.789-00", 7),
            ("punctuation", "!!!", 3),
            ("an emoji", "🙏", 2),
            ("other letters", "你好吗", 3),
        ] {
            assert_eq!(estimate(text), tokens, "{label}");
        }
    }

    #[test]
    fn a_factor_moves_slowly_and_stays_in_range() {
        for (label, factor, actual, estimate, learnt) in [
            ("as estimated", 1.0, 100, 100, 1.0),
            ("twice as much", 1.0, 200, 100, 1.3),
            ("half", 1.0, 50, 100, 0.85),
            ("absurdly much", 2.9, 100_000, 1, 3.0),
            ("next to nothing", 0.5, 1, 100_000, 0.5),
            ("no report", 1.4, 0, 100, 1.4),
            ("nothing estimated", 1.4, 100, 0, 1.4),
            ("a broken factor", f64::NAN, 100, 100, 1.0),
        ] {
            let found = learn(factor, actual, estimate);
            assert!((found - learnt).abs() < 1e-9, "{label}: {found}");
        }
    }

    proptest! {
        #[test]
        fn a_part_is_never_dearer_than_the_whole(text in any::<String>(), at in any::<prop::sample::Index>()) {
            let cuts: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            let at = cuts[at.index(cuts.len())];
            prop_assert!(estimate(&text[..at]) <= estimate(&text));
            prop_assert!(estimate(&text[at..]) <= estimate(&text));
        }

        #[test]
        fn an_allowance_fits_its_budget(budget in 0_u32..200_000, factor in 0.0_f64..4.0) {
            prop_assert!(budgeted(allowance(budget, factor), factor) <= budget);
        }

        #[test]
        fn a_learnt_factor_is_always_believable(factor in any::<f64>(), actual in any::<u64>(), estimate in any::<u32>()) {
            let learnt = learn(factor, actual, estimate);
            prop_assert!((FACTOR_MIN..=FACTOR_MAX).contains(&learnt));
        }
    }
}
