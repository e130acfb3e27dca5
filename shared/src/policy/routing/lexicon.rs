//! What the cues are called in each language: families of phrasing, in the language of [`super::pattern`], folded (lower
//! case, plain letters) and with the spellings of chat. They stand in text files, a section for each field of [`Lexicon`].

use std::sync::LazyLock;

use super::pattern::{Endings, Pattern};

/// The words of one language.
#[derive(Debug)]
pub struct Lexicon {
    /// Short words that give the language away.
    pub small_words: Vec<&'static str>,
    /// How verbs end where something is asked for.
    pub endings: Endings,
    /// Greetings, thanks and politeness: they say nothing about a request.
    pub courtesy: Vec<Pattern>,
    /// Thanks and praise: a turn of nothing else may be as long as it likes.
    pub praise: Vec<Pattern>,
    /// Before a noun, so that what looks like a verb is none.
    pub determiners: Vec<&'static str>,
    /// Something to be done.
    pub acts: Vec<Pattern>,
    /// Something to be done that is dear to undo.
    pub grave_acts: Vec<Pattern>,
    /// What begins another request.
    pub joints: Vec<&'static str>,
    /// What begins a question.
    pub questions: Vec<Pattern>,
    /// What looks like a condition and is only a question inside another.
    pub indirect: Vec<Pattern>,
    /// Under which condition.
    pub conditions: Vec<Pattern>,
    /// Within which limits.
    pub constraints: Vec<Pattern>,
    /// To be weighed.
    pub comparisons: Vec<Pattern>,
    /// To be worked out.
    pub calculations: Vec<Pattern>,
    /// To be put in order, planned, summed up.
    pub arrangements: Vec<Pattern>,
    /// What went wrong, in words that leave no doubt how the person takes it.
    pub outrages: Vec<Pattern>,
    /// What went wrong.
    pub complaints: Vec<Pattern>,
    /// What was said or done by whom.
    pub stories: Vec<Pattern>,
    /// Verbs of the past that have no such ending as the next.
    pub past: Vec<&'static str>,
    /// What endings a verb of the past has.
    pub past_endings: Vec<&'static str>,
    /// Words with such an ending that are no verbs of the past.
    pub not_past: Vec<&'static str>,
    /// What hurts inside.
    pub feelings: Vec<Pattern>,
    /// What hurts.
    pub health: Vec<Pattern>,
    /// What asks for advice, an explanation or a text.
    pub advice: Vec<Pattern>,
    /// What is not decided.
    pub doubts: Vec<Pattern>,
    /// All of them.
    pub everything: Vec<Pattern>,
    /// That one, wherever it is.
    pub far: Vec<Pattern>,
    /// This one, as named before.
    pub near: Vec<Pattern>,
    /// Yes, and nothing else.
    pub yes: Vec<Pattern>,
    /// Or.
    pub or: Vec<Pattern>,
}

impl Lexicon {
    /// Reads the text of one language. A section that is not there is empty.
    fn read(text: &'static str) -> Self {
        let list = |name: &str| section(text, name);
        let patterns = |name: &str| -> Vec<Pattern> {
            let all = section(text, name).into_iter();
            all.map(Pattern::parse).collect()
        };
        Self {
            small_words: list("small_words"),
            endings: Endings {
                verb: list("verb_endings"),
                pronoun: list("pronouns"),
            },
            courtesy: patterns("courtesy"),
            praise: patterns("praise"),
            determiners: list("determiners"),
            acts: patterns("acts"),
            grave_acts: patterns("grave_acts"),
            joints: list("joints"),
            questions: patterns("questions"),
            indirect: patterns("indirect"),
            conditions: patterns("conditions"),
            constraints: patterns("constraints"),
            comparisons: patterns("comparisons"),
            calculations: patterns("calculations"),
            arrangements: patterns("arrangements"),
            outrages: patterns("outrages"),
            complaints: patterns("complaints"),
            stories: patterns("stories"),
            past: list("past"),
            past_endings: list("past_endings"),
            not_past: list("not_past"),
            feelings: patterns("feelings"),
            health: patterns("health"),
            advice: patterns("advice"),
            doubts: patterns("doubts"),
            everything: patterns("everything"),
            far: patterns("far"),
            near: patterns("near"),
            yes: patterns("yes"),
            or: patterns("or"),
        }
    }
}

