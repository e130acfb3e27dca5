//! `recado bench turns`: the turn-taking policy against a seeded generator of people who write in pieces, compared
//! with simpler ways of deciding when to answer.
//!
//! One conversation at a time goes through every algorithm: the same messages and, run by run, the same model calls.
//! No clock is read and nothing is waited for; the same options give the same report.
//!
//! ```text
//! generator  seed -> messages of a conversation, and the model's calls
//! algorithm  messages, calls -> runs: recado (our policies), fixed windows, a delayed job per message
//! figures    messages, runs -> what the report says, and how each figure is defined
//! print      report -> table | JSON        plot    report -> SVG
//! ```

pub mod algorithm;
mod delayed_jobs;
pub mod figures;
mod fixed_window;
pub mod generator;
mod plot;
mod print;
mod recado;
#[cfg(test)]
mod samples;

use std::time::Duration;

use ::recado::config::agent_file::{self, Overrides};
use ::recado::domain::Agent;
use serde::Serialize;

use algorithm::{Algorithm, Delays, Rig};
use figures::{Figures, Tally};
use generator::{Generator, Pace};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Thoughts of each pace.
    pub thoughts: usize,
    /// Decides every message and every call.
    pub seed: u64,
    /// Silence after the newest message.
    pub window: Duration,
    /// Time after the first message.
    pub ceiling: Duration,
    /// What machinery takes.
    pub delays: Delays,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            thoughts: 20_000,
            seed: 1,
            window: Duration::from_secs(5),
            ceiling: Duration::from_secs(20),
            delays: Delays::TYPICAL,
        }
    }
}

/// What was measured: for each pace one entry an algorithm, ours first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Thoughts of each pace.
    pub thoughts: usize,
    /// The seed.
    pub seed: u64,
    /// Silence after the newest message, in seconds.
    pub window_s: f64,
    /// Time after the first message, in seconds.
    pub ceiling_s: f64,
    /// Each thought is a conversation of its own.
    pub single: Vec<Figures>,
    /// Twenty thoughts in a row, whether answered or not.
    pub chained: Vec<Figures>,
}

impl Report {
    /// A table for each pace.
    pub fn table(&self) -> String {
        print::table(self)
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        print::json(self)
    }

    /// A picture, as an SVG file.
    pub fn svg(&self) -> String {
        plot::svg(self)
    }
}

/// Runs every algorithm over both paces. Refused where the options are none that an agent could have.
pub fn measure(options: &Options) -> Result<Report, String> {
    let rig = Rig {
        agent: agent(options)?,
        delays: options.delays,
    };
    Ok(Report {
        thoughts: options.thoughts,
        seed: options.seed,
        window_s: options.window.as_secs_f64(),
        ceiling_s: options.ceiling.as_secs_f64(),
        single: measure_pace(options, &rig, Pace::Single),
        chained: measure_pace(options, &rig, Pace::Chained),
    })
}

fn measure_pace(options: &Options, rig: &Rig, pace: Pace) -> Vec<Figures> {
    let mut tallies: Vec<(Algorithm, Tally)> = Algorithm::compared(&rig.agent.timing)
        .into_iter()
        .map(|algorithm| (algorithm, Tally::default()))
        .collect();
    for conversation in Generator::new(options.seed, pace, options.thoughts) {
        for (algorithm, tally) in &mut tallies {
            // Every algorithm draws the same calls: its first run takes what the others' first run takes.
            let mut calls = conversation.calls();
            let runs = algorithm.answer(rig, &conversation.fragments, &mut calls);
            tally.add(&conversation.fragments, &runs);
        }
    }
    tallies
        .into_iter()
        .map(|(algorithm, tally)| tally.figures(algorithm.name()))
        .collect()
}

/// The built-in agent with these times.
fn agent(options: &Options) -> Result<Agent, String> {
    let seconds = |duration: Duration| duration.as_secs_f64().to_string();
    let (window, ceiling) = (seconds(options.window), seconds(options.ceiling));
    let overrides = Overrides::read(|name| match name {
        "RECADO_WINDOW_S" => Some(window.clone()),
        "RECADO_CEILING_S" => Some(ceiling.clone()),
        _ => None,
    });
    agent_file::default_agent(&overrides).map_err(|mistakes| {
        let said: Vec<&str> = mistakes.iter().map(|one| one.message.as_str()).collect();
        // The file's own checks name the variable that stands above the file; here it is the argument's.
        let said = said
            .join("; ")
            .replace("RECADO_WINDOW_S=", "--window ")
            .replace("RECADO_CEILING_S=", "--ceiling ");
        format!("--window {window} --ceiling {ceiling}: {said}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few(seed: u64) -> Options {
        Options {
            thoughts: 300,
            seed,
            ..Options::default()
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_report_and_another_one_another() {
        let report = |seed| measure(&few(seed)).unwrap();
        let (first, again, other) = (report(7), report(7), report(8));
        assert_eq!(first, again);
        assert_eq!((first.table(), first.svg()), (again.table(), again.svg()));
        assert_ne!(first.single, other.single);
        assert_ne!(first.chained, other.chained);
    }

    #[test]
    fn times_that_no_agent_may_have_are_refused() {
        for (label, window_s, ceiling_s, word) in [
            (
                "no window",
                0.0,
                20.0,
                "must be 1 to 60 seconds, not 0; for instance --window 5",
            ),
            (
                "a window too long",
                61.0,
                100.0,
                "must be 1 to 60 seconds, not 61",
            ),
            (
                "a ceiling too long",
                5.0,
                301.0,
                "must be 1 to 300 seconds, not 301",
            ),
            (
                "a ceiling under the window",
                5.0,
                4.0,
                "must not be under the window",
            ),
        ] {
            let options = Options {
                window: Duration::from_secs_f64(window_s),
                ceiling: Duration::from_secs_f64(ceiling_s),
                ..few(1)
            };
            let refused = measure(&options).unwrap_err();
            assert!(refused.contains(word), "{label}: {refused}");
            assert!(!refused.contains("RECADO_"), "{label}: {refused}");
        }
    }

    #[test]
    fn no_algorithm_leaves_a_message_unanswered() {
        let report = measure(&few(3)).unwrap();
        for figures in report.single.iter().chain(&report.chained) {
            assert_eq!(figures.unanswered_messages, 0, "{}", figures.algorithm);
        }
    }
}
