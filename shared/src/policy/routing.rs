//! Whether a turn needs the main model or the light one is enough: the points of every cue, added up, against a threshold.
//!
//! Light is a social line, one act, one fact to look up. Main is several acts or conditions at once, comparing,
//! calculating, ordering, a complaint with a story, a feeling, or a doubt in which a wrong guess would be dear.
//!
//! Invariant: the same turn under the same rules goes to the same model, and the reasons' points add up to the score.

mod cues;
mod lexicon;
mod pattern;
mod words;

use crate::domain::routing::{Cue, Reason, Route, Routed, RoutingRules};
use cues::Reading;

/// What is routed.
#[derive(Debug, Clone, Default)]
pub struct Written<'a> {
    /// The messages of the batch, oldest first.
    pub texts: Vec<&'a str>,
    /// What the person wrote in the turn before.
    pub before: Vec<&'a str>,
    /// What was answered to that.
    pub answered: Option<&'a str>,
    /// The agent's language, `pt`: for texts that do not show their own.
    pub language: &'a str,
}

/// Where a turn goes, and why. A word of the agent that asks for the main model decides alone; else one that is enough for
/// the light model does; else the score.
pub fn decide(written: &Written<'_>, rules: &RoutingRules) -> Routed {
    let reading = Reading::of(&written.texts, written.language);
    let holds = |list: &[String]| list.iter().any(|phrase| reading.holds(phrase));
    let reasons = if holds(&rules.main_words) {
        vec![Reason {
            cue: Cue::MainWord,
            points: rules.threshold,
        }]
    } else if holds(&rules.light_words) {
        let cue = Cue::LightWord;
        vec![Reason { cue, points: 0 }]
    } else {
        cues::all(&reading, written, rules)
    };
    let score = reasons.iter().map(|reason| reason.points).sum();
    let route = if score >= rules.threshold {
        Route::Main
    } else {
        Route::Light
    };
    Routed {
        route,
        score,
        threshold: rules.threshold,
        reasons,
    }
}

#[cfg(test)]
mod tests;
