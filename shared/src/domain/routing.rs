//! Which of an agent's two models a turn goes to, and why: numbers and names of cues, never words.

use std::fmt;

/// The model a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// The light one: a social line, one act, one fact to look up.
    Light,
    /// The main one.
    Main,
}

impl Route {
    /// One word for logs and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Main => "main",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What in a turn speaks for the main model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cue {
    /// It is long.
    Length,
    /// It has several clauses.
    Clauses,
    /// Several things are to be done.
    Acts,
    /// Several things are asked.
    Questions,
    /// Something holds only under a condition.
    Condition,
    /// A wish comes with limits.
    Constraint,
    /// Things are to be weighed against each other.
    Comparison,
    /// Something has to be worked out in numbers.
    Calculation,
    /// Something has to be put in order, planned, summed up.
    Arrangement,
    /// Something went wrong.
    Complaint,
    /// It is told what happened, or what someone said.
    Story,
    /// A feeling that needs care.
    Feeling,
    /// A symptom or a risk to someone's health.
    Health,
    /// Advice, an explanation or a text of one's own is asked for.
    Advice,
    /// The person has not decided.
    Doubt,
    /// It is not clear what is meant, and a wrong guess would be dear.
    Ambiguity,
    /// The turn before was a complaint, a feeling or a symptom.
    Before,
    /// One of the agent's words that ask for the main model.
    MainWord,
    /// One of the agent's words that are enough for the light model.
    LightWord,
}

impl Cue {
    /// One word for logs and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Clauses => "clauses",
            Self::Acts => "acts",
            Self::Questions => "questions",
            Self::Condition => "condition",
            Self::Constraint => "constraint",
            Self::Comparison => "comparison",
            Self::Calculation => "calculation",
            Self::Arrangement => "arrangement",
            Self::Complaint => "complaint",
            Self::Story => "story",
            Self::Feeling => "feeling",
            Self::Health => "health",
            Self::Advice => "advice",
            Self::Doubt => "doubt",
            Self::Ambiguity => "ambiguity",
            Self::Before => "before",
            Self::MainWord => "main_word",
            Self::LightWord => "light_word",
        }
    }
}

/// One cue that was found, and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// Which.
    pub cue: Cue,
    /// What it adds to the score.
    pub points: u32,
}

/// Where a turn goes, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routed {
    /// The decision.
    pub route: Route,
    /// The sum of the reasons' points.
    pub score: u32,
    /// From here on it is the main model.
    pub threshold: u32,
    /// Each cue that was found, in the order of [`Cue`].
    pub reasons: Vec<Reason>,
}

impl Routed {
    /// The reasons in one short line, for instance `acts 10, length 2`; `nothing` where there are none.
    pub fn why(&self) -> String {
        if self.reasons.is_empty() {
            return "nothing".to_owned();
        }
        let words = |reason: &Reason| format!("{} {}", reason.cue.as_str(), reason.points);
        let all: Vec<String> = self.reasons.iter().map(words).collect();
        all.join(", ")
    }
}

/// What of the decision an agent file can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingRules {
    /// Points from which a turn goes to the main model. Default 8; less sends more turns there.
    pub threshold: u32,
    /// Up to so many characters a turn's length says nothing. Default 48.
    pub light_chars_max: usize,
    /// Words or phrases, folded, that send a turn to the main model.
    pub main_words: Vec<String>,
    /// Words or phrases, folded, with which the light model is enough, whatever else is there.
    pub light_words: Vec<String>,
}

impl RoutingRules {
    /// The threshold of an agent file that sets none.
    pub const THRESHOLD: u32 = 8;
    /// The characters of an agent file that sets none.
    pub const LIGHT_CHARS_MAX: usize = 48;
}

impl Default for RoutingRules {
    fn default() -> Self {
        Self {
            threshold: Self::THRESHOLD,
            light_chars_max: Self::LIGHT_CHARS_MAX,
            main_words: Vec::new(),
            light_words: Vec::new(),
        }
    }
}
