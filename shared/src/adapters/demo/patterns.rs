//! What a person says of themselves in plain sentences: name, place, work, likes, allergies, in three languages.

use super::prompt_text::folded;
use crate::policy::prompt::Language;

/// What kind of thing was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// What they are called.
    Name,
    /// Where they live.
    Place,
    /// What they do.
    Work,
    /// What they like better.
    Preference,
    /// What they like.
    Liking,
    /// What they must not get.
    Allergy,
}

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What kind.
    pub kind: Kind,
    /// In the person's own words.
    pub value: String,
}

/// Phrases as folded words; what follows them is the value.
const PHRASES: [(&[&str], Kind); 6] = [
    (
        &[
            "meu nome e",
            "me chamo",
            "mi nombre es",
            "me llamo",
            "my name is",
            "se chama",
            "se llama",
            "is called",
            "nome da pessoa e",
            "sou o",
            "sou a",
        ],
        Kind::Name,
    ),
    (
        &[
            "moro em",
            "moro no",
            "moro na",
            "vivo em",
            "vivo en",
            "i live in",
            "mora em",
            "vive en",
            "lives in",
        ],
        Kind::Place,
    ),
    (
        &[
            "trabalho como",
            "trabalho com",
            "trabajo como",
            "trabajo de",
            "i work as",
            "i work at",
        ],
        Kind::Work,
    ),
    (&["prefiro", "i prefer"], Kind::Preference),
    (
        &["gosto de", "gosto muito de", "me gusta", "i like"],
        Kind::Liking,
    ),
    (
        &[
            "tenho alergia a",
            "sou alergico a",
            "sou alergica a",
            "tengo alergia a",
            "soy alergico a",
            "soy alergica a",
            "i am allergic to",
            "im allergic to",
        ],
        Kind::Allergy,
    ),
];

/// Words that end a value.
const STOPS: [&str; 14] = [
    "e", "mas", "y", "pero", "and", "but", "porque", "because", "que", "quando", "cuando", "when",
    "tambem", "so",
];
/// Words before a phrase that turn it round.
const NEGATIONS: [&str; 6] = ["nao", "no", "nunca", "never", "not", "dont"];
const VALUE_WORDS_MAX: usize = 6;
const NAME_WORDS_MAX: usize = 4;

/// Everything found in a text, in the order it was said.
pub fn find(text: &str) -> Vec<Found> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain: Vec<String> = words.iter().map(|word| folded(word)).collect();
    (0..words.len())
        .filter_map(|at| found_at(&words, &plain, at))
        .collect()
}

/// The newest name in a text.
pub fn name(text: &str) -> Option<String> {
    find(text)
        .into_iter()
        .rev()
        .find(|found| found.kind == Kind::Name)
        .map(|found| found.value)
}

fn found_at(words: &[&str], plain: &[String], at: usize) -> Option<Found> {
    if at > 0 && NEGATIONS.contains(&plain[at - 1].as_str()) {
        return None;
    }
    let (phrase, kind) = PHRASES
        .iter()
        .flat_map(|(phrases, kind)| phrases.iter().map(move |phrase| (*phrase, *kind)))
        .find(|(phrase, _)| {
            phrase
                .split(' ')
                .eq(plain[at..].iter().take(phrase.split(' ').count()))
        })?;
    let rest = &words[at + phrase.split(' ').count()..];
    let value = if kind == Kind::Name {
        name_in(rest, phrase)
    } else {
        value_in(rest)
    };
    value.map(|value| Found { kind, value })
}

/// One word, and the capitalised ones after it. "Sou a ..." may go on in any way, so it needs a capital at once; a
/// question tells no name.
fn name_in(rest: &[&str], phrase: &str) -> Option<String> {
    let mut name = Vec::new();
    for word in rest.iter().take(NAME_WORDS_MAX) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_capital = bare.starts_with(char::is_uppercase);
        let may_be_small = name.is_empty() && !phrase.starts_with("sou");
        if !bare.starts_with(char::is_alphabetic) || !(is_capital || may_be_small) {
            break;
        }
        name.push(capitalised(bare));
        if word.ends_with('?') {
            return None;
        }
        if ends_clause(word) {
            break;
        }
    }
    (!name.is_empty()).then(|| name.join(" "))
}

fn value_in(rest: &[&str]) -> Option<String> {
    let mut value = Vec::new();
    for word in rest.iter().take(VALUE_WORDS_MAX) {
        if STOPS.contains(&folded(word).as_str()) {
            break;
        }
        value.push(*word);
        if ends_clause(word) {
            break;
        }
    }
    let value = value.join(" ");
    let value = value.trim_matches(|c: char| !c.is_alphanumeric());
    (!value.is_empty()).then(|| value.to_owned())
}

fn ends_clause(word: &str) -> bool {
    word.ends_with(['.', ',', ';', ':', '!', '?', ')'])
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The fact as it is stored.
pub fn sentence(language: Language, found: &Found) -> String {
    let [portuguese, spanish, english] = match found.kind {
        Kind::Name => ["Se chama", "Se llama", "Is called"],
        Kind::Place => ["Mora em", "Vive en", "Lives in"],
        Kind::Work => ["Trabalha como", "Trabaja como", "Works as"],
        Kind::Preference => ["Prefere", "Prefiere", "Prefers"],
        Kind::Liking => ["Gosta de", "Le gusta", "Likes"],
        Kind::Allergy => ["Tem alergia a", "Tiene alergia a", "Is allergic to"],
    };
    let verb = match language {
        Language::Portuguese => portuguese,
        Language::Spanish => spanish,
        Language::English => english,
    };
    format!("{verb} {}", found.value)
}

/// Of some things a person has one at a time: a new one replaces the old.
pub const fn is_single(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Place)
}
