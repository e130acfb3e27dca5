//! The cues of a turn and what each weighs. Eight points are enough for the main model: one plain cue, or two faint ones.

use super::Written;
use super::lexicon::{self, Lexicon};
use super::pattern::{Pattern, spans};
use super::words::{BREAK, is_laughter, is_number, is_sign, words};
use crate::domain::routing::{Cue, Reason, RoutingRules};

/// So many characters beyond the light ones weigh a point.
const CHARS_PER_POINT: usize = 5;
const LENGTH_POINTS_MAX: usize = 10;
/// What one act weighs: a tool is likely.
const ONE_ACT: u32 = 1;
/// What `or` in a question weighs where nothing else says that it is to be weighed.
const EITHER_OR: u32 = 6;
/// A turn whose complaint, feeling or symptom weighs so much is not over with the next message.
const HEAVY: u32 = 10;
/// So many words make a clause that counts.
const CLAUSE_WORDS_MIN: usize = 3;
/// A request of more words names what it means.
const BARE_WORDS_MAX: usize = 8;

/// A family of phrases.
type Family = fn(&Lexicon) -> &[Pattern];

/// A cue that is found by its words: what the first finding weighs, each further one, and all of them at most.
struct Weight {
    cue: Cue,
    phrases: Family,
    first: u32,
    more: u32,
    most: u32,
}

const WEIGHTS: [Weight; 8] = [
    weight(Cue::Constraint, |l| &l.constraints, [5, 3, 11]),
    weight(Cue::Comparison, |l| &l.comparisons, [10, 2, 14]),
    weight(Cue::Calculation, |l| &l.calculations, [10, 2, 14]),
    weight(Cue::Arrangement, |l| &l.arrangements, [10, 2, 14]),
    weight(Cue::Feeling, |l| &l.feelings, [10, 2, 14]),
    weight(Cue::Health, |l| &l.health, [7, 3, 13]),
    weight(Cue::Advice, |l| &l.advice, [10, 2, 12]),
    weight(Cue::Doubt, |l| &l.doubts, [4, 4, 12]),
];

const fn weight(cue: Cue, phrases: Family, [first, more, most]: [u32; 3]) -> Weight {
    Weight {
        cue,
        phrases,
        first,
        more,
        most,
    }
}

/// `count` findings, where the first weighs `first`.
fn points(count: usize, [first, more, most]: [u32; 3]) -> u32 {
    let Some(further) = count.checked_sub(1) else {
        return 0;
    };
    let further = u32::try_from(further).unwrap_or(u32::MAX);
    more.saturating_mul(further).saturating_add(first).min(most)
}

/// A burst as it is looked at.
pub struct Reading {
    words: Vec<String>,
    /// The same without greetings, thanks and politeness.
    core: Vec<String>,
    lexicons: Vec<&'static Lexicon>,
    /// Whether there was laughter, which is left out of the words.
    laughs: bool,
}

impl Reading {
    /// Reads the messages of a burst.
    pub fn of(texts: &[&str], language: &str) -> Self {
        let mut words = words(texts);
        let before = words.len();
        words.retain(|word| !is_laughter(word));
        let laughs = words.len() < before;
        let lexicons = lexicon::of(&words, language);
        let mut is_courtesy = vec![false; words.len()];
        for lexicon in &lexicons {
            for span in spans(&lexicon.courtesy, &words, &lexicon.endings) {
                is_courtesy[span].fill(true);
            }
        }
        let core = words.iter().zip(is_courtesy).filter(|(_, polite)| !polite);
        Self {
            core: core.map(|(word, _)| word.clone()).collect(),
            words,
            lexicons,
            laughs,
        }
    }

    /// Whether a phrase of folded words stands in it.
    pub fn holds(&self, phrase: &str) -> bool {
        let phrase = words(&[phrase]);
        let wanted: Vec<&String> = phrase.iter().filter(|word| *word != BREAK).collect();
        let found = |window: &[String]| window.iter().eq(wanted.iter().copied());
        !wanted.is_empty() && self.words.windows(wanted.len()).any(found)
    }

    /// How often a family of phrases is found, in the language that has most of it.
    fn count(&self, phrases: Family) -> usize {
        self.most(|lexicon| spans(phrases(lexicon), &self.core, &lexicon.endings).len())
    }

    /// Whether there are thanks or praise in it.
    fn praises(&self) -> bool {
        self.most(|lexicon| spans(&lexicon.praise, &self.words, &lexicon.endings).len()) > 0
    }

    fn most(&self, count: impl Fn(&Lexicon) -> usize) -> usize {
        let counts = self.lexicons.iter().map(|lexicon| count(lexicon));
        counts.max().unwrap_or_default()
    }

    /// Real words, less the polite ones.
    fn core_words(&self) -> usize {
        self.core.iter().filter(|word| !is_sign(word)).count()
    }

    /// Characters of those, with a space after each.
    fn core_chars(&self) -> usize {
        let real = self.core.iter().filter(|word| !is_sign(word));
        real.map(|word| word.chars().count() + 1).sum()
    }