/// What stands in a section, by commas; `-` is the empty word.
fn section(text: &'static str, name: &str) -> Vec<&'static str> {
    let sections = text.split("\n[").skip(1);
    let found = sections.filter_map(|section| section.split_once("]\n"));
    let found = found.filter(|(known, _)| *known == name);
    let entries = found.flat_map(|(_, entries)| entries.split([',', '\n']));
    let entries = entries.map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| if entry == "-" { "" } else { entry })
        .collect()
}

/// Portuguese, Spanish, English.
static ALL: LazyLock<[Lexicon; 3]> = LazyLock::new(|| TEXTS.map(Lexicon::read));

const TEXTS: [&str; 3] = [
    include_str!("lexicon/pt.txt"),
    include_str!("lexicon/es.txt"),
    include_str!("lexicon/en.txt"),
];

/// The lexicons of the language a text is written in; several where it mixes them or none stands out. `usual` is the
/// agent's own language, which a text without any small word is taken for.
pub fn of(words: &[String], usual: &str) -> Vec<&'static Lexicon> {
    let all = LazyLock::force(&ALL);
    let votes = all.each_ref().map(|lexicon| {
        let is_small = |word: &&String| lexicon.small_words.contains(&word.as_str());
        words.iter().filter(is_small).count()
    });
    let most = votes.into_iter().max().unwrap_or_default();
    if most == 0 {
        let own = match usual {
            "pt" => 0,
            "es" => 1,
            _ => 2,
        };
        return vec![&all[own]];
    }
    let is_near = |(_, votes): &(&Lexicon, usize)| votes * 4 >= most * 3;
    let near = all.iter().zip(votes).filter(is_near);
    near.map(|(lexicon, _)| lexicon).collect()
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;
    use crate::policy::opt_out::plain;

    /// The names of a text's sections, in order.
    fn sections(text: &str) -> Vec<&str> {
        let lines = text.lines();
        lines
            .filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'))
            .collect()
    }

    #[test]
    fn every_language_has_every_section_and_something_in_it() {
        let names = sections(TEXTS[0]);
        assert!(names.len() > 25, "{names:?}");
        for text in TEXTS {
            assert_eq!(sections(text), names);
            for name in names.iter().filter(|name| **name != "pronouns") {
                assert!(!section(text, name).is_empty(), "{name}");
            }
        }
        let source = include_str!("lexicon.rs");
        for name in names {
            let asked = [format!("list(\"{name}\")"), format!("patterns(\"{name}\")")];
            assert!(
                asked.iter().any(|asked| source.contains(asked)),
                "{name} is never read"
            );
        }
    }

    /// Messages are folded before they are looked at, so an entry with an accent would never be found.
    #[test]
    fn every_entry_is_folded() {
        for text in TEXTS {
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                assert_eq!(plain(line), line.trim());
            }
        }
    }

    #[test]
    fn a_text_shows_its_language_or_has_the_agents() {
        for (text, usual, wanted) in [
            ("você tem horário amanhã?", "en", 0),
            ("¿tienen lugar para hoy?", "pt", 1),
            ("what time do you open?", "pt", 2),
            ("👍", "es", 1),
            ("12345", "pt", 0),
        ] {
            let found = of(&words(&[text]), usual);
            assert_eq!(found.len(), 1, "{text}");
            assert!(std::ptr::eq(found[0], &raw const ALL[wanted]), "{text}");
        }
        assert_eq!(
            of(&words(&["corrige: yesterday I have went"]), "pt").len(),
            1
        );
    }
}