    /// Things to be done: what stands in the same clause, with nothing that joins them, is one.
    fn acts(&self, lexicon: &Lexicon) -> usize {
        let words = &self.words;
        let is_noun = |at: usize| {
            let before = at.checked_sub(1).map(|before| words[before].as_str());
            before.is_some_and(|word| lexicon.determiners.contains(&word))
        };
        let mut count = 0;
        let mut end: Option<usize> = None;
        for span in spans(&lexicon.acts, words, &lexicon.endings) {
            if is_noun(span.start) {
                continue;
            }
            let joins = |word: &String| is_sign(word) || lexicon.joints.contains(&word.as_str());
            if end.is_none_or(|end| words[end..span.start].iter().any(joins)) {
                count += 1;
            }
            end = Some(span.end);
        }
        count
    }

    /// Things that are asked: marks with something before them, or question words where a clause begins.
    fn questions(&self, lexicon: &Lexicon) -> usize {
        let clauses = self.core.split_inclusive(|word| is_sign(word));
        let marked = clauses
            .filter(|clause| clause.len() > 1 && clause.last().is_some_and(|sign| sign == "?"));
        let marked = marked.count();
        let begins = |at: usize| match at.checked_sub(1).map(|before| self.core[before].as_str()) {
            None => true,
            Some(word) => is_sign(word) || lexicon.joints.contains(&word),
        };
        let asked = spans(&lexicon.questions, &self.core, &lexicon.endings);
        let asked = asked.iter().filter(|span| begins(span.start)).count();
        marked.max(asked.min(marked + 1))
    }

    /// Conditions that are no questions inside others.
    fn conditions(&self, lexicon: &Lexicon) -> usize {
        let words = &self.words;
        let indirect = spans(&lexicon.indirect, words, &lexicon.endings);
        let found = spans(&lexicon.conditions, words, &lexicon.endings);
        let holds = |at: usize| {
            let is_followed = words.get(at).is_some_and(|word| !is_sign(word));
            is_followed && words.get(at + 1).is_some_and(|word| !is_sign(word))
        };
        let real = found.iter().filter(|span| {
            holds(span.end) && !indirect.iter().any(|other| other.contains(&span.start))
        });
        real.count()
    }

    /// Verbs of the past: three of them tell a story.
    fn past(&self, lexicon: &Lexicon) -> usize {
        let is_past = |word: &&String| {
            lexicon.past.contains(&word.as_str())
                || word.len() > 3
                    && !lexicon.not_past.contains(&word.as_str())
                    && lexicon
                        .past_endings
                        .iter()
                        .any(|ending| word.ends_with(ending))
        };
        self.words.iter().filter(is_past).count()
    }
}

/// Every cue of a turn, in the order of [`Cue`].
pub fn all(reading: &Reading, written: &Written<'_>, rules: &RoutingRules) -> Vec<Reason> {
    let mut found = said(reading);
    let mut add = |cue: Cue, points: u32| {
        if points > 0 {
            found.push(Reason { cue, points });
        }
    };
    add(Cue::Ambiguity, ambiguity(reading, written));
    add(Cue::Before, before(reading, written));
    let is_plain = found.iter().all(|reason| reason.points <= ONE_ACT);
    found.extend(shape(reading, rules, is_plain));
    found.sort_by_key(|reason| reason.cue);
    found
}

/// The cues of the words.
fn said(reading: &Reading) -> Vec<Reason> {
    let mut found = Vec::new();
    let mut add = |cue: Cue, points: u32| {
        if points > 0 {
            found.push(Reason { cue, points });
        }
    };
    let acts = reading.most(|lexicon| reading.acts(lexicon));
    let several = points(acts.saturating_sub(1), [10, 2, 14]);
    add(Cue::Acts, if acts == 1 { ONE_ACT } else { several });
    let questions = reading.most(|lexicon| reading.questions(lexicon));
    add(
        Cue::Questions,
        points(questions.saturating_sub(1), [6, 4, 12]),
    );
    let conditions = reading.most(|lexicon| reading.conditions(lexicon));
    add(Cue::Condition, points(conditions, [6, 4, 12]));
    // Who laughs is not crying, whatever the words.
    let weights = WEIGHTS.iter();
    for weight in weights.filter(|weight| weight.cue != Cue::Feeling || !reading.laughs) {
        let count = reading.count(weight.phrases);
        add(
            weight.cue,
            points(count, [weight.first, weight.more, weight.most]),
        );
    }
    if reading.count(|lexicon| &lexicon.comparisons) == 0 && is_either_or(reading) {
        add(Cue::Comparison, EITHER_OR);
    }
    add(Cue::Complaint, complaint(reading));
    found
}

/// The cues of the shape: how long it is, of how many clauses, and whether it tells what happened. Where the words show
/// nothing (`is_plain`), thanks and praise may have any shape, and one thing may be told at length.
fn shape(reading: &Reading, rules: &RoutingRules, is_plain: bool) -> Vec<Reason> {
    let asks = reading.most(|lexicon| reading.acts(lexicon) + reading.questions(lexicon));
    if is_plain && asks == 0 && reading.praises() {
        return Vec::new();
    }
    let told = reading.count(|lexicon| &lexicon.stories);
    let past = reading.most(|lexicon| reading.past(lexicon)) / 2;
    let clauses = clauses(reading);
    let beyond = reading.core_chars().saturating_sub(rules.light_chars_max);
    let length = (beyond / CHARS_PER_POINT).min(LENGTH_POINTS_MAX);
    let is_one_thing = is_plain && asks <= 1 && clauses <= 2;
    let length = if is_one_thing { length / 2 } else { length };
    let reasons = [
        (Cue::Length, u32::try_from(length).unwrap_or(u32::MAX)),
        (Cue::Clauses, points(clauses.saturating_sub(1), [2, 2, 8])),
        (Cue::Story, points(told + past, [3, 3, 10])),
    ];
    let real = reasons.into_iter().filter(|(_, points)| *points > 0);
    real.map(|(cue, points)| Reason { cue, points }).collect()
}

/// One word that leaves no doubt is enough; else it takes two things that went wrong, or one that is told.
fn complaint(reading: &Reading) -> u32 {
    let outrages = points(reading.count(|lexicon| &lexicon.outrages), [10, 2, 14]);
    let complaints = points(reading.count(|lexicon| &lexicon.complaints), [6, 4, 16]);
    outrages.saturating_add(complaints).min(16)
}

/// Whole clauses beside each other.
fn clauses(reading: &Reading) -> usize {
    let clauses = reading.core.split(|word| is_sign(word));
    clauses
        .filter(|clause| clause.len() >= CLAUSE_WORDS_MIN)
        .count()
}

/// Which of two, in a question.
fn is_either_or(reading: &Reading) -> bool {
    let clauses = reading.core.split_inclusive(|word| is_sign(word));
    let mut asked = clauses.filter(|clause| clause.last().is_some_and(|sign| sign == "?"));
    asked.any(|clause| {
        let mut lexicons = reading.lexicons.iter();
        lexicons.any(|lexicon| {
            let found = spans(&lexicon.or, clause, &lexicon.endings);
            found.iter().any(|span| span.start > 0)
        })
    })
}

/// A bare yes to an either-or, or something dear to undo that is done to what only the person knows.
fn ambiguity(reading: &Reading, written: &Written<'_>) -> u32 {
    if written.answered.is_some_and(offers) && is_yes(reading) {
        return 12;
    }
    let has = |phrases: Family| reading.count(phrases) > 0;
    if !has(|lexicon| &lexicon.grave_acts) {
        return 0;
    }
    if has(|lexicon| &lexicon.everything) {
        return 9;
    }
    if reading.core_words() > BARE_WORDS_MAX {
        return 0;
    }
    let is_named = reading.words.iter().any(|word| is_number(word));
    let is_near = has(|lexicon| &lexicon.near) && written.answered.is_none() && !is_named;
    if is_near || has(|lexicon| &lexicon.far) {
        10
    } else {
        0
    }
}

/// Whether an answer asks which of two.
fn offers(answer: &str) -> bool {
    let Some(question) = answer.rfind('?').map(|end| &answer[..end]) else {
        return false;
    };
    let question = question
        .rsplit(['.', '!', '?', '\n'])
        .next()
        .unwrap_or_default();
    let reading = Reading::of(&[question], "");
    reading.count(|lexicon| &lexicon.or) > 0
}

/// Whether all that is said is yes.
fn is_yes(reading: &Reading) -> bool {
    reading.lexicons.iter().any(|lexicon| {
        let said: Vec<String> = reading
            .words
            .iter()
            .filter(|word| !is_sign(word))
            .cloned()
            .collect();
        let yes = spans(&lexicon.yes, &said, &lexicon.endings);
        let polite = spans(&lexicon.courtesy, &said, &lexicon.endings);
        let is_covered = |at: usize| yes.iter().chain(&polite).any(|span| span.contains(&at));
        !yes.is_empty() && (0..said.len()).all(is_covered)
    })
}

/// A complaint, a feeling or a symptom goes on in the next turn, where that says anything.
fn before(reading: &Reading, written: &Written<'_>) -> u32 {
    if written.before.is_empty() || reading.core_words() < 3 || is_yes(reading) {
        return 0;
    }
    let earlier = Reading::of(&written.before, written.language);
    let weighs = [Cue::Feeling, Cue::Health];
    let heavy = WEIGHTS.iter().filter(|weight| weighs.contains(&weight.cue));
    let score: u32 = heavy
        .map(|weight| {
            let count = earlier.count(weight.phrases);
            points(count, [weight.first, weight.more, weight.most])
        })
        .sum::<u32>()
        .saturating_add(complaint(&earlier));
    if score >= HEAVY { 5 } else { 0 }
}
